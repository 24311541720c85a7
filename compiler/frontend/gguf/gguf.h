/* gguf.h - GGUF files, versions 2 and 3, little endian: typed key-value pairs, then tensors. Layout: the GGUF
 * specification of the ggml project. The bytes are borrowed. */
#ifndef INFC_GGUF_H
#define INFC_GGUF_H
#include "../llm/checkpoint.h"

typedef enum infc_gguf_type { /* as numbered in the file */
                              INFC_GGUF_u8,
                              INFC_GGUF_i8,
                              INFC_GGUF_u16,
                              INFC_GGUF_i16,
                              INFC_GGUF_u32,
                              INFC_GGUF_i32,
                              INFC_GGUF_f32,
                              INFC_GGUF_bool,
                              INFC_GGUF_string,
                              INFC_GGUF_array,
                              INFC_GGUF_u64,
                              INFC_GGUF_i64,
                              INFC_GGUF_f64,
                              INFC_GGUF_N_TYPES
} infc_gguf_type;

typedef struct infc_gguf_value {
    const char *key;
    infc_gguf_type type, element; /* of an array; never an array itself */
    uint64_t count;               /* elements of an array; 1 */
    infc_bytes bytes; /* a scalar's, a string's, or the array's elements one after another */
} infc_gguf_value;

typedef struct infc_gguf {
    const char *path;
    uint32_t version;
    infc_gguf_value *values;
    size_t n_values;
    infc_map index; /* of a key */
    infc_checkpoint tensors;
    size_t head_bytes; /* with the directory; then come zeros, and the data */
} infc_gguf;

/* Reads the whole directory of the file; every count is checked against what is left of it first. INFC_ERR_MODEL
 * when it is damaged, INFC_ERR_UNSUPPORTED for other versions, byte orders and tensor types. */
infc_status infc_gguf_read(infc_cx *cx, const char *path, infc_bytes file, infc_gguf *out);
/* The same of head_bytes alone: tensors have sizes, but no bytes (ptr null). */
infc_status infc_gguf_read_head(infc_cx *cx, const char *path, infc_bytes head, infc_gguf *out);

const infc_gguf_value *infc_gguf_find(const infc_gguf *gguf, const char *key); /* or null */
/* The value of an integer, float or bool scalar; false when there is none or it does not fit. */
bool infc_gguf_u64(const infc_gguf_value *value, uint64_t *out);
bool infc_gguf_f64(const infc_gguf_value *value, double *out);
/* A string scalar, copied; null when it is none, not UTF-8 or holds a NUL. */
const char *infc_gguf_text(infc_arena *arena, const infc_gguf_value *value);
/* Walks an array of strings: *rest begins as value->bytes. */
infc_bytes infc_gguf_next_string(infc_bytes *rest);

#endif
