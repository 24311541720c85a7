/* What `infc verify` found, for people. */
#include "table.h"
#include "verify.h"
#include <inttypes.h>

static void put_divergence(const infc_divergence *d, infc_buf *out) {
    infc_buf_printf(out, "  first difference: tensor \"%s\", %s\n", d->tensor, d->node ? d->node : "node unknown");
    infc_buf_printf(out, "    %" PRId64 " of %" PRId64 " elements differ; element %" PRId64,
                    d->n_different, d->n_elements, d->element);
    infc_buf_printf(out, ": reference %.9g, compiled %.9g", d->reference, d->compiled);
    if (d->ulp && d->ulp != UINT64_MAX) infc_buf_printf(out, ", %" PRIu64 " ulp apart", d->ulp);
    infc_buf_puts(out, "\n");
}

/* Element number `at` by its indices: [0,3,1,2]. */
static const char *place_text(infc_arena *arena, const infc_type *type, int64_t at) {
    infc_buf text = {.arena = arena};
    int64_t index[INFC_MAX_RANK] = {0};
    for (int i = type->rank - 1; i >= 0; i--) {
        if (type->dims[i] < 1) continue;
        index[i] = at % type->dims[i];
        at /= type->dims[i];
    }
    infc_buf_puts(&text, "[");
    for (int i = 0; i < type->rank; i++)
        infc_buf_printf(&text, "%s%" PRId64, i ? "," : "", index[i]);
    infc_buf_puts(&text, "]");
    return infc_buf_str(&text);
}

static void put_read(infc_arena *arena, const infc_onnx_operand_stats *read, infc_buf *out) {
    const infc_tensor_stats *s = &read->stats;
    infc_buf_printf(out, "    reads %s %s: ", read->name ? read->name : "(no name)",
                    infc_type_text(arena, &read->type));
    if (s->n > s->n_odd)
        infc_buf_printf(out, "%.6g to %.6g, mean %.6g", s->least, s->most, s->mean);
    if (s->n_odd)
        infc_buf_printf(out, "%s%" PRId64 " infinite or no number", s->n > s->n_odd ? ", " : "", s->n_odd);
    infc_buf_puts(out, "\n");
}

static void put_first(infc_arena *arena, const infc_onnx_check *check, double tolerance, infc_buf *out) {
    const infc_onnx_row *row = &check->rows[check->first];
    const infc_closeness *c = check->own_is_off ? &row->own : &row->total;
    infc_buf_printf(out, "  first divergent: %s, tensor \"%s\"\n",
                    row->node ? row->node : "node unknown", row->tensor);
    infc_buf_printf(out, "    %" PRId64 " of %" PRId64 " elements are off by more than %g of its largest, %.6g%s\n",
                    c->n_over, c->n_elements, tolerance, c->largest,
                    check->own_is_off ? ", given what the compiled code has before it" : "");
    infc_buf_printf(out, "    most at %s: %.9g in the model, %.9g compiled\n",
                    place_text(arena, &row->type, c->at), c->reference, c->compiled);
    for (size_t i = 0; i + 1 < check->n_nodes; i++)
        infc_buf_printf(out, "    in one step with %s\n", check->nodes[i]);
    for (size_t i = 0; i < check->n_read; i++) put_read(arena, &check->read[i], out);
    infc_buf_puts(out, "    likely cause: ");
    for (const char *p = check->cause; *p; p++)
        infc_buf_printf(out, *p == '\n' ? "\n      " : "%c", *p);
    infc_buf_puts(out, "\n");
}

static const char *error_text(infc_arena *arena, double error) {
    return error == 0 ? "0" : infc_arena_printf(arena, "%.1e", error);
}

static const char *mark(const infc_onnx_check *check, size_t i) {
    if (check->n_diverged && i == check->first) return "  <- first divergent";
    return check->rows[i].diverges ? "  <- diverges" : "";
}

static void put_rows(infc_arena *arena, const infc_onnx_check *check, infc_buf *out) {
    infc_table table = {.arena = arena, .n_columns = 8, .right = 15};
    INFC_TABLE_ROW(&table, "max error", "of largest", "largest", check->stepped ? "its step" : "",
                   "at", "shape", "tensor", "node");
    for (size_t i = 0; i < check->n_rows; i++) {
        const infc_onnx_row *row = &check->rows[i];
        const infc_closeness *c = &row->total;
        INFC_TABLE_ROW(&table, error_text(arena, c->error), error_text(arena, c->relative),
                       infc_arena_printf(arena, "%.4g", c->largest),
                       check->stepped ? error_text(arena, row->own.relative) : "",
                       c->error == 0 ? "" : place_text(arena, &row->type, c->at),
                       infc_type_text(arena, &row->type), row->tensor,
                       infc_arena_printf(arena, "%s%s", row->node ? row->node : "", mark(check, i)));
    }
    infc_table_print(&table, 2, out);
}

