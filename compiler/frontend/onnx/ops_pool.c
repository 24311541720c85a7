/* MaxPool, AveragePool, LpPool, and the global ones as pools over the whole image. */
#include "ops_window.h"
#include <string.h>

static infc_status pool(infc_onnx_at *at, bool average, const infc_onnx_operand *x,
                        const infc_onnx_window *window, bool count_pad, infc_onnx_operand *out) {
    infc_attr attrs[] = {
        infc_attr_ints("kernel", window->kernel, 2),
        infc_attr_ints("strides", window->strides, 2),
        infc_attr_ints("pads", window->pads, 4),
        infc_attr_ints("dilations", window->dilations, 2),
        infc_attr_int("count_include_pad", count_pad),
    };
    return infc_onnx_build(at, average ? INFC_OP_pool_avg : INFC_OP_pool_max, x, 1, attrs, average ? 5 : 4, out);
}

static infc_status build_pool(infc_onnx_at *at, bool average, const infc_onnx_operand *x,
                              const infc_onnx_window *window, bool count_pad) {
    infc_onnx_operand y;
    INFC_TRY(pool(at, average, x, window, count_pad, &y));
    return infc_onnx_image_output(at, &y, window->spatial);
}

/* f32 holds each i8 and u8, and the largest of some numbers is one of them: both ways are exact. */
infc_status infc_onnx_import_max_pool(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    infc_onnx_window window;
    const infc_dtype dtype = infc_onnx_any(at, 0).type.dtype;
    const bool quantized = dtype == INFC_DTYPE_i8 || dtype == INFC_DTYPE_u8;
    INFC_TRY((quantized ? infc_onnx_number : infc_onnx_input)(at, 0, &x));
    if (infc_onnx_output_used(at, 1))
        return infc_onnx_refuse(at, "output 1, the indices of the maxima, is not supported");
    int spatial = x.type.rank - 2;
    INFC_TRY(infc_onnx_image(at, &x, &x));
    INFC_TRY(infc_onnx_window_read(at, &x.type, spatial, NULL, &window));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &x, &x));
    INFC_TRY(pool(at, false, &x, &window, false, &y));
    INFC_TRY(infc_onnx_convert(at, dtype, &y, &y));
    return infc_onnx_image_output(at, &y, window.spatial);
}

infc_status infc_onnx_average(infc_onnx_at *at, infc_onnx_operand x, infc_onnx_operand *out,
                              infc_onnx_window *window) {
    bool count_pad;
    INFC_TRY(infc_onnx_attr_flag(at, "count_include_pad", 0, &count_pad));
    int spatial = x.type.rank - 2;
    INFC_TRY(infc_onnx_image(at, &x, &x));
    INFC_TRY(infc_onnx_window_read(at, &x.type, spatial, NULL, window));
    if (count_pad && window->extended)
        return infc_onnx_refuse(
            at, "ceil_mode with count_include_pad, where ceil_mode adds an output, is not "
                "supported: frameworks disagree on its divisor; export with ceil_mode=0");
    return pool(at, true, &x, window, count_pad, out);
}

infc_status infc_onnx_import_average_pool(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    infc_onnx_window window;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    INFC_TRY(infc_onnx_average(at, x, &y, &window));
    return infc_onnx_image_output(at, &y, window.spatial);
}

/* Input 0 as an image, and a window as large as it. */
static infc_status read_global(infc_onnx_at *at, infc_onnx_operand *x, infc_onnx_window *out) {
    INFC_TRY(infc_onnx_input(at, 0, x));
    int spatial = x->type.rank - 2;
    INFC_TRY(infc_onnx_image(at, x, x));
    *out = (infc_onnx_window){.spatial = spatial,
                              .kernel = {x->type.dims[2], x->type.dims[3]},
                              .strides = {1, 1},
                              .dilations = {1, 1}};
    return INFC_OK;
}

infc_status infc_onnx_import_global_pool(infc_onnx_at *at) {
    infc_onnx_operand x;
    infc_onnx_window window;
    INFC_TRY(read_global(at, &x, &window));
    return build_pool(at, strcmp(at->node->op, "GlobalAveragePool") == 0, &x, &window, false);
}

/* The p-th root of the sum of |x|^p over each window, as an average times the window's size. */
static infc_status lp_pool(infc_onnx_at *at, infc_onnx_operand x, const infc_onnx_window *window) {
    int64_t p = infc_onnx_attr_int(at, "p", 2);
    infc_onnx_operand y,
        size = infc_onnx_scalar(at, "size", (float)(window->kernel[0] * window->kernel[1]));
    if (p < 1 || p > 64)
        return infc_onnx_refuse(at, "attribute \"p\" is %lld; 1 to 64 are supported", (long long)p);
    infc_onnx_operand power = infc_onnx_scalar(at, "p", (float)p),
                      root = infc_onnx_scalar(at, "1/p", 1.0f / (float)p);
    if (p == 2) INFC_TRY(infc_onnx_map2(at, "mul", x, x, &y));
    else INFC_TRY(infc_onnx_map(at, "abs", &x, 1, &y));
    if (p > 2) INFC_TRY(infc_onnx_map2(at, "pow", y, power, &y));
    INFC_TRY(pool(at, true, &y, window, true, &y));
    INFC_TRY(infc_onnx_map2(at, "mul", y, size, &y));
    if (p == 2) INFC_TRY(infc_onnx_map(at, "sqrt", &y, 1, &y));
    if (p > 2) INFC_TRY(infc_onnx_map2(at, "pow", y, root, &y));
    return infc_onnx_image_output(at, &y, window->spatial);
}

infc_status infc_onnx_import_lp_pool(infc_onnx_at *at) {
    infc_onnx_operand x;
    infc_onnx_window window;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    int spatial = x.type.rank - 2;
    INFC_TRY(infc_onnx_image(at, &x, &x));
    INFC_TRY(infc_onnx_window_read(at, &x.type, spatial, NULL, &window));
    return lp_pool(at, x, &window);
}

infc_status infc_onnx_import_global_lp_pool(infc_onnx_at *at) {
    infc_onnx_operand x;
    infc_onnx_window window;
    INFC_TRY(read_global(at, &x, &window));
    return lp_pool(at, x, &window);
}
