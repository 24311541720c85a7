/* onnx_const.c - arithmetic on constants that infc has no kernels for: integers and booleans, and what makes them
 * from each other. Shapes in exported models are computed with it. */
#include "../../ir/op_rules.h"
#include "onnx_import.h"
#include <math.h>
#include <string.h>

enum { MAX_OPERANDS = 3 };
#define MAX_ELEMENTS (INT64_C(1) << 24)

typedef enum result { SAME, TRUTH } result;        /* element type: that of the operands, or bool */
typedef enum sum { FINE, TOO_LARGE, BY_ZERO } sum; /* TOO_LARGE: it wrapped around 64 bits */

typedef struct function {
    const char *op;
    int n;
    result result;
    bool floats; /* f32 operands too: nothing else computes it */
    /* Null: not of that kind. */
    sum (*i)(const int64_t *v, int64_t *out);
    double (*f)(const double *v);
} function;

/* ---- functions --------------------------------------------------------------------------------------- */

static sum i_add(const int64_t *v, int64_t *out) {
    return __builtin_add_overflow(v[0], v[1], out) ? TOO_LARGE : FINE;
}
static sum i_sub(const int64_t *v, int64_t *out) {
    return __builtin_sub_overflow(v[0], v[1], out) ? TOO_LARGE : FINE;
}
static sum i_mul(const int64_t *v, int64_t *out) {
    return __builtin_mul_overflow(v[0], v[1], out) ? TOO_LARGE : FINE;
}
static sum i_neg(const int64_t *v, int64_t *out) {
    return __builtin_sub_overflow(0, v[0], out) ? TOO_LARGE : FINE;
}

/* As in C, towards zero. */
static sum i_div(const int64_t *v, int64_t *out) {
    if (v[1] == 0) return BY_ZERO;
    if (v[1] == -1) return i_neg(v, out);
    *out = v[0] / v[1];
    return FINE;
}

/* The sign of the divisor, as in Python. */
static sum i_mod(const int64_t *v, int64_t *out) {
    if (v[1] == 0) return BY_ZERO;
    int64_t r = v[1] == -1 ? 0 : v[0] % v[1];
    *out = r != 0 && (r < 0) != (v[1] < 0) ? r + v[1] : r;
    return FINE;
}

static sum i_abs(const int64_t *v, int64_t *out) {
    if (v[0] < 0) return i_neg(v, out);
    *out = v[0];
    return FINE;
}

#define PLAIN(name, integer, real)                                                         \
    static sum i_##name(const int64_t *v, int64_t *out) { return *out = (integer), FINE; } \
    static double f_##name(const double *v) { return (real); }
PLAIN(min, v[0] < v[1] ? v[0] : v[1], v[0] < v[1] || isnan(v[0]) ? v[0] : v[1])
PLAIN(max, v[0] > v[1] ? v[0] : v[1], v[0] > v[1] || isnan(v[0]) ? v[0] : v[1])
PLAIN(equal, v[0] == v[1], v[0] == v[1])
PLAIN(less, v[0] < v[1], v[0] < v[1])
PLAIN(less_equal, v[0] <= v[1], v[0] <= v[1])
PLAIN(greater, v[0] > v[1], v[0] > v[1])
PLAIN(greater_equal, v[0] >= v[1], v[0] >= v[1])

#define LOGIC(name, value) \
    static sum i_##name(const int64_t *v, int64_t *out) { return *out = (value), FINE; }
LOGIC(and, v[0] && v[1])
LOGIC(or, v[0] || v[1])
LOGIC(xor, !v[0] != !v[1])
LOGIC(not, !v[0])

static double f_add(const double *v) { return v[0] + v[1]; }
static double f_sub(const double *v) { return v[0] - v[1]; }
static double f_mul(const double *v) { return v[0] * v[1]; }
static double f_div(const double *v) { return v[0] / v[1]; }
static double f_neg(const double *v) { return -v[0]; }
static double f_abs(const double *v) { return fabs(v[0]); }
static double f_sqrt(const double *v) { return sqrt(v[0]); }
static double f_floor(const double *v) { return floor(v[0]); }
static double f_ceil(const double *v) { return ceil(v[0]); }

