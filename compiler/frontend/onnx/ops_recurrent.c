/* LSTM, GRU, RNN, DynamicQuantizeLSTM: a product of all steps with W, then infc.lstm and its kin over R
 * (ir/ops/recurrent.c). */
#include "ops_part.h"
#include "ops_quantize.h"
#include <string.h>
#include <strings.h>

typedef struct layer {
    infc_op_kind kind;
    int gates, n_acts, n_states; /* of one direction */
    int64_t steps, batch, inputs, h, hp, dirs;
    bool batch_first, backward, extra, coupled, quantized;
    int64_t clip, acts[6], alphas[6], betas[6]; /* f, g, h of each direction */
} layer;

/* The codes of poly.h's activate, in order; which parameters each takes, and what they are when not given. */
static const struct {
    const char *name;
    bool has_alpha, has_beta;
    float alpha, beta;
} activations[] = {
    {"Sigmoid", false, false, 0, 0},        {"Tanh", false, false, 0, 0},
    {"Relu", false, false, 0, 0},           {"Affine", true, true, 1.0f, 0},
    {"LeakyRelu", true, false, 0.01f, 0},   {"ThresholdedRelu", true, false, 1.0f, 0},
    {"ScaledTanh", true, true, 1.0f, 1.0f}, {"HardSigmoid", true, true, 0.2f, 0.5f},
    {"Elu", true, false, 1.0f, 0},          {"Softsign", false, false, 0, 0},
    {"Softplus", false, false, 0, 0},
};
enum { N_ACTIVATIONS = sizeof activations / sizeof *activations, SIGMOID = 0, TANH = 1 };

/* ---- attributes ----------------------------------------------------------------------------------------- */

static infc_status read_direction(infc_onnx_at *at, layer *l) {
    bool both = infc_onnx_attr_is(at, "direction", "bidirectional");
    l->backward = infc_onnx_attr_is(at, "direction", "reverse");
    l->dirs = both ? 2 : 1;
    if (!infc_onnx_attr(at, "direction") || both || l->backward || infc_onnx_attr_is(at, "direction", "forward"))
        return INFC_OK;
    return infc_onnx_invalid(at,
                             "attribute \"direction\" is not forward, reverse or bidirectional");
}

static int activation_find(infc_bytes name) {
    for (int i = 0; i < N_ACTIVATIONS; i++)
        if (strlen(activations[i].name) == name.len &&
            strncasecmp(activations[i].name, (const char *)name.ptr, name.len) == 0)
            return i;
    return -1;
}

static infc_status next_parameter(infc_onnx_at *at, const infc_onnx_attribute *list, bool takes,
                                  float otherwise, size_t *used, int64_t *out) {
    float value = takes && list && *used < list->n_floats ? list->floats[(*used)++] : otherwise;
    *out = infc_f32_bits(value);
    if (value - value == 0.0f) return INFC_OK;
    return infc_onnx_invalid(at, "attribute \"%s\" holds a number that is not finite", list->name);
}

