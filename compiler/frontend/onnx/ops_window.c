#include "ops_window.h"
#include "../../ir/op_rules.h"

enum {
    MAX_EXTENT = 1 << 20
}; /* keeps all sums below far from overflow; the shape rules have the same limit */

infc_status infc_onnx_image(infc_onnx_at *at, const infc_onnx_operand *x, infc_onnx_operand *out) {
    const infc_type *type = &x->type;
    if (type->rank == 3) {
        int64_t dims[] = {type->dims[0], type->dims[1], 1, type->dims[2]};
        return infc_onnx_view(at, x, dims, 4, out);
    }
    *out = *x;
    if (type->rank < 3)
        return infc_onnx_invalid(at,
                                 "the input has %d dimensions; it needs a batch, channels and "
                                 "at least one spatial one",
                                 type->rank);
    if (type->rank > 4)
        return infc_onnx_refuse(at, "%d-D is not supported; 1-D and 2-D are", type->rank - 2);
    return INFC_OK;
}

infc_status infc_onnx_image_output(infc_onnx_at *at, const infc_onnx_operand *y, int spatial) {
    infc_onnx_operand out = *y;
    int64_t dims[] = {y->type.dims[0], y->type.dims[1], y->type.dims[3]};
    if (spatial == 1) INFC_TRY(infc_onnx_view(at, y, dims, 3, &out));
    return infc_onnx_output(at, 0, &out);
}

infc_status infc_onnx_window_list(infc_onnx_at *at, const char *name, int spatial, int per_axis,
                                  int64_t least, int64_t *out) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    if (!attribute) return INFC_OK;
    if (attribute->n_ints != (size_t)(spatial * per_axis))
        return infc_onnx_invalid(at, "attribute \"%s\" has %zu numbers, not %d", name,
                                 attribute->n_ints, spatial * per_axis);
    for (int k = 0; k < spatial * per_axis; k++) {
        int64_t value = attribute->ints[k];
        if (value < least || value > MAX_EXTENT)
            return infc_onnx_refuse(at, "attribute \"%s\" has %lld; %lld to %d are supported", name,
                                    (long long)value, (long long)least, MAX_EXTENT);
        out[spatial == 1 ? 2 * k + 1 : k] = value;
    }
    return INFC_OK;
}

static infc_status read_kernel(infc_onnx_at *at, int spatial, const int64_t *kernel, infc_onnx_window *out) {
    if (!kernel && !infc_onnx_attr(at, "kernel_shape"))
        return infc_onnx_invalid(at, "attribute \"kernel_shape\" is missing");
    out->kernel[0] = kernel ? kernel[0] : 1;
    out->kernel[1] = kernel ? kernel[1] : 1;
    INFC_TRY(infc_onnx_window_list(at, "kernel_shape", spatial, 1, 1, out->kernel));
    for (int k = 0; k < 2; k++) {
        if (kernel && out->kernel[k] != kernel[k])
            return infc_onnx_invalid(at, "attribute \"kernel_shape\" has %lld where the weight has %lld",
                                     (long long)out->kernel[k], (long long)kernel[k]);
        if (out->kernel[k] < 1 || out->kernel[k] > MAX_EXTENT)
            return infc_onnx_refuse(at, "a kernel extent of %lld is not supported", (long long)out->kernel[k]);
    }
    return INFC_OK;
}

static infc_status undecided(infc_onnx_at *at, const char *what, int64_t in, int64_t stride) {
    return infc_onnx_refuse(
        at,
        "%s of %s elements in steps of %lld is not one expression for all sizes; let the sizes "
        "be multiples in shapes, as in {min: 32, max: 960, multiple: 32}",
        what, infc_dim_text(at->arena, in), (long long)stride);
}

void infc_onnx_window_share(infc_onnx_window *w, int axis, int64_t total, bool lower) {
    int64_t half = infc_dim_floor(total, 2), rest = infc_dim_sub(total, half);
    w->pads[axis] = lower ? rest : half;
    w->pads[2 + axis] = lower ? half : rest;
}

