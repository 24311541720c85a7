/* BatchNormalization in inference: s = scale / sqrt(var + epsilon), t = bias - mean * s, y = x * s + t. And LRN. */
#include "../../ir/op_rules.h"
#include "onnx_node.h"

infc_status infc_onnx_import_batchnorm(infc_onnx_at *at) {
    infc_onnx_operand x, scale, bias, mean, var, s, t, y;
    INFC_TRY(infc_onnx_no_statistics(at, at->node->n_outputs));
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
    INFC_TRY(infc_onnx_map2(at, "add", var, epsilon, &s));
    INFC_TRY(infc_onnx_map(at, "sqrt", &s, 1, &s));
    INFC_TRY(infc_onnx_map2(at, "div", scale, s, &s));
    INFC_TRY(infc_onnx_map2(at, "mul", mean, s, &t));
    INFC_TRY(infc_onnx_map2(at, "sub", bias, t, &t));
    INFC_TRY(infc_onnx_map2(at, "mul", x, s, &y));
    INFC_TRY(infc_onnx_map2(at, "add", y, t, &y));
    return infc_onnx_output(at, 0, &y);
}

/* The mean over `size` neighbouring channels, zeros beside them: as an average pool down [N,1,C,pixels]. */
static infc_status mean_of_neighbours(infc_onnx_at *at, infc_onnx_operand x, int64_t size,
                                      infc_onnx_operand *out) {
    const infc_type type = x.type;
    int64_t pixels = infc_dims_product(&type, 2, type.rank);
    INFC_TRY(infc_onnx_view(at, &x, (const int64_t[]){type.dims[0], 1, type.dims[1], pixels}, 4, &x));
    infc_attr attrs[] = {
        infc_attr_ints("kernel", (const int64_t[]){size, 1}, 2),
        infc_attr_ints("strides", (const int64_t[]){1, 1}, 2),
        infc_attr_ints("pads", (const int64_t[]){size / 2, 0, size / 2, 0}, 4),
        infc_attr_ints("dilations", (const int64_t[]){1, 1}, 2),
        infc_attr_int("count_include_pad", 1),
    };
    INFC_TRY(infc_onnx_build(at, INFC_OP_pool_avg, &x, 1, attrs, 5, &x));
    return infc_onnx_view(at, &x, type.dims, type.rank, out);
}

/* x / (bias + alpha * mean of the squares of neighbouring channels)^beta. */
infc_status infc_onnx_import_lrn(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int64_t size = infc_onnx_attr_int(at, "size", 0);
    INFC_TRY(infc_onnx_input(at, 0, &x));
    if (x.type.rank < 2)
        return infc_onnx_invalid(at, "the input has %d dimensions; it needs a batch and channels",
                                 x.type.rank);
    if (size < 1 || size > x.type.dims[1] * 2 || size % 2 == 0)
        return infc_onnx_refuse(at, "attribute \"size\" must be odd and at most twice the channels, not %lld",
                                (long long)size);
    infc_onnx_operand alpha = infc_onnx_scalar(at, "alpha", infc_onnx_attr_float(at, "alpha", 1e-4f));
    infc_onnx_operand beta = infc_onnx_scalar(at, "beta", infc_onnx_attr_float(at, "beta", 0.75f));
    infc_onnx_operand bias = infc_onnx_scalar(at, "bias", infc_onnx_attr_float(at, "bias", 1.0f));
    INFC_TRY(infc_onnx_map2(at, "mul", x, x, &y));
    INFC_TRY(mean_of_neighbours(at, y, size, &y));
    INFC_TRY(infc_onnx_map2(at, "mul", y, alpha, &y));
    INFC_TRY(infc_onnx_map2(at, "add", y, bias, &y));
    INFC_TRY(infc_onnx_map2(at, "pow", y, beta, &y));
    INFC_TRY(infc_onnx_map2(at, "div", x, y, &y));
    return infc_onnx_output(at, 0, &y);
}
