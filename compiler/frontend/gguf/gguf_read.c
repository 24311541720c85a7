#include "gguf.h"
#include <stdio.h>
#include <string.h>

/* What is left of the file; `bad` sticks, and nothing is read after it. */
typedef struct reader {
    infc_cx *cx;
    infc_loc loc;
    const uint8_t *at, *end, *begin;
    bool bad, head_alone;
} reader;

enum {
    MAX_KEY = 256,
    MAX_VALUES = 1 << 20,
    MIN_VALUE_BYTES = 8 + 4 + 1,
    MIN_TENSOR_BYTES = 8 + 4 + 4 + 8,
    GGUF_MAX_RANK = 4
};

static const unsigned char scalar_bytes[INFC_GGUF_N_TYPES] = {
    [INFC_GGUF_u8] = 1,  [INFC_GGUF_i8] = 1,  [INFC_GGUF_u16] = 2, [INFC_GGUF_i16] = 2,
    [INFC_GGUF_u32] = 4, [INFC_GGUF_i32] = 4, [INFC_GGUF_f32] = 4, [INFC_GGUF_bool] = 1,
    [INFC_GGUF_u64] = 8, [INFC_GGUF_i64] = 8, [INFC_GGUF_f64] = 8,
};

static size_t left(const reader *r) { return (size_t)(r->end - r->at); }

static infc_status cut_off(reader *r, const char *what) {
    return infc_fail(r->cx, INFC_ERR_MODEL, r->loc,
                     "%s at byte %zu goes beyond the end of the file: it is cut off or damaged",
                     what, (size_t)(r->at - r->begin));
}

static infc_bytes take(reader *r, uint64_t n) {
    infc_bytes bytes = {r->at, (size_t)n};
    if (r->bad || n > left(r)) {
        r->bad = true;
        return (infc_bytes){0};
    }
    r->at += n;
    return bytes;
}

static uint64_t number(reader *r, size_t n) {
    infc_bytes bytes = take(r, n);
    return r->bad ? 0 : infc_little_endian(bytes.ptr, n);
}

static infc_bytes string(reader *r) {
    uint64_t n = number(r, 8);
    return take(r, n);
}

/* Names of keys and tensors: short text without NUL. Null, with the problem recorded, when it is not. */
static const char *name(reader *r, const char *what) {
    infc_bytes text = string(r);
    if (r->bad) {
        cut_off(r, what);
        return NULL;
    }
    if (text.len == 0 || text.len > MAX_KEY || memchr(text.ptr, 0, text.len) ||
        !infc_text_is_utf8((const char *)text.ptr, text.len)) {
        infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "%s before byte %zu is empty, longer than %d bytes or not text",
                  what, (size_t)(r->at - r->begin), MAX_KEY);
        return NULL;
    }
    return infc_arena_copy_string(r->cx->arena, (const char *)text.ptr, text.len);
}

static infc_status read_array(reader *r, infc_gguf_value *value) {
    uint32_t element = (uint32_t)number(r, 4);
    uint64_t count = number(r, 8), bytes;
    if (r->bad) return cut_off(r, "an array");
    if (element >= INFC_GGUF_N_TYPES || element == INFC_GGUF_array) {
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "key \"%s\": an array of type %u", value->key, element);
    }
    value->element = (infc_gguf_type)element;
    value->count = count;
    const uint8_t *begin = r->at;
    if (element != INFC_GGUF_string) {
        if (__builtin_mul_overflow(count, (uint64_t)scalar_bytes[element], &bytes)) r->bad = true;
        else take(r, bytes);
    } else {
        for (uint64_t i = 0; i < count && !r->bad; i++) string(r);
    }
    if (r->bad)
        return cut_off(r, infc_arena_printf(r->cx->arena, "the array of key \"%s\"", value->key));
    value->bytes = (infc_bytes){begin, (size_t)(r->at - begin)};
    return INFC_OK;
}

