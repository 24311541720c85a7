#include "gguf.h"
#include <string.h>

const infc_gguf_value *infc_gguf_find(const infc_gguf *gguf, const char *key) {
    size_t i;
    return infc_map_find(&gguf->index, key, &i) ? &gguf->values[i] : NULL;
}

static uint64_t raw(const infc_gguf_value *value) {
    return infc_little_endian(value->bytes.ptr, value->bytes.len);
}

static bool is_signed(infc_gguf_type type) {
    return type == INFC_GGUF_i8 || type == INFC_GGUF_i16 || type == INFC_GGUF_i32 || type == INFC_GGUF_i64;
}

bool infc_gguf_u64(const infc_gguf_value *value, uint64_t *out) {
    if (!value) return false;
    switch (value->type) {
    case INFC_GGUF_f32:
    case INFC_GGUF_f64:
    case INFC_GGUF_string:
    case INFC_GGUF_array:
    case INFC_GGUF_N_TYPES: return false;
    default: *out = raw(value);
    }
    return !is_signed(value->type) || !(value->bytes.ptr[value->bytes.len - 1] & 0x80);
}

bool infc_gguf_f64(const infc_gguf_value *value, double *out) {
    uint64_t number;
    if (infc_gguf_u64(value, &number)) {
        *out = (double)number;
        return true;
    }
    if (value && value->type == INFC_GGUF_f32) {
        uint32_t bits = (uint32_t)raw(value);
        float f;
        memcpy(&f, &bits, sizeof f);
        *out = (double)f;
        return true;
    }
    if (!value || value->type != INFC_GGUF_f64) return false;
    uint64_t bits = raw(value);
    memcpy(out, &bits, sizeof *out);
    return true;
}

const char *infc_gguf_text(infc_arena *arena, const infc_gguf_value *value) {
    if (!value || value->type != INFC_GGUF_string) return NULL;
    const char *text = (const char *)value->bytes.ptr;
    if (memchr(text, 0, value->bytes.len) || !infc_text_is_utf8(text, value->bytes.len))
        return NULL;
    return infc_arena_copy_string(arena, text, value->bytes.len);
}

infc_bytes infc_gguf_next_string(infc_bytes *rest) {
    infc_bytes text = {rest->ptr + 8, (size_t)infc_little_endian(rest->ptr, 8)};
    rest->ptr += 8 + text.len;
    rest->len -= 8 + text.len;
    return text;
}
