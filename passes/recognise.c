/* recognise.c - what exporters wrote out becomes the op or function that it is:
 *
 *   (x - mean) / sqrt(mean((x - mean)^2) + e)       norm, and without the mean RMS normalisation
 *   e^(x - max) / sum                               softmax
 *   0.5 x (1 + erf(x / sqrt(2)))                    gelu, in any order of the factors; also gelu_tanh,
 *   x sigmoid(x), x sigmoid(1.702 x)                silu and gelu_quick,
 *   x clip(x + 3, 0, 6) / 6                         hardswish
 *
 * What is left unused is for dce. Values change by rounding only. */
#include "match.h"
#include <math.h>

/* ---- normalisation --------------------------------------------------------------------------------------- */

/* Whether `value` is the mean of `*of` along its last axis, kept as 1. */
static bool match_mean(const infc_ir *ir, MlirValue value, MlirValue *of) {
    MlirValue sum;
    float c;
    bool divided = infc_match_with_constant(ir, value, "div", &sum, &c);
    if (!divided && !infc_match_with_constant(ir, value, "mul", &sum, &c)) return false;
    MlirOperation reduce = infc_match_kind(ir, sum, INFC_OP_reduce_sum);
    if (mlirOperationIsNull(reduce)) return false;
    infc_op_desc desc;
    infc_ir_describe(ir, reduce, &desc);
    const infc_attr *axes = infc_desc_attr(&desc, "axes");
    int last = desc.in[0].rank - 1;
    if (axes->n_ints != 1 || axes->ints[0] != last) return false;
    *of = mlirOperationGetOperand(reduce, 0);
    double n = (double)desc.in[0].dims[last];
    return infc_match_close(c, divided ? n : 1 / n);
}

/* d * d. */
static bool match_square(const infc_ir *ir, MlirValue value, MlirValue *of) {
    float two;
    MlirOperation mul = infc_match_map(ir, value, "mul");
    if (mlirOperationIsNull(mul))
        return infc_match_with_constant(ir, value, "pow", of, &two) && two == 2.0f;
    *of = mlirOperationGetOperand(mul, 0);
    return mlirValueEqual(*of, mlirOperationGetOperand(mul, 1));
}

/* sqrt(variance + epsilon), with what is squared. */
static bool match_deviation(const infc_ir *ir, MlirValue value, MlirValue *of, float *epsilon) {
    MlirOperation root = infc_match_map(ir, value, "sqrt");
    if (mlirOperationIsNull(root)) return false;
    MlirValue sum = mlirOperationGetOperand(root, 0), square, variance = sum;
    *epsilon = 0;
    if (!mlirOperationIsNull(infc_match_map(ir, sum, "add")) &&
        !infc_match_with_constant(ir, sum, "add", &variance, epsilon))
        return false;
    return *epsilon >= 0 && isfinite(*epsilon) && match_mean(ir, variance, &square) &&
           match_square(ir, square, of);
}

/* d / deviation, or d * (1 / deviation). */
static bool match_scaled(const infc_ir *ir, MlirOperation op, MlirValue *of, float *epsilon) {
    MlirValue result = mlirOperationGetResult(op, 0), a = mlirOperationGetOperand(op, 0),
              b = mlirOperationGetOperand(op, 1);
    if (!mlirOperationIsNull(infc_match_map(ir, result, "div")))
        return match_deviation(ir, b, of, epsilon) && mlirValueEqual(a, *of);
    if (mlirOperationIsNull(infc_match_map(ir, result, "mul"))) return false;
    for (int i = 0; i < 2; i++) {
        MlirOperation inverse = infc_match_map(ir, i ? a : b, "reciprocal");
        int at = 0;
        float one;
        if (mlirOperationIsNull(inverse)) {
            inverse = infc_match_map(ir, i ? a : b, "div");
            if (mlirOperationIsNull(inverse) ||
                !infc_constant_splat(ir, mlirOperationGetOperand(inverse, 0), &one) || one != 1.0f)
                continue;
            at = 1;
        }
        if (match_deviation(ir, mlirOperationGetOperand(inverse, at), of, epsilon) &&
            mlirValueEqual(i ? b : a, *of))
            return true;
    }
    return false;
}

static infc_status norm(infc_pass_cx *pass, MlirOperation op, MlirValue *out) {
    infc_ir *ir = pass->ir;
    MlirValue d, x, mean;
    float epsilon;
    if (!match_scaled(ir, op, &d, &epsilon)) return INFC_OK;
    MlirOperation centred = infc_match_map(ir, d, "sub");
    bool center = !mlirOperationIsNull(centred) &&
                  match_mean(ir, mlirOperationGetOperand(centred, 1), &mean) &&
                  mlirValueEqual(mean, mlirOperationGetOperand(centred, 0));
    x = center ? mean : d;
    infc_attr attrs[] = {infc_attr_int("center", center), infc_attr_int("epsilon", infc_f32_bits(epsilon))};
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    return infc_ir_build(ir, at, INFC_OP_norm, mlirOperationGetLocation(op), &x, 1, attrs, 2, out);
}

