/* onnx_model.h - the parts of onnx.proto that the importer reads, as plain structs on the arena of cx. Names are
 * NUL-terminated copies; tensor data and string attributes are borrowed from the model's bytes. */
#ifndef INFC_ONNX_MODEL_H
#define INFC_ONNX_MODEL_H
#include "../../base/cx.h"
#include "../../base/dtype.h"

/* More than these is refused before anything is allocated for it. */
enum {
    INFC_ONNX_MAX_NODES = 1000000,
    INFC_ONNX_MAX_ITEMS = 4000000, /* nodes, attributes, tensors, names and dims of one model together */
    INFC_ONNX_MAX_ATTRIBUTES = 256, /* of one node */
    INFC_ONNX_MAX_NAME = 16384,
    INFC_ONNX_MAX_NESTED = 16, /* sub-graphs within each other */
};
#define INFC_ONNX_MAX_FILE ((size_t)0x7fffffff) /* protobuf's own limit */

typedef struct infc_onnx_tensor {
    const char *name;
    int32_t data_type;
    size_t rank; /* as written: may exceed INFC_MAX_RANK, then dims holds the first ones */
    int64_t dims[INFC_MAX_RANK];
    infc_bytes body; /* the whole message; typed data is decoded from it when it is needed */
    infc_bytes raw;
    bool has_raw, external, segmented;
    const char *location, *offset, *length, *checksum; /* external_data, as written; null when absent */
} infc_onnx_tensor;

typedef enum infc_onnx_attribute_type { /* AttributeProto.AttributeType */
                                        INFC_ONNX_FLOAT = 1,
                                        INFC_ONNX_INT = 2,
                                        INFC_ONNX_STRING = 3,
                                        INFC_ONNX_TENSOR = 4,
                                        INFC_ONNX_GRAPH = 5,
                                        INFC_ONNX_FLOATS = 6,
                                        INFC_ONNX_INTS = 7,
                                        INFC_ONNX_STRINGS = 8,
                                        INFC_ONNX_GRAPHS = 10,
                                        INFC_ONNX_SPARSE = 11,
} infc_onnx_attribute_type;

typedef struct infc_onnx_attribute {
    const char *name;
    const char *ref_name; /* of a function's parameter, or null */
    int32_t type;         /* infc_onnx_attribute_type, or another number of the format */
    float f;
    int64_t i;
    infc_bytes s;
    infc_onnx_tensor *tensor;
    struct infc_onnx_graph *graph;
    int64_t *ints;
    float *floats;
    infc_bytes *strings;
    size_t n_ints, n_floats, n_strings;
} infc_onnx_attribute;

typedef struct infc_onnx_node {
    const char *name;        /* never empty: an unnamed node goes by its first output */
    const char *op, *domain; /* domain: "" for ONNX's own */
    const char *overload;    /* which of the model's functions of that name; "" but for those */
    const char **inputs, **outputs; /* "" where an optional one is left out */
    infc_onnx_attribute *attributes;
    size_t n_inputs, n_outputs, n_attributes;
    size_t n_captured; /* names that its sub-graphs read from outside; they stand in `inputs` behind the inputs */
} infc_onnx_node;

typedef struct infc_onnx_dim {
    int64_t value;     /* meaningful when has_value */
    const char *param; /* or null */
    bool has_value;
} infc_onnx_dim;

typedef struct infc_onnx_value_info {
    const char *name;
    bool is_tensor, has_type, has_shape;
    int32_t elem_type;
    size_t rank; /* as written: may exceed INFC_MAX_RANK */
    infc_onnx_dim dims[INFC_MAX_RANK];
} infc_onnx_value_info;

typedef struct infc_onnx_named { /* an opset import */
    const char *domain;
    int64_t version;
} infc_onnx_named;

typedef struct infc_onnx_graph {
    infc_onnx_node *nodes;
    infc_onnx_tensor *initializers;
    infc_onnx_value_info *inputs, *outputs, *infos;
    size_t n_nodes, n_initializers, n_inputs, n_outputs, n_infos;
    size_t n_sparse, n_quantization;
} infc_onnx_graph;

typedef struct infc_onnx_function { /* of the model; attributes without a default need no declaration */
    const char *domain, *name, *overload;
    const char **inputs, **outputs;
    infc_onnx_node *nodes;
    infc_onnx_attribute *defaults;
    infc_onnx_named *opsets;
    size_t n_inputs, n_outputs, n_nodes, n_defaults, n_opsets;
} infc_onnx_function;

typedef struct infc_onnx_model {
    int64_t ir_version;
    infc_onnx_named *opsets;
    infc_onnx_function *functions;
    size_t n_opsets, n_functions, n_training;
    bool has_graph;
    infc_onnx_graph graph;
} infc_onnx_model;

/* Reads a ModelProto; the first thing that is not well-formed ends it. `path` is for messages. */
infc_status infc_onnx_model_parse(infc_cx *cx, const char *path, infc_bytes bytes, infc_onnx_model *out);

#endif
