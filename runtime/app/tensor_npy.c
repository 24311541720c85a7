/* tensor_npy.c - NumPy's .npy: magic, version, length, a Python dict as text, the elements. */
#include "tensor_io.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *descr; /* without the byte order */
    uint32_t dtype;
} npy_dtypes[] = {
    {"f4", INFC_DTYPE_f32},  {"f8", INFC_DTYPE_f64}, {"f2", INFC_DTYPE_f16},
    {"i1", INFC_DTYPE_i8},   {"u1", INFC_DTYPE_u8},  {"i2", INFC_DTYPE_i16},
    {"u2", INFC_DTYPE_u16},  {"i4", INFC_DTYPE_i32}, {"u4", INFC_DTYPE_u32},
    {"i8", INFC_DTYPE_i64},  {"u8", INFC_DTYPE_u64}, {"b1", INFC_DTYPE_bool},
    {"V2", INFC_DTYPE_bf16}, /* what ml_dtypes' bfloat16 is saved as */
};

/* The dict's text and how far it has been read. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool skip(cursor *c, char expected) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n')) c->at++;
    if (c->at == c->end || *c->at != expected) return false;
    c->at++;
    return true;
}

/* 'text' or "text", without escapes. */
static bool quoted(cursor *c, char *out, size_t room) {
    char quote = '\'';
    if (!skip(c, quote) && !skip(c, quote = '"')) return false;
    const char *stop = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (!stop || (size_t)(stop - c->at) >= room) return false;
    memcpy(out, c->at, (size_t)(stop - c->at));
    out[stop - c->at] = 0;
    c->at = stop + 1;
    return true;
}

static bool word(cursor *c, const char *expected) {
    size_t n = strlen(expected);
    skip(c, ' ');
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, expected, n) != 0) return false;
    c->at += n;
    return true;
}

static bool dimension(cursor *c, int64_t *out) {
    skip(c, ' ');
    const char *begin = c->at;
    for (*out = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *c->at - '0', out))
            return false;
    return c->at > begin;
}

/* (), (8,), (1, 8, 8) */
static bool shape(cursor *c, infrt_tensor *out) {
    if (!skip(c, '(')) return false;
    for (out->rank = 0; !skip(c, ')');) {
        if (out->rank == INFC_MAX_RANK || !dimension(c, &out->dims[out->rank++])) return false;
        if (!skip(c, ',')) return skip(c, ')');
    }
    return true;
}

static bool header_parse(cursor c, char descr[32], bool *fortran, infrt_tensor *out) {
    bool have_descr = false, have_order = false, have_shape = false;
    char key[32];
    if (!skip(&c, '{')) return false;
    while (!skip(&c, '}')) {
        if (!quoted(&c, key, sizeof key) || !skip(&c, ':')) return false;
        if (strcmp(key, "descr") == 0) have_descr = quoted(&c, descr, 32);
        else if (strcmp(key, "fortran_order") == 0)
            have_order = (*fortran = word(&c, "True")) || word(&c, "False");
        else if (strcmp(key, "shape") == 0) have_shape = shape(&c, out);
        else return false;
        if (!skip(&c, ',') && !(c.at < c.end && *c.at == '}')) return false;
    }
    return have_descr && have_order && have_shape;
}

static infrt_status dtype_find(const char *descr, const char *where, uint32_t *out, infrt_error *error) {
    if (descr[0] == '>')
        return infrt_fail(error, INFRT_ERR_DATA, "%s: big-endian elements (%s); save it with .astype('<%s')",
                          where, descr, descr + 1);
    if (descr[0] == '<' || descr[0] == '|')
        for (size_t i = 0; i < sizeof npy_dtypes / sizeof *npy_dtypes; i++)
            if (strcmp(descr + 1, npy_dtypes[i].descr) == 0) {
                *out = npy_dtypes[i].dtype;
                return INFRT_OK;
            }
    return infrt_fail(error, INFRT_ERR_DATA, "%s: elements of type '%s' are not supported", where, descr);
}

