/* integers.c - conv and matmul between quantised tensors in integers. Importers turn DequantizeLinear, and the Cast and
 * Mul that stand for it, into arithmetic:   x = (convert q - zero) * scale
 *
 *   both operands such     conv(x, w)  becomes  convert iconv(q - zero, packed w) * (scale * w.scale)
 *                          with one scale and zero point for x and one, or one per output, for w; a bias that is
 *                          quantised with the product of the scales enters the sum
 *   int8 weights alone     matmul(x, w) becomes  matmul(x, q) * w.scale       (zero point 0)
 *   a table that is looked up   gather(x, i) becomes  (convert gather(q, i) - zero) * scale
 *
 * Transposes and reshapes between the arithmetic and the op are applied to q. What stays float though one operand is
 * quantised is noted with the reason. The arithmetic that nothing uses any more is for dce. At last, sums of bytes
 * take them as they are (bytes.c). */
#include "centred.h"
#include <math.h>

enum { MAX_STEPS = 1 << 15 }; /* of one sum: 255 * 255 * 2^15 < 2^31 */

typedef struct grid {
    infc_centred of;
    MlirValue scale;
} grid;

typedef struct cx {
    infc_pass_cx *pass;
    infc_ptr_set *erased; /* ops that other ops of the walk took along */
    infc_ir *ir;
    infc_ir_at at;
    MlirLocation location;
} cx;

static bool match(const infc_ir *ir, MlirValue value, grid *out) {
    MlirOperation def = infc_match_map(ir, value, "mul");
    if (mlirOperationIsNull(def)) return false;
    infc_type type = infc_ir_type(ir, value);
    for (int i = 0; i < 2; i++) {
        out->scale = mlirOperationGetOperand(def, 1 - i);
        if (!infc_match_centred(ir, mlirOperationGetOperand(def, i), &out->of)) continue;
        infc_type q = infc_ir_type(ir, out->of.q);
        return infc_shape_equal(&q, &type);
    }
    return false;
}

static infc_status reshape(cx *c, MlirValue *value, const int64_t *dims, int rank) {
    return infc_match_reshape(c->ir, c->at, c->location, *value, dims, rank, value);
}

/* A parameter with as many axes as what it broadcasts against; one value stays as it is. */
static infc_status full_rank(cx *c, int rank, MlirValue *value) {
    infc_type type = infc_ir_type(c->ir, *value);
    int64_t dims[INFC_MAX_RANK];
    if (infc_type_count(&type) == 1) return INFC_OK;
    for (int i = 0; i < rank; i++)
        dims[i] = i < rank - type.rank ? 1 : type.dims[i - (rank - type.rank)];
    return reshape(c, value, dims, rank);
}

static infc_status permute(cx *c, const infc_attr *perm, MlirValue *value) {
    infc_type type = infc_ir_type(c->ir, *value);
    MlirValue from = *value;
    if (infc_type_count(&type) == 1 && type.rank != perm->n_ints) return INFC_OK;
    return infc_ir_build(c->ir, c->at, INFC_OP_transpose, c->location, &from, 1, perm, 1, value);
}

/* Varies along axis 0 of something of that rank at most. */
static bool along_first(const infc_type *type, int rank) {
    if (infc_type_count(type) == 1) return true;
    if (type->rank != rank) return false;
    for (int i = 1; i < rank; i++)
        if (type->dims[i] != 1) return false;
    return true;
}

/* A parameter of x [n, ..] for the same elements as [n, ..] of another rank. */
static infc_status reshape_parameter(cx *c, const infc_type *x, const infc_attr *shape,
                                     MlirValue *value, bool *fits) {
    infc_type type = infc_ir_type(c->ir, *value);
    int64_t dims[INFC_MAX_RANK] = {0};
    if (infc_type_count(&type) == 1) return INFC_OK;
    *fits = *fits && along_first(&type, x->rank) && shape->n_ints > 0 && shape->ints[0] == x->dims[0];
    if (!*fits) return INFC_OK;
    for (int i = 0; i < shape->n_ints; i++) dims[i] = i == 0 ? x->dims[0] : 1;
    return reshape(c, value, dims, shape->n_ints);
}

