/* compare_json.c - the comparison for programs; a baseline is such a file. */
#include "compare.h"
#include "json.h"
#include <math.h>

static void put_divergence(infc_json *j, const infc_divergence *d) {
    infc_json_object(j, "difference");
    infc_json_text(j, "tensor", d->tensor);
    infc_json_text(j, "node", d->node);
    infc_json_i64(j, "element", d->element);
    infc_json_i64(j, "elements", d->n_elements);
    infc_json_i64(j, "different", d->n_different);
    infc_json_f64(j, "reference", d->reference, 9);
    infc_json_f64(j, "compiled", d->compiled, 9);
    if (d->ulp != UINT64_MAX) infc_json_u64(j, "ulp", d->ulp);
    infc_json_end(j);
}

static void put_functions(infc_json *j, const infc_compared *r) {
    infc_json_array(j, "functions");
    for (size_t i = 0; i < r->n_functions; i++) {
        infc_json_object(j, NULL);
        infc_json_text(j, "name", r->functions[i].name);
        infc_json_u64(j, "instructions", r->functions[i].instructions);
        infc_json_end(j);
    }
    infc_json_end(j);
}

static void put_target(infc_json *j, const infc_compared *r) {
    infc_json_object(j, NULL);
    infc_json_text(j, "name", r->target.name);
    infc_json_text(j, "status", infc_agreement_words[r->agreement]);
    infc_json_text(j, "how", r->how);
    if (r->why) infc_json_text(j, "why", r->why);
    if (r->agreement == INFC_DIFFERS) put_divergence(j, &r->first);
    for (int m = 0; m < INFC_N_METRICS; m++) {
        if (isnan(r->measures[m].now)) infc_json_null(j, infc_metrics[m].name);
        else infc_json_u64(j, infc_metrics[m].name, (uint64_t)r->measures[m].now);
    }
    if (r->uncounted) infc_json_text(j, "uncounted", r->uncounted);
    infc_json_u64(j, "kernels", r->n_steps);
    infc_json_u64(j, "reference_kernels", r->n_reference);
    infc_json_f64(j, "reference_share", r->reference_share, 4);
    infc_compare_mix_json(r, j);
    put_functions(j, r);
    infc_json_end(j);
}

void infc_compare_json_begin(const infc_comparison *c, infc_json *j) {
    infc_json_object(j, NULL);
    infc_json_text(j, "infc", INFC_VERSION);
    infc_json_text(j, "kind", "comparison");
    infc_json_text(j, "model", c->model);
    infc_json_text(j, "model_sha256", c->model_sha256);
}

void infc_compare_json(const infc_comparison *c, infc_buf *out) {
    infc_json j = {.out = out};
    const char **faults;
    const size_t n = infc_compare_faults(c, &faults);
    infc_compare_json_begin(c, &j);
    infc_json_array(&j, "targets");
    for (size_t i = 0; i < c->n; i++) put_target(&j, &c->results[i]);
    infc_json_end(&j);
    infc_json_array(&j, "faults");
    for (size_t i = 0; i < n; i++) infc_json_text(&j, NULL, faults[i]);
    infc_json_end(&j);
    infc_json_end(&j);
}