/* Splits off the header's text; false when the file is too short or no .npy. */
static bool header_find(infrt_bytes file, cursor *text, infrt_bytes *rest) {
    if (file.n < 10 || memcmp(file.data, "\x93NUMPY", 6) != 0 || file.data[6] < 1 || file.data[6] > 3)
        return false;
    size_t start = file.data[6] == 1 ? 10 : 12, length = file.data[8] | (size_t)file.data[9] << 8;
    if (file.n < start) return false;
    if (start == 12) length |= (size_t)file.data[10] << 16 | (size_t)file.data[11] << 24;
    if (length > file.n - start) return false;
    *text = (cursor){(const char *)file.data + start, (const char *)file.data + start + length};
    *rest = (infrt_bytes){file.data + start + length, file.n - start - length};
    return true;
}

infrt_status infrt_npy_look(infrt_bytes start, uint64_t file_bytes, const char *where,
                            infrt_tensor *out, infrt_error *error) {
    infrt_tensor tensor = {0};
    infrt_bytes rest;
    cursor text;
    char descr[32], shown[INFRT_SHAPE_TEXT];
    bool fortran = false;
    if (!header_find(start, &text, &rest))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: not a .npy file, or truncated in its header", where);
    if (!header_parse(text, descr, &fortran, &tensor))
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: not a .npy header that can be read (at most %d dimensions,"
                          " one element type): %.*s",
                          where, INFC_MAX_RANK,
                          text.end - text.at > 200 ? 200 : (int)(text.end - text.at), text.at);
    infrt_status status = dtype_find(descr, where, &tensor.dtype, error);
    if (status != INFRT_OK) return status;
    if (fortran)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: Fortran order; save it with numpy.ascontiguousarray", where);
    infrt_shape_text(tensor.dtype, tensor.rank, tensor.dims, shown);
    if (!infrt_shape_bytes(tensor.dtype, tensor.rank, tensor.dims, &tensor.bytes))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %s is larger than any file", where, shown);
    const uint64_t there = file_bytes - (uint64_t)(rest.data - start.data);
    if (tensor.bytes != there)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %s takes %llu bytes, %llu are there%s", where,
                          shown, (unsigned long long)tensor.bytes, (unsigned long long)there,
                          tensor.bytes > there ? ": truncated" : "");
    *out = tensor;
    return INFRT_OK;
}

infrt_status infrt_npy_read(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error) {
    infrt_status status = infrt_npy_look(file, file.n, where, out, error);
    if (status == INFRT_OK) out->data = file.data + (file.n - out->bytes);
    return status;
}

size_t infrt_npy_header(uint32_t dtype, uint32_t rank, const int64_t *dims, char out[INFRT_NPY_HEADER]) {
    const char *descr = "V1";
    for (size_t i = 0; i < sizeof npy_dtypes / sizeof *npy_dtypes; i++)
        if (npy_dtypes[i].dtype == dtype) descr = npy_dtypes[i].descr;
    char *at = out + 10, *end = out + INFRT_NPY_HEADER;
    bool ordered = infrt_dtype_bytes(dtype) > 1 && dtype != INFC_DTYPE_bf16;
    at += snprintf(at, (size_t)(end - at), "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                   ordered ? '<' : '|', descr);
    for (uint32_t i = 0; i < rank; i++)
        at += snprintf(at, (size_t)(end - at), "%lld%s", (long long)dims[i],
                       rank == 1      ? ","
                       : i + 1 < rank ? ", "
                                      : "");
    at += snprintf(at, (size_t)(end - at), "), }");
    while ((at - out) % 64 != 63) *at++ = ' ';
    *at++ = '\n';
    size_t text = (size_t)(at - out) - 10;
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(text & 255);
    out[9] = (char)(text >> 8);
    return (size_t)(at - out);
}
