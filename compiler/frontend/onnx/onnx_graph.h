/* onnx_graph.h - a model's graph with its names resolved: what each name is, which nodes matter, in which
 * order they run. */
#ifndef INFC_ONNX_GRAPH_H
#define INFC_ONNX_GRAPH_H
#include "../../base/map.h"
#include "onnx_model.h"

#define INFC_ONNX_ABSENT SIZE_MAX /* an optional input or output that is left out */

typedef enum infc_onnx_origin {
    INFC_ONNX_FROM_INPUT,       /* index: graph input */
    INFC_ONNX_FROM_INITIALIZER, /* index: initializer, also when an input of that name is declared */
    INFC_ONNX_FROM_NODE,        /* index: node */
    INFC_ONNX_FROM_OUTSIDE,     /* of a sub-graph; index: value of the net around it */
} infc_onnx_origin;

typedef struct infc_onnx_value {
    const char *name;
    infc_onnx_origin origin;
    size_t index;
    bool used;                            /* by a node that matters, or as a graph output */
    const infc_onnx_value_info *declared; /* input or value_info of this name, or null */
} infc_onnx_value;

typedef struct infc_onnx_net {
    const infc_onnx_graph *graph;
    infc_map names; /* -> values */
    infc_onnx_value *values;
    size_t n_values, cap_values;
    size_t **node_inputs, **node_outputs; /* per node: value ids or INFC_ONNX_ABSENT */
    size_t *outputs;                      /* of the graph: value ids */
    bool *live;                           /* per node: a graph output depends on it */
    size_t *order, n_order; /* live nodes, each after those it reads; file order where that is one */
} infc_onnx_net;

/* Collects: names defined twice, inputs that nothing produces, cycles (each named once), no outputs. Nodes that
 * no output depends on are left out with one warning. Fails when anything was found. */
/* `outside`: of a sub-graph, the net of the node that holds it; names it does not define are looked up there. */
infc_status infc_onnx_net_build(infc_cx *cx, const char *path, const infc_onnx_graph *graph,
                                const infc_onnx_net *outside, infc_onnx_net *out);
/* Inputs of a node, and what its sub-graphs read: as many as node_inputs has. */
size_t infc_onnx_n_reads(const infc_onnx_node *node);

/* `node "name" (Op)` of the model file. */
infc_loc infc_onnx_node_loc(infc_cx *cx, const char *path, const infc_onnx_graph *graph, size_t node);

#endif
