/* bytes.c - sums of products of bytes less their zero points, without making them int16 first:
 *
 *   imatmul(q - zero, ipack(w, starts))          becomes  qmatmul(q, qpack(w, starts), zero)
 *   imatmul(q - zero, ipack(w - zero', starts))  becomes  qmatmul_both(q, qpack(w, starts), zero, zero')
 *
 * and iconv likewise where w has no zero point and its channels come in blocks. The sums are the same integers. x is to
 * be u8 and w i8: int8 values of x, and their zero point, are raised by 128, and uint8 weights, and theirs, lowered by
 * as much (which qpack does; qmatmul_both takes what zero' is above -128). */
#include "centred.h"

enum { MIDDLE = 128 };

typedef struct cx {
    infc_ir *ir;
    infc_ir_at at;
    MlirLocation location;
} cx;

bool infc_match_centred(const infc_ir *ir, MlirValue value, infc_centred *out) {
    MlirOperation sub = infc_match_map(ir, value, "sub");
    out->has_zero = !mlirOperationIsNull(sub);
    if (out->has_zero) {
        out->zero = mlirOperationGetOperand(sub, 1);
        value = mlirOperationGetOperand(sub, 0);
    }
    MlirOperation def = infc_match_kind(ir, value, INFC_OP_convert);
    if (mlirOperationIsNull(def)) return false;
    out->q = mlirOperationGetOperand(def, 0);
    infc_dtype dtype = infc_ir_type(ir, out->q).dtype;
    if (dtype == INFC_DTYPE_i32) return !out->has_zero;
    return dtype == INFC_DTYPE_i8 || dtype == INFC_DTYPE_u8;
}

/* Bytes less one zero point, or none, as int16. */
static bool match_bytes(const infc_ir *ir, MlirValue value, infc_centred *out) {
    MlirOperation narrow = infc_match_kind(ir, value, INFC_OP_convert);
    if (infc_ir_type(ir, value).dtype != INFC_DTYPE_i16 || mlirOperationIsNull(narrow) ||
        !infc_match_centred(ir, mlirOperationGetOperand(narrow, 0), out))
        return false;
    infc_type q = infc_ir_type(ir, out->q), type = infc_ir_type(ir, value);
    if (q.dtype == INFC_DTYPE_i32 || !infc_shape_equal(&q, &type)) return false;
    if (!out->has_zero) return true;
    infc_type zero = infc_ir_type(ir, out->zero);
    float same;
    return (infc_type_count(&zero) == 1 && !infc_type_open(&zero)) ||
           infc_constant_splat(ir, out->zero, &same);
}

static bool is_signed(const infc_ir *ir, const infc_centred *c) {
    return infc_ir_type(ir, c->q).dtype == INFC_DTYPE_i8;
}

static infc_status convert(cx *c, infc_dtype to, MlirValue *value) {
    infc_attr attr = infc_attr_string("to", infc_dtype_name(to));
    MlirValue from = *value;
    return infc_ir_build(c->ir, c->at, INFC_OP_convert, c->location, &from, 1, &attr, 1, value);
}

static void scalar(cx *c, float value, MlirValue *out) {
    infc_type type = {.dtype = INFC_DTYPE_f32};
    float *bytes = INFC_NEW(c->ir->cx->arena, float, 1 + INFC_OVER_READ);
    bytes[0] = value;
    *out = infc_constant_add(c->ir, c->at, c->location, "zero point", &type, bytes, "bytes");
}

/* An f32 as u8, raised by 128 first. */
static infc_status raise(cx *c, bool raised, MlirValue *value) {
    MlirValue pair[2] = {*value};
    if (raised) {
        scalar(c, MIDDLE, &pair[1]);
        INFC_TRY(infc_ir_map(c->ir, c->at, "add", c->location, pair, 2, value));
    }
    return convert(c, INFC_DTYPE_u8, value);
}