/* Activations take their parameters from the lists in order, those that have any. */
static infc_status read_activations(infc_onnx_at *at, layer *l) {
    const infc_onnx_attribute *names = infc_onnx_attr(at, "activations");
    const infc_onnx_attribute *alphas = infc_onnx_attr(at, "activation_alpha"),
                              *betas = infc_onnx_attr(at, "activation_beta");
    size_t n = (size_t)(l->n_acts * l->dirs), used_alphas = 0, used_betas = 0;
    if (names && names->n_strings != n)
        return infc_onnx_invalid(at, "attribute \"activations\" has %zu names; %lld direction%s of %s need%s %zu",
                                 names->n_strings, (long long)l->dirs, l->dirs > 1 ? "s" : "",
                                 at->node->op, l->dirs > 1 ? "" : "s", n);
    for (size_t i = 0; i < n; i++) {
        size_t k = i % (size_t)l->n_acts, to = i / (size_t)l->n_acts * 3 + k;
        int code = k == 0 && l->gates > 1 ? SIGMOID : TANH;
        if (names) code = activation_find(names->strings[i]);
        if (code < 0)
            return infc_onnx_invalid(at, "attribute \"activations\": \"%.*s\" is none of ONNX's activations",
                                     (int)(names->strings[i].len > 40 ? 40 : names->strings[i].len),
                                     (const char *)names->strings[i].ptr);
        l->acts[to] = code;
        INFC_TRY(next_parameter(at, alphas, activations[code].has_alpha, activations[code].alpha,
                                &used_alphas, &l->alphas[to]));
        INFC_TRY(next_parameter(at, betas, activations[code].has_beta, activations[code].beta,
                                &used_betas, &l->betas[to]));
    }
    if ((alphas && used_alphas < alphas->n_floats) || (betas && used_betas < betas->n_floats))
        return infc_onnx_invalid(
            at, "activation_alpha or activation_beta has more numbers than the activations take");
    return INFC_OK;
}

static infc_status read_attributes(infc_onnx_at *at, layer *l) {
    float clip = infc_onnx_attr_float(at, "clip", 0.0f);
    INFC_TRY(read_direction(at, l));
    INFC_TRY(read_activations(at, l));
    INFC_TRY(infc_onnx_attr_flag(at, "layout", 0, &l->batch_first));
    INFC_TRY(infc_onnx_attr_flag(at, "input_forget", 0, &l->coupled));
    if (l->kind == INFC_OP_gru)
        INFC_TRY(infc_onnx_attr_flag(at, "linear_before_reset", 0, &l->extra));
    if (infc_onnx_attr(at, "clip") && !(clip > 0.0f && clip <= 0x1.fffffep+127f))
        return infc_onnx_invalid(at, "attribute \"clip\" is %g; it must be above 0", (double)clip);
    l->clip = infc_f32_bits(clip);
    return INFC_OK;
}

/* ---- operands ------------------------------------------------------------------------------------------- */

/* Input i of that shape. */
static infc_status shaped(infc_onnx_at *at, size_t i, infc_type want, infc_onnx_operand *out) {
    INFC_TRY(infc_onnx_input(at, i, out));
    want.dtype = INFC_DTYPE_f32;
    if (infc_shape_equal(&out->type, &want)) return INFC_OK;
    return infc_onnx_invalid(at, "input %zu, \"%s\", is %s, not %s", i, at->node->inputs[i],
                             infc_type_text(at->arena, &out->type), infc_type_text(at->arena, &want));
}

static infc_status filled(infc_onnx_at *at, infc_type type, float value, infc_onnx_operand *out) {
    type.dtype = INFC_DTYPE_f32;
    return infc_onnx_filled(at, &type, &value, out);
}

/* Directions [first, first + n) of an operand whose first dimension they are. */
static infc_status directions(infc_onnx_at *at, const infc_onnx_operand *x, int64_t first,
                              int64_t n, infc_onnx_operand *out) {
    infc_onnx_part part;
    infc_onnx_part_all(&x->type, &part);
    part.starts[0] = first;
    part.shape[0] = n;
    return infc_onnx_part_of(at, x, &part, out);
}

/* [n, .., H, tail] seen as `dims`, with axis `axis` brought from H to Hp by zeros. */
static infc_status widen(infc_onnx_at *at, const layer *l, infc_onnx_operand *x,
                         const int64_t *dims, int rank, int axis) {
    int64_t before[INFC_MAX_RANK] = {0}, after[INFC_MAX_RANK] = {0};
    INFC_TRY(infc_onnx_view(at, x, dims, rank, x));
    if (l->hp == l->h) return INFC_OK;
    after[axis] = l->hp - l->h;
    infc_attr attrs[] = {infc_attr_ints("before", before, rank), infc_attr_ints("after", after, rank),
                         infc_attr_string("mode", "constant"), infc_attr_int("fill", 0)};
    infc_onnx_operand from = *x;
    return infc_onnx_build(at, INFC_OP_pad, &from, 1, attrs, 4, x);
}

