#include "verify.h"
#include <math.h>
#include <string.h>

typedef struct comparison {
    infc_cx *cx;
    const infc_ir *ir;
    infc_verified_run *result;
} comparison;

/* Floats in order as integers: neighbours differ by one. */
static int64_t ordered(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static uint64_t ulp_distance(double a, double b) {
    if (isnan(a) || isnan(b)) return UINT64_MAX;
    int64_t d = ordered((float)a) - ordered((float)b);
    return (uint64_t)(d < 0 ? -d : d);
}

/* The same bits; any NaN is like any other. */
static bool same_element(infc_dtype dtype, const uint8_t *a, const uint8_t *b, int64_t i) {
    size_t bytes = infc_dtype_bytes(dtype), at = (size_t)i * bytes;
    if (memcmp(a + at, b + at, bytes) == 0) return true;
    return dtype == INFC_DTYPE_f32 && isnan(infc_verify_element(dtype, a, i)) &&
           isnan(infc_verify_element(dtype, b, i));
}

static void compare_tensor(comparison *c, const char *name, const char *node,
                           const infc_tensor *reference, const infc_npz_entry *got) {
    infc_verified_run *r = c->result;
    const infc_dtype dtype = reference->type.dtype;
    const uint8_t *a = reference->data, *b = got->data.ptr;
    r->n_tensors++;
    if (r->first.tensor) return;
    infc_divergence d = {.node = node, .n_elements = infc_type_count(&reference->type)};
    if (!infc_type_equal(&reference->type, &got->type)) {
        d.tensor = name; /* of another type or shape: every element is wrong */
        d.n_different = d.n_elements;
        d.reference = d.compiled = NAN;
    }
    for (int64_t i = 0; !d.tensor && i < d.n_elements; i++) {
        if (same_element(dtype, a, b, i)) continue;
        if (d.n_different++ > 0) continue;
        d.element = i;
        d.reference = infc_verify_element(dtype, a, i);
        d.compiled = infc_verify_element(dtype, b, i);
        d.ulp = dtype == INFC_DTYPE_f32 ? ulp_distance(d.reference, d.compiled) : 0;
    }
    if (d.n_different == 0) return;
    d.tensor = infc_arena_copy_string(c->cx->arena, name, strlen(name));
    r->first = d;
}

static bool tensor(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                   const infc_npz_entry *got) {
    comparison *c = user;
    if (!got) c->result->n_fused++;
    else compare_tensor(c, name, infc_verify_node(c->ir, op), reference, got);
    return true;
}

infc_status infc_verify_compare(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                                const infc_dumped *dumped, infc_verified_run *result) {
    comparison c = {.cx = cx, .ir = ir, .result = result};
    const infc_verify_walk told = {.what = "reference", .tensor = tensor, .user = &c};
    return infc_verify_each(cx, ir, inputs, dumped, &told);
}
