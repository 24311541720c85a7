/* compare_update.c - --update-baseline: this comparison, the same on every machine that has the same compiler, and what
 * the file had and could not be measured now: whole targets, and metrics of others. A limit is never lost unseen. */
#include "../base/file.h"
#include "compare.h"
#include "manifest.h"
#include <math.h>
#include <string.h>

/* Names, to be told. */
typedef struct updating {
    const infc_comparison *c;
    infc_json json;
    infc_buf others, not_run;      /* targets whose rows are kept: not compared now; not run here */
    infc_buf kept[INFC_N_METRICS]; /* targets of which only this metric is */
    infc_buf missing[INFC_N_METRICS]; /* targets of which it is not known at all */
    size_t n_others;
} updating;

static bool is_kept(const infc_comparison *c, int metric) {
    return !isnan(c->spec->thresholds[metric]);
}

/* What the file has of a metric; NAN: nothing. */
static double had(const json_t *was, int metric) {
    const json_t *value = json_object_get(was, infc_metrics[metric].name);
    return json_is_integer(value) ? (double)json_integer_value(value) : NAN;
}

static void put_metric(updating *u, int metric, double value) {
    if (isnan(value)) infc_json_null(&u->json, infc_metrics[metric].name);
    else infc_json_u64(&u->json, infc_metrics[metric].name, (uint64_t)value);
}

static void put_as_it_was(updating *u, const json_t *was) {
    infc_json_object(&u->json, NULL);
    infc_json_text(&u->json, "name", infc_json_text_of(was, "name"));
    infc_json_text(&u->json, "status", infc_json_text_of(was, "status"));
    for (int m = 0; m < INFC_N_METRICS; m++)
        if (is_kept(u->c, m)) put_metric(u, m, had(was, m));
    infc_json_end(&u->json);
}

/* `was`: its row in the file, or null. */
static void put_compared(updating *u, const infc_compared *r, const json_t *was) {
    infc_json_object(&u->json, NULL);
    infc_json_text(&u->json, "name", r->target.name);
    infc_json_text(&u->json, "status", infc_agreement_words[r->agreement]);
    for (int m = 0; m < INFC_N_METRICS; m++) {
        const double now = r->measures[m].now, before = had(was, m);
        if (!is_kept(u->c, m)) continue;
        put_metric(u, m, isnan(now) ? before : now);
        if (isnan(now) && !isnan(before)) infc_compare_list(&u->kept[m], r->target.name);
        else if (isnan(now) && infc_compare_ran(r))
            infc_compare_list(&u->missing[m], r->target.name);
    }
    infc_json_end(&u->json);
}

static void put_row(updating *u, const infc_compared *r, const json_t *was) {
    const char *status = infc_json_text_of(was, "status");
    if (!r) {
        u->n_others++;
        infc_compare_list(&u->others, infc_json_text_of(was, "name"));
        put_as_it_was(u, was);
    } else if (r->agreement == INFC_NOT_RUN && strcmp(status, infc_agreement_words[INFC_AGREES]) == 0) {
        infc_compare_list(&u->not_run, r->target.name);
        put_as_it_was(u, was);
    } else put_compared(u, r, was);
}

static const json_t *row_of(const json_t *rows, const char *name) {
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) if (strcmp(infc_json_text_of(row, "name"), name) == 0) return row;
    return NULL;
}

/* In the order of the file, so that a change shows what changed; then what is new. */
static void put_all(updating *u) {
    const infc_comparison *c = u->c;
    const json_t *rows = json_object_get(c->baseline_json, "targets"), *was;
    size_t i;
    infc_compare_json_begin(c, &u->json);
    infc_json_array(&u->json, "targets");
    json_array_foreach(rows, i, was) put_row(u, infc_compare_find(c, infc_json_text_of(was, "name")), was);
    for (i = 0; i < c->n; i++)
        if (!row_of(rows, c->results[i].target.name)) put_row(u, &c->results[i], NULL);
    infc_json_end(&u->json);
    infc_json_end(&u->json);
}

static void tell_older(const infc_comparison *c) {
    const char *version = infc_json_text_of(c->baseline_json, "infc");
    const infc_loc loc = {.file = c->baseline};
    if (strcmp(infc_json_text_of(c->baseline_json, "model_sha256"), c->model_sha256) != 0)
        infc_warn(c->cx, loc, "what is kept was measured before the model's file changed");
    if (strcmp(version, INFC_VERSION) != 0)
        infc_warn(c->cx, loc, "what is kept was measured by infc %s; this is %s", version, INFC_VERSION);
}

static void tell(updating *u) {
    infc_cx *cx = u->c->cx;
    const infc_loc loc = {.file = u->c->baseline};
    infc_buf without = {.arena = cx->arena};
    bool older = u->others.len || u->not_run.len;
    for (int m = 0; m < INFC_N_METRICS; m++) {
        if (u->missing[m].len)
            infc_buf_printf(&without, "; without %s, which could not be measured: %s",
                            infc_metrics[m].name, infc_buf_str(&u->missing[m]));
        if (!u->kept[m].len) continue;
        older = true;
        infc_warn(cx, loc, "%s could not be measured now; what the file had is kept: %s",
                  infc_metrics[m].name, infc_buf_str(&u->kept[m]));
    }
    if (u->not_run.len)
        infc_warn(cx, loc, "not run now, for which the report says why; what the file had is kept: %s",
                  infc_buf_str(&u->not_run));
    if (older) tell_older(u->c);
    infc_note(cx, loc, "written: %zu target%s%s", u->c->n, u->c->n == 1 ? "" : "s", infc_buf_str(&without));
    if (u->n_others)
        infc_note(cx, loc, "%zu more, not compared now, kept as they were: %s; to be rid of them remove the file first",
                  u->n_others, infc_buf_str(&u->others));
}

infc_status infc_compare_update(const infc_comparison *c) {
    infc_arena *arena = c->cx->arena;
    infc_buf text = {.arena = arena};
    updating u = {.c = c, .json = {.out = &text}, .others = {.arena = arena}, .not_run = {.arena = arena}};
    for (int m = 0; m < INFC_N_METRICS; m++) u.kept[m].arena = u.missing[m].arena = arena;
    for (size_t i = 0; i < c->n; i++) {
        const infc_agreement a = c->results[i].agreement;
        if (a != INFC_DIFFERS && a != INFC_RUN_FAILED) continue;
        infc_warn(c->cx, (infc_loc){.file = c->baseline}, "not written: target %s %s",
                  c->results[i].target.name, infc_agreement_words[a]);
        return INFC_OK;
    }
    put_all(&u);
    INFC_TRY(infc_file_write_named(c->cx, c->baseline, infc_buf_bytes(&text)));
    tell(&u);
    return INFC_OK;
}