/* SAME: as many outputs as ceil(in / stride). */
static infc_status pad_same(infc_onnx_at *at, infc_onnx_window *w, const infc_type *image, bool lower) {
    for (int k = 0; k < 2; k++) {
        int64_t in = image->dims[2 + k], reach = infc_window_reach(w->kernel[k], w->dilations[k]);
        int64_t last = infc_dim_mul(infc_dim_floor(infc_dim_sub(in, 1), w->strides[k]), w->strides[k]);
        int64_t total = infc_dim_sub(infc_dim_add(last, reach), in);
        if (infc_dim_most(total) < 0) total = 0;
        if (infc_dim_least(total) < 0) return undecided(at, "padding", in, w->strides[k]);
        infc_onnx_window_share(w, k, total, lower);
    }
    return INFC_OK;
}

/* One more output where a step is begun, unless it would begin in the padding behind the input. */
static infc_status pad_ceil(infc_onnx_at *at, infc_onnx_window *w, const infc_type *image) {
    for (int k = 0; k < 2; k++) {
        int64_t in = image->dims[2 + k], reach = infc_window_reach(w->kernel[k], w->dilations[k]);
        int64_t end = infc_dim_add(in, w->pads[k]);
        int64_t room = infc_dim_sub(infc_dim_add(end, w->pads[2 + k]), reach);
        if (infc_dim_least(room) < 0 || infc_dim_multiple(room, w->strides[k])) continue;
        /* where the added step begins */
        int64_t last = infc_dim_mul(infc_dim_blocks(room, w->strides[k]), w->strides[k]);
        int64_t inside = infc_dim_sub(end, last);
        if (infc_dim_most(inside) <= 0) continue;
        if (infc_dim_least(inside) <= 0) return undecided(at, "ceil_mode", in, w->strides[k]);
        w->pads[2 + k] = infc_dim_sub(infc_dim_add(last, reach), end);
        w->extended = true;
    }
    return INFC_OK;
}

static infc_status read_auto_pad(infc_onnx_at *at, const infc_type *image, infc_onnx_window *w) {
    bool none = !infc_onnx_attr(at, "auto_pad") || infc_onnx_attr_is(at, "auto_pad", "NOTSET");
    bool upper = infc_onnx_attr_is(at, "auto_pad", "SAME_UPPER"),
         lower = infc_onnx_attr_is(at, "auto_pad", "SAME_LOWER");
    bool ceil_mode = false;
    if (!none && !upper && !lower && !infc_onnx_attr_is(at, "auto_pad", "VALID"))
        return infc_onnx_invalid(
            at, "attribute \"auto_pad\" must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
    if (!none && (w->pads[0] || w->pads[1] || w->pads[2] || w->pads[3]))
        return infc_onnx_invalid(at, "attributes \"pads\" and \"auto_pad\" exclude each other");
    if (upper || lower) INFC_TRY(pad_same(at, w, image, lower));
    INFC_TRY(infc_onnx_attr_flag(at, "ceil_mode", 0, &ceil_mode));
    return none && ceil_mode ? pad_ceil(at, w, image) : INFC_OK;
}

infc_status infc_onnx_window_read(infc_onnx_at *at, const infc_type *image, int spatial,
                                  const int64_t *kernel, infc_onnx_window *out) {
    *out = (infc_onnx_window){.spatial = spatial, .strides = {1, 1}, .dilations = {1, 1}};
    INFC_TRY(read_kernel(at, spatial, kernel, out));
    INFC_TRY(infc_onnx_window_list(at, "strides", spatial, 1, 1, out->strides));
    INFC_TRY(infc_onnx_window_list(at, "dilations", spatial, 1, 1, out->dilations));
    INFC_TRY(infc_onnx_window_list(at, "pads", spatial, 2, 0, out->pads));
    return read_auto_pad(at, image, out);
}

infc_status infc_onnx_conv_bias(infc_onnx_at *at, infc_onnx_operand *y) {
    infc_onnx_operand pair[2] = {*y};
    if (!infc_onnx_has(at, 2)) return INFC_OK;
    INFC_TRY(infc_onnx_input(at, 2, &pair[1]));
    if (pair[1].type.rank != 1 || pair[1].type.dims[0] != y->type.dims[1])
        return infc_onnx_invalid(at, "the bias is %s, but there are %lld output channels",
                                 infc_type_text(at->arena, &pair[1].type), (long long)y->type.dims[1]);
    INFC_TRY(infc_onnx_per_channel(at, &pair[1], 4, &pair[1]));
    return infc_onnx_map(at, "add", pair, 2, y);
}
