/* dim_node.h - inside the expressions of dim.h: dim.c, dim_range.c, dim_text.c. */
#ifndef INFC_DIM_NODE_H
#define INFC_DIM_NODE_H
#include "../base/map.h"
#include "dim.h"

enum { INFC_DIM_MAX_TERMS = 24, INFC_DIM_MAX_ATOMS = 6, INFC_DIM_MAX_DEPTH = 12 };

/* A size divided by its step, or floor(over / by). */
typedef struct infc_dim_atom {
    infc_sizes *sizes;
    int size; /* -1: a floor */
    int64_t over, by;
    int depth;
    unsigned uses; /* bit i: depends on size i */
    int64_t least, most;
} infc_dim_atom;

typedef struct infc_dim_term {
    int64_t factor; /* not 0 */
    int n;
    const infc_dim_atom *atoms[INFC_DIM_MAX_ATOMS]; /* in order, 1 at least */
} infc_dim_term;

typedef struct infc_dim_node {
    infc_sizes *sizes;
    int64_t constant, least, most;
    unsigned uses;
    int n, depth;
    infc_dim_term terms[]; /* in order, 1 at least */
} infc_dim_node;

struct infc_sizes {
    infc_arena *arena;
    int n;
    infc_size items[INFC_MAX_SIZES];
    int64_t dims[INFC_MAX_SIZES];
    infc_map nodes; /* text -> address */
};

static inline const infc_dim_node *infc_dim_node_of(int64_t dim) {
    return (const infc_dim_node *)(uintptr_t)(dim - INT64_MIN); /* addresses are below 2^48 */
}

/* dim_range.c: sets least and most. */
void infc_dim_atom_range(infc_dim_atom *atom);
void infc_dim_node_range(infc_dim_node *node);

#endif
