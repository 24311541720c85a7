/* onnx_import.h - an ONNX model as IR. */
#ifndef INFC_ONNX_IMPORT_H
#define INFC_ONNX_IMPORT_H
#include "../spec.h"
#include "onnx_graph.h"
#include "onnx_node.h"
#include "onnx_tensor.h"

/* Reads the model file that the spec names; it stays mapped until the arena of cx goes. Problems are collected. */
infc_status infc_onnx_read_file(infc_cx *cx, const infc_spec *spec, infc_ir *out);
/* The same for bytes that outlive the arena of cx. `path`: for messages, and to find external data beside it; or
 * null, then external data is refused. */
infc_status infc_onnx_read_bytes(infc_cx *cx, const infc_spec *spec, infc_bytes model,
                                 const char *path, infc_ir *out);

/* ---- inside the importer --------------------------------------------------------------------------------- */
typedef struct infc_onnx_import {
    infc_cx *cx;
    const infc_spec *spec;
    const char *path;
    infc_onnx_model model;
    infc_onnx_net net;
    infc_onnx_files files;
    int64_t opset;
    const infc_onnx_op **ops; /* per node: its line; null when it was refused */
    infc_ir *ir;
    MlirBlock block;
    infc_onnx_operand *operands; /* per value of net */
    bool *ready; /* per value: its operand is set; else it failed or waits for one that did */
    uint64_t folded_bytes; /* of constants computed so far */
    uint64_t folded_work;  /* operations that it took, as infc_eval_work counts them */
    infc_map size_of;      /* binding of the spec -> size */
    infc_map placed;       /* bytes and type of a constant -> index of weights */
    infc_map top_names;    /* values of the main graph */
    infc_map inner_names;  /* values of sub-graphs -> how many had the name so far */
    int depth;             /* of the sub-graph that is built; 0: the main graph */
    MlirValue *weights;    /* infc.weight ops */
    size_t n_weights, cap_weights;
    const infc_weight *numbers[24]; /* onnx_open.c: by bits, once used */
} infc_onnx_import;

/* onnx_inputs.c: the graph's inputs with their dims bound by the spec. Inputs that fail are left not ready and
 * get no port; the caller must not go on to finish @main then. */
infc_status infc_onnx_inputs_bind(infc_onnx_import *import, infc_ir_port **out_ports, size_t *out_n);
/* Dims that the spec binds and the model does not have. */
infc_status infc_onnx_inputs_check_unused(infc_onnx_import *import);
/* The value that the spec gives dimension `param`, or 0. */
int64_t infc_onnx_bound_dim(const infc_onnx_import *import, const char *param);
/* onnx_embedding.c: what the spec makes of output `name` when it is an embedding; others stay as they are. */
infc_status infc_onnx_embedding(infc_onnx_import *import, const char *name, infc_onnx_operand *output);
/* Embeddings of outputs that the model does not have. */
void infc_onnx_embeddings_check_unused(infc_onnx_import *import);
/* onnx_classes.c: whether the model makes confidences of output `name`, value `id`, when it is classes. */
infc_status infc_onnx_classes(infc_onnx_import *import, const char *name, size_t id);
/* Builds a sub-graph's nodes where `at` stands; `inputs` and `outputs`: as many as the graph has. */
infc_status infc_onnx_import_subgraph(infc_onnx_at *at, const infc_onnx_graph *graph,
                                      const infc_onnx_operand *inputs, infc_onnx_operand *outputs);
/* onnx_open.c: a constant of i32 as i64; others as they are. */
infc_onnx_operand infc_onnx_widened(const infc_onnx_at *at, const infc_onnx_operand *in);
/* What the model stores, as an operand: a constant, or f32 that is computed, when the payload is written, from a weight
 * that is kept as halves. */
infc_status infc_onnx_stored(infc_onnx_import *import, const infc_weight *weight, infc_onnx_operand *out);
/* The operand as a value of the IR: a constant gets its infc.weight. */
MlirValue infc_onnx_value_of(infc_onnx_import *import, const infc_onnx_operand *operand);
/* Compares an inferred type with a declaration: "declared [1,10], computed [1,12]". */
infc_status infc_onnx_declared_check(infc_onnx_import *import, infc_loc loc,
                                     const infc_onnx_value_info *declared, const infc_type *type);

#endif
