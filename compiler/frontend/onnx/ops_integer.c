/* Products and convolutions of quantised tensors, exact in int32: MatMulInteger, ConvInteger, QLinearMatMul and
 * QLinearConv, and those of com.microsoft. */
#include "ops_quantize.h"
#include "ops_window.h"
#include <string.h>

/* Less its zero point, in int16: what integer sums take on the left. */
static infc_status centred(infc_onnx_at *at, const infc_onnx_operand *q, const infc_onnx_grid *grid,
                           infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_centre(at, q, grid, out));
    return infc_onnx_convert(at, INFC_DTYPE_i16, out, out);
}

/* What they take on the right: int8 as it is where there is no zero point. */
static infc_status weight(infc_onnx_at *at, const infc_onnx_operand *q, const infc_onnx_grid *grid,
                          infc_onnx_operand *out) {
    *out = *q;
    return q->type.dtype == INFC_DTYPE_i8 && !grid->has_zero ? INFC_OK : centred(at, q, grid, out);
}

/* Packed, each output's sum starting at `starts`, or at 0. */
static infc_status packed(infc_onnx_at *at, const infc_onnx_operand *w, int64_t outputs,
                          const infc_onnx_operand *starts, infc_onnx_operand *out) {
    infc_onnx_operand in[2] = {*w};
    infc_type type = {.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {outputs}};
    static const int32_t zero = 0;
    if (starts) in[1] = *starts;
    else INFC_TRY(infc_onnx_filled(at, &type, &zero, &in[1]));
    return infc_onnx_build(at, INFC_OP_ipack, in, 2, NULL, 0, out);
}

static infc_status as_matrix(infc_onnx_at *at, bool row, infc_onnx_operand *x) {
    int64_t dims[2] = {row ? 1 : x->type.dims[0], row ? x->type.dims[0] : 1};
    return x->type.rank == 1 ? infc_onnx_view(at, x, dims, 2, x) : INFC_OK;
}

infc_status infc_onnx_integer_matmul(infc_onnx_at *at, const infc_onnx_operand *a, const infc_onnx_grid *a_grid,
                                     const infc_onnx_operand *b, const infc_onnx_grid *b_grid,
                                     const infc_onnx_operand *starts, infc_onnx_operand *out) {
    infc_onnx_operand in[2], w;
    infc_op_desc desc = {.kind = INFC_OP_matmul, .n_in = 2};
    infc_type product;
    if (a->type.rank < 1 || b->type.rank < 1)
        return infc_onnx_invalid(at, "an operand has no dimensions");
    INFC_TRY(centred(at, a, a_grid, &in[0]));
    INFC_TRY(weight(at, b, b_grid, &w));
    INFC_TRY(as_matrix(at, true, &in[0]));
    INFC_TRY(as_matrix(at, false, &w));
    desc.in[0] = in[0].type, desc.in[1] = w.type;
    desc.in[0].dtype = desc.in[1].dtype = INFC_DTYPE_f32;
    const char *wrong = infc_op_get(INFC_OP_matmul)->shape(at->arena, &desc, &product);
    if (wrong) return infc_onnx_refuse(at, "%s", wrong);
    if (w.type.rank > 3) {
        INFC_TRY(infc_onnx_merge_batch(at, &in[0]));
        INFC_TRY(infc_onnx_merge_batch(at, &w));
    }
    INFC_TRY(packed(at, &w, w.type.dims[w.type.rank - 1], starts, &in[1]));
    INFC_TRY(infc_onnx_build(at, INFC_OP_imatmul, in, 2, NULL, 0, out));
    int64_t dims[INFC_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < product.rank; i++) {
        bool added = (a->type.rank == 1 && i == product.rank - 2) ||
                     (b->type.rank == 1 && i == product.rank - 1);
        if (!added) dims[rank++] = product.dims[i];
    }
    return infc_onnx_view(at, out, dims, rank, out);
}

infc_status infc_onnx_scale_product(infc_onnx_at *at, const infc_onnx_grid *a,
                                    const infc_onnx_grid *b, infc_onnx_operand *out) {
    return infc_onnx_map2(at, "mul", a->scale, b->scale, out);
}