/* W [n, G * H, I] as [I, n * G * Hp]; R [n, G * H, H] as [n, H, G * Hp]. */
static infc_status input_weight(infc_onnx_at *at, const layer *l, int64_t n, infc_onnx_operand *w) {
    static const int64_t swapped[] = {1, 0};
    int64_t flat[] = {n * l->gates * l->hp, l->inputs};
    INFC_TRY(widen(at, l, w, (int64_t[]){n, l->gates, l->h, l->inputs}, 4, 2));
    INFC_TRY(infc_onnx_view(at, w, flat, 2, w));
    return infc_onnx_permute(at, w, swapped, w);
}

static infc_status state_weight(infc_onnx_at *at, const layer *l, int64_t n, infc_onnx_operand *r) {
    static const int64_t swapped[] = {0, 2, 1};
    int64_t flat[] = {n, l->gates * l->hp, l->h};
    INFC_TRY(widen(at, l, r, (int64_t[]){n, l->gates, l->h, l->h}, 4, 2));
    INFC_TRY(infc_onnx_view(at, r, flat, 3, r));
    return infc_onnx_permute(at, r, swapped, r);
}

/* Gates [first, first + count) of bias `which` (0: of W, 1: of R) in [n, 2, G, Hp]. */
static infc_status bias_part(infc_onnx_at *at, const infc_onnx_operand *b, int64_t which,
                             int64_t first, int64_t count, infc_onnx_operand *out) {
    infc_onnx_part part;
    infc_onnx_part_all(&b->type, &part);
    part.starts[1] = which;
    part.shape[1] = 1;
    part.starts[2] = first;
    part.shape[2] = count;
    return infc_onnx_part_of(at, b, &part, out);
}

/* Both biases of n directions as one of the product; the candidate's second one of a gru with `extra` as aux. */
static infc_status biases(infc_onnx_at *at, const layer *l, int64_t first, int64_t n,
                          infc_onnx_operand *bias, infc_onnx_operand *aux) {
    infc_onnx_operand b, parts[3];
    bool apart = l->kind == INFC_OP_gru && l->extra;
    int64_t together = apart ? 2 : l->gates, columns = n * l->gates * l->hp;
    INFC_TRY(shaped(at, 3, (infc_type){.rank = 2, .dims = {l->dirs, 2 * l->gates * l->h}}, &b));
    INFC_TRY(directions(at, &b, first, n, &b));
    INFC_TRY(widen(at, l, &b, (int64_t[]){n, 2, l->gates, l->h}, 4, 3));
    INFC_TRY(bias_part(at, &b, 0, 0, together, &parts[0]));
    INFC_TRY(bias_part(at, &b, 1, 0, together, &parts[1]));
    INFC_TRY(infc_onnx_map(at, "add", parts, 2, &parts[0]));
    if (apart) {
        INFC_TRY(bias_part(at, &b, 0, 2, 1, &parts[1]));
        INFC_TRY(infc_onnx_join(at, parts, 2, 2, &parts[0]));
        INFC_TRY(bias_part(at, &b, 1, 2, 1, aux));
        INFC_TRY(infc_onnx_view(at, aux, (int64_t[]){n, l->hp}, 2, aux));
    }
    return infc_onnx_view(at, &parts[0], &columns, 1, bias);
}

/* The first h or c: input i, or zeros. */
static infc_status first_state(infc_onnx_at *at, const layer *l, size_t i, infc_onnx_operand *out) {
    static const int64_t swapped[] = {1, 0, 2};
    infc_type plain = {.rank = 3, .dims = {l->dirs, l->batch, l->h}};
    infc_type given = l->batch_first ? (infc_type){.rank = 3, .dims = {l->batch, l->dirs, l->h}} : plain;
    if (!infc_onnx_has(at, i)) return filled(at, plain, 0.0f, out);
    INFC_TRY(shaped(at, i, given, out));
    return l->batch_first ? infc_onnx_permute(at, out, swapped, out) : INFC_OK;
}

