/* onnx_tensor.h - constants of a model as weights: types, shapes, bytes. */
#ifndef INFC_ONNX_TENSOR_H
#define INFC_ONNX_TENSOR_H
#include "../../ir/weights.h"
#include "onnx_load.h"

/* TensorProto.DataType: what it is computed in, f32 for float16 and bfloat16; how its values are stored; both
 * INFC_DTYPE_NONE where there is none; and how ONNX calls it. */
infc_dtype infc_onnx_dtype(int64_t data_type);
infc_dtype infc_onnx_stored_dtype(int64_t data_type);
const char *infc_onnx_type_name(infc_arena *arena, int32_t data_type); /* "float16", "type 77 (unknown)" */

/* Checks type, shape and data, and borrows the bytes from the model or its external data where they lie as they
 * should; values that protobuf spreads over varints, those of four bits and half floats, which become f32, are decoded
 * onto the arena; halves of 64 KiB and more stay halves. Zero-size dims are allowed.
 * Fills type, bytes and name; the rest of *out is the caller's. `dequantized`: DequantizeLinear alone reads it, so that
 * int4 may become i8, and uint4 u8. */
infc_status infc_onnx_tensor_read(infc_onnx_files *files, infc_loc loc,
                                  const infc_onnx_tensor *tensor, bool dequantized, infc_weight *out);

#endif