/* ---- softmax --------------------------------------------------------------------------------------------- */

/* The one axis over which `value` reduces `of`; -1 when it does not. */
static int64_t axis_of(const infc_ir *ir, MlirValue value, infc_op_kind kind, MlirValue of) {
    MlirOperation op = infc_match_kind(ir, value, kind);
    infc_op_desc desc;
    if (mlirOperationIsNull(op) || !mlirValueEqual(mlirOperationGetOperand(op, 0), of)) return -1;
    infc_ir_describe(ir, op, &desc);
    const infc_attr *axes = infc_desc_attr(&desc, "axes");
    return axes->n_ints == 1 ? axes->ints[0] : -1;
}

static infc_status softmax(infc_pass_cx *pass, MlirOperation op, MlirValue *out) {
    infc_ir *ir = pass->ir;
    if (mlirOperationIsNull(infc_match_map(ir, mlirOperationGetResult(op, 0), "div")))
        return INFC_OK;
    MlirValue top = mlirOperationGetOperand(op, 0);
    MlirOperation exp = infc_match_map(ir, top, "exp");
    int64_t axis = axis_of(ir, mlirOperationGetOperand(op, 1), INFC_OP_reduce_sum, top);
    if (mlirOperationIsNull(exp) || axis < 0) return INFC_OK;
    MlirOperation shifted = infc_match_map(ir, mlirOperationGetOperand(exp, 0), "sub");
    if (mlirOperationIsNull(shifted)) return INFC_OK;
    MlirValue x = mlirOperationGetOperand(shifted, 0);
    if (axis_of(ir, mlirOperationGetOperand(shifted, 1), INFC_OP_reduce_max, x) != axis)
        return INFC_OK;
    infc_attr attr = infc_attr_int("axis", axis);
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    return infc_ir_build(ir, at, INFC_OP_softmax, mlirOperationGetLocation(op), &x, 1, &attr, 1, out);
}

/* ---- activations: products -------------------------------------------------------------------------------- */

enum { MAX_FACTORS = 4 };

typedef struct product {
    MlirValue factors[MAX_FACTORS]; /* that are no constants */
    int n;
    double constant;
} product;

/* The factors of nested products and quotients by constants. */
static bool take_factors(const infc_ir *ir, MlirValue value, product *p, bool first) {
    MlirValue rest;
    float c;
    MlirOperation op = infc_match_map(ir, value, "mul");
    if (infc_match_with_constant(ir, value, "div", &rest, &c)) {
        p->constant /= (double)c;
        return take_factors(ir, rest, p, false);
    }
    if (mlirOperationIsNull(op) || (!first && infc_ir_uses(value) > 1)) {
        if (infc_constant_splat(ir, value, &c)) p->constant *= (double)c;
        else if (p->n == MAX_FACTORS) return false;
        else p->factors[p->n++] = value;
        return true;
    }
    return take_factors(ir, mlirOperationGetOperand(op, 0), p, false) &&
           take_factors(ir, mlirOperationGetOperand(op, 1), p, false);
}

/* Whether value is x * want. */
static bool is_multiple(const infc_ir *ir, MlirValue value, MlirValue x, double want) {
    MlirValue of;
    float c;
    if (infc_match_with_constant(ir, value, "mul", &of, &c))
        return mlirValueEqual(of, x) && infc_match_close(c, want);
    if (infc_match_with_constant(ir, value, "div", &of, &c))
        return mlirValueEqual(of, x) && infc_match_close(c, 1 / want);
    return want == 1 && mlirValueEqual(value, x);
}

/* x^3 */
static bool is_cube(const infc_ir *ir, MlirValue value, MlirValue x) {
    MlirValue of;
    float c;
    product p = {.constant = 1};
    if (infc_match_with_constant(ir, value, "pow", &of, &c))
        return mlirValueEqual(of, x) && c == 3.0f;
    if (!take_factors(ir, value, &p, true) || p.constant != 1) return false;
    int n = 0;
    for (int i = 0; i < p.n; i++) {
        MlirValue square;
        if (mlirValueEqual(p.factors[i], x)) n++;
        else if (match_square(ir, p.factors[i], &square) && mlirValueEqual(square, x)) n += 2;
        else return false;
    }
    return n == 3;
}

