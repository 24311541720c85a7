/* tensor_values.c - see tensor_values.h. */
#include "tensor_values.h"
#include "tensor_io.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct number_type {
    const char *name;
    int64_t least;   /* whole numbers */
    uint64_t most;   /* 0: not one of those */
    double infinite; /* the least of the others that would be rounded to infinity */
} number_type;

static const number_type types[] = {
    [INFC_DTYPE_f32] = {"FP32", 0, 0, 0x1.ffffffp127},
    [INFC_DTYPE_f64] = {"FP64", 0, 0, INFINITY},
    [INFC_DTYPE_f16] = {"FP16", 0, 0, 65520},
    [INFC_DTYPE_bf16] = {"BF16", 0, 0, 0x1.ffp127},
    [INFC_DTYPE_i8] = {"INT8", INT8_MIN, INT8_MAX, 0},
    [INFC_DTYPE_u8] = {"UINT8", 0, UINT8_MAX, 0},
    [INFC_DTYPE_i16] = {"INT16", INT16_MIN, INT16_MAX, 0},
    [INFC_DTYPE_u16] = {"UINT16", 0, UINT16_MAX, 0},
    [INFC_DTYPE_i32] = {"INT32", INT32_MIN, INT32_MAX, 0},
    [INFC_DTYPE_u32] = {"UINT32", 0, UINT32_MAX, 0},
    [INFC_DTYPE_i64] = {"INT64", INT64_MIN, INT64_MAX, 0},
    [INFC_DTYPE_u64] = {"UINT64", 0, UINT64_MAX, 0},
    [INFC_DTYPE_bool] = {"BOOL", 0, 1, 0},
};
enum { N_TYPES = sizeof types / sizeof *types };

const char *infrt_oip_type(uint32_t dtype) {
    return dtype < N_TYPES && types[dtype].name ? types[dtype].name : "BYTES";
}