static const function functions[] = {
    {"Abs", 1, SAME, false, i_abs, f_abs},
    {"Add", 2, SAME, false, i_add, f_add},
    {"And", 2, TRUTH, false, i_and, NULL},
    {"Ceil", 1, SAME, true, NULL, f_ceil},
    {"Div", 2, SAME, false, i_div, f_div},
    {"Equal", 2, TRUTH, true, i_equal, f_equal},
    {"Floor", 1, SAME, true, NULL, f_floor},
    {"Greater", 2, TRUTH, true, i_greater, f_greater},
    {"GreaterOrEqual", 2, TRUTH, true, i_greater_equal, f_greater_equal},
    {"Less", 2, TRUTH, true, i_less, f_less},
    {"LessOrEqual", 2, TRUTH, true, i_less_equal, f_less_equal},
    {"Max", 2, SAME, false, i_max, f_max},
    {"Min", 2, SAME, false, i_min, f_min},
    {"Mod", 2, SAME, false, i_mod, NULL},
    {"Mul", 2, SAME, false, i_mul, f_mul},
    {"Neg", 1, SAME, false, i_neg, f_neg},
    {"Not", 1, TRUTH, false, i_not, NULL},
    {"Or", 2, TRUTH, false, i_or, NULL},
    {"Sqrt", 1, SAME, false, NULL, f_sqrt},
    {"Sub", 2, SAME, false, i_sub, f_sub},
    {"Xor", 2, TRUTH, false, i_xor, NULL},
};

/* ---- open dims (ir/dim.h) ------------------------------------------------------------------------- */

/* *out is known when it is the same for all sizes. */
static bool decide(int64_t least, int64_t most, bool *out) {
    *out = least > 0;
    return least > 0 || most <= 0;
}

static bool d_div(int64_t a, int64_t b, int64_t *out) {
    if (infc_dim_share(a, b, out)) return true;
    if (infc_dim_open(b) || b < 1 || infc_dim_least(a) < 0) return false;
    *out = infc_dim_floor(a, b);
    return true;
}

/* The operators of `functions` over open dims. False: not defined, or not the same for all sizes. */
static bool dims_apply(const char *op, int64_t a, int64_t b, int64_t *out) {
    bool yes;
    int64_t over = infc_dim_sub(a, b), under = infc_dim_sub(b, a);
    bool more = decide(infc_dim_least(over), infc_dim_most(over), &yes); /* a > b */
    if (strcmp(op, "Add") == 0) *out = infc_dim_add(a, b);
    else if (strcmp(op, "Sub") == 0) *out = over;
    else if (strcmp(op, "Mul") == 0) *out = infc_dim_mul(a, b);
    else if (strcmp(op, "Neg") == 0) *out = infc_dim_sub(0, a);
    else if (strcmp(op, "Div") == 0) return d_div(a, b, out);
    else if (strcmp(op, "Mod") == 0 && !infc_dim_open(b) && b > 0)
        *out = infc_dim_sub(a, infc_dim_mul(infc_dim_floor(a, b), b));
    else if (strcmp(op, "Greater") == 0) return *out = yes, more;
    else if (strcmp(op, "LessOrEqual") == 0) return *out = !yes, more;
    else if (strcmp(op, "Max") == 0) return *out = yes ? a : b, more;
    else if (strcmp(op, "Min") == 0) return *out = yes ? b : a, more;
    else if (strcmp(op, "Abs") == 0) return *out = a, infc_dim_least(a) >= 0;
    else if (strcmp(op, "Equal") == 0) {
        *out = over == 0;
        return *out || infc_dim_least(over) > 0 || infc_dim_most(over) < 0;
    } else {
        more = decide(infc_dim_least(under), infc_dim_most(under), &yes); /* a < b */
        if (strcmp(op, "Less") == 0) return *out = yes, more;
        if (strcmp(op, "GreaterOrEqual") == 0) return *out = !yes, more;
        return false;
    }
    return true;
}

/* ---- elements ------------------------------------------------------------------------------------------ */

static bool is_float(infc_dtype dtype) {
    return dtype == INFC_DTYPE_f32 || dtype == INFC_DTYPE_f64; /* halves are f32 here: onnx_tensor.h */
}

static bool is_unsigned(infc_dtype dtype) {
    return dtype == INFC_DTYPE_u8 || dtype == INFC_DTYPE_u16 || dtype == INFC_DTYPE_u32 || dtype == INFC_DTYPE_u64;
}

/* Whether the integer type holds a whole number; false for a NaN. */
static bool holds(infc_dtype dtype, double v) {
    int bits = 8 * (int)infc_dtype_bytes(dtype);
    return is_unsigned(dtype) ? v >= 0 && v < ldexp(1, bits)
                              : v >= -ldexp(1, bits - 1) && v < ldexp(1, bits - 1);
}

