#include "npz.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *descr;
    infc_dtype dtype;
} descrs[] = {
    {"<f4", INFC_DTYPE_f32}, {"<f8", INFC_DTYPE_f64}, {"<f2", INFC_DTYPE_f16},
    {"|i1", INFC_DTYPE_i8},  {"|u1", INFC_DTYPE_u8},  {"<i2", INFC_DTYPE_i16},
    {"<u2", INFC_DTYPE_u16}, {"<i4", INFC_DTYPE_i32}, {"<u4", INFC_DTYPE_u32},
    {"<i8", INFC_DTYPE_i64}, {"<u8", INFC_DTYPE_u64}, {"|b1", INFC_DTYPE_bool},
};
enum { N_DESCRS = sizeof descrs / sizeof *descrs, PREFIX = 10, ALIGN = 64 };
#define NPY_MAGIC "\x93NUMPY"

/* The text after `'key':`, blanks skipped. */
static const char *value_of(const char *header, const char *key) {
    const char *p = strstr(header, key);
    if (!p) return NULL;
    p += strlen(key);
    while (*p == ' ' || *p == ':') p++;
    return p;
}

static bool read_shape(const char *p, infc_type *type) {
    if (!p || *p++ != '(') return false;
    for (type->rank = 0; *p != ')';) {
        char *end;
        while (*p == ' ' || *p == ',') p++;
        if (*p == ')') break;
        if (!isdigit((unsigned char)*p) || type->rank == INFC_MAX_RANK) return false;
        long long dim = strtoll(p, &end, 10);
        if (dim > INT32_MAX) return false;
        type->dims[type->rank++] = dim;
        p = end;
    }
    return true;
}

static bool read_descr(const char *p, infc_type *type) {
    for (size_t i = 0; p && *p == '\'' && i < N_DESCRS; i++) {
        if (strncmp(p + 1, descrs[i].descr, 3) != 0 || p[4] != '\'') continue;
        type->dtype = descrs[i].dtype;
        return true;
    }
    return false;
}

infc_status infc_npy_read(infc_cx *cx, infc_loc loc, infc_bytes bytes, infc_type *type, infc_bytes *data) {
    *type = (infc_type){0};
    if (bytes.len < PREFIX + 2 || memcmp(bytes.ptr, NPY_MAGIC, 6) != 0)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "not a .npy array");
    bool version_1 = bytes.ptr[6] == 1;
    size_t start = version_1 ? PREFIX : PREFIX + 2;
    size_t length = bytes.ptr[8] | (size_t)bytes.ptr[9] << 8;
    if (!version_1) length |= (size_t)bytes.ptr[10] << 16 | (size_t)bytes.ptr[11] << 24;
    if (length > bytes.len - start)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "its .npy header is truncated");
    const char *header = infc_arena_copy_string(cx->arena, (const char *)bytes.ptr + start, length);
    const char *order = value_of(header, "'fortran_order'");
    if (!read_descr(value_of(header, "'descr'"), type) || !read_shape(value_of(header, "'shape'"), type)) {
        return infc_fail(cx, INFC_ERR_MODEL, loc, "cannot use an array with the header %s", header);
    }
    if (!order || strncmp(order, "False", 5) != 0) {
        return infc_fail(cx, INFC_ERR_MODEL, loc, "the array is in Fortran order; save numpy.ascontiguousarray(a)");
    }
    uint64_t need = infc_dtype_bytes(type->dtype);
    for (int i = 0; i < type->rank; i++) {
        if (__builtin_mul_overflow(need, (uint64_t)type->dims[i], &need)) need = UINT64_MAX;
    }
    *data = (infc_bytes){bytes.ptr + start + length, bytes.len - start - length};
    if (need == data->len) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, loc, "the array has %zu bytes of data, its shape needs %llu",
                     data->len, (unsigned long long)need);
}

void infc_npy_header(const infc_type *type, infc_buf *out) {
    const char *descr = "|u1";
    infc_buf text = {.arena = out->arena};
    for (size_t i = 0; i < N_DESCRS; i++) {
        if (descrs[i].dtype == type->dtype) descr = descrs[i].descr;
    }
    infc_buf_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < type->rank; i++)
        infc_buf_printf(&text, "%lld,%s", (long long)type->dims[i], i + 1 < type->rank ? " " : "");
    infc_buf_puts(&text, "), }");
    infc_buf_indent(&text, (int)(ALIGN - (PREFIX + text.len + 1) % ALIGN) % ALIGN);
    infc_buf_puts(&text, "\n");
    const uint8_t prefix[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)text.len, (uint8_t)(text.len >> 8)};
    infc_buf_put(out, prefix, sizeof prefix);
    infc_buf_put(out, text.data, text.len);
}
