/* ConvTranspose as a convolution. Along an axis of stride s, output s * q + r is the sum over j of x[q - j] times
 * w[s * j + r]: for each r a small kernel of T = ceil(kernel / s) taps. A convolution with these s kernels as channels
 * gives s neighbouring outputs at once; they are spread over pixels and what pads cut off is cut off. */
#include "../../ir/op_rules.h"
#include "ops_part.h"
#include "ops_window.h"

typedef struct plan { /* of both axes */
    int64_t out[2];   /* outputs */
    int64_t taps[2];  /* T */
    int64_t pads[4];  /* of the convolution */
    int64_t first[2]; /* the first output among those that it gives */
} plan;

/* How many outputs each axis has, and its pads. */
static infc_status read_outputs(infc_onnx_at *at, const infc_type *image, infc_onnx_window *w, plan *p) {
    int64_t extra[2] = {0, 0}, shape[2] = {0, 0};
    bool upper = infc_onnx_attr_is(at, "auto_pad", "SAME_UPPER"),
         same = upper || infc_onnx_attr_is(at, "auto_pad", "SAME_LOWER"),
         given = infc_onnx_attr(at, "output_shape") != NULL;
    INFC_TRY(infc_onnx_window_list(at, "output_padding", w->spatial, 1, 0, extra));
    INFC_TRY(infc_onnx_window_list(at, "output_shape", w->spatial, 1, 1, shape));
    if (w->spatial == 1) shape[0] = 1;
    for (int k = 0; k < 2; k++) {
        int64_t in = image->dims[2 + k], reach = infc_window_reach(w->kernel[k], w->dilations[k]);
        int64_t steps = infc_dim_mul(infc_dim_sub(in, 1), w->strides[k]);
        int64_t all = infc_dim_add(steps, reach + extra[k]);
        if (infc_dim_most(in) > INFC_MAX_ELEMENTS / w->strides[k])
            return infc_onnx_refuse(at, "the result has too many elements");
        if (same && !given) shape[k] = infc_dim_mul(in, w->strides[k]);
        int64_t cut = infc_dim_sub(all, shape[k]);
        if ((same || given) && infc_dim_open(cut))
            return infc_onnx_refuse(
                at, "attribute \"output_shape\" fixes what the sizes of a run would change");
        if (same || given) infc_onnx_window_share(w, k, cut < 0 ? 0 : cut, !upper);
        p->out[k] = same || given ? shape[k] : infc_dim_sub(all, w->pads[k] + w->pads[2 + k]);
        if (given && shape[k] > all)
            return infc_onnx_invalid(at, "attribute \"output_shape\" has %lld where at most %lld are made",
                                     (long long)shape[k], (long long)all);
        if (infc_dim_least(p->out[k]) < 1)
            return infc_onnx_invalid(at, "the pads cut off all of %s outputs%s",
                                     infc_dim_text(at->arena, all), infc_window_advice(image));
    }
    return INFC_OK;
}

static void make_plan(const infc_type *image, const infc_onnx_window *w, plan *p) {
    for (int k = 0; k < 2; k++) {
        int64_t s = w->strides[k], reach = infc_window_reach(w->kernel[k], w->dilations[k]);
        int64_t taps = (reach + s - 1) / s, begin = w->pads[k] / s;
        int64_t last = infc_dim_floor(infc_dim_add(p->out[k], w->pads[k] - 1), s);
        if (begin > taps - 1) begin = taps - 1;
        p->taps[k] = taps;
        p->pads[k] = taps - 1 - begin;
        p->pads[2 + k] = infc_dim_sub(infc_dim_add(last, taps - begin - p->pads[k]), image->dims[2 + k]);
        if (infc_dim_most(p->pads[2 + k]) < 0) p->pads[2 + k] = 0;
        p->first[k] = w->pads[k] - begin * s;
    }
}

/* [C, O, h, w] with zeros between and behind, as large as all taps: [C, O, T * s, T' * s']. */
static infc_status fill_taps(infc_onnx_at *at, const infc_onnx_window *w, const plan *p, infc_onnx_operand *x) {
    const int64_t none[6] = {0}, *d = x->type.dims, c = d[0], o = d[1];
    const int64_t gaps[6] = {0, 0, 0, w->dilations[0] - 1, 0, w->dilations[1] - 1};
    int64_t extent[2], after[4] = {0};
    infc_attr attrs[] = {infc_attr_ints("before", none, 6), infc_attr_ints("after", gaps, 6),
                         infc_attr_string("mode", "constant"), infc_attr_int("fill", 0)};
    if (gaps[3] || gaps[5]) {
        INFC_TRY(infc_onnx_view(at, x, (const int64_t[]){c, o, d[2], 1, d[3], 1}, 6, x));
        INFC_TRY(infc_onnx_build(at, INFC_OP_pad, x, 1, attrs, 4, x));
    }
    for (int k = 0; k < 2; k++) extent[k] = w->kernel[k] * w->dilations[k];
    INFC_TRY(infc_onnx_view(at, x, (const int64_t[]){c, o, extent[0], extent[1]}, 4, x));
    infc_onnx_part part;
    infc_onnx_part_all(&x->type, &part);
    for (int k = 0; k < 2; k++) {
        int64_t want = p->taps[k] * w->strides[k];
        if (extent[k] > want) part.shape[2 + k] = want;
        else after[2 + k] = want - extent[k];
    }
    INFC_TRY(infc_onnx_part_of(at, x, &part, x));
    if (!after[2] && !after[3]) return INFC_OK;
    attrs[0] = infc_attr_ints("before", none, 4);
    attrs[1] = infc_attr_ints("after", after, 4);
    return infc_onnx_build(at, INFC_OP_pad, x, 1, attrs, 4, x);
}

