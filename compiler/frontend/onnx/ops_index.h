/* ops_index.h - what operators that compute with indices share; all of it in i64. */
#ifndef INFC_ONNX_OPS_INDEX_H
#define INFC_ONNX_OPS_INDEX_H
#include "onnx_node.h"

/* Negative indices count from the end of `dim` elements. */
infc_status infc_onnx_wrap(infc_onnx_at *at, infc_onnx_operand index, int64_t dim, infc_onnx_operand *out);
/* Indices that are constant must lie in [-dim, dim), whatever size it has. */
infc_status infc_onnx_indices_known(infc_onnx_at *at, const infc_onnx_operand *index, int64_t dim);
/* Input 1 as i64; and with as many dims as x, with the node's axis. */
infc_status infc_onnx_indices(infc_onnx_at *at, infc_onnx_operand *out);
infc_status infc_onnx_element_indices(infc_onnx_at *at, const infc_type *x, infc_onnx_operand *out, int *axis);
/* Which of x's elements, counted in row-major order, [i][index[i][j][k]][k] is, for axis 1, and alike; and these. */
infc_status infc_onnx_element_rows(infc_onnx_at *at, const infc_type *x,
                                   const infc_onnx_operand *index, int axis, infc_onnx_operand *out);
infc_status infc_onnx_elements_at(infc_onnx_at *at, const infc_onnx_operand *x,
                                  const infc_onnx_operand *index, int axis, infc_onnx_operand *out);
/* Of the tuples [.., m] of `index`: which of x's rows each names, where the first `batch` dims of both run in step and
 * the next m of x make the rows. Tuples out of range give *out_rows, the number of rows. */
infc_status infc_onnx_tuple_rows(infc_onnx_at *at, const infc_type *x, int batch,
                                 const infc_onnx_operand *index, int64_t *out_rows, infc_onnx_operand *out);
/* Whether each place 0 .. depth - 1 of a new axis is the index; bool. */
infc_status infc_onnx_one_hot(infc_onnx_at *at, infc_onnx_operand index, int64_t depth, int axis,
                              infc_onnx_operand *out);

#endif
