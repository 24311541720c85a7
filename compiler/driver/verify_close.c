/* How far two tensors are from each other, and what is in one. */
#include "verify.h"
#include <math.h>

double infc_verify_element(infc_dtype dtype, const void *data, int64_t i) {
    const infc_weight values = {.type = {.dtype = dtype}, .bytes = data};
    return infc_weight_f64(&values, i);
}

static double largest_finite(const infc_tensor *tensor) {
    double largest = 0;
    for (int64_t i = 0; i < infc_type_count(&tensor->type); i++) {
        double size = fabs(infc_verify_element(tensor->type.dtype, tensor->data, i));
        if (size > largest && isfinite(size)) largest = size;
    }
    return largest > 0 ? largest : 1;
}

static double difference(double a, double b) {
    double error = a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b);
    return isnan(error) ? INFINITY : error;
}

infc_closeness infc_verify_close(const infc_tensor *reference, const infc_npz_entry *compiled, double tolerance) {
    const infc_type *type = &reference->type;
    infc_closeness c = {.largest = largest_finite(reference), .n_elements = infc_type_count(type)};
    if (!infc_shape_equal(type, &compiled->type)) {
        c.error = c.relative = c.rms = INFINITY;
        c.reference = c.compiled = NAN;
        c.n_over = c.n_elements;
        return c;
    }
    double squares = 0, errors = 0;
    for (int64_t i = 0; i < c.n_elements; i++) {
        double a = infc_verify_element(type->dtype, reference->data, i);
        double b = infc_verify_element(compiled->type.dtype, compiled->data.ptr, i);
        double error = difference(a, b);
        errors += error * error;
        if (isfinite(a)) squares += a * a;
        c.n_over += error > tolerance * c.largest;
        if (i > 0 && error <= c.error) continue;
        c.error = error;
        c.at = i;
        c.reference = a;
        c.compiled = b;
    }
    c.relative = c.error / c.largest;
    c.rms = errors > 0 ? sqrt(errors / (squares > 0 ? squares : (double)c.n_elements)) : 0;
    return c;
}

infc_tensor_stats infc_verify_stats(const infc_tensor *tensor) {
    infc_tensor_stats s = {.n = infc_type_count(&tensor->type)};
    double sum = 0;
    for (int64_t i = 0; i < s.n; i++) {
        double value = infc_verify_element(tensor->type.dtype, tensor->data, i);
        bool first = i == s.n_odd;
        if (!isfinite(value)) {
            s.n_odd++;
            continue;
        }
        if (first || value < s.least) s.least = value;
        if (first || value > s.most) s.most = value;
        sum += value;
    }
    if (s.n > s.n_odd) s.mean = sum / (double)(s.n - s.n_odd);
    return s;
}
