/* Constant, and what hands its input on: Identity, Dropout. */
#include "onnx_import.h"
#include <string.h>

infc_status infc_onnx_import_identity(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    return infc_onnx_output(at, 0, &x);
}

infc_status infc_onnx_import_dropout(infc_onnx_at *at) {
    if (infc_onnx_output_used(at, 1))
        return infc_onnx_refuse(at, "output 1, the mask, is not supported");
    if (infc_onnx_has(at, 2)) {
        infc_onnx_operand training = infc_onnx_any(at, 2);
        if (!training.constant || infc_type_count(&training.type) != 1 ||
            infc_weight_i64(training.constant, 0) != 0)
            return infc_onnx_refuse(
                at, "training_mode must be a constant false; export the model for inference");
    }
    return infc_onnx_import_identity(at);
}

/* `n` elements; rank 0 when n < 0. */
static infc_weight made(infc_dtype dtype, const void *bytes, int64_t n) {
    infc_type type = {.dtype = dtype, .rank = n >= 0, .dims = {n >= 0 ? n : 0}};
    return (infc_weight){.type = type, .bytes = bytes};
}

static infc_status read_constant(infc_onnx_at *at, const infc_onnx_attribute *value, infc_weight *out) {
    if (strcmp(value->name, "value") == 0) {
        if (!value->tensor) return infc_onnx_invalid(at, "attribute \"value\" holds no tensor");
        return infc_onnx_tensor_read(&at->import->files, at->loc, value->tensor, false, out);
    }
    if (strcmp(value->name, "value_float") == 0) *out = made(INFC_DTYPE_f32, &value->f, -1);
    else if (strcmp(value->name, "value_int") == 0) *out = made(INFC_DTYPE_i64, &value->i, -1);
    else if (strcmp(value->name, "value_floats") == 0)
        *out = made(INFC_DTYPE_f32, value->floats, (int64_t)value->n_floats);
    else if (strcmp(value->name, "value_ints") == 0)
        *out = made(INFC_DTYPE_i64, value->ints, (int64_t)value->n_ints);
    else return infc_onnx_refuse(at, "attribute \"%s\" is not supported", value->name);
    return INFC_OK;
}

infc_status infc_onnx_import_constant(infc_onnx_at *at) {
    infc_weight *weight = INFC_NEW(at->arena, infc_weight, 1);
    if (at->node->n_attributes != 1 || at->node->n_outputs != 1)
        return infc_onnx_invalid(at, "needs one output and one attribute, the value");
    INFC_TRY(read_constant(at, &at->node->attributes[0], weight));
    weight->name = at->node->outputs[0];
    weight->origin = "constant";
    infc_onnx_operand x;
    INFC_TRY(infc_onnx_stored(at->import, weight, &x));
    return infc_onnx_output(at, 0, &x);
}