static void put_float(infc_dtype dtype, void *bytes, int64_t k, double v) {
    if (dtype == INFC_DTYPE_f32) ((float *)bytes)[k] = (float)v;
    else ((double *)bytes)[k] = v;
}

/* The low bytes, as C narrows. */
static void put_int(infc_dtype dtype, void *bytes, int64_t k, int64_t v) {
    int64_t size = (int64_t)infc_dtype_bytes(dtype);
    if (dtype == INFC_DTYPE_bool) v = v != 0;
    if (dtype == INFC_DTYPE_f32) ((float *)bytes)[k] = (float)v;
    else if (dtype == INFC_DTYPE_f64) ((double *)bytes)[k] = (double)v;
    else memcpy((char *)bytes + k * size, &v, (size_t)size); /* little-endian */
}

/* Where the elements of operands stand for element k of a broadcast result. */
static int64_t broadcast_at(const infc_type *in, const infc_type *out, int64_t k) {
    int64_t at = 0, stride = 1;
    for (int axis = out->rank - 1, i = in->rank - 1; axis >= 0; k /= out->dims[axis], axis--, i--) {
        if (i < 0) continue;
        if (in->dims[i] != 1) at += k % out->dims[axis] * stride;
        stride *= in->dims[i];
    }
    return at;
}

/* The shape that all operands from `first` on broadcast to, of the type of the last. */
static infc_status broadcast_all(infc_onnx_at *at, const infc_onnx_operand *in, int n, infc_type *out) {
    *out = in[n - 1].type;
    for (int i = n - 1; i-- > 0;) {
        infc_type so_far = *out;
        if (!infc_type_broadcast(&so_far, &in[i].type, out))
            return infc_onnx_invalid(at, "%s", infc_type_no_broadcast(at->arena, &in[i].type, &so_far));
    }
    const char *wrong = infc_type_check(at->arena, out);
    if (wrong) return infc_onnx_invalid(at, "%s", wrong);
    if (infc_type_count(out) > MAX_ELEMENTS)
        return infc_onnx_refuse(at, "a constant of %lld elements would be computed; at most %lld are",
                                (long long)infc_type_count(out), (long long)MAX_ELEMENTS);
    return INFC_OK;
}

/* ---- element-wise -------------------------------------------------------------------------------------- */

static const function *find_function(const char *op) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].op, op) == 0) return &functions[i];
    return NULL;
}

/* Unsigned numbers wrap around; a signed one that does not fit is a mistake, most likely a shape gone wrong. */
static infc_status apply_integer(infc_onnx_at *at, const function *fn, infc_dtype dtype,
                                 const int64_t *v, int64_t *out) {
    sum outcome = fn->i(v, out);
    if (outcome == BY_ZERO) return infc_onnx_invalid(at, "division by zero");
    if (fn->result == TRUTH || dtype == INFC_DTYPE_bool || is_unsigned(dtype)) return INFC_OK;
    if (outcome == FINE && (dtype == INFC_DTYPE_i64 || holds(dtype, (double)*out))) return INFC_OK;
    const char *second = fn->n > 1 ? infc_arena_printf(at->arena, " and %lld", (long long)v[1]) : "";
    return infc_onnx_refuse(at, "the result for the constant%s %lld%s is too large for %s",
                            fn->n > 1 ? "s" : "", (long long)v[0], second, infc_dtype_name(dtype));
}