static infc_status read_value(reader *r, infc_gguf *out) {
    infc_gguf_value *value = &out->values[out->n_values];
    *value = (infc_gguf_value){.key = name(r, "a key"), .count = 1};
    if (!value->key) return INFC_ERR_MODEL;
    if (infc_map_find(&out->index, value->key, NULL))
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "key \"%s\" is there twice", value->key);
    uint32_t type = (uint32_t)number(r, 4);
    if (r->bad) return cut_off(r, infc_arena_printf(r->cx->arena, "key \"%s\"", value->key));
    if (type >= INFC_GGUF_N_TYPES)
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "key \"%s\" has the unknown type %u", value->key, type);
    value->type = (infc_gguf_type)type;
    if (type == INFC_GGUF_array) INFC_TRY(read_array(r, value));
    else value->bytes = type == INFC_GGUF_string ? string(r) : take(r, scalar_bytes[type]);
    if (r->bad)
        return cut_off(r, infc_arena_printf(r->cx->arena, "the value of key \"%s\"", value->key));
    infc_map_put(&out->index, value->key, out->n_values++);
    return INFC_OK;
}

static bool type_numbered(uint32_t number, infc_stored_type *out) {
    for (int i = 0; i < INFC_N_STORED_TYPES; i++) {
        if (infc_stored_types[i].gguf < 0 || (uint32_t)infc_stored_types[i].gguf != number)
            continue;
        *out = (infc_stored_type)i;
        return true;
    }
    return false;
}

/* One entry of the directory. Its bytes are known once the directory has been read: `offset` till then. */
static infc_status read_tensor(reader *r, const char *path, infc_stored_tensor *out, uint64_t *offset) {
    *out = (infc_stored_tensor){.name = name(r, "the name of a tensor"), .file = path};
    if (!out->name) return INFC_ERR_MODEL;
    uint32_t rank = (uint32_t)number(r, 4);
    if (!r->bad && (rank == 0 || rank > GGUF_MAX_RANK))
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tensor \"%s\" has %u dimensions; GGUF has 1 to %d",
                         out->name, rank, GGUF_MAX_RANK);
    out->rank = (int)rank;
    for (int i = out->rank; i-- > 0 && !r->bad;)
        out->dims[i] = number(r, 8); /* innermost first in the file */
    uint32_t type = (uint32_t)number(r, 4);
    *offset = number(r, 8);
    if (r->bad) return cut_off(r, infc_arena_printf(r->cx->arena, "tensor \"%s\"", out->name));
    if (!type_numbered(type, &out->type)) {
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         "tensor \"%s\" has type %u, which infc does not know", out->name, type);
    }
    return INFC_OK;
}

static infc_status alignment_of(reader *r, const infc_gguf *gguf, uint64_t *out) {
    const infc_gguf_value *value = infc_gguf_find(gguf, "general.alignment");
    *out = 32;
    if (!value) return INFC_OK;
    if (infc_gguf_u64(value, out) && *out >= 8 && *out <= 1 << 20 && (*out & (*out - 1)) == 0)
        return INFC_OK;
    return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "general.alignment must be a power of two from 8 to 1048576");
}