/* A row of length n has the n-th of 0 .. T: the run refuses what is not there, as it does indices. */
static infc_status checked_lengths(infc_onnx_at *at, const layer *l, const infc_onnx_operand *given,
                                   infc_onnx_operand *out) {
    const infc_type one = {.dtype = INFC_DTYPE_i32};
    const int32_t nothing = 0, beyond = INT32_MAX;
    infc_onnx_operand zero, pick[3] = {[2] = *given}, pair[2];
    infc_attr axis = infc_attr_int("axis", 0);
    INFC_TRY(infc_onnx_filled(at, &one, &nothing, &zero));
    INFC_TRY(infc_onnx_map2(at, "less", *given, zero, &pick[0]));
    INFC_TRY(infc_onnx_filled(at, &one, &beyond, &pick[1]));
    INFC_TRY(infc_onnx_pick(at, pick, &pair[1])); /* a negative index would count from the end */
    INFC_TRY(infc_onnx_numbers(at, 0, 1, infc_dim_add(l->steps, 1), &pair[0]));
    INFC_TRY(infc_onnx_build(at, INFC_OP_gather, pair, 2, &axis, 1, out));
    return infc_onnx_convert(at, INFC_DTYPE_f32, out, out);
}

static infc_status lengths(infc_onnx_at *at, const layer *l, infc_onnx_operand *out) {
    infc_type want = {.rank = 1, .dims = {l->batch}};
    if (!infc_onnx_has(at, 4))
        return filled(at, want, (float)infc_dim_most(l->steps), out); /* as many as there are */
    infc_onnx_operand given = infc_onnx_any(at, 4);
    want.dtype = INFC_DTYPE_i32;
    if (!infc_type_equal(&given.type, &want))
        return infc_onnx_invalid(at, "input 4, \"%s\", is %s, not %s", at->node->inputs[4],
                                 infc_type_text(at->arena, &given.type), infc_type_text(at->arena, &want));
    if (!given.constant) return checked_lengths(at, l, &given, out);
    INFC_TRY(filled(at, want, 0.0f, out));
    for (int64_t i = 0; i < l->batch; i++) {
        int64_t length = infc_weight_i64(given.constant, i);
        if (length < 0 || length > infc_dim_least(l->steps))
            return infc_onnx_invalid(at, "input 4: length %lld of row %lld is not within the %s steps",
                                     (long long)length, (long long)i, infc_dim_text(at->arena, l->steps));
        ((float *)(uintptr_t)out->constant->bytes)[i] = (float)length; /* made above */
    }
    return INFC_OK;
}

/* x [T, B, I] with 0 from step max(lengths) on: what is there must not widen the range that x is quantised by. */
static infc_status without_padding(infc_onnx_at *at, const layer *l, const infc_onnx_operand *x,
                                   infc_onnx_operand *out) {
    static const int64_t axis = 0;
    const infc_attr axes = infc_attr_ints("axes", &axis, 1);
    infc_onnx_operand longest, step, pick[3] = {[1] = *x};
    INFC_TRY(lengths(at, l, &longest));
    INFC_TRY(infc_onnx_build(at, INFC_OP_reduce_max, &longest, 1, &axes, 1, &longest));
    INFC_TRY(infc_onnx_view(at, &longest, NULL, 0, &longest));
    INFC_TRY(infc_onnx_numbers(at, 0, 1, l->steps, &step));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &step, &step));
    INFC_TRY(infc_onnx_view(at, &step, (int64_t[]){l->steps, 1, 1}, 3, &step));
    INFC_TRY(infc_onnx_map2(at, "less", step, longest, &pick[0]));
    INFC_TRY(filled(at, x->type, 0.0f, &pick[2]));
    return infc_onnx_pick(at, pick, out);
}

