/* Resize and Upsample of one or two spatial axes: nearest and linear. */
#include "ops_window.h"
#include <math.h>

enum { MAX_EXTENT = 1 << 20 };

typedef struct plan { /* per axis of the node's input, up to rank 4 */
    int64_t size[INFC_MAX_RANK];
    float scale[INFC_MAX_RANK]; /* 0: follows from extents that are not known yet */
} plan;

/* Which axis entry i of scales and sizes is about: attribute "axes", else all in order. */
static infc_status axes_of(infc_onnx_at *at, int rank, int axes[INFC_MAX_RANK], int *out_n) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "axes");
    bool seen[INFC_MAX_RANK] = {0};
    *out_n = attribute ? (int)attribute->n_ints : rank;
    if (attribute && attribute->n_ints > (size_t)rank)
        return infc_onnx_invalid(at, "attribute \"axes\" has %zu axes for %d dimensions",
                                 attribute->n_ints, rank);
    for (int i = 0; i < *out_n; i++) {
        axes[i] = i;
        if (attribute) INFC_TRY(infc_onnx_axis(at, attribute->ints[i], rank, &axes[i]));
        if (seen[axes[i]]) return infc_onnx_invalid(at, "axis %d is given twice", axes[i]);
        seen[axes[i]] = true;
    }
    return INFC_OK;
}

static bool size_fits(int64_t size) {
    return infc_dim_least(size) >= 1 && infc_dim_most(size) <= MAX_EXTENT;
}

/* floor(dim * scale) of an open dim: exact for quotients of small numbers. */
static infc_status scaled_size(infc_onnx_at *at, int64_t dim, double scale, int64_t *out) {
    for (int64_t by = 1; by <= 64; by++) {
        const double times = scale * (double)by;
        if (times < 1 || times > 1 << 20 || times != floor(times)) continue;
        *out = infc_dim_floor(infc_dim_mul(dim, (int64_t)times), by);
        return INFC_OK;
    }
    return infc_onnx_refuse(at, "a scale of %g for %s elements, known only at run time", scale,
                            infc_dim_text(at->arena, dim));
}

static infc_status scale_axis(infc_onnx_at *at, const infc_type *x, int axis, double scale, plan *out) {
    const int64_t dim = x->dims[axis];
    double size = floor((double)dim * (double)(float)scale);
    if (!(scale > 0) || (!infc_dim_open(dim) && (!(size >= 1) || size > (double)MAX_EXTENT)))
        return infc_onnx_invalid(at, "a scale of %g for axis %d of %s", scale, axis,
                                 infc_type_text(at->arena, x));
    out->scale[axis] = (float)scale;
    out->size[axis] = infc_dim_open(dim) ? 0 : (int64_t)size;
    if (infc_dim_open(dim)) INFC_TRY(scaled_size(at, dim, (double)(float)scale, &out->size[axis]));
    if (size_fits(out->size[axis])) return INFC_OK;
    return infc_onnx_refuse(at, "a scale of %g for axis %d of %s: it must stay within 1..%d", scale,
                            axis, infc_type_text(at->arena, x), MAX_EXTENT);
}

/* The quotient of two extents; 0 when that is not one number for all sizes. */
static float ratio_of(int64_t size, int64_t dim) {
    int64_t times;
    if (!infc_dim_open(size) && !infc_dim_open(dim)) return (float)size / (float)dim;
    if (infc_dim_share(size, dim, &times) && !infc_dim_open(times)) return (float)times;
    if (infc_dim_share(dim, size, &times) && !infc_dim_open(times)) return 1.0f / (float)times;
    return 0;
}