/* Its zero point as u8, raised by 128 where the values are int8. */
static infc_status zero_of(cx *c, const infc_centred *bytes, MlirValue *out) {
    float same = 0;
    *out = bytes->zero;
    if (!bytes->has_zero || infc_constant_splat(c->ir, bytes->zero, &same)) scalar(c, same, out);
    MlirOperation from = infc_match_kind(c->ir, *out, INFC_OP_convert);
    const bool raised = is_signed(c->ir, bytes);
    if (!raised && !mlirOperationIsNull(from)) {
        MlirValue stored = mlirOperationGetOperand(from, 0);
        if (infc_ir_type(c->ir, stored).dtype == INFC_DTYPE_u8) {
            *out = stored;
            return INFC_OK;
        }
    }
    return raise(c, raised, out);
}

static infc_status values_of(cx *c, const infc_centred *bytes, MlirValue *out) {
    *out = bytes->q;
    if (!is_signed(c->ir, bytes)) return INFC_OK;
    INFC_TRY(convert(c, INFC_DTYPE_f32, out));
    return raise(c, true, out);
}

/* Whether int8 weights, or uint8 less 128, are what is packed. */
static bool in_the_middle(const infc_ir *ir, const infc_centred *w) {
    float zero = 0;
    if (w->has_zero && !infc_constant_splat(ir, w->zero, &zero)) return false;
    return zero == (is_signed(ir, w) ? 0.0f : (float)MIDDLE);
}

/* Whole blocks of channels in each group. */
static bool in_blocks(const infc_op_desc *conv, const infc_type *w) {
    int64_t groups = infc_desc_int(conv, "groups");
    return groups == 1 || (w->dims[1] % 16 == 0 && w->dims[0] / groups % 16 == 0);
}

static infc_status rewrite(infc_pass_cx *pass, MlirOperation op, infc_op_kind kind) {
    infc_ir *ir = pass->ir;
    cx c = {ir, {mlirOperationGetBlock(op), op}, mlirOperationGetLocation(op)};
    infc_centred x, w = {.has_zero = false};
    MlirOperation pack = infc_match_kind(ir, mlirOperationGetOperand(op, 1), INFC_OP_ipack);
    if (mlirOperationIsNull(pack) || !match_bytes(ir, mlirOperationGetOperand(op, 0), &x))
        return INFC_OK;
    MlirValue in[4], parts[2] = {mlirOperationGetOperand(pack, 0), mlirOperationGetOperand(pack, 1)}, result;
    infc_type type = infc_ir_type(ir, parts[0]);
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    if (type.dtype == INFC_DTYPE_i8) w.q = parts[0];
    else if (!match_bytes(ir, parts[0], &w)) return INFC_OK;
    const bool both = !in_the_middle(ir, &w);
    if (kind == INFC_OP_iconv && (both || !in_blocks(&desc, &type))) return INFC_OK;
    parts[0] = w.q;
    INFC_TRY(values_of(&c, &x, &in[0]));
    INFC_TRY(infc_ir_build(ir, c.at, INFC_OP_qpack, c.location, parts, 2, NULL, 0, &in[1]));
    INFC_TRY(zero_of(&c, &x, &in[2]));
    if (both) INFC_TRY(zero_of(&c, &w, &in[3]));
    const infc_op_kind sums = both                    ? INFC_OP_qmatmul_both
                              : kind == INFC_OP_iconv ? INFC_OP_qconv
                                                      : INFC_OP_qmatmul;
    INFC_TRY(infc_ir_build(ir, c.at, sums, c.location, in, both ? 4 : 3, desc.attrs, desc.n_attrs, &result));
    infc_ir_replace(ir, mlirOperationGetResult(op, 0), result);
    infc_ir_erase(op);
    pass->n_changes++;
    return INFC_OK;
}

infc_status infc_sum_bytes(infc_pass_cx *pass) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        infc_op_kind kind = infc_ir_kind(pass->ir, ops[i]);
        if (kind == INFC_OP_imatmul || kind == INFC_OP_iconv) INFC_TRY(rewrite(pass, ops[i], kind));
    }
    return INFC_OK;
}