static infc_status through_reshape(cx *c, const infc_attr *shape, grid *g, bool *found) {
    infc_type x = infc_ir_type(c->ir, g->of.q);
    INFC_TRY(reshape_parameter(c, &x, shape, &g->scale, found));
    if (g->of.has_zero) INFC_TRY(reshape_parameter(c, &x, shape, &g->of.zero, found));
    return *found ? reshape(c, &g->of.q, shape->ints, shape->n_ints) : INFC_OK;
}

static infc_status through_transpose(cx *c, const infc_attr *perm, grid *g) {
    INFC_TRY(full_rank(c, perm->n_ints, &g->scale));
    INFC_TRY(permute(c, perm, &g->scale));
    if (g->of.has_zero) {
        INFC_TRY(full_rank(c, perm->n_ints, &g->of.zero));
        INFC_TRY(permute(c, perm, &g->of.zero));
    }
    MlirValue from = g->of.q;
    return infc_ir_build(c->ir, c->at, INFC_OP_transpose, c->location, &from, 1, perm, 1, &g->of.q);
}

/* The grid of a value, looking through transposes and reshapes, which are then applied to q. */
static infc_status find_grid(cx *c, MlirValue value, grid *out, bool *found) {
    MlirOperation moves[4], def = infc_ir_def(value);
    int n = 0;
    *found = false;
    while (n < 4 && !mlirOperationIsNull(def)) {
        infc_op_kind kind = infc_ir_kind(c->ir, def);
        if (kind != INFC_OP_transpose && kind != INFC_OP_reshape) break;
        moves[n++] = def;
        value = mlirOperationGetOperand(def, 0);
        def = infc_ir_def(value);
    }
    *found = match(c->ir, value, out);
    while (*found && n-- > 0) {
        infc_op_desc desc;
        infc_ir_describe(c->ir, moves[n], &desc);
        if (desc.kind == INFC_OP_reshape)
            INFC_TRY(through_reshape(c, infc_desc_attr(&desc, "shape"), out, found));
        else INFC_TRY(through_transpose(c, infc_desc_attr(&desc, "perm"), out));
    }
    return INFC_OK;
}

static infc_status convert(cx *c, infc_dtype to, MlirValue *value) {
    infc_attr attr = infc_attr_string("to", infc_dtype_name(to));
    MlirValue from = *value;
    if (infc_ir_type(c->ir, from).dtype == to) return INFC_OK;
    return infc_ir_build(c->ir, c->at, INFC_OP_convert, c->location, &from, 1, &attr, 1, value);
}

static infc_status map2(cx *c, const char *fn, MlirValue a, MlirValue b, MlirValue *out) {
    MlirValue pair[2] = {a, b};
    return infc_ir_map(c->ir, c->at, fn, c->location, pair, 2, out);
}

/* convert q - zero. */
static infc_status centre(cx *c, const grid *g, MlirValue *out) {
    *out = g->of.q;
    INFC_TRY(convert(c, INFC_DTYPE_f32, out));
    return g->of.has_zero ? map2(c, "sub", *out, g->of.zero, out) : INFC_OK;
}