/* Scales from input i, or from the attribute of Upsample-7. */
static infc_status read_scales(infc_onnx_at *at, size_t i, const infc_type *x, plan *out) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "scales");
    int axes[INFC_MAX_RANK], n;
    INFC_TRY(axes_of(at, x->rank, axes, &n));
    if (!attribute && !infc_onnx_has(at, i))
        return infc_onnx_invalid(at, "neither scales nor sizes are given");
    const infc_onnx_operand scales = attribute ? (infc_onnx_operand){0} : infc_onnx_any(at, i);
    if (!attribute && (!scales.constant || scales.type.dtype != INFC_DTYPE_f32))
        return infc_onnx_refuse(at, "input %zu, \"%s\", the scales, must be constant floats", i,
                                at->node->inputs[i]);
    int64_t given = attribute ? (int64_t)attribute->n_floats : infc_type_count(&scales.type);
    if (given != n)
        return infc_onnx_invalid(at, "there are %lld scales for %d axes", (long long)given, n);
    for (int k = 0; k < n; k++) {
        double scale = attribute ? (double)attribute->floats[k] : infc_weight_f64(scales.constant, k);
        INFC_TRY(scale_axis(at, x, axes[k], scale, out));
    }
    return INFC_OK;
}

static infc_status read_sizes(infc_onnx_at *at, const infc_type *x, plan *out) {
    int64_t sizes[INFC_MAX_RANK];
    int axes[INFC_MAX_RANK], n, given;
    if (infc_onnx_attr(at, "keep_aspect_ratio_policy") &&
        !infc_onnx_attr_is(at, "keep_aspect_ratio_policy", "stretch"))
        return infc_onnx_refuse(at, "keep_aspect_ratio_policy is supported as stretch only");
    INFC_TRY(axes_of(at, x->rank, axes, &n));
    INFC_TRY(infc_onnx_input_ints(at, 3, sizes, INFC_MAX_RANK, &given));
    if (given != n) return infc_onnx_invalid(at, "there are %d sizes for %d axes", given, n);
    for (int k = 0; k < n; k++) {
        if (!size_fits(sizes[k]))
            return infc_onnx_invalid(at, "a size of %s for axis %d",
                                     infc_dim_text(at->arena, sizes[k]), axes[k]);
        out->size[axes[k]] = sizes[k];
        out->scale[axes[k]] = ratio_of(sizes[k], x->dims[axes[k]]);
    }
    return INFC_OK;
}

static infc_status read_plan(infc_onnx_at *at, const infc_type *x, plan *out) {
    for (int i = 0; i < x->rank; i++) {
        out->size[i] = x->dims[i];
        out->scale[i] = 1;
    }
    bool old = at->opset < 11;
    infc_onnx_operand sizes = infc_onnx_has(at, 3) ? infc_onnx_any(at, 3) : (infc_onnx_operand){0};
    if (!old && infc_onnx_has(at, 3) && infc_type_count(&sizes.type) > 0)
        INFC_TRY(read_sizes(at, x, out));
    else INFC_TRY(read_scales(at, old ? 1 : 2, x, out));
    for (int i = 0; i < 2; i++)
        if (out->size[i] != x->dims[i])
            return infc_onnx_refuse(at, "axis %d is resized; only axes from 2 on can be", i);
    return INFC_OK;
}

/* How an axis takes its pixels: infc.resize's numbers, for output extent `size` of input extent `in`. */
typedef struct axis_step {
    int64_t half, num, den, pick;
} axis_step;

static axis_step step_of(infc_onnx_at *at, bool linear, int64_t in, int64_t size, float scale) {
    bool old = at->opset < 11, given = infc_onnx_attr(at, "coordinate_transformation_mode");
    bool corners = infc_onnx_attr_is(at, "coordinate_transformation_mode", "align_corners");
    bool from_torch = infc_onnx_attr_is(at, "coordinate_transformation_mode", "pytorch_half_pixel");
    bool plain = old || infc_onnx_attr_is(at, "coordinate_transformation_mode", "asymmetric");
    axis_step s = {.half = !given || !(corners || plain), .num = 1, .den = scale > 0 ? infc_f32_bits(scale) : -1};
    if (old) s.half = 0;
    if (corners && (infc_dim_open(in) || infc_dim_open(size))) {
        s.den = -2;
    } else if (corners) {
        s.num = in - 1;
        s.den = infc_f32_bits(size > 1 ? (float)(size - 1) : 1.0f);
        if (size == 1) s.num = 0;
    }
    if (from_torch && size == 1) s = (axis_step){.den = infc_f32_bits(1.0f)};
    s.pick = linear                                                       ? 0
             : infc_onnx_attr_is(at, "nearest_mode", "floor")             ? 1
             : infc_onnx_attr_is(at, "nearest_mode", "ceil")              ? 2
             : infc_onnx_attr_is(at, "nearest_mode", "round_prefer_ceil") ? 4
                                                                          : 3;
    if (old && !linear) s.pick = scale < 1 ? 2 : 1; /* what opsets before 11 meant by nearest */
    return s;
}

