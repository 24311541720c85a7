/* BatchNormalization in inference: s = scale / sqrt(var + epsilon), t = bias - mean * s, y = x * s + t. */
#include "onnx_node.h"

static infc_status map2(infc_onnx_at *at, const char *fn, infc_onnx_operand a, infc_onnx_operand b,
                        infc_onnx_operand *out) {
    infc_onnx_operand pair[] = {a, b};
    return infc_onnx_map(at, fn, pair, 2, out);
}

infc_status infc_onnx_import_batchnorm(infc_onnx_at *at) {
    infc_onnx_operand x, scale, bias, mean, var, s, t, y;
    for (size_t i = 1; i < at->node->n_outputs; i++)
        if (infc_onnx_output_used(at, i))
            return infc_onnx_refuse(at, "output %zu exists in training only; export the model for inference", i);
    if (infc_onnx_attr_int(at, "training_mode", 0) != 0)
        return infc_onnx_refuse(at,
                                "training_mode is not supported; export the model for inference");
    if (infc_onnx_attr_int(at, "spatial", 1) != 1)
        return infc_onnx_refuse(at, "spatial=0 is not supported");
    INFC_TRY(infc_onnx_input(at, 0, &x));
    if (x.type.rank < 2)
        return infc_onnx_refuse(at, "an input without a channel dimension is not supported");
    INFC_TRY(infc_onnx_channel_input(at, 1, &x.type, &scale));
    INFC_TRY(infc_onnx_channel_input(at, 2, &x.type, &bias));
    INFC_TRY(infc_onnx_channel_input(at, 3, &x.type, &mean));
    INFC_TRY(infc_onnx_channel_input(at, 4, &x.type, &var));
    infc_onnx_operand epsilon = infc_onnx_scalar(at, "epsilon", infc_onnx_attr_float(at, "epsilon", 1e-5f));
    INFC_TRY(map2(at, "add", var, epsilon, &s));
    INFC_TRY(infc_onnx_map(at, "sqrt", &s, 1, &s));
    INFC_TRY(map2(at, "div", scale, s, &s));
    INFC_TRY(map2(at, "mul", mean, s, &t));
    INFC_TRY(map2(at, "sub", bias, t, &t));
    INFC_TRY(map2(at, "mul", x, s, &y));
    INFC_TRY(map2(at, "add", y, t, &y));
    return infc_onnx_output(at, 0, &y);
}