/* The weight of the convolution: [O * s * s', C / groups, T, T'], taps from last to first. */
static infc_status tap_weight(infc_onnx_at *at, const infc_onnx_window *w, const plan *p,
                              int64_t groups, infc_onnx_operand *x) {
    const int64_t c = x->type.dims[0] / groups, o = x->type.dims[1];
    const int64_t rows[] = {groups, c, o * p->taps[0] * w->strides[0] * p->taps[1] * w->strides[1]};
    const int64_t parts[] = {groups * o, p->taps[0], w->strides[0], p->taps[1], w->strides[1], c};
    const int64_t shape[] = {groups * o * w->strides[0] * w->strides[1], c, p->taps[0], p->taps[1]};
    infc_onnx_part part;
    INFC_TRY(fill_taps(at, w, p, x));
    INFC_TRY(infc_onnx_view(at, x, rows, 3, x));
    INFC_TRY(infc_onnx_permute(at, x, (const int64_t[]){0, 2, 1}, x));
    INFC_TRY(infc_onnx_view(at, x, parts, 6, x));
    infc_onnx_part_all(&x->type, &part);
    for (int i = 1; i < 5; i += 2) {
        if (parts[i] == 1) continue;
        part.starts[i] = parts[i] - 1;
        part.steps[i] = -1;
    }
    INFC_TRY(infc_onnx_part_of(at, x, &part, x));
    INFC_TRY(infc_onnx_permute(at, x, (const int64_t[]){0, 2, 4, 5, 1, 3}, x));
    return infc_onnx_view(at, x, shape, 4, x);
}

static infc_status check_inputs(infc_onnx_at *at, const infc_onnx_operand in[2], int64_t groups) {
    if (in[0].type.rank != in[1].type.rank || in[0].type.rank < 3 ||
        in[0].type.dims[1] != in[1].type.dims[0])
        return infc_onnx_invalid(at, "the input is %s, the weight %s",
                                 infc_type_text(at->arena, &in[0].type),
                                 infc_type_text(at->arena, &in[1].type));
    if (infc_dim_open(in[0].type.dims[1]) || infc_type_open(&in[1].type))
        return infc_onnx_refuse(at, "channels and the weight need fixed dimensions, not %s and %s",
                                infc_type_text(at->arena, &in[0].type),
                                infc_type_text(at->arena, &in[1].type));
    if (groups < 1 || in[0].type.dims[1] % groups != 0)
        return infc_onnx_invalid(at, "%lld groups do not divide %lld input channels",
                                 (long long)groups, (long long)in[0].type.dims[1]);
    return INFC_OK;
}

infc_status infc_onnx_import_conv_transpose(infc_onnx_at *at) {
    infc_onnx_operand in[2], y;
    infc_onnx_window window;
    plan p;
    int64_t groups = infc_onnx_attr_int(at, "group", 1);
    INFC_TRY(infc_onnx_input(at, 0, &in[0]));
    INFC_TRY(infc_onnx_input(at, 1, &in[1]));
    INFC_TRY(check_inputs(at, in, groups));
    int spatial = in[0].type.rank - 2;
    INFC_TRY(infc_onnx_image(at, &in[0], &in[0]));
    INFC_TRY(infc_onnx_image(at, &in[1], &in[1]));
    INFC_TRY(infc_onnx_window_read(at, &in[0].type, spatial, &in[1].type.dims[2], &window));
    INFC_TRY(read_outputs(at, &in[0].type, &window, &p));
    make_plan(&in[0].type, &window, &p);
    INFC_TRY(tap_weight(at, &window, &p, groups, &in[1]));
    infc_attr attrs[] = {
        infc_attr_ints("strides", (int64_t[]){1, 1}, 2),
        infc_attr_ints("pads", p.pads, 4),
        infc_attr_ints("dilations", (int64_t[]){1, 1}, 2),
        infc_attr_int("groups", groups),
    };
    INFC_TRY(infc_onnx_build(at, INFC_OP_conv, in, 2, attrs, 4, &y));
    INFC_TRY(infc_onnx_spread(at, &y, window.strides[0], window.strides[1], false, &y));
    infc_onnx_part part;
    infc_onnx_part_all(&y.type, &part);
    for (int k = 0; k < 2; k++) {
        part.starts[2 + k] = p.first[k];
        part.shape[2 + k] = p.out[k];
    }
    INFC_TRY(infc_onnx_part_of(at, &y, &part, &y));
    INFC_TRY(infc_onnx_conv_bias(at, &y));
    return infc_onnx_image_output(at, &y, spatial);
}