uint32_t infrt_oip_dtype(const char *type) {
    for (uint32_t i = 0; i < N_TYPES; i++)
        if (types[i].name && strcmp(types[i].name, type) == 0) return i;
    return 0;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* The nearest number of `mantissa` bits and an exponent of `exponent` bits, ties to even, as its bits: of a double, so
 * that it is rounded once. */
static uint16_t narrow(double value, int mantissa, int exponent) {
    const int bias = (1 << (exponent - 1)) - 1;
    const uint16_t sign = (uint16_t)(signbit(value) ? 0x8000u : 0);
    int power;
    if (value == 0) return sign;
    frexp(value, &power); /* value is in [2^(power - 1), 2^power) */
    const int least = 1 - bias, own = power - 1 < least ? least : power - 1;
    const double steps = nearbyint(ldexp(fabs(value), mantissa - own)); /* exact but for the rounding */
    return (uint16_t)(sign | ((unsigned)((own - least) << mantissa) + (unsigned)steps));
}

static void float_store(uint32_t dtype, double value, void *to) {
    const float single = (float)value;
    const uint16_t half = dtype == INFC_DTYPE_f16    ? narrow(value, 10, 5)
                          : dtype == INFC_DTYPE_bf16 ? narrow(value, 7, 8)
                                                     : 0;
    if (dtype == INFC_DTYPE_f64) memcpy(to, &value, sizeof value);
    else if (dtype == INFC_DTYPE_f32) memcpy(to, &single, sizeof single);
    else memcpy(to, &half, sizeof half);
}

typedef struct filling {
    const infrt_values *v;
    infrt_refusal *refusal;
    uint64_t n;
    uint32_t depth, level; /* lists that are open; of numbers: how many are around each, 0: not known */
    int64_t counts[INFC_MAX_RANK];
} filling;

static bool number_refuse(const filling *f, const char *needed) {
    return infrt_refuse(f->refusal, 400, f->v->path, "%s: element %" PRIu64 ": %s is needed for %s",
                        f->v->path, f->n, needed, infrt_oip_type(f->v->dtype));
}

static bool whole_take(filling *f, infrt_json_reader *json, const number_type *type, void *to) {
    bool negative = false;
    uint64_t value = 0;
    const char next = infrt_json_next(json);
    if (f->v->dtype == INFC_DTYPE_bool && (next == 't' || next == 'f')) {
        *(uint8_t *)to = next == 't';
        return infrt_json_word(json, next == 't' ? "true" : "false");
    }
    if (next != '0' || !infrt_json_whole(json, &negative, &value))
        return number_refuse(f, type->most == 1 ? "true or false" : "a whole number");
    const uint64_t most = negative ? (uint64_t)0 - (uint64_t)type->least : type->most;
    if (value > most) return number_refuse(f, "a number within its range");
    const uint64_t bits = negative ? (uint64_t)0 - value : value;
    memcpy(to, &bits, infrt_dtype_bytes(f->v->dtype)); /* little-endian */
    return true;
}

static bool number_take(filling *f, infrt_json_reader *json) {
    const infrt_values *v = f->v;
    const number_type *type = &types[v->dtype];
    char *to = (char *)v->to + f->n * infrt_dtype_bytes(v->dtype);
    double value;
    if (f->n == v->n)
        return infrt_refuse(f->refusal, 400, v->path,
                            "%s: more than the %" PRIu64 " values of its shape", v->path, v->n);
    if (type->most) return whole_take(f, json, type, to) && ++f->n;
    if (infrt_json_next(json) != '0' || !infrt_json_number(json, &value))
        return number_refuse(f, "a number");
    if (!(fabs(value) < type->infinite)) return number_refuse(f, "a number within its range");
    float_store(v->dtype, value, to);
    f->n++;
    return true;
}

static bool nesting_refuse(const filling *f) {
    return infrt_refuse(f->refusal, 400, f->v->path,
                        "%s: give a flat list of %" PRIu64 " values, or lists nested as its shape",
                        f->v->path, f->v->n);
}

static bool element_take(void *self, infrt_json_reader *json, const char *key) {
    filling *f = self;
    const infrt_values *v = f->v;
    (void)key;
    const bool list = infrt_json_next(json) == '[';
    if (!list && !f->level && (f->depth == 1 || f->depth == v->rank)) f->level = f->depth;
    if (list ? f->depth >= v->rank || f->level == f->depth : f->level != f->depth)
        return nesting_refuse(f);
    const bool nested = f->level != 1 || v->rank <= 1; /* flat lists are counted as a whole */
    if (v->rank && nested && ++f->counts[f->depth - 1] > v->dims[f->depth - 1])
        return nesting_refuse(f);
    if (!list) return number_take(f, json);
    f->counts[f->depth++] = 0;
    if (!infrt_json_array(json, element_take, f)) return false;
    f->depth--;
    return f->counts[f->depth] == v->dims[f->depth] || nesting_refuse(f);
}

bool infrt_values_read(const infrt_values *v, infrt_json_reader *json, infrt_refusal *refusal) {
    filling f = {.v = v, .refusal = refusal, .depth = 1};
    if (infrt_json_next(json) != '[')
        return infrt_refuse(refusal, 400, v->path, "%s: a list is needed", v->path);
    if (!infrt_json_array(json, element_take, &f)) return false;
    if (f.n == v->n) return true;
    return infrt_refuse(refusal, 400, v->path, "%s: %" PRIu64 " values, but its shape has %" PRIu64,
                        v->path, f.n, v->n);
}

/* ---- out ---------------------------------------------------------------------------------------- */

static bool value_put(uint32_t dtype, const void *from, uint64_t i, char text[40], int *n) {
    const number_type *type = &types[dtype];
    const size_t bytes = infrt_dtype_bytes(dtype);
    if (!type->most) {
        const double value = infrt_element(dtype, from, i);
        *n = snprintf(text, 40, "%.*g", dtype == INFC_DTYPE_f64 ? 17 : 9, value);
        return isfinite(value);
    }
    uint64_t bits = 0;
    memcpy(&bits, (const char *)from + i * bytes, bytes);
    if (dtype == INFC_DTYPE_bool) *n = snprintf(text, 40, "%s", bits ? "true" : "false");
    else if (!type->least) *n = snprintf(text, 40, "%" PRIu64, bits);
    else {
        const unsigned above = 64 - 8 * (unsigned)bytes; /* the sign goes up to the top */
        *n = snprintf(text, 40, "%" PRId64, (int64_t)(bits << above) >> above);
    }
    return true;
}

bool infrt_values_put(uint32_t dtype, const void *from, uint64_t n, infrt_out *out) {
    infrt_out_text(out, "[");
    for (uint64_t i = 0; i < n; i++) {
        char text[41];
        int length;
        if (!value_put(dtype, from, i, text + 1, &length)) return false;
        text[0] = ',';
        infrt_out_add(out, text + (i == 0), (size_t)length + (i != 0));
    }
    infrt_out_text(out, "]");
    return true;
}