/* What else the cell reads: peepholes, or nothing yet. */
static infc_status peepholes(infc_onnx_at *at, const layer *l, int64_t first, int64_t n, infc_onnx_operand *aux) {
    *aux = infc_onnx_scalar(at, "aux", 0.0f);
    if (l->kind != INFC_OP_lstm || !l->extra) return INFC_OK;
    INFC_TRY(shaped(at, 7, (infc_type){.rank = 2, .dims = {l->dirs, 3 * l->h}}, aux));
    INFC_TRY(directions(at, aux, first, n, aux));
    INFC_TRY(widen(at, l, aux, (int64_t[]){n, 3, l->h}, 3, 2));
    return infc_onnx_view(at, aux, (int64_t[]){n, 3 * l->hp}, 2, aux);
}

/* ---- building ------------------------------------------------------------------------------------------- */

/* The grid of direction `dir` of a quantised weight [D, rows, G * H]: inputs `scale` and `scale + 1`, one value for a
 * direction or one for each column. */
static infc_status weight_grid(infc_onnx_at *at, const layer *l, size_t scale, int64_t dir, infc_onnx_grid *out) {
    infc_onnx_operand *const parts[] = {&out->scale, &out->zero};
    INFC_TRY(infc_onnx_input(at, scale, &out->scale));
    out->zero = infc_onnx_any(at, scale + 1);
    out->dtype = out->zero.type.dtype;
    if (!infc_shape_equal(&out->scale.type, &out->zero.type))
        return infc_onnx_invalid(at, "the scale is %s, the zero point %s",
                                 infc_type_text(at->arena, &out->scale.type),
                                 infc_type_text(at->arena, &out->zero.type));
    int64_t n = infc_type_count(&out->scale.type) / l->dirs, columns = l->gates * l->h;
    if ((n != 1 && n != columns) || n * l->dirs != infc_type_count(&out->scale.type))
        return infc_onnx_invalid(at, "the scale is %s; one value, or %lld, for each direction are needed",
                                 infc_type_text(at->arena, &out->scale.type), (long long)columns);
    out->has_zero = !infc_onnx_all_zero(&out->zero);
    for (int i = 0; i < 2; i++) {
        INFC_TRY(infc_onnx_view(at, parts[i], (int64_t[]){l->dirs, n}, 2, parts[i]));
        INFC_TRY(directions(at, parts[i], dir, 1, parts[i]));
        INFC_TRY(infc_onnx_view(at, parts[i], &n, 1, parts[i]));
    }
    return infc_onnx_convert(at, INFC_DTYPE_f32, &out->zero, &out->zero);
}

/* Input i, of `rows` by G * H for each direction, quantised: that of one direction as a matrix, and its grid. */
static infc_status quantized_weight(infc_onnx_at *at, const layer *l, size_t i, int64_t rows,
                                    int64_t dir, infc_onnx_operand *out, infc_onnx_grid *grid) {
    const infc_type want = {.rank = 3, .dims = {l->dirs, rows, l->gates * l->h}};
    INFC_TRY(infc_onnx_quantized(at, i, out));
    if (!infc_shape_equal(&out->type, &want))
        return infc_onnx_invalid(at, "input %zu, \"%s\", is %s, not [%lld,%lld,%lld]", i,
                                 at->node->inputs[i], infc_type_text(at->arena, &out->type),
                                 (long long)want.dims[0], (long long)want.dims[1], (long long)want.dims[2]);
    INFC_TRY(weight_grid(at, l, i == 1 ? 8 : 10, dir, grid));
    if (grid->dtype != out->type.dtype)
        return infc_onnx_invalid(at, "input %zu, \"%s\", is %s, its zero point %s", i, at->node->inputs[i],
                                 infc_dtype_name(out->type.dtype), infc_dtype_name(grid->dtype));
    INFC_TRY(directions(at, out, dir, 1, out));
    return infc_onnx_view(at, out, want.dims + 1, 2, out);
}