static infc_status apply(infc_onnx_at *at, const function *fn, const infc_onnx_operand *in,
                         infc_onnx_operand *out) {
    infc_type type;
    void *bytes;
    infc_dtype dtype = in[0].type.dtype;
    bool dims;
    INFC_TRY(infc_onnx_dims_among(at, in, fn->n, &dims));
    INFC_TRY(broadcast_all(at, in, fn->n, &type));
    if (fn->n == 2 && in[1].type.dtype != dtype)
        return infc_onnx_invalid(at, "operands of %s and %s", infc_dtype_name(dtype),
                                 infc_dtype_name(in[1].type.dtype));
    bool real = is_float(dtype);
    type.dtype = fn->result == TRUTH ? INFC_DTYPE_bool : dtype;
    if (!(real ? fn->f != NULL : fn->i != NULL) || dtype == INFC_DTYPE_u64)
        return infc_onnx_refuse(at, "constants of %s are not supported here", infc_dtype_name(dtype));
    INFC_TRY(infc_onnx_constant_dims(at, &type, dims && fn->result == SAME, &bytes, out));
    for (int64_t k = 0, n = infc_type_count(&type); k < n; k++) {
        int64_t v[MAX_OPERANDS] = {0}, r = 0;
        double f[MAX_OPERANDS] = {0};
        for (int i = 0; i < fn->n; i++) {
            int64_t from = broadcast_at(&in[i].type, &type, k);
            if (real) f[i] = infc_weight_f64(in[i].constant, from);
            else v[i] = infc_weight_i64(in[i].constant, from);
        }
        if (infc_dim_open(v[0]) || infc_dim_open(v[1])) {
            if (!dims_apply(fn->op, v[0], v[1], &r) || r == INFC_DIM_BAD)
                return infc_onnx_refuse(at, "%s and %s: the result is not one expression for all sizes",
                                        infc_dim_text(at->arena, v[0]), infc_dim_text(at->arena, v[1]));
        } else if (!real) INFC_TRY(apply_integer(at, fn, dtype, v, &r));
        if (real && fn->result == SAME) put_float(dtype, bytes, k, fn->f(f));
        else put_int(type.dtype, bytes, k, real ? fn->f(f) != 0.0 : r);
    }
    return INFC_OK;
}

/* Any number of operands from left to right. */
static infc_status apply_all(infc_onnx_at *at, const function *fn) {
    infc_onnx_operand in[MAX_OPERANDS] = {infc_onnx_any(at, 0)}, y = in[0];
    if (fn->n == 1) INFC_TRY(apply(at, fn, in, &y));
    for (size_t i = 1; i < at->node->n_inputs; i++) {
        in[0] = y;
        in[1] = infc_onnx_any(at, i);
        INFC_TRY(apply(at, fn, in, &y));
    }
    return infc_onnx_output(at, 0, &y);
}

/* Moves bytes, so of any type. */
static infc_status where(infc_onnx_at *at) {
    infc_onnx_operand in[] = {infc_onnx_any(at, 0), infc_onnx_any(at, 1), infc_onnx_any(at, 2)}, y;
    infc_type type;
    void *bytes;
    if (in[0].type.dtype != INFC_DTYPE_bool || in[1].type.dtype != in[2].type.dtype)
        return infc_onnx_invalid(at, "operands of %s, %s and %s", infc_dtype_name(in[0].type.dtype),
                                 infc_dtype_name(in[1].type.dtype), infc_dtype_name(in[2].type.dtype));
    bool dims;
    INFC_TRY(infc_onnx_dims_among(at, in, 3, &dims));
    INFC_TRY(broadcast_all(at, in, 3, &type));
    INFC_TRY(infc_onnx_constant_dims(at, &type, dims, &bytes, &y));
    int64_t size = (int64_t)infc_dtype_bytes(type.dtype);
    for (int64_t k = 0, n = infc_type_count(&type); k < n; k++) {
        bool first = infc_weight_i64(in[0].constant, broadcast_at(&in[0].type, &type, k)) != 0;
        const infc_onnx_operand *from = first ? &in[1] : &in[2];
        memcpy((char *)bytes + k * size,
               (const char *)from->constant->bytes + broadcast_at(&from->type, &type, k) * size, (size_t)size);
    }
    return infc_onnx_output(at, 0, &y);
}

/* ---- making constants ----------------------------------------------------------------------------------- */

static infc_status constant_of_shape(infc_onnx_at *at) {
    infc_type type = {.dtype = INFC_DTYPE_f32};
    infc_weight value = {.bytes = "\0\0\0\0\0\0\0"};
    infc_onnx_operand y;
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "value");
    INFC_TRY(infc_onnx_input_ints(at, 0, type.dims, INFC_MAX_RANK, &type.rank));
    if (attribute) {
        if (!attribute->tensor) return infc_onnx_invalid(at, "attribute \"value\" holds no tensor");
        INFC_TRY(infc_onnx_tensor_read(&at->import->files, at->loc, attribute->tensor, false, &value));
        if (infc_type_count(&value.type) != 1)
            return infc_onnx_invalid(at, "attribute \"value\" is not one element");
        type.dtype = value.type.dtype;
    }
    if (!infc_type_open(&type))
        INFC_TRY(broadcast_all(at, &(infc_onnx_operand){.type = type}, 1, &type));
    INFC_TRY(infc_onnx_filled(at, &type, value.bytes, &y));
    return infc_onnx_output(at, 0, &y);
}

