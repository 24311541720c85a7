/* GridSample. */
#include "onnx_node.h"

/* Which of the names the attribute is; the first when it is left out. */
static infc_status choose(infc_onnx_at *at, const char *name, const char *const names[3],
                          const char *const others[3], int64_t *out) {
    *out = 0;
    if (!infc_onnx_attr(at, name)) return INFC_OK;
    for (; *out < 3; (*out)++)
        if (infc_onnx_attr_is(at, name, names[*out]) || infc_onnx_attr_is(at, name, others[*out]))
            return INFC_OK;
    return infc_onnx_invalid(at, "attribute \"%s\" must be %s, %s or %s", name, names[0], names[1], names[2]);
}

infc_status infc_onnx_import_grid_sample(infc_onnx_at *at) {
    static const char *const modes[] = {"linear", "nearest", "cubic"}, *const older[] = {"bilinear", "nearest",
                                                                                         "bicubic"};
    static const char *const borders[] = {"zeros", "border", "reflection"};
    static const int64_t codes[] = {1, 0, 2};
    infc_onnx_operand in[2], y;
    int64_t mode, border;
    bool align;
    for (size_t i = 0; i < 2; i++) INFC_TRY(infc_onnx_input(at, i, &in[i]));
    INFC_TRY(choose(at, "mode", modes, older, &mode));
    INFC_TRY(choose(at, "padding_mode", borders, borders, &border));
    INFC_TRY(infc_onnx_attr_flag(at, "align_corners", 0, &align));
    const infc_type *x = &in[0].type, *grid = &in[1].type;
    if (x->rank > 4) return infc_onnx_refuse(at, "%d-D is not supported; 2-D is", x->rank - 2);
    if (x->rank != 4 || grid->rank != 4 || grid->dims[0] != x->dims[0] || grid->dims[3] != 2)
        return infc_onnx_invalid(at, "the input is %s, the grid %s", infc_type_text(at->arena, x),
                                 infc_type_text(at->arena, grid));
    infc_attr attrs[] = {infc_attr_int("mode", codes[mode]), infc_attr_int("border", border),
                         infc_attr_int("align", align)};
    INFC_TRY(infc_onnx_build(at, INFC_OP_sample, in, 2, attrs, 3, &y));
    return infc_onnx_output(at, 0, &y);
}