static infc_status centred16(cx *c, const grid *g, MlirValue *out) {
    INFC_TRY(centre(c, g, out));
    return convert(c, INFC_DTYPE_i16, out);
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

/* One scale, or one per output of a weight. */
static bool scaled_by_output(infc_op_kind kind, const infc_type *scale, int64_t outputs) {
    int64_t n = infc_type_count(scale);
    if (n == 1) return true;
    return kind == INFC_OP_conv ? along_first(scale, 4) : n == outputs && scale->dims[scale->rank - 1] == n;
}

/* Null, or why the operands of an op cannot be summed in integers. */
static const char *unfit(const infc_ir *ir, MlirOperation op, infc_op_kind kind, const grid *x, const grid *w) {
    infc_type xs = infc_ir_type(ir, x->scale), ws = infc_ir_type(ir, w->scale),
              type = infc_ir_type(ir, w->of.q);
    int64_t outputs = infc_outputs_count(kind, &type),
            steps = infc_type_count(&type) / (outputs ? outputs : 1);
    infc_type a = infc_ir_type(ir, mlirOperationGetOperand(op, 0));
    if (kind == INFC_OP_matmul) steps = a.dims[a.rank - 1];
    if (infc_ir_type(ir, x->of.q).dtype == INFC_DTYPE_i32 || type.dtype == INFC_DTYPE_i32)
        return "an operand is int32";
    if (infc_type_count(&xs) != 1) return "operand 0 has more than one scale";
    if (x->of.has_zero) {
        infc_type zero = infc_ir_type(ir, x->of.zero);
        if (infc_type_count(&zero) != 1) return "operand 0 has more than one zero point";
    }
    if (infc_type_open(&type)) return "operand 1 has dimensions known only at run time";
    if (infc_dim_most(steps) > MAX_STEPS) return "its sums are too long for int32";
    if (type.rank > 4 || (kind == INFC_OP_matmul && type.rank > 3))
        return "operand 1 has too many dimensions";
    return scaled_by_output(kind, &ws, outputs) ? NULL : "operand 1 has a scale per input";
}

static bool near(float a, float b) { return fabsf(a - b) <= 0x1p-22f * fabsf(a); }

/* Whether a bias is quantised with the product of the scales, which are constants. */
static bool same_scales(const infc_ir *ir, const grid *x, const grid *w, const grid *bias) {
    const infc_weight *xs = infc_ir_weight_of(ir, x->scale),
                      *ws = infc_ir_weight_of(ir, infc_match_past_reshapes(ir, w->scale)),
                      *bs = infc_ir_weight_of(ir, infc_match_past_reshapes(ir, bias->scale));
    if (!xs || !ws || !bs) return false;
    int64_t n_w = infc_type_count(&ws->type), n_b = infc_type_count(&bs->type), n = n_w > n_b ? n_w : n_b;
    if ((n_w != 1 && n_w != n) || (n_b != 1 && n_b != n)) return false;
    for (int64_t i = 0; i < n; i++) {
        float product = (float)infc_weight_f64(xs, 0) * (float)infc_weight_f64(ws, n_w == 1 ? 0 : i);
        if (!near(product, (float)infc_weight_f64(bs, n_b == 1 ? 0 : i))) return false;
    }
    return true;
}

/* The addition of a bias that can enter the sum, and the int32 it is; a null op when there is none. */
static infc_status find_bias(cx *c, MlirOperation op, const grid *x, const grid *w, int64_t outputs,
                             MlirOperation *add, MlirValue *starts) {
    MlirOperation user = infc_ir_only_user(mlirOperationGetResult(op, 0));
    *add = (MlirOperation){NULL};
    if (mlirOperationIsNull(user) || infc_ir_kind(c->ir, user) != INFC_OP_map2 ||
        mlirOperationIsNull(infc_match_map(c->ir, mlirOperationGetResult(user, 0), "add")))
        return INFC_OK;
    for (int i = 0; i < 2; i++) {
        grid bias;
        bool found;
        MlirValue other = mlirOperationGetOperand(user, i);
        if (mlirValueEqual(other, mlirOperationGetResult(op, 0))) continue;
        infc_type type = infc_ir_type(c->ir, other);
        if (infc_type_count(&type) != outputs) continue;
        c->at.before = user; /* the bias may be made after op */
        INFC_TRY(find_grid(c, other, &bias, &found));
        if (!found || infc_ir_type(c->ir, bias.of.q).dtype != INFC_DTYPE_i32 || !same_scales(c->ir, x, w, &bias))
            continue;
        *starts = bias.of.q;
        INFC_TRY(reshape(c, starts, &outputs, 1));
        *add = user;
    }
    return INFC_OK;
}

static MlirValue zeros(cx *c, int64_t n) {
    infc_type type = {.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {n}};
    void *bytes = INFC_NEW(c->ir->cx->arena, int32_t, (size_t)n + INFC_OVER_READ);
    return infc_constant_add(c->ir, c->at, c->location, "zeros", &type, bytes, "starts of sums");
}

/* The scale of w as it broadcasts over the result. */
static infc_status output_scale(cx *c, infc_op_kind kind, MlirValue *scale) {
    infc_type type = infc_ir_type(c->ir, *scale);
    const int64_t n = infc_type_count(&type);
    infc_type vector = infc_outputs_vector_type(kind, n);
    return n == 1 ? INFC_OK : reshape(c, scale, vector.dims, vector.rank);
}

static infc_status sum(cx *c, MlirOperation op, infc_op_kind kind, const grid *x, const grid *w) {
    infc_ir *ir = c->ir;
    infc_op_desc desc;
    infc_type type = infc_ir_type(ir, w->of.q);
    MlirValue in[2], pack[2], result, scale = w->scale;
    MlirOperation add;
    int64_t outputs = infc_outputs_count(kind, &type);
    infc_ir_describe(ir, op, &desc);
    INFC_TRY(find_bias(c, op, x, w, outputs, &add, &pack[1]));
    MlirOperation last = mlirOperationIsNull(add) ? op : add;
    c->at.before = last;
    INFC_TRY(centred16(c, x, &in[0]));
    pack[0] = w->of.q;
    if (type.dtype != INFC_DTYPE_i8 || w->of.has_zero) INFC_TRY(centred16(c, w, &pack[0]));
    if (mlirOperationIsNull(add)) pack[1] = zeros(c, outputs);
    INFC_TRY(infc_ir_build(ir, c->at, INFC_OP_ipack, c->location, pack, 2, NULL, 0, &in[1]));
    INFC_TRY(infc_ir_build(ir, c->at, kind == INFC_OP_conv ? INFC_OP_iconv : INFC_OP_imatmul,
                           c->location, in, 2, desc.attrs, desc.n_attrs, &result));
    INFC_TRY(convert(c, INFC_DTYPE_f32, &result));
    INFC_TRY(output_scale(c, kind, &scale));
    INFC_TRY(map2(c, "mul", x->scale, scale, &scale));
    INFC_TRY(map2(c, "mul", result, scale, &result));
    infc_ir_replace(ir, mlirOperationGetResult(last, 0), result);
    infc_ir_erase(last);
    if (!mlirOperationIsNull(add)) {
        infc_ptr_set_add(c->erased, add.ptr);
        infc_ir_erase(op);
    }
    c->pass->n_changes++;
    return INFC_OK;
}

/* int8 weights beside a float. */
static infc_status narrow(cx *c, MlirOperation op, infc_op_kind kind, const grid *w) {
    MlirValue in[2] = {mlirOperationGetOperand(op, 0), w->of.q}, scale = w->scale, result;
    INFC_TRY(output_scale(c, kind, &scale));
    INFC_TRY(infc_rebuild(c->ir, op, in, 2, &result));
    INFC_TRY(map2(c, "mul", result, scale, &result));
    infc_ir_replace(c->ir, mlirOperationGetResult(op, 0), result);
    infc_ir_erase(op);
    c->pass->n_changes++;
    return INFC_OK;
}

static infc_status rewrite_product(cx *c, MlirOperation op, infc_op_kind kind, const infc_ptr_set *constants) {
    grid x, w;
    bool x_found, w_found;
    MlirValue weight = mlirOperationGetOperand(op, 1);
    INFC_TRY(find_grid(c, mlirOperationGetOperand(op, 0), &x, &x_found));
    INFC_TRY(find_grid(c, weight, &w, &w_found));
    if (!x_found && !w_found) return INFC_OK;
    const char *why = !x_found   ? "operand 0 is not quantised"
                      : !w_found ? "operand 1 is not quantised"
                                 : NULL;
    if (!why) why = unfit(c->ir, op, kind, &x, &w);
    if (!why) return sum(c, op, kind, &x, &w);
    infc_ir_note(c->ir, infc_ir_loc(c->ir, c->location).node, why);
    bool stored = w_found && infc_ir_type(c->ir, w.of.q).dtype == INFC_DTYPE_i8 && !w.of.has_zero &&
                  infc_ptr_set_has(constants, infc_ir_def(weight).ptr);
    if (!stored) return INFC_OK;
    infc_type scale = infc_ir_type(c->ir, w.scale), type = infc_ir_type(c->ir, w.of.q);
    return scaled_by_output(kind, &scale, infc_outputs_count(kind, &type)) ? narrow(c, op, kind, &w) : INFC_OK;
}

/* ---- tables ------------------------------------------------------------------------------------------------- */

static infc_status gather(cx *c, MlirOperation op, const infc_attr *axis, MlirValue *value) {
    MlirValue in[2] = {*value, mlirOperationGetOperand(op, 1)};
    return infc_ir_build(c->ir, c->at, INFC_OP_gather, c->location, in, 2, axis, 1, value);
}

/* A parameter that varies along the axis is looked up too. */
static infc_status gather_parameter(cx *c, MlirOperation op, const infc_attr *axis, int rank, MlirValue *value) {
    INFC_TRY(full_rank(c, rank, value));
    infc_type type = infc_ir_type(c->ir, *value);
    if (infc_type_count(&type) == 1 || type.dims[axis->i] == 1) return INFC_OK;
    return gather(c, op, axis, value);
}

static infc_status rewrite_gather(cx *c, MlirOperation op) {
    infc_op_desc desc;
    grid g;
    MlirValue result;
    infc_ir_describe(c->ir, op, &desc);
    const infc_attr *axis = infc_desc_attr(&desc, "axis");
    if (axis->i != 0 || !match(c->ir, mlirOperationGetOperand(op, 0), &g)) return INFC_OK;
    INFC_TRY(gather_parameter(c, op, axis, desc.in[0].rank, &g.scale));
    if (g.of.has_zero) INFC_TRY(gather_parameter(c, op, axis, desc.in[0].rank, &g.of.zero));
    INFC_TRY(gather(c, op, axis, &g.of.q));
    INFC_TRY(centre(c, &g, &result));
    INFC_TRY(map2(c, "mul", result, g.scale, &result));
    infc_ir_replace(c->ir, mlirOperationGetResult(op, 0), result);
    infc_ir_erase(op);
    c->pass->n_changes++;
    return INFC_OK;
}

infc_status infc_pass_integers(infc_pass_cx *pass) {
    infc_ir *ir = pass->ir;
    MlirOperation *ops;
    infc_ptr_set constants = {.arena = pass->scratch}, erased = {.arena = pass->scratch};
    MlirBlock body = infc_ir_body(ir->main);
    infc_ir_constants(ir, body, &constants);
    size_t n = infc_ir_ops(pass->scratch, body, &ops);
    for (size_t i = 0; i < n; i++) {
        if (infc_ptr_set_has(&erased, ops[i].ptr)) continue;
        infc_op_kind kind = infc_ir_kind(ir, ops[i]);
        cx c = {pass, &erased, ir, {mlirOperationGetBlock(ops[i]), ops[i]}, mlirOperationGetLocation(ops[i])};
        if (kind == INFC_OP_conv || kind == INFC_OP_matmul)
            INFC_TRY(rewrite_product(&c, ops[i], kind, &constants));
        else if (kind == INFC_OP_gather) INFC_TRY(rewrite_gather(&c, ops[i]));
    }
    return infc_sum_bytes(pass);
}