/* sqrt(2 / pi) * (x + 0.044715 * x^3) */
static bool is_tanh_argument(const infc_ir *ir, MlirValue value, MlirValue x) {
    MlirValue sum, cube;
    float c;
    if (!infc_match_with_constant(ir, value, "mul", &sum, &c) || !infc_match_close(c, 0.7978845608028654))
        return false;
    MlirOperation add = infc_match_map(ir, sum, "add");
    for (int i = 0; !mlirOperationIsNull(add) && i < 2; i++)
        if (mlirValueEqual(mlirOperationGetOperand(add, i), x) &&
            infc_match_with_constant(ir, mlirOperationGetOperand(add, 1 - i), "mul", &cube, &c))
            return infc_match_close(c, 0.044715) && is_cube(ir, cube, x);
    return false;
}

/* The activation that f * x * constant is; null when none. */
static const char *activation(const infc_ir *ir, MlirValue f, MlirValue x, double constant) {
    MlirValue inner;
    float one;
    MlirOperation op = infc_match_map(ir, f, "sigmoid");
    if (!mlirOperationIsNull(op) && constant == 1) {
        if (is_multiple(ir, mlirOperationGetOperand(op, 0), x, 1)) return "silu";
        return is_multiple(ir, mlirOperationGetOperand(op, 0), x, 1.702) ? "gelu_quick" : NULL;
    }
    if (!infc_match_with_constant(ir, f, "add", &inner, &one) || one != 1.0f || constant != 0.5)
        return NULL;
    op = infc_match_map(ir, inner, "erf");
    if (!mlirOperationIsNull(op) && is_multiple(ir, mlirOperationGetOperand(op, 0), x, sqrt(0.5)))
        return "gelu";
    op = infc_match_map(ir, inner, "tanh");
    return !mlirOperationIsNull(op) && is_tanh_argument(ir, mlirOperationGetOperand(op, 0), x)
               ? "gelu_tanh"
               : NULL;
}

/* clip(x + 3, 0, 6), times 1/6. */
static bool is_hardswish(const infc_ir *ir, MlirValue f, MlirValue x, double constant) {
    MlirValue sum;
    float low, high, three;
    MlirOperation clip = infc_match_map(ir, f, "clip");
    if (mlirOperationIsNull(clip) || !infc_match_close((float)constant, 1.0 / 6)) return false;
    return infc_constant_splat(ir, mlirOperationGetOperand(clip, 1), &low) && low == 0.0f &&
           infc_constant_splat(ir, mlirOperationGetOperand(clip, 2), &high) && high == 6.0f &&
           infc_match_with_constant(ir, mlirOperationGetOperand(clip, 0), "add", &sum, &three) &&
           three == 3.0f && mlirValueEqual(sum, x);
}

static infc_status activations(infc_pass_cx *pass, MlirOperation op, MlirValue *out) {
    infc_ir *ir = pass->ir;
    product p = {.constant = 1};
    MlirValue result = mlirOperationGetResult(op, 0);
    if (!take_factors(ir, result, &p, true) || p.n != 2) return INFC_OK;
    for (int i = 0; i < 2; i++) {
        MlirValue f = p.factors[i], x = p.factors[1 - i];
        const char *fn = activation(ir, f, x, p.constant);
        if (!fn && is_hardswish(ir, f, x, p.constant)) fn = "hardswish";
        infc_type of = infc_ir_type(ir, x), to = infc_ir_type(ir, result);
        if (!fn || !infc_type_equal(&of, &to)) continue;
        infc_ir_at at = {mlirOperationGetBlock(op), op};
        return infc_ir_map(ir, at, fn, mlirOperationGetLocation(op), &x, 1, out);
    }
    return INFC_OK;
}

/* ---- the pass --------------------------------------------------------------------------------------------- */

/* In program order; the last op of a pattern is its root. */
infc_status infc_pass_recognise(infc_pass_cx *pass) {
    MlirOperation *ops;
    infc_ir *ir = pass->ir;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        MlirValue made = {NULL};
        if (infc_ir_kind(ir, ops[i]) != INFC_OP_map2) continue;
        INFC_TRY(norm(pass, ops[i], &made));
        if (mlirValueIsNull(made)) INFC_TRY(softmax(pass, ops[i], &made));
        if (mlirValueIsNull(made)) INFC_TRY(activations(pass, ops[i], &made));
        if (mlirValueIsNull(made)) continue;
        infc_type was = infc_ir_type(ir, mlirOperationGetResult(ops[i], 0)), is = infc_ir_type(ir, made);
        if (!infc_type_equal(&was, &is)) {
            infc_ir_erase(infc_ir_def(made));
            continue;
        }
        infc_ir_replace(ir, mlirOperationGetResult(ops[i], 0), made);
        infc_ir_erase(ops[i]);
        pass->n_changes++;
    }
    return INFC_OK;
}
