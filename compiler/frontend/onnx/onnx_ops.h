/* onnx_ops.h - the table of operators (onnx_ops.def): looking up, and checking a node against its line. */
#ifndef INFC_ONNX_OPS_H
#define INFC_ONNX_OPS_H
#include "onnx_model.h"

enum {
    INFC_ONNX_OLDEST_OPSET = 7,
    INFC_ONNX_NEWEST_OPSET = 28,
    INFC_ONNX_NEWEST_IR = 14,
    INFC_ONNX_MAX_VARIADIC = 256,
};

struct infc_onnx_at; /* onnx_node.h */

typedef struct infc_onnx_op {
    const char *domain; /* "", "com.microsoft" */
    const char *name;
    int since, until; /* opsets of this signature, both inclusive */
    int min_inputs, max_inputs, max_outputs;
    const char *attributes; /* "auto_pad:str group:int" */
    infc_status (*import)(struct infc_onnx_at *at);
    const char *note; /* limits in words; "" for none */
} infc_onnx_op;

size_t infc_onnx_op_count(void);
const infc_onnx_op *infc_onnx_op_at(size_t i); /* by domain, name, opset */
/* The line for an opset, or null. */
const infc_onnx_op *infc_onnx_op_find(const char *domain, const char *name, int64_t opset);

/* onnx_dims.c: whether an operator, of either domain, takes dimensions that are known only at run time. */
bool infc_onnx_takes_open(const char *op);

/* Counts of inputs and outputs; attributes known, of their kind, given once. Records every problem. */
infc_status infc_onnx_op_check(infc_cx *cx, infc_loc loc, const infc_onnx_op *op,
                               const infc_onnx_node *node, int64_t opset);

#endif
