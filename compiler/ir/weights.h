/* weights.h - the side table of constants: name, type, borrowed bytes, origin. `infc.weight {id}` refers to it. */
#ifndef INFC_WEIGHTS_H
#define INFC_WEIGHTS_H
#include "../base/map.h"
#include "type.h"

/* Changes with the layout of any packed weight, and with the format of .infw: what was packed with another, in the
 * cache or in an .infw file, is not taken. */
#define INFC_PACKED_VERSION "6"

typedef struct infc_weight {
    const char *name; /* as the model spells it, or of the op that was folded */
    infc_type type;   /* plain layout */
    const void *bytes; /* row-major, little-endian; borrowed: from the mapped model file or the arena; null: in a packed
                        * file, which has what recipes make of it */
    const char *origin; /* e.g. "initializer", "folded from /bn1" */
    const char *file;   /* that it stands in, for messages; null: the model's only one */
} infc_weight;

/* What a packed file (docs/infw.md) has instead of the bytes of matrices: what the emitter would make of them. */
typedef struct infc_packed {
    const char *file, *holds; /* "weights int4, calibrated on ...": for messages */
    infc_map index;           /* of a recipe's key (plan/plan_packed.c) */
    infc_bytes *items;
} infc_packed;

typedef struct infc_pack_entry { /* an entry of such a file */
    const char *name;
    infc_bytes bytes;
} infc_pack_entry;

typedef struct infc_weights {
    infc_arena *arena;
    infc_weight *items;
    size_t n, cap;
    const infc_packed *packed; /* or null */
} infc_weights;

/* Origins of weights that a packed file holds in this way, when they are no vectors. */
extern const char infc_origin_checkpoint[], infc_origin_chosen[];

/* Origin of matrices of an ONNX model that precision.float: fast made bf16. */
extern const char infc_origin_rounded[];

/* Origin of constants whose i64 elements may be open dims (dim.h). They are never in the table. */
extern const char infc_origin_dims[];
static inline bool infc_weight_has_dims(const infc_weight *weight) {
    return weight && weight->origin == infc_origin_dims;
}

int64_t infc_weights_add(infc_weights *weights, infc_weight weight);          /* the id */
const infc_weight *infc_weights_get(const infc_weights *weights, int64_t id); /* null when out of range */
/* The value of element i of a small constant as a double or integer. */
double infc_weight_f64(const infc_weight *weight, int64_t i);
int64_t infc_weight_i64(const infc_weight *weight, int64_t i);

#endif
