/* integer.c - the functions of integer.def, compiled from the same expressions that generated code gets. */
#include "../../templates/simd/scalar.h"
#include "op_rules.h"
#include <string.h>

#define DEFINE(name, type, expression)            \
    static int64_t name(type a, type b, type c) { \
        (void)a, (void)b, (void)c;                \
        return expression;                        \
    }
#define DEFINE_INTEGER(name, expression) DEFINE(integer_##name, int64_t, expression)
#define DEFINE_TRUTH(name, expression) DEFINE(integer_##name, int64_t, expression)
#define DEFINE_FLOAT(name, expression) DEFINE(float_##name, float, expression)
#define DEFINE_ANY(name, expression) \
    DEFINE(integer_##name, int64_t, expression) DEFINE(float_##name, float, expression)
#define INFC_INTEGER(name, arity, operands, result, expression, words) \
    DEFINE_##operands(name, expression)
#include "../../templates/integer.def"
#undef INFC_INTEGER

#define ENTRY_INTEGER(name) integer_##name, NULL
#define ENTRY_TRUTH(name) integer_##name, NULL
#define ENTRY_FLOAT(name) NULL, float_##name
#define ENTRY_ANY(name) integer_##name, float_##name
static const infc_integer_info functions[] = {
#define INFC_INTEGER(name, arity, operands, result, expression, words) \
    {#name, arity, INFC_INTEGER_##operands, INFC_INTEGER_GIVES_##result, #expression, ENTRY_##operands(name)},
#include "../../templates/integer.def"
#undef INFC_INTEGER
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

int infc_integer_find(const char *name) {
    for (int i = 0; i < N_FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0) return i;
    return -1;
}

const infc_integer_info *infc_integer_get(int fn) { return &functions[fn]; }

bool infc_dtype_is_half(infc_dtype dtype) {
    return dtype == INFC_DTYPE_f16 || dtype == INFC_DTYPE_bf16;
}

bool infc_dtype_is_integer(infc_dtype dtype) {
    return (dtype >= INFC_DTYPE_i8 && dtype <= INFC_DTYPE_i64);
}

int64_t infc_dtype_low(infc_dtype dtype) {
    switch (dtype) {
    case INFC_DTYPE_i8: return INT8_MIN;
    case INFC_DTYPE_i16: return INT16_MIN;
    case INFC_DTYPE_i32: return INT32_MIN;
    case INFC_DTYPE_i64: return INT64_MIN;
    default: return 0;
    }
}

int64_t infc_dtype_high(infc_dtype dtype) {
    switch (dtype) {
    case INFC_DTYPE_bool: return 1;
    case INFC_DTYPE_i8: return INT8_MAX;
    case INFC_DTYPE_u8: return UINT8_MAX;
    case INFC_DTYPE_i16: return INT16_MAX;
    case INFC_DTYPE_u16: return UINT16_MAX;
    case INFC_DTYPE_i32: return INT32_MAX;
    case INFC_DTYPE_u32: return UINT32_MAX;
    default: return INT64_MAX;
    }
}

/* ---- which function a map op is -------------------------------------------------------------------------- */

bool infc_op_is_map(infc_op_kind kind) {
    return kind == INFC_OP_map1 || kind == INFC_OP_map2 || kind == INFC_OP_map3 || kind == INFC_OP_convert;
}

static bool all_f32(const infc_op_desc *desc) {
    for (int i = 0; i < desc->n_in; i++)
        if (desc->in[i].dtype != INFC_DTYPE_f32) return false;
    return true;
}

bool infc_desc_fn(const infc_op_desc *desc, infc_fn *out) {
    const char *name = infc_desc_str(desc, "fn");
    *out = (infc_fn){.index = infc_scalar_find(name)};
    bool real = desc->n_in > 0 && desc->in[0].dtype == INFC_DTYPE_f32;
    if (out->index >= 0 && (real || infc_integer_find(name) < 0)) return true;
    *out = (infc_fn){.integer = true, .index = infc_integer_find(name)};
    return out->index >= 0;
}

bool infc_desc_is_f32_map(const infc_op_desc *desc) {
    infc_fn fn;
    return infc_op_is_map(desc->kind) && desc->kind != INFC_OP_convert && all_f32(desc) &&
           infc_desc_fn(desc, &fn) && !fn.integer;
}

static bool is_narrow(infc_dtype dtype) {
    return dtype == INFC_DTYPE_i8 || dtype == INFC_DTYPE_u8 || dtype == INFC_DTYPE_i16 || dtype == INFC_DTYPE_u16;
}

bool infc_dtype_in_lanes(infc_dtype dtype) {
    return dtype == INFC_DTYPE_f32 || dtype == INFC_DTYPE_i32 || (is_narrow(dtype) && dtype != INFC_DTYPE_u16);
}

bool infc_desc_in_lanes(const infc_op_desc *desc) {
    if (desc->kind != INFC_OP_convert) return infc_desc_is_f32_map(desc);
    infc_dtype from = desc->in[0].dtype, to = desc->out.dtype;
    if (!infc_dtype_in_lanes(from) || !infc_dtype_in_lanes(to) || to == INFC_DTYPE_i32)
        return false;
    if (from == INFC_DTYPE_f32 || to == INFC_DTYPE_f32) return true;
    return infc_dtype_low(from) >= infc_dtype_low(to) && infc_dtype_high(from) <= infc_dtype_high(to);
}