/* x * W of n directions, x quantised by its extremes and W as it comes: [T * B, n * G * Hp]. */
static infc_status project_quantized(infc_onnx_at *at, const layer *l, const infc_onnx_operand *rows,
                                     int64_t first, int64_t n, infc_onnx_operand *out) {
    infc_onnx_operand x, w, scales, sums[2];
    infc_onnx_grid grid, w_grid;
    int64_t all[] = {rows->type.dims[0], n * l->gates * l->hp};
    INFC_TRY(infc_onnx_quantize_dynamic(at, rows, &x, &grid));
    for (int64_t i = 0; i < n; i++) {
        INFC_TRY(quantized_weight(at, l, 1, l->inputs, first + i, &w, &w_grid));
        INFC_TRY(infc_onnx_integer_matmul(at, &x, &grid, &w, &w_grid, NULL, &sums[i]));
        INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &sums[i], &sums[i]));
        INFC_TRY(infc_onnx_scale_product(at, &grid, &w_grid, &scales));
        INFC_TRY(infc_onnx_map2(at, "mul", sums[i], scales, &sums[i]));
        INFC_TRY(widen(at, l, &sums[i], (int64_t[]){all[0], 1, l->gates, l->h}, 4, 3));
    }
    INFC_TRY(infc_onnx_join(at, sums, (int)n, 1, out));
    return infc_onnx_view(at, out, all, 2, out);
}

/* R of n directions, [n, G * H, H]. */
static infc_status recurrence(infc_onnx_at *at, const layer *l, int64_t first, int64_t n, infc_onnx_operand *out) {
    infc_onnx_operand r, parts[2];
    infc_onnx_grid grid;
    if (!l->quantized) {
        INFC_TRY(shaped(at, 2, (infc_type){.rank = 3, .dims = {l->dirs, l->gates * l->h, l->h}}, &r));
        return directions(at, &r, first, n, out);
    }
    for (int64_t i = 0; i < n; i++) {
        INFC_TRY(quantized_weight(at, l, 2, l->h, first + i, &parts[i], &grid));
        INFC_TRY(infc_onnx_dequantize(at, &parts[i], &grid, &parts[i]));
        INFC_TRY(infc_onnx_permute(at, &parts[i], (const int64_t[]){1, 0}, &parts[i]));
        INFC_TRY(infc_onnx_view(at, &parts[i], (int64_t[]){1, l->gates * l->h, l->h}, 3, &parts[i]));
    }
    return infc_onnx_join(at, parts, (int)n, 0, out);
}

static infc_status project_float(infc_onnx_at *at, const layer *l, const infc_onnx_operand *rows,
                                 int64_t first, int64_t n, infc_onnx_operand *out) {
    infc_onnx_operand pair[2] = {*rows}, w;
    INFC_TRY(shaped(at, 1, (infc_type){.rank = 3, .dims = {l->dirs, l->gates * l->h, l->inputs}}, &w));
    INFC_TRY(directions(at, &w, first, n, &pair[1]));
    INFC_TRY(input_weight(at, l, n, &pair[1]));
    return infc_onnx_build(at, INFC_OP_matmul, pair, 2, NULL, 0, out);
}

/* x * W + bias for all steps: [T, B, n * G * Hp]. */
static infc_status project(infc_onnx_at *at, const layer *l, const infc_onnx_operand *x,
                           int64_t first, int64_t n, infc_onnx_operand *aux, infc_onnx_operand *out) {
    infc_onnx_operand pair[2] = {*x};
    int64_t rows[] = {infc_dim_mul(l->steps, l->batch), l->inputs},
            full[] = {l->steps, l->batch, n * l->gates * l->hp};
    INFC_TRY(infc_onnx_view(at, &pair[0], rows, 2, &pair[0]));
    INFC_TRY((l->quantized ? project_quantized : project_float)(at, l, &pair[0], first, n, &pair[0]));
    if (infc_onnx_has(at, 3)) {
        INFC_TRY(biases(at, l, first, n, &pair[1], aux));
        INFC_TRY(infc_onnx_map(at, "add", pair, 2, &pair[0]));
    }
    return infc_onnx_view(at, &pair[0], full, 3, out);
}