/* The same where bounds are dims: as many as there are for all sizes. */
static infc_status open_range(infc_onnx_at *at, const infc_onnx_operand in[3]) {
    infc_onnx_operand y;
    int64_t start = infc_weight_i64(in[0].constant, 0), limit = infc_weight_i64(in[1].constant, 0),
            step = infc_weight_i64(in[2].constant, 0);
    if (in[0].type.dtype != INFC_DTYPE_i64 || infc_dim_open(step) || step == 0)
        return infc_onnx_refuse(
            at, "a range over dimensions known only at run time must be of int64, in fixed steps");
    INFC_TRY(infc_onnx_numbers_until(at, start, limit, step, &y));
    return infc_onnx_output(at, 0, &y);
}

/* start + i * delta up to, not including, limit. */
static infc_status range(infc_onnx_at *at) {
    infc_onnx_operand in[] = {infc_onnx_any(at, 0), infc_onnx_any(at, 1), infc_onnx_any(at, 2)}, y;
    infc_type type = {.dtype = in[0].type.dtype, .rank = 1};
    double v[3];
    void *bytes;
    bool dims;
    for (int i = 0; i < 3; i++) {
        if (infc_type_count(&in[i].type) != 1 || in[i].type.dtype != type.dtype)
            return infc_onnx_invalid(at, "input %d is %s, not one %s", i,
                                     infc_type_text(at->arena, &in[i].type), infc_dtype_name(type.dtype));
        v[i] = infc_weight_f64(in[i].constant, 0);
    }
    INFC_TRY(infc_onnx_dims_among(at, in, 3, &dims));
    if (dims) return open_range(at, in);
    double n = ceil((v[1] - v[0]) / v[2]);
    if (isnan(n) || v[2] == 0)
        return infc_onnx_invalid(at, "a step of 0, or a bound that is no number");
    if (n > (double)MAX_ELEMENTS)
        return infc_onnx_refuse(at, "%.0f elements of %s would be computed", n, infc_dtype_name(type.dtype));
    type.dims[0] = n > 0 ? (int64_t)n : 0;
    INFC_TRY(infc_onnx_constant(at, &type, &bytes, &y));
    int64_t start = infc_weight_i64(in[0].constant, 0), delta = infc_weight_i64(in[2].constant, 0);
    for (int64_t k = 0; k < type.dims[0]; k++) {
        if (is_float(type.dtype)) put_float(type.dtype, bytes, k, v[0] + (double)k * v[2]);
        else
            put_int(type.dtype, bytes, k, (int64_t)((uint64_t)start + (uint64_t)k * (uint64_t)delta));
    }
    return infc_onnx_output(at, 0, &y);
}

/* ---- the node ------------------------------------------------------------------------------------------- */

static bool all_constant(const infc_onnx_at *at) {
    for (size_t i = 0; i < at->node->n_inputs; i++)
        if (!infc_onnx_has(at, i) || !infc_onnx_any(at, i).constant) return false;
    return at->node->n_inputs > 0;
}

infc_status infc_onnx_fold(infc_onnx_at *at, bool *done) {
    const char *op = at->node->op;
    *done = all_constant(at);
    if (!*done) return INFC_OK;
    if (strcmp(op, "Where") == 0) return where(at);
    if (strcmp(op, "Range") == 0) return range(at);
    if (strcmp(op, "ConstantOfShape") == 0) return constant_of_shape(at);
    const function *fn = find_function(op);
    *done = fn && (fn->floats || infc_onnx_any(at, 0).type.dtype != INFC_DTYPE_f32);
    return *done ? apply_all(at, fn) : INFC_OK;
}

infc_status infc_onnx_import_constant_only(infc_onnx_at *at) {
    bool done;
    INFC_TRY(infc_onnx_fold(at, &done));
    if (done) return INFC_OK;
    return infc_onnx_refuse(at,
                            "is supported for constants only; an input of this one is computed");
}

/* One element, to an integer type. */
static infc_status cast_integer(infc_onnx_at *at, const infc_weight *from, int64_t k, infc_dtype to,
                                int64_t *out) {
    *out = infc_weight_i64(from, k); /* of an integer type: what is cut off is cut off, as ONNX has it */
    if (!is_float(from->type.dtype)) return INFC_OK;
    double v = trunc(infc_weight_f64(from, k));
    if (!holds(to, v))
        return infc_onnx_refuse(at, "element %lld is %g, which %s cannot hold: the result of such a cast is undefined",
                                (long long)k, infc_weight_f64(from, k), infc_dtype_name(to));
    if (to == INFC_DTYPE_u64) *out = (int64_t)(uint64_t)v;
    return INFC_OK;
}