static const infc_onnx_row *worst_of(const infc_onnx_check *check) {
    const infc_onnx_row *worst = NULL;
    for (size_t i = 0; i < check->n_rows; i++)
        if (!worst || check->rows[i].total.relative > worst->total.relative)
            worst = &check->rows[i];
    return worst;
}

static void put_onnx(const infc_verification *v, const infc_verified_run *run, infc_buf *out) {
    const infc_onnx_check *check = run->onnx;
    const infc_onnx_row *worst = worst_of(check);
    infc_buf_printf(out, "  against the ONNX graph: %zu of %zu tensors within %g of their largest value",
                    check->n_rows - check->n_off, check->n_rows, v->tolerance);
    if (worst)
        infc_buf_printf(out, ", the worst %.2g (\"%s\")", worst->total.relative, worst->tensor);
    infc_buf_printf(out, "; %zu more are inside fused steps\n", check->n_fused);
    if (check->n_off == check->n_diverged) return;
    infc_buf_printf(
        out,
        "  %zu of them drift apart behind numbers that are rounded to integers, where the last bit "
        "of a float "
        "decides;\n  every step by itself, from what the compiled code has before it, is right%s\n",
        check->n_off - check->n_diverged, check->n_diverged ? " but for those below" : "");
}

static void put_run(const infc_verification *v, const infc_verified_run *run, infc_buf *out) {
    if (run->sizes)
        infc_buf_printf(out, "  at %s: %s\n", run->sizes, run->ok ? "holds" : "DOES NOT HOLD");
    if (run->onnx) put_onnx(v, run, out);
    if (run->n_tensors && !run->first.tensor) {
        infc_buf_printf(out, "  %zu tensors have the bits of the reference; %zu more are inside fused steps\n",
                        run->n_tensors, run->n_fused);
    }
    if (run->first.tensor) put_divergence(&run->first, out);
    if (run->onnx && run->onnx->n_diverged) put_first(v->cx->arena, run->onnx, v->tolerance, out);
    if (run->worst_output) {
        infc_buf_printf(out, "  expected outputs: \"%s\" is off by %.3g of its largest value; allowed %.3g\n",
                        run->worst_output, run->worst, v->tolerance);
    }
}

/* Of several sizes the table is that of the first that diverges, else of the first. */
static const infc_verified_run *shown_run(const infc_verified *r) {
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->runs[i].onnx && r->runs[i].onnx->n_diverged) return &r->runs[i];
    return r->n_runs && r->runs[0].onnx ? &r->runs[0] : NULL;
}

static void put_target(const infc_verification *v, const infc_verified *r, infc_buf *out) {
    const infc_verified_run *shown = shown_run(r);
    if (r->not_run) {
        infc_buf_printf(out, "%s for %s was not run: %s\n", v->name, r->target, r->not_run);
        return;
    }
    infc_buf_printf(out, "%s for %s, run %s: %s\n", v->name, r->target, r->how, r->ok ? "holds" : "DOES NOT HOLD");
    for (size_t k = 0; k < r->n_runs; k++) put_run(v, &r->runs[k], out);
    if (r->left_out) infc_buf_printf(out, "  not at %s\n", r->left_out);
    infc_buf_printf(out, "  the binary's own check %s:\n", r->own_ok ? "holds" : "DOES NOT HOLD");
    infc_buf_puts(out, r->own_text);
    if (!shown) return;
    infc_buf_printf(out, "\n  tensors in the order of the graph%s%s\n", shown->sizes ? ", at " : "",
                    shown->sizes ? shown->sizes : "");
    put_rows(v->cx->arena, shown->onnx, out);
}

void infc_verify_text(const infc_verification *v, infc_buf *out) {
    if (v->n_files)
        infc_buf_printf(out, "%s: %zu files have the hashes of the manifest\n", v->name, v->n_files);
    for (size_t i = 0; i < v->n; i++) put_target(v, &v->results[i], out);
}