/* n directions that have the same activations: [T + states, n, B, H]. */
static infc_status build(infc_onnx_at *at, const layer *l, const infc_onnx_operand *x,
                         int64_t first, int64_t n, infc_onnx_operand *out) {
    infc_onnx_operand in[INFC_MAX_OPERANDS], aux;
    int k = 0;
    bool extra = l->extra && (l->kind == INFC_OP_lstm || infc_onnx_has(at, 3));
    INFC_TRY(peepholes(at, l, first, n, &aux));
    INFC_TRY(project(at, l, x, first, n, &aux, &in[k++]));
    INFC_TRY(recurrence(at, l, first, n, &in[k]));
    INFC_TRY(state_weight(at, l, n, &in[k++]));
    for (int i = 0; i < l->n_states; i++) {
        INFC_TRY(first_state(at, l, 5 + (size_t)i, &in[k]));
        INFC_TRY(directions(at, &in[k], first, n, &in[k]));
        k++;
    }
    if (l->kind == INFC_OP_gru && l->extra && !extra) { /* inside the product with r, whatever the bias is */
        INFC_TRY(filled(at, (infc_type){.rank = 2, .dims = {n, l->hp}}, 0.0f, &aux));
        extra = true;
    }
    if (l->kind != INFC_OP_rnn) in[k++] = aux;
    INFC_TRY(lengths(at, l, &in[k++]));
    int64_t flags[] = {l->backward || first > 0, extra, l->coupled, l->quantized};
    infc_attr attrs[] = {infc_attr_ints("acts", l->acts + 3 * first, 3),
                         infc_attr_ints("alphas", l->alphas + 3 * first, 3),
                         infc_attr_ints("betas", l->betas + 3 * first, 3),
                         infc_attr_int("clip", l->clip), infc_attr_ints("flags", flags, 4)};
    return infc_onnx_build(at, l->kind, in, k, attrs, 5, out);
}

/* Output i: `n` rows from `start` of the result, in ONNX's order of axes. */
static infc_status hand_out(infc_onnx_at *at, const layer *l, size_t i,
                            const infc_onnx_operand *all, int64_t start, int64_t n) {
    static const int64_t sequence[] = {2, 0, 1, 3}, state[] = {1, 0, 2};
    infc_onnx_part part;
    infc_onnx_operand y;
    if (!infc_onnx_output_used(at, i)) return INFC_OK;
    infc_onnx_part_all(&all->type, &part);
    part.starts[0] = start;
    part.shape[0] = n;
    INFC_TRY(infc_onnx_part_of(at, all, &part, &y));
    if (i > 0) INFC_TRY(infc_onnx_view(at, &y, (int64_t[]){l->dirs, l->batch, l->h}, 3, &y));
    if (l->batch_first) INFC_TRY(infc_onnx_permute(at, &y, i > 0 ? state : sequence, &y));
    return infc_onnx_output(at, i, &y);
}

static bool same_activations(const layer *l) {
    return memcmp(l->acts, l->acts + 3, 3 * sizeof *l->acts) == 0 &&
           memcmp(l->alphas, l->alphas + 3, 3 * sizeof *l->alphas) == 0 &&
           memcmp(l->betas, l->betas + 3, 3 * sizeof *l->betas) == 0;
}

