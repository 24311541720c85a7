/* checkpoint.h - the named tensors of a language model as its files store them: GGUF, or safetensors in one or more
 * files. Bytes are borrowed from the mapped files; every span has been checked against its file. */
#ifndef INFC_CHECKPOINT_H
#define INFC_CHECKPOINT_H
#include "../../base/cx.h"
#include "../../base/map.h"

typedef enum infc_stored_type {
#define INFC_STORED(name, gguf, safetensors, per_block, block_bytes) INFC_STORED_##name,
#include "stored_types.def"
#undef INFC_STORED
    INFC_N_STORED_TYPES
} infc_stored_type;

typedef struct infc_stored_facts {
    const char *name, *safetensors;
    int gguf;
    unsigned per_block, block_bytes;
} infc_stored_facts;
extern const infc_stored_facts infc_stored_types[INFC_N_STORED_TYPES];

enum { INFC_STORED_MAX_RANK = 8, INFC_STORED_MAX_NAME = 256, INFC_STORED_MAX_TENSORS = 1 << 20 };

typedef struct infc_stored_tensor {
    const char *name;
    infc_stored_type type;
    int rank;
    uint64_t dims[INFC_STORED_MAX_RANK]; /* outermost first, as safetensors has them */
    infc_bytes bytes;
    const char *file;
} infc_stored_tensor;

typedef struct infc_checkpoint {
    infc_stored_tensor *tensors; /* in the order of the files */
    size_t n, cap;
    infc_map index; /* of a name */
} infc_checkpoint;

/* Bytes of such a tensor; false on overflow or when the innermost dimension is no multiple of a block. */
bool infc_stored_bytes(infc_stored_type type, int rank, const uint64_t *dims, uint64_t *out);
uint64_t infc_stored_count(const infc_stored_tensor *tensor); /* elements */
const char *infc_stored_type_text(infc_arena *arena, const infc_stored_tensor *tensor); /* "Q4_1[576,1536]" */

infc_checkpoint infc_checkpoint_empty(infc_arena *arena);
/* INFC_ERR_MODEL for a second tensor of that name, a name that is empty, long or not printable, or bytes that are not
 * as many as type and dims need. The name is copied. */
infc_status infc_checkpoint_add(infc_cx *cx, infc_checkpoint *checkpoint, infc_stored_tensor tensor);
/* No two tensors of `file` may share a byte. */
infc_status infc_checkpoint_check_overlaps(infc_cx *cx, const infc_checkpoint *checkpoint, const char *file);
const infc_stored_tensor *infc_checkpoint_find(const infc_checkpoint *checkpoint, const char *name); /* or null */

#endif