/* sum * (a.scale * b.scale / y.scale), rounded onto y's grid. */
static infc_status rescale(infc_onnx_at *at, const infc_onnx_operand *sum, const infc_onnx_operand *scales,
                           const infc_onnx_grid *grid, infc_onnx_operand *out) {
    infc_onnx_operand factor, product;
    for (int64_t k = 0; grid->scale.constant && k < infc_type_count(&grid->scale.type); k++)
        if (!(infc_weight_f64(grid->scale.constant, k) > 0))
            return infc_onnx_invalid(at, "the result's scale is 0; it must be a positive number");
    INFC_TRY(infc_onnx_map2(at, "div", *scales, grid->scale, &factor));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, sum, &product));
    INFC_TRY(infc_onnx_map2(at, "mul", product, factor, &product));
    return infc_onnx_requantize(at, &product, grid, grid->dtype, out);
}

static infc_status result_type(infc_onnx_at *at, const infc_onnx_grid *grid) {
    if (grid->dtype == INFC_DTYPE_i8 || grid->dtype == INFC_DTYPE_u8) return INFC_OK;
    return infc_onnx_invalid(at, "the result's zero point is %s; it must be i8 or u8",
                             grid->dtype ? infc_dtype_name(grid->dtype) : "missing");
}

/* A zero point must be of the type of what it belongs to. */
static infc_status same_type(infc_onnx_at *at, const char *what, const infc_onnx_operand *q,
                             const infc_onnx_grid *grid) {
    if (!grid->dtype || grid->dtype == q->type.dtype) return INFC_OK;
    return infc_onnx_invalid(at, "the zero point of %s is %s, but it is %s", what,
                             infc_dtype_name(grid->dtype), infc_dtype_name(q->type.dtype));
}

typedef struct factors {
    infc_onnx_operand a, b;
    infc_onnx_grid a_grid, b_grid;
} factors;

/* Inputs a and b; their zero points, or scales and zero points, at the given places (0: no scale). */
static infc_status read_factors(infc_onnx_at *at, const size_t places[6], factors *f) {
    memset(f, 0, sizeof *f);
    INFC_TRY(infc_onnx_quantized(at, places[0], &f->a));
    INFC_TRY(infc_onnx_quantized(at, places[3], &f->b));
    int row = f->a.type.rank - 2, column = f->b.type.rank - 1;
    if (places[1]) {
        INFC_TRY(infc_onnx_grid_read(at, places[1], places[2], &f->a.type, row, &f->a_grid));
        INFC_TRY(infc_onnx_grid_read(at, places[4], places[5], &f->b.type, column, &f->b_grid));
    } else {
        INFC_TRY(infc_onnx_zero_read(at, places[2], &f->a.type, row, &f->a_grid));
        INFC_TRY(infc_onnx_zero_read(at, places[5], &f->b.type, column, &f->b_grid));
    }
    INFC_TRY(same_type(at, "a", &f->a, &f->a_grid));
    return same_type(at, "b", &f->b, &f->b_grid);
}

