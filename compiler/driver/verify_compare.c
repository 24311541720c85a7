#include "verify.h"
#include <math.h>
#include <string.h>

typedef struct comparison {
    infc_cx *cx;
    infc_ir *ir;
    const infc_npz *dumps, *outputs;
    infc_verified *result;
    infc_status status; /* the first failure to read what was dumped */
} comparison;

static double element(infc_dtype dtype, const uint8_t *data, int64_t i) {
    const infc_weight values = {.type = {.dtype = dtype}, .bytes = data};
    return infc_weight_f64(&values, i);
}

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
    return dtype == INFC_DTYPE_f32 && isnan(element(dtype, a, i)) && isnan(element(dtype, b, i));
}

static void compare_tensor(comparison *c, const char *name, const char *node,
                           const infc_tensor *reference, const infc_npz_entry *got) {
    infc_verified *r = c->result;
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
        d.reference = element(dtype, a, i);
        d.compiled = element(dtype, b, i);
        d.ulp = dtype == INFC_DTYPE_f32 ? ulp_distance(d.reference, d.compiled) : 0;
    }
    if (d.n_different == 0) return;
    d.tensor = infc_arena_copy_string(c->cx->arena, name, strlen(name));
    r->first = d;
}

/* Told every value of the reference in program order. */
static void seen(void *user, MlirOperation op, const char *name, const infc_tensor *tensor) {
    comparison *c = user;
    if (!name || infc_ir_kind(c->ir, op) == INFC_OP_weight) return;
    const infc_npz *from = infc_npz_has(c->dumps, name)     ? c->dumps
                           : infc_npz_has(c->outputs, name) ? c->outputs
                                                            : NULL;
    infc_npz_entry got;
    if (!from) {
        c->result->n_fused++;
        return;
    }
    if (c->status == INFC_OK) c->status = infc_npz_read(c->cx, from, name, &got);
    if (c->status != INFC_OK) return;
    infc_loc loc = infc_ir_loc(c->ir, mlirOperationGetLocation(op));
    compare_tensor(c, name, loc.node, tensor, &got);
}

infc_status infc_verify_compare(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs, size_t n_outputs,
                                const infc_npz *dumps, const infc_npz *outputs, infc_verified *result) {
    infc_arena *scratch = infc_arena_create_scratch(cx->arena);
    infc_tensor *results = INFC_NEW(scratch, infc_tensor, n_outputs);
    comparison c = {.cx = cx, .ir = ir, .dumps = dumps, .outputs = outputs, .result = result};
    infc_status status = infc_eval_main(ir, scratch, inputs, results, seen, &c);
    if (status == INFC_OK) status = c.status;
    for (size_t i = 0; status == INFC_OK && i < n_outputs; i++) { /* also what no op has the name of */
        const char *name = infc_ir_output_name(ir, i);
        infc_npz_entry got;
        if (infc_npz_has(outputs, name)) status = infc_npz_read(cx, outputs, name, &got);
        else
            status = infc_fail(cx, INFC_ERR_INTERNAL, (infc_loc){.file = outputs->path},
                               "the binary wrote no output \"%s\"", name);
        if (status == INFC_OK) compare_tensor(&c, name, "the end of the model", &results[i], &got);
    }
    infc_arena_destroy(&scratch);
    return status;
}

/* Largest difference and largest expected value; NaN where the other is a number counts as infinite. */
static void largest(const infc_npz_entry *got, const infc_npz_entry *want, double *out_error, double *out_scale) {
    *out_error = *out_scale = 0;
    for (int64_t i = 0; i < infc_type_count(&want->type); i++) {
        double a = element(got->type.dtype, got->data.ptr, i),
               b = element(want->type.dtype, want->data.ptr, i);
        double error = isnan(a) && isnan(b) ? 0 : a == b ? 0 : fabs(a - b);
        if (isnan(error)) error = INFINITY;
        if (error > *out_error) *out_error = error;
        if (fabs(b) > *out_scale && !isinf(b)) *out_scale = fabs(b);
    }
}

static void expect_one(const infc_npz_entry *got, const infc_npz_entry *want, infc_verified *r) {
    double error, scale;
    largest(got, want, &error, &scale);
    double relative = error == 0 ? 0 : scale > 0 ? error / scale : INFINITY;
    if (r->worst < relative || !r->worst_output) {
        r->worst = relative;
        r->worst_output = want->name;
    }
}

infc_status infc_verify_expect(infc_cx *cx, const infc_npz *outputs, const char *path,
                               double tolerance, infc_verified *result) {
    infc_npz expected;
    result->tolerance = tolerance;
    INFC_TRY(infc_npz_open(cx, path, &expected));
    for (size_t i = 0; i < outputs->n; i++) {
        infc_npz_entry got, want;
        infc_type type;
        if (!infc_npz_has(&expected, outputs->names[i])) continue;
        INFC_TRY(infc_npz_read(cx, outputs, outputs->names[i], &got));
        INFC_TRY(infc_npz_type(cx, &expected, outputs->names[i], &type));
        if (!infc_shape_equal(&got.type, &type)) {
            return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                             "\"%s\" is %s here, the model gives %s", outputs->names[i],
                             infc_type_text(cx->arena, &type), infc_type_text(cx->arena, &got.type));
        }
        INFC_TRY(infc_npz_read(cx, &expected, outputs->names[i], &want));
        expect_one(&got, &want, result);
    }
    if (result->worst_output) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                     "none of the model's outputs is in this file; they are "
                     "matched by name, the first is \"%s\"",
                     outputs->n ? outputs->names[0] : "");
}
