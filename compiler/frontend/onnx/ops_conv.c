/* Conv: one conv, and an addition for the bias. */
#include "ops_window.h"

infc_status infc_onnx_import_conv(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    infc_onnx_window window;
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    INFC_TRY(infc_onnx_input(at, 1, &in[1]));
    int spatial = in[0].type.rank - 2;
    if (in[0].type.rank != in[1].type.rank)
        return infc_onnx_invalid(at, "the input is %s, the weight %s",
                                 infc_type_text(at->arena, &in[0].type),
                                 infc_type_text(at->arena, &in[1].type));
    if (infc_type_open(&in[1].type))
        return infc_onnx_refuse(at, "the weight is %s; only fixed dimensions are supported",
                                infc_type_text(at->arena, &in[1].type));
    INFC_TRY(infc_onnx_image(at, &in[0], &in[0]));
    INFC_TRY(infc_onnx_image(at, &in[1], &in[1]));
    INFC_TRY(infc_onnx_window_read(at, &in[0].type, spatial, &in[1].type.dims[2], &window));
    infc_attr attrs[] = {
        infc_attr_ints("strides", window.strides, 2),
        infc_attr_ints("pads", window.pads, 4),
        infc_attr_ints("dilations", window.dilations, 2),
        infc_attr_int("groups", infc_onnx_attr_int(at, "group", 1)),
    };
    INFC_TRY(infc_onnx_build(at, INFC_OP_conv, in, 2, attrs, 4, &y));
    INFC_TRY(infc_onnx_conv_bias(at, &y));
    return infc_onnx_image_output(at, &y, spatial);
}
