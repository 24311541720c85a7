/* ops_quantize.h - what the operators on quantised tensors share. A quantised number q stands for (q - zero) * scale;
 * all of it is computed in f32 but for sums of products, which are exact in int32. */
#ifndef INFC_ONNX_OPS_QUANTIZE_H
#define INFC_ONNX_OPS_QUANTIZE_H
#include "onnx_node.h"

/* How a tensor is quantised: as f32, shaped to broadcast against it. */
typedef struct infc_onnx_grid {
    infc_onnx_operand scale, zero;
    bool has_zero;    /* false: all of them are 0 */
    infc_dtype dtype; /* of the zero point; none when it is left out */
} infc_onnx_grid;

/* Inputs `scale` and `zero` (either may be past the last one, which means left out) as the grid of a tensor of type x:
 * one value, or one per index of `axis`. */
infc_status infc_onnx_grid_read(infc_onnx_at *at, size_t scale, size_t zero, const infc_type *x,
                                int axis, infc_onnx_grid *out);
/* The zero point alone. */
infc_status infc_onnx_zero_read(infc_onnx_at *at, size_t zero, const infc_type *x, int axis, infc_onnx_grid *out);
/* A constant of zeros alone. */
bool infc_onnx_all_zero(const infc_onnx_operand *x);
/* Input i as a quantised tensor: i8 or u8, and not empty. */
infc_status infc_onnx_quantized(infc_onnx_at *at, size_t i, infc_onnx_operand *out);

/* q - zero in f32; times the scale. `out` may be `q`. */
infc_status infc_onnx_centre(infc_onnx_at *at, const infc_onnx_operand *q,
                             const infc_onnx_grid *grid, infc_onnx_operand *out);
infc_status infc_onnx_dequantize(infc_onnx_at *at, const infc_onnx_operand *q,
                                 const infc_onnx_grid *grid, infc_onnx_operand *out);
/* x / scale to the nearest whole number, half to even, plus zero, limited to dtype. */
infc_status infc_onnx_quantize(infc_onnx_at *at, const infc_onnx_operand *x,
                               const infc_onnx_grid *grid, infc_dtype dtype, infc_onnx_operand *out);
/* The same of a value that is divided by the scale already. */
infc_status infc_onnx_requantize(infc_onnx_at *at, const infc_onnx_operand *x,
                                 const infc_onnx_grid *grid, infc_dtype dtype, infc_onnx_operand *out);
/* u8 with a grid from its extremes, as DynamicQuantizeLinear. */
infc_status infc_onnx_quantize_dynamic(infc_onnx_at *at, const infc_onnx_operand *x,
                                       infc_onnx_operand *out, infc_onnx_grid *grid);

/* a * b of numpy's matmul in int32; grids give zero points. */
infc_status infc_onnx_integer_matmul(infc_onnx_at *at, const infc_onnx_operand *a, const infc_onnx_grid *a_grid,
                                     const infc_onnx_operand *b, const infc_onnx_grid *b_grid,
                                     const infc_onnx_operand *starts, infc_onnx_operand *out);
/* a.scale * b.scale. */
infc_status infc_onnx_scale_product(infc_onnx_at *at, const infc_onnx_grid *a,
                                    const infc_onnx_grid *b, infc_onnx_operand *out);

#endif
