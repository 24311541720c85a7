/* weights.h - the side table of constants: name, type, borrowed bytes, origin. `infc.weight {id}` refers to it. */
#ifndef INFC_WEIGHTS_H
#define INFC_WEIGHTS_H
#include "type.h"

typedef struct infc_weight {
    const char *name; /* as the model spells it, or of the op that was folded */
    infc_type type;   /* plain layout */
    const void *bytes; /* row-major, little-endian; borrowed: from the mapped model file or the arena */
    const char *origin; /* e.g. "initializer", "folded from /bn1" */
} infc_weight;

typedef struct infc_weights {
    infc_arena *arena;
    infc_weight *items;
    size_t n, cap;
} infc_weights;

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