/* Between any two types when it is a constant; else between f32, bool and integers. */
static infc_status cast_to(infc_onnx_at *at, infc_dtype to) {
    infc_onnx_operand x = infc_onnx_any(at, 0), y;
    const infc_weight *constant = x.constant;
    infc_dtype from = x.type.dtype;
    infc_type type = x.type;
    void *bytes;
    type.dtype = to;
    if (to == from) return infc_onnx_output(at, 0, &x);
    if (to == INFC_DTYPE_i32 && infc_weight_has_dims(x.constant))
        return infc_onnx_output(at, 0, &x);
    if (!x.constant || infc_weight_has_dims(x.constant)) {
        INFC_TRY(infc_onnx_number(at, 0, &x));
        INFC_TRY(infc_onnx_dims_computed(at, &x));
        if (is_float(to) && to != INFC_DTYPE_f32)
            return infc_onnx_refuse(
                at,
                "a cast from %s to %s is not supported, as floats are computed in f32: export "
                "the model in float32; its weights may stay %s, with a Cast to float behind each",
                infc_dtype_name(from), infc_dtype_name(to), infc_dtype_name(to));
        INFC_TRY(infc_onnx_convert(at, to, &x, &y));
        if (constant && to == INFC_DTYPE_f32 && infc_type_count(&type) == 1)
            y.dim = infc_weight_i64(constant, 0);
        return infc_onnx_output(at, 0, &y);
    }
    INFC_TRY(infc_onnx_constant(at, &type, &bytes, &y));
    for (int64_t k = 0, n = infc_type_count(&type); k < n; k++) {
        double v = infc_weight_f64(x.constant, k);
        int64_t whole = v != 0.0; /* bool: also of NaN */
        if (type.dtype != INFC_DTYPE_bool && !is_float(type.dtype))
            INFC_TRY(cast_integer(at, x.constant, k, type.dtype, &whole));
        if (is_float(type.dtype)) put_float(type.dtype, bytes, k, v);
        else put_int(type.dtype, bytes, k, whole);
    }
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_cast(infc_onnx_at *at) {
    int64_t to = infc_onnx_attr_int(at, "to", 0);
    infc_dtype dtype = infc_onnx_dtype(to);
    if (infc_dtype_bytes(dtype) == 0)
        return infc_onnx_refuse(at, "a cast from %s to %s is not supported",
                                infc_dtype_name(infc_onnx_any(at, 0).type.dtype),
                                infc_onnx_type_name(at->arena, to < 0 || to > INT32_MAX ? -1 : (int32_t)to));
    return cast_to(at, dtype);
}

infc_status infc_onnx_import_cast_like(infc_onnx_at *at) {
    return cast_to(at, infc_onnx_any(at, 1).type.dtype);
}

static infc_status output_dims(infc_onnx_at *at, const int64_t *values, int n, bool scalar) {
    infc_type type = {.dtype = INFC_DTYPE_i64, .rank = !scalar, .dims = {scalar ? 0 : n}};
    infc_onnx_operand y;
    void *bytes;
    bool dims = false;
    for (int i = 0; i < n; i++) dims |= infc_dim_open(values[i]);
    INFC_TRY(infc_onnx_constant_dims(at, &type, dims, &bytes, &y));
    memcpy(bytes, values, (size_t)n * sizeof *values);
    return infc_onnx_output(at, 0, &y);
}

/* Dims [start, end), clamped as numpy does. */
infc_status infc_onnx_import_shape(infc_onnx_at *at) {
    infc_type type = infc_onnx_any(at, 0).type;
    int64_t bounds[2] = {infc_onnx_attr_int(at, "start", 0), infc_onnx_attr_int(at, "end", type.rank)};
    for (int i = 0; i < 2; i++) {
        if (bounds[i] < 0) bounds[i] += type.rank;
        bounds[i] = bounds[i] < 0 ? 0 : bounds[i] > type.rank ? type.rank : bounds[i];
    }
    int n = bounds[1] > bounds[0] ? (int)(bounds[1] - bounds[0]) : 0;
    return output_dims(at, type.dims + bounds[0], n, false);
}

infc_status infc_onnx_import_size(infc_onnx_at *at) {
    infc_type type = infc_onnx_any(at, 0).type;
    int64_t n = infc_dims_product(&type, 0, type.rank);
    return output_dims(at, &n, 1, true);
}