infc_status infc_onnx_import_matmul_integer(infc_onnx_at *at) {
    static const size_t places[] = {0, 0, 2, 1, 0, 3};
    infc_onnx_operand y;
    factors f;
    INFC_TRY(read_factors(at, places, &f));
    INFC_TRY(infc_onnx_integer_matmul(at, &f.a, &f.a_grid, &f.b, &f.b_grid, NULL, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_qlinear_matmul(infc_onnx_at *at) {
    static const size_t places[] = {0, 1, 2, 3, 4, 5};
    infc_onnx_operand sum, scales, y;
    infc_onnx_grid grid;
    factors f;
    INFC_TRY(read_factors(at, places, &f));
    INFC_TRY(infc_onnx_integer_matmul(at, &f.a, &f.a_grid, &f.b, &f.b_grid, NULL, &sum));
    INFC_TRY(infc_onnx_grid_read(at, 6, 7, &sum.type, sum.type.rank - 2, &grid));
    INFC_TRY(result_type(at, &grid));
    INFC_TRY(infc_onnx_scale_product(at, &f.a_grid, &f.b_grid, &scales));
    INFC_TRY(rescale(at, &sum, &scales, &grid, &y));
    return infc_onnx_output(at, 0, &y);
}

/* sum * (a.scale * b.scale) + bias. */
static infc_status to_float(infc_onnx_at *at, const factors *f, size_t bias) {
    infc_onnx_operand scales, added, y;
    INFC_TRY(infc_onnx_integer_matmul(at, &f->a, &f->a_grid, &f->b, &f->b_grid, NULL, &y));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &y, &y));
    INFC_TRY(infc_onnx_scale_product(at, &f->a_grid, &f->b_grid, &scales));
    INFC_TRY(infc_onnx_map2(at, "mul", y, scales, &y));
    if (bias < at->node->n_inputs && infc_onnx_has(at, bias)) {
        INFC_TRY(infc_onnx_input(at, bias, &added));
        INFC_TRY(infc_onnx_map2(at, "add", y, added, &y));
    }
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_matmul_integer_to_float(infc_onnx_at *at) {
    static const size_t places[] = {0, 2, 4, 1, 3, 5};
    factors f;
    INFC_TRY(read_factors(at, places, &f));
    return to_float(at, &f, 6);
}

infc_status infc_onnx_import_dynamic_quantize_matmul(infc_onnx_at *at) {
    infc_onnx_operand x;
    factors f = {0};
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_quantized(at, 1, &f.b));
    INFC_TRY(infc_onnx_grid_read(at, 2, 3, &f.b.type, f.b.type.rank - 1, &f.b_grid));
    INFC_TRY(same_type(at, "b", &f.b, &f.b_grid));
    INFC_TRY(infc_onnx_quantize_dynamic(at, &x, &f.a, &f.a_grid));
    return to_float(at, &f, 4);
}

/* ---- convolutions ---------------------------------------------------------------------------------------- */

/* The sums of a convolution as an image; the zero point of w is one value or one per output channel. */
static infc_status convolve(infc_onnx_at *at, factors *f, const infc_onnx_operand *starts,
                            infc_onnx_operand *out) {
    infc_onnx_operand in[2];
    infc_onnx_window window;
    int spatial = f->a.type.rank - 2;
    int64_t outputs = f->b.type.dims[0];
    INFC_TRY(centred(at, &f->a, &f->a_grid, &in[0]));
    INFC_TRY(weight(at, &f->b, &f->b_grid, &f->b));
    INFC_TRY(infc_onnx_image(at, &in[0], &in[0]));
    INFC_TRY(infc_onnx_image(at, &f->b, &f->b));
    INFC_TRY(infc_onnx_window_read(at, &in[0].type, spatial, &f->b.type.dims[2], &window));
    INFC_TRY(packed(at, &f->b, outputs, starts, &in[1]));
    infc_attr attrs[] = {
        infc_attr_ints("strides", window.strides, 2),
        infc_attr_ints("pads", window.pads, 4),
        infc_attr_ints("dilations", window.dilations, 2),
        infc_attr_int("groups", infc_onnx_attr_int(at, "group", 1)),
    };
    return infc_onnx_build(at, INFC_OP_iconv, in, 2, attrs, 4, out);
}

static infc_status same_rank(infc_onnx_at *at, const factors *f) {
    if (f->a.type.rank == f->b.type.rank) return INFC_OK;
    return infc_onnx_invalid(at, "the input is %s, the weight %s", infc_type_text(at->arena, &f->a.type),
                             infc_type_text(at->arena, &f->b.type));
}

infc_status infc_onnx_import_conv_integer(infc_onnx_at *at) {
    infc_onnx_operand y;
    factors f = {0};
    INFC_TRY(infc_onnx_quantized(at, 0, &f.a));
    INFC_TRY(infc_onnx_quantized(at, 1, &f.b));
    INFC_TRY(same_rank(at, &f));
    INFC_TRY(infc_onnx_zero_read(at, 2, &f.a.type, -1, &f.a_grid));
    INFC_TRY(infc_onnx_zero_read(at, 3, &f.b.type, 0, &f.b_grid));
    INFC_TRY(same_type(at, "x", &f.a, &f.a_grid));
    INFC_TRY(same_type(at, "w", &f.b, &f.b_grid));
    INFC_TRY(convolve(at, &f, NULL, &y));
    return infc_onnx_image_output(at, &y, infc_onnx_any(at, 0).type.rank - 2);
}

static infc_status read_starts(infc_onnx_at *at, size_t i, int64_t outputs, infc_onnx_operand *out) {
    *out = infc_onnx_any(at, i);
    if (out->type.dtype == INFC_DTYPE_i32 && out->type.rank == 1 && out->type.dims[0] == outputs)
        return INFC_OK;
    return infc_onnx_invalid(at, "the bias is %s; i32[%lld] is needed",
                             infc_type_text(at->arena, &out->type), (long long)outputs);
}

infc_status infc_onnx_import_qlinear_conv(infc_onnx_at *at) {
    infc_onnx_operand starts, sum, scales, y;
    infc_onnx_grid grid;
    factors f = {0};
    INFC_TRY(infc_onnx_quantized(at, 0, &f.a));
    INFC_TRY(infc_onnx_quantized(at, 3, &f.b));
    INFC_TRY(same_rank(at, &f));
    INFC_TRY(infc_onnx_grid_read(at, 1, 2, &f.a.type, -1, &f.a_grid));
    INFC_TRY(infc_onnx_grid_read(at, 4, 5, &f.b.type, 0, &f.b_grid));
    INFC_TRY(same_type(at, "x", &f.a, &f.a_grid));
    INFC_TRY(same_type(at, "w", &f.b, &f.b_grid));
    INFC_TRY(infc_onnx_grid_read(at, 6, 7, &f.a.type, -1, &grid));
    INFC_TRY(result_type(at, &grid));
    bool biased = at->node->n_inputs > 8 && infc_onnx_has(at, 8);
    if (biased) INFC_TRY(read_starts(at, 8, f.b.type.dims[0], &starts));
    int64_t per_output = infc_type_count(&f.b_grid.scale.type);
    INFC_TRY(convolve(at, &f, biased ? &starts : NULL, &sum));
    INFC_TRY(infc_onnx_scale_product(at, &f.a_grid, &f.b_grid, &scales));
    if (per_output > 1) {
        const int64_t dims[3] = {per_output, 1, 1};
        INFC_TRY(infc_onnx_view(at, &scales, dims, 3, &scales));
    }
    INFC_TRY(rescale(at, &sum, &scales, &grid, &y));
    return infc_onnx_image_output(at, &y, infc_onnx_any(at, 0).type.rank - 2);
}

/* alpha * (a - za) * (b - zb) + c in int32; y's grid is optional: without it the result is f32. */
infc_status infc_onnx_import_qgemm(infc_onnx_at *at) {
    static const size_t places[] = {0, 1, 2, 3, 4, 5};
    static const int64_t swapped[] = {1, 0};
    infc_onnx_operand starts, sum, scales, y;
    infc_onnx_grid grid;
    factors f;
    INFC_TRY(read_factors(at, places, &f));
    if (infc_type_count(&f.a_grid.scale.type) != 1 || infc_onnx_attr_int(at, "transB", 0))
        if (f.b_grid.scale.type.rank > 0)
            return infc_onnx_refuse(at, "scales per row of a, or per column of a transposed b");
    if (f.a.type.rank != 2 || f.b.type.rank != 2)
        return infc_onnx_invalid(at, "a and b must be matrices");
    if (infc_onnx_attr_int(at, "transA", 0)) INFC_TRY(infc_onnx_permute(at, &f.a, swapped, &f.a));
    if (infc_onnx_attr_int(at, "transB", 0)) INFC_TRY(infc_onnx_permute(at, &f.b, swapped, &f.b));
    bool biased = at->node->n_inputs > 6 && infc_onnx_has(at, 6);
    if (biased) INFC_TRY(read_starts(at, 6, f.b.type.dims[1], &starts));
    INFC_TRY(infc_onnx_integer_matmul(at, &f.a, &f.a_grid, &f.b, &f.b_grid, biased ? &starts : NULL, &sum));
    infc_onnx_operand alpha = infc_onnx_scalar(at, "alpha", infc_onnx_attr_float(at, "alpha", 1.0f));
    INFC_TRY(infc_onnx_scale_product(at, &f.a_grid, &f.b_grid, &scales));
    INFC_TRY(infc_onnx_map2(at, "mul", scales, alpha, &scales));
    if (at->node->n_inputs > 7 && infc_onnx_has(at, 7)) {
        INFC_TRY(infc_onnx_grid_read(at, 7, 8, &sum.type, -1, &grid));
        INFC_TRY(result_type(at, &grid));
        INFC_TRY(rescale(at, &sum, &scales, &grid, &y));
        return infc_onnx_output(at, 0, &y);
    }
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &sum, &y));
    INFC_TRY(infc_onnx_map2(at, "mul", y, scales, &y));
    return infc_onnx_output(at, 0, &y);
}