static bool one_of(const infc_onnx_at *at, const char *name, const char *const *values) {
    if (!infc_onnx_attr(at, name)) return true;
    for (; *values; values++)
        if (infc_onnx_attr_is(at, name, *values)) return true;
    return false;
}

static infc_status check_modes(infc_onnx_at *at, bool *out_linear) {
    static const char *const modes[] = {"nearest", "linear", NULL};
    static const char *const coordinates[] = {"half_pixel", "asymmetric", "align_corners",
                                              "pytorch_half_pixel", NULL};
    static const char *const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    if (!one_of(at, "mode", modes))
        return infc_onnx_refuse(at, "attribute \"mode\" must be nearest or linear");
    if (!one_of(at, "coordinate_transformation_mode", coordinates))
        return infc_onnx_refuse(
            at, "attribute \"coordinate_transformation_mode\" must be half_pixel, asymmetric, "
                "align_corners or pytorch_half_pixel");
    if (!one_of(at, "nearest_mode", nearest))
        return infc_onnx_invalid(
            at, "attribute \"nearest_mode\" must be round_prefer_floor, round_prefer_ceil, "
                "floor or ceil");
    if (infc_onnx_attr_int(at, "antialias", 0) != 0)
        return infc_onnx_refuse(at, "antialias is not supported");
    *out_linear = infc_onnx_attr_is(at, "mode", "linear");
    return INFC_OK;
}

infc_status infc_onnx_import_resize(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    plan sizes = {0};
    bool linear = false;
    INFC_TRY(infc_onnx_input(at, 0, &x));
    int rank = x.type.rank, spatial = rank - 2;
    INFC_TRY(check_modes(at, &linear));
    INFC_TRY(infc_onnx_image(at, &x, &y));
    INFC_TRY(read_plan(at, &x.type, &sizes));
    axis_step step[2] = {{0, 1, infc_f32_bits(1.0f), linear ? 0 : 1}};
    int64_t size[2] = {1, 1};
    for (int i = 0; i < spatial; i++) {
        int axis = 2 + i, to = 2 - spatial + i;
        bool one = infc_dim_open(sizes.size[axis]) && infc_dim_least(sizes.size[axis]) == 1;
        if (one && infc_onnx_attr_is(at, "coordinate_transformation_mode", "pytorch_half_pixel"))
            return infc_onnx_refuse(at,
                                    "pytorch_half_pixel to %s elements, which may be one; "
                                    "raise the lower bounds in shapes",
                                    infc_dim_text(at->arena, sizes.size[axis]));
        step[to] = step_of(at, linear, x.type.dims[axis], sizes.size[axis], sizes.scale[axis]);
        size[to] = sizes.size[axis];
    }
    infc_attr attrs[] = {
        infc_attr_ints("size", size, 2),
        infc_attr_ints("half", (int64_t[]){step[0].half, step[1].half}, 2),
        infc_attr_ints("num", (int64_t[]){step[0].num, step[1].num}, 2),
        infc_attr_ints("den", (int64_t[]){step[0].den, step[1].den}, 2),
        infc_attr_ints("pick", (int64_t[]){step[0].pick, step[1].pick}, 2),
    };
    INFC_TRY(infc_onnx_build(at, INFC_OP_resize, &y, 1, attrs, 5, &y));
    return infc_onnx_image_output(at, &y, spatial);
}