static infc_status read_sizes(infc_onnx_at *at, layer *l, infc_onnx_operand *x) {
    static const int64_t swapped[] = {1, 0, 2};
    infc_onnx_operand r;
    INFC_TRY(infc_onnx_input(at, 0, x));
    r = infc_onnx_any(at, 2);
    if (x->type.rank != 3 || r.type.rank != 3)
        return infc_onnx_invalid(at, "X is %s and R %s; both have 3 dimensions",
                                 infc_type_text(at->arena, &x->type), infc_type_text(at->arena, &r.type));
    if (l->batch_first) INFC_TRY(infc_onnx_permute(at, x, swapped, x));
    l->steps = x->type.dims[0];
    l->batch = x->type.dims[1];
    l->inputs = x->type.dims[2];
    l->h = r.type.dims[l->quantized ? 1 : 2];
    if (infc_type_open(&r.type) || infc_dim_open(l->inputs))
        return infc_onnx_refuse(at, "X is %s and R %s: only steps and batch may be known at run time only",
                                infc_type_text(at->arena, &x->type), infc_type_text(at->arena, &r.type));
    l->hp = (l->h + 15) / 16 * 16;
    if (infc_onnx_attr_int(at, "hidden_size", l->h) != l->h)
        return infc_onnx_invalid(at, "attribute \"hidden_size\" is %lld, but R is %s",
                                 (long long)infc_onnx_attr_int(at, "hidden_size", 0),
                                 infc_type_text(at->arena, &r.type));
    if (infc_dim_most(l->steps) > 1 << 24)
        return infc_onnx_refuse(at, "%s steps; at most %d are supported",
                                infc_dim_text(at->arena, l->steps), 1 << 24);
    return INFC_OK;
}

static infc_status import(infc_onnx_at *at, layer *l) {
    infc_onnx_operand x, parts[2];
    INFC_TRY(read_attributes(at, l));
    INFC_TRY(read_sizes(at, l, &x));
    if (l->quantized && infc_onnx_has(at, 4)) INFC_TRY(without_padding(at, l, &x, &x));
    if (l->dirs == 1 || same_activations(l)) {
        INFC_TRY(build(at, l, &x, 0, l->dirs, &parts[0]));
    } else {
        for (int i = 0; i < 2; i++) INFC_TRY(build(at, l, &x, i, 1, &parts[i]));
        INFC_TRY(infc_onnx_join(at, parts, 2, 1, &parts[0]));
    }
    INFC_TRY(hand_out(at, l, 0, &parts[0], 0, l->steps));
    for (int i = 0; i < l->n_states; i++)
        INFC_TRY(hand_out(at, l, 1 + (size_t)i, &parts[0], infc_dim_add(l->steps, i), 1));
    return INFC_OK;
}

infc_status infc_onnx_import_lstm(infc_onnx_at *at) {
    layer l = {.kind = INFC_OP_lstm, .gates = 4, .n_acts = 3, .n_states = 2};
    l.extra = infc_onnx_has(at, 7);
    return import(at, &l);
}

/* Weights in int8 or uint8, turned round: [D, I, G * H]; x and h are quantised by their extremes, h for each row. */
infc_status infc_onnx_import_dynamic_quantize_lstm(infc_onnx_at *at) {
    layer l = {.kind = INFC_OP_lstm, .gates = 4, .n_acts = 3, .n_states = 2, .quantized = true};
    l.extra = infc_onnx_has(at, 7);
    for (size_t i = 8; i < 12; i++)
        if (!infc_onnx_has(at, i))
            return infc_onnx_invalid(at, "input %zu must not be left out", i);
    return import(at, &l);
}

infc_status infc_onnx_import_gru(infc_onnx_at *at) {
    layer l = {.kind = INFC_OP_gru, .gates = 3, .n_acts = 2, .n_states = 1};
    return import(at, &l);
}

infc_status infc_onnx_import_rnn(infc_onnx_at *at) {
    layer l = {.kind = INFC_OP_rnn, .gates = 1, .n_acts = 1, .n_states = 1};
    return import(at, &l);
}
