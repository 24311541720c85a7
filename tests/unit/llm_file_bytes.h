/* llm_file_bytes.h - writes the bytes of GGUF and safetensors files as their specifications lay them out. */
#ifndef LLM_FILE_BYTES_H
#define LLM_FILE_BYTES_H
#include <string.h>
#include "compiler/base/buf.h"

static inline void put_number(infc_buf *out, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        infc_buf_put(out, &byte, 1);
    }
}

static inline void put_string(infc_buf *out, const char *text) {
    put_number(out, strlen(text), 8);
    infc_buf_puts(out, text);
}

static inline void put_head(infc_buf *out, uint32_t version, uint64_t n_tensors, uint64_t n_values) {
    infc_buf_puts(out, "GGUF");
    put_number(out, version, 4);
    put_number(out, n_tensors, 8);
    put_number(out, n_values, 8);
}

static inline void put_u32(infc_buf *out, const char *key, uint32_t value) {
    put_string(out, key);
    put_number(out, 4, 4);
    put_number(out, value, 4);
}

static inline void put_text(infc_buf *out, const char *key, const char *value) {
    put_string(out, key);
    put_number(out, 8, 4);
    put_string(out, value);
}

/* dims: innermost first, as in the file; 0 ends them. */
static inline void put_tensor(infc_buf *out, const char *name, const uint64_t *dims, uint32_t type,
                              uint64_t offset) {
    uint32_t rank = 0;
    while (rank < 4 && dims[rank]) rank++;
    put_string(out, name);
    put_number(out, rank, 4);
    for (uint32_t i = 0; i < rank; i++) put_number(out, dims[i], 8);
    put_number(out, type, 4);
    put_number(out, offset, 8);
}

static inline void put_data(infc_buf *out, size_t bytes) { /* padded to 32 first */
    while (out->len % 32) put_number(out, 0, 1);
    for (size_t i = 0; i < bytes; i++) put_number(out, i, 1);
}

#endif
