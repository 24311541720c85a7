/* ops_part.h - cutting and joining along axes, as several operators do. */
#ifndef INFC_ONNX_OPS_PART_H
#define INFC_ONNX_OPS_PART_H
#include "onnx_node.h"

typedef struct infc_onnx_part { /* the attributes of infc.slice */
    int rank;
    int64_t starts[INFC_MAX_RANK], steps[INFC_MAX_RANK], shape[INFC_MAX_RANK];
} infc_onnx_part;

void infc_onnx_part_all(const infc_type *type, infc_onnx_part *out);
/* The part, which must lie within x; x itself when it is all of it. `out` may be `x`. */
infc_status infc_onnx_part_of(infc_onnx_at *at, const infc_onnx_operand *x,
                              const infc_onnx_part *part, infc_onnx_operand *out);
/* One after the other along an axis; empty ones are left out. n >= 1. */
infc_status infc_onnx_join(infc_onnx_at *at, infc_onnx_operand *in, int n, int axis, infc_onnx_operand *out);

#endif
