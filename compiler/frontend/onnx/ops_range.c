/* Range: of constants and dims in onnx_const.c, of dims that were cast to f32 here. */
#include "onnx_node.h"
#include <math.h>

/* A whole number or a dim, of one f32; false for others. */
static bool whole(const infc_onnx_operand *x, int64_t *out) {
    enum { EXACT = 1 << 24 };
    *out = x->dim;
    if (infc_type_count(&x->type) != 1 || x->type.dtype != INFC_DTYPE_f32) return false;
    if (!x->constant) return x->dim != 0;
    const double value = infc_weight_f64(x->constant, 0);
    if (!(fabs(value) <= (double)EXACT) || value != trunc(value)) return false;
    *out = (int64_t)value;
    return true;
}

/* Of f32, where a dim was cast to it: the numbers are counted in int64. */
static infc_status float_range(infc_onnx_at *at, bool *done) {
    int64_t v[3];
    infc_onnx_operand y;
    *done = false;
    for (size_t i = 0; i < 3; i++) {
        if (!infc_onnx_has(at, i)) return INFC_OK;
        const infc_onnx_operand in = infc_onnx_any(at, i);
        if (!whole(&in, &v[i])) return INFC_OK;
    }
    if (infc_dim_open(v[2]) || v[2] == 0) return INFC_OK;
    INFC_TRY(infc_onnx_numbers_until(at, v[0], v[1], v[2], &y));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &y, &y));
    *done = true;
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_range(infc_onnx_at *at) {
    bool done;
    INFC_TRY(infc_onnx_fold(at, &done));
    if (!done) INFC_TRY(float_range(at, &done));
    if (done) return INFC_OK;
    return infc_onnx_refuse(at, "is supported for constants and dimensions, in fixed steps; an "
                                "input of this one is computed");
}
