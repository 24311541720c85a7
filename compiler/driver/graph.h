/* graph.h - a model as boxes and arrows, for people: `infc inspect --graph`. One file per step. */
#ifndef INFC_GRAPH_H
#define INFC_GRAPH_H
#include "../ir/ir.h"

typedef enum infc_graph_class { /* decides the colour; a box that is several takes the first */
                                INFC_GRAPH_PORT, /* an input or output of the model */
                                INFC_GRAPH_PRODUCT,
                                INFC_GRAPH_NORM, /* norms, softmax, reductions, pools */
                                INFC_GRAPH_MAP,
                                INFC_GRAPH_MOVE,
                                INFC_GRAPH_N_CLASSES
} infc_graph_class;

typedef struct infc_graph_node {
    infc_graph_class class;
    const char *op;      /* "Conv"; of a fused kernel "conv + add + relu" */
    const char *name;    /* of the model's node, function or tensor; may be empty */
    const char *type;    /* of what it makes */
    const char *weights; /* its largest constant operand, "16x1x3x3 i8", or null */
    uint64_t flops;      /* at the largest sizes */
    size_t *from;        /* nodes before it that it reads, each once, in the order of operands */
    size_t n_from, cap_from;
} infc_graph_node;

typedef struct infc_graph_block { /* nodes [first, first + n) stand for `times` such runs, one after the other */
    size_t first, n, times;
} infc_graph_block;

typedef struct infc_graph {
    infc_arena *arena;
    infc_graph_node *nodes; /* each after those it reads */
    size_t n, cap;
    infc_graph_block *blocks; /* in order; they do not overlap */
    size_t n_blocks, cap_blocks;
    uint64_t flops;
} infc_graph;

/* graph_build.c: of the IR at any stage. Nodes of the model are one box each while `by_node`, then each op is one, and
 * functions of fused ops are one. What depends on constants alone is left out. */
void infc_graph_build(infc_ir *ir, bool by_node, infc_graph *out);

/* graph_fold.c: of runs of nodes that repeat, operators, types and arrows alike, the first stays. */
void infc_graph_fold(infc_graph *graph);
/* The block that node is of, or null. */
const infc_graph_block *infc_graph_block_of(const infc_graph *graph, size_t node);

/* graph_text.c: a line per node, with lines for the values that are alive beside it. */
void infc_graph_text(const infc_graph *graph, infc_buf *out);

/* "1.5 M"; empty for none. */
const char *infc_graph_flops(infc_arena *arena, uint64_t flops);

/* graph_layout.c: boxes in layers, arrows downwards through `bends` between them. */
typedef struct infc_graph_place {
    double x, y, width, height; /* the middle; the caller gives width and height */
} infc_graph_place;
typedef struct infc_graph_arrow {
    size_t from, to;
    const infc_graph_place *bends; /* points, from the top; width is 0 */
    size_t n_bends;
} infc_graph_arrow;
typedef struct infc_graph_layout {
    infc_graph_place *places; /* per node */
    infc_graph_arrow *arrows;
    size_t n_arrows;
    double width, height;
} infc_graph_layout;
enum { INFC_GRAPH_MAX_DRAWN = 3000 }; /* nodes */
void infc_graph_lay_out(const infc_graph *graph, infc_graph_layout *layout);

/* graph_svg.c: a picture that needs nothing but a browser. `title`: above it. */
void infc_graph_svg(const infc_graph *graph, const char *title, infc_buf *out);

/* graph_dot.c: for Graphviz. */
void infc_graph_dot(const infc_graph *graph, const char *title, infc_buf *out);

#endif