static infc_status read_tensors(reader *r, size_t n, infc_gguf *out) {
    infc_stored_tensor *tensors = INFC_NEW(r->cx->arena, infc_stored_tensor, n);
    uint64_t *offsets = INFC_NEW(r->cx->arena, uint64_t, n), alignment;
    for (size_t i = 0; i < n; i++) INFC_TRY(read_tensor(r, out->path, &tensors[i], &offsets[i]));
    INFC_TRY(alignment_of(r, out, &alignment));
    uint64_t data = ((uint64_t)(r->at - r->begin) + alignment - 1) / alignment * alignment;
    uint64_t size = r->head_alone ? UINT64_MAX : (uint64_t)(r->end - r->begin);
    out->head_bytes = (size_t)(r->at - r->begin);
    for (size_t i = 0; i < n; i++) {
        infc_stored_tensor *t = &tensors[i];
        uint64_t bytes, begin, end;
        if (!infc_stored_bytes(t->type, t->rank, t->dims, &bytes))
            bytes = 0; /* add says what is wrong with it */
        if (offsets[i] % alignment)
            return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tensor \"%s\": its offset %llu is no multiple of %llu",
                             t->name, (unsigned long long)offsets[i], (unsigned long long)alignment);
        if (__builtin_add_overflow(data, offsets[i], &begin) ||
            __builtin_add_overflow(begin, bytes, &end) || end > size)
            return infc_fail(r->cx, INFC_ERR_MODEL, r->loc,
                             "tensor \"%s\": %llu bytes at offset %llu go beyond the end of the "
                             "file (%llu bytes): it is cut off or damaged",
                             t->name, (unsigned long long)bytes, (unsigned long long)offsets[i],
                             (unsigned long long)size);
        t->bytes = (infc_bytes){r->head_alone ? NULL : r->begin + begin, (size_t)bytes};
        INFC_TRY(infc_checkpoint_add(r->cx, &out->tensors, *t));
    }
    return r->head_alone ? INFC_OK : infc_checkpoint_check_overlaps(r->cx, &out->tensors, out->path);
}

static infc_status read_head(reader *r, infc_gguf *out, uint64_t *n_tensors, uint64_t *n_values) {
    infc_bytes magic = take(r, 4);
    out->version = (uint32_t)number(r, 4);
    *n_tensors = number(r, 8);
    *n_values = number(r, 8);
    if (magic.len < 4 || memcmp(magic.ptr, "GGUF", 4) != 0)
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "not a GGUF file: it does not begin with GGUF");
    if (r->bad) return cut_off(r, "the header");
    if (out->version != 2 && out->version != 3) {
        bool big = out->version == 0x02000000 || out->version == 0x03000000;
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         big ? "big-endian GGUF is not read; convert the file to little endian"
                             : "GGUF version %u is not read, only 2 and 3; convert the file anew",
                         out->version);
    }
    if (*n_values > left(r) / MIN_VALUE_BYTES || *n_values > MAX_VALUES ||
        *n_tensors > left(r) / MIN_TENSOR_BYTES || *n_tensors > INFC_STORED_MAX_TENSORS)
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc,
                         "%llu keys and %llu tensors do not fit into a file of %zu bytes: it is "
                         "cut off or damaged",
                         (unsigned long long)*n_values, (unsigned long long)*n_tensors,
                         (size_t)(r->end - r->begin));
    return INFC_OK;
}

static infc_status read_all(reader *r, const char *path, infc_gguf *out) {
    uint64_t n_tensors, n_values;
    infc_arena *arena = r->cx->arena;
    *out = (infc_gguf){.path = path, .index = {.arena = arena}, .tensors = infc_checkpoint_empty(arena)};
    INFC_TRY(read_head(r, out, &n_tensors, &n_values));
    out->values = INFC_NEW(arena, infc_gguf_value, (size_t)n_values);
    for (uint64_t i = 0; i < n_values; i++) INFC_TRY(read_value(r, out));
    return read_tensors(r, (size_t)n_tensors, out);
}

infc_status infc_gguf_read(infc_cx *cx, const char *path, infc_bytes file, infc_gguf *out) {
    reader r = {.cx = cx, .loc = {.file = path}, .at = file.ptr, .begin = file.ptr, .end = file.ptr + file.len};
    return read_all(&r, path, out);
}

infc_status infc_gguf_read_head(infc_cx *cx, const char *path, infc_bytes head, infc_gguf *out) {
    reader r = {.cx = cx, .loc = {.file = path}, .at = head.ptr, .begin = head.ptr, .end = head.ptr + head.len};
    r.head_alone = true;
    return read_all(&r, path, out);
}
