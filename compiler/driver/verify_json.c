/* What `infc verify` found, for programs. */
#include "json.h"
#include "verify.h"
#include <math.h>

static void put_number(infc_json *j, const char *key, double value) {
    if (isfinite(value)) infc_json_f64(j, key, value, 9);
    else infc_json_null(j, key);
}

static void put_divergence(infc_json *j, const infc_divergence *d) {
    if (!d->tensor) {
        infc_json_null(j, "first_difference");
        return;
    }
    infc_json_object(j, "first_difference");
    infc_json_text(j, "tensor", d->tensor);
    infc_json_text(j, "node", d->node);
    infc_json_u64(j, "elements", (uint64_t)d->n_elements);
    infc_json_u64(j, "different", (uint64_t)d->n_different);
    infc_json_u64(j, "element", (uint64_t)d->element);
    put_number(j, "reference", d->reference);
    put_number(j, "compiled", d->compiled);
    if (d->ulp == UINT64_MAX) infc_json_null(j, "ulp");
    else infc_json_u64(j, "ulp", d->ulp);
    infc_json_end(j);
}

static void put_row(infc_json *j, const infc_onnx_row *row, bool stepped) {
    const infc_closeness *c = &row->total;
    infc_json_object(j, NULL);
    infc_json_text(j, "tensor", row->tensor);
    infc_json_text(j, "node", row->node);
    infc_json_text(j, "type", infc_dtype_name(row->type.dtype));
    infc_json_dims(j, "shape", row->type.dims, row->type.rank);
    put_number(j, "error", c->error); /* null: infinite */
    put_number(j, "largest", c->largest);
    put_number(j, "relative", c->relative);
    if (stepped) put_number(j, "relative_of_step", row->own.relative);
    infc_json_u64(j, "element", (uint64_t)c->at);
    put_number(j, "reference", c->reference);
    put_number(j, "compiled", c->compiled);
    infc_json_u64(j, "over", (uint64_t)c->n_over);
    infc_json_bool(j, "rounds", row->rounds);
    infc_json_bool(j, "diverges", row->diverges);
    infc_json_end(j);
}

static void put_read(infc_json *j, const infc_onnx_operand_stats *read) {
    infc_json_object(j, NULL);
    infc_json_text(j, "name", read->name);
    infc_json_text(j, "type", infc_dtype_name(read->type.dtype));
    infc_json_u64(j, "elements", (uint64_t)read->stats.n);
    infc_json_u64(j, "not_finite", (uint64_t)read->stats.n_odd);
    put_number(j, "least", read->stats.least);
    put_number(j, "most", read->stats.most);
    put_number(j, "mean", read->stats.mean);
    infc_json_end(j);
}

static void put_onnx(infc_json *j, const infc_onnx_check *check) {
    infc_json_object(j, "onnx");
    infc_json_u64(j, "tensors_compared", check->n_rows);
    infc_json_u64(j, "tensors_fused", check->n_fused);
    infc_json_u64(j, "tensors_off", check->n_off);
    infc_json_u64(j, "tensors_diverged", check->n_diverged);
    if (check->n_diverged) {
        infc_json_object(j, "first_divergent");
        infc_json_text(j, "tensor", check->rows[check->first].tensor);
        infc_json_text(j, "node", check->rows[check->first].node);
        infc_json_text(j, "cause", check->cause);
        infc_json_array(j, "step"); /* the nodes that made it, fused into one */
        for (size_t i = 0; i < check->n_nodes; i++) infc_json_text(j, NULL, check->nodes[i]);
        infc_json_end(j);
        infc_json_array(j, "reads");
        for (size_t i = 0; i < check->n_read; i++) put_read(j, &check->read[i]);
        infc_json_end(j);
        infc_json_end(j);
    } else {
        infc_json_null(j, "first_divergent");
    }
    infc_json_array(j, "tensors");
    for (size_t i = 0; i < check->n_rows; i++) put_row(j, &check->rows[i], check->stepped);
    infc_json_end(j);
    infc_json_end(j);
}

static void put_run(infc_json *j, const infc_verified_run *run, double tolerance) {
    infc_json_object(j, NULL);
    infc_json_text(j, "sizes", run->sizes);
    infc_json_bool(j, "ok", run->ok);
    if (run->onnx) {
        put_onnx(j, run->onnx);
    } else {
        infc_json_u64(j, "tensors_compared", run->n_tensors);
        infc_json_u64(j, "tensors_fused", run->n_fused);
        put_divergence(j, &run->first);
    }
    if (run->worst_output) {
        infc_json_text(j, "worst_output", run->worst_output);
        put_number(j, "worst_error", run->worst);
    }
    if (run->worst_output || run->onnx) infc_json_f64(j, "tolerance", tolerance, 9);
    infc_json_end(j);
}

void infc_verify_json(const infc_verification *v, infc_buf *out) {
    infc_json j = {.out = out};
    infc_json_object(&j, NULL);
    infc_json_text(&j, "name", v->name);
    infc_json_bool(&j, "ok", v->ok);
    if (v->n_files) infc_json_u64(&j, "files_checked", v->n_files);
    infc_json_array(&j, "targets");
    for (size_t i = 0; i < v->n; i++) {
        const infc_verified *r = &v->results[i];
        infc_json_object(&j, NULL);
        infc_json_text(&j, "target", r->target);
        infc_json_text(&j, "run", r->not_run ? NULL : r->how);
        if (r->not_run) infc_json_text(&j, "not_run", r->not_run);
        infc_json_bool(&j, "ok", r->ok);
        infc_json_array(&j, "checks");
        for (size_t k = 0; k < r->n_runs; k++) put_run(&j, &r->runs[k], v->tolerance);
        infc_json_end(&j);
        infc_json_text(&j, "left_out", r->left_out);
        infc_json_bool(&j, "own_check", r->own_ok);
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_json_end(&j);
}
