/* compare_baseline.c - an earlier comparison beside this one: changes, limits, and whether all is well. */
#include "compare.h"
#include "manifest.h"
#include <math.h>
#include <string.h>

const infc_metric_info infc_metrics[INFC_N_METRICS] = {
#define INFC_METRIC(name, unit, meaning) {#name, #unit, meaning},
#include "../frontend/spec_metrics.def"
#undef INFC_METRIC
};
const char *const infc_agreement_words[] = {"identical", "differs", "not_run", "failed"};

double infc_measure_change(const infc_measure *measure) {
    if (isnan(measure->now) || isnan(measure->before)) return NAN;
    if (measure->before == measure->now) return 0;
    return measure->before == 0 ? INFINITY : 100 * (measure->now - measure->before) / measure->before;
}

/* Of the target itself, or of one of its levels. */
static bool is_row_of(const infc_compared *r, const char *target) {
    const size_t n = strlen(target);
    return strncmp(r->target.name, target, n) == 0 &&
           (r->target.name[n] == 0 || strncmp(r->target.name + n, " at ", 4) == 0);
}

static bool compared(const infc_comparison *c, const char *target) {
    for (size_t i = 0; i < c->n; i++)
        if (is_row_of(&c->results[i], target)) return true;
    return false;
}

const infc_compared *infc_compare_find(const infc_comparison *c, const char *name) {
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->results[i].target.name, name) == 0) return &c->results[i];
    return NULL;
}

bool infc_compare_ran(const infc_compared *r) {
    return r->agreement == INFC_AGREES || r->agreement == INFC_DIFFERS;
}

bool infc_compare_required(const infc_comparison *c, const infc_compared *r) {
    for (size_t i = 0; i < c->spec->n_required; i++)
        if (is_row_of(r, c->spec->required[i].name)) return true;
    return false;
}

int infc_compare_unmeasured(const infc_comparison *c, const infc_compared *r, int from) {
    int m = from;
    while (m < INFC_N_METRICS && !(infc_compare_ran(r) && !isnan(c->spec->thresholds[m]) &&
                                   !isnan(r->measures[m].before) && isnan(r->measures[m].now)))
        m++;
    return m;
}

/* What is told of several targets at once. */
typedef struct lacking {
    int metric;
    const char *why; /* this machine cannot measure it */
    infc_buf targets;
} lacking;

typedef struct judging {
    infc_comparison *c;
    lacking *items;
    size_t n, cap;
    infc_buf not_run; /* targets that were, for the baseline */
} judging;

void infc_compare_list(infc_buf *names, const char *name) {
    infc_buf_printf(names, "%s%s", names->len ? ", " : "", name);
}

static void regress(infc_comparison *c, const infc_compared *r, const char *text) {
    INFC_GROW(c->cx->arena, c->regressions, c->n_regressions, c->cap_regressions);
    c->regressions[c->n_regressions++] = (infc_regression){r->target.name, text};
}

/* Why this machine, whatever the code, does not tell the metric of a target that it runs; null: it should. */
static const char *lacks(const infc_compared *r, int m) {
    if (m == INFC_METRIC_instructions) return r->no_counter;
    if (m == INFC_METRIC_time && !infc_target_runs_here(&r->target)) return "it is emulated here";
    return NULL;
}

static void note_lacking(judging *j, int metric, const char *why, const char *target) {
    size_t i = 0;
    while (i < j->n && (j->items[i].metric != metric || strcmp(j->items[i].why, why) != 0)) i++;
    if (i == j->n) {
        INFC_GROW(j->c->cx->arena, j->items, j->n, j->cap);
        j->items[j->n++] = (lacking){metric, why, {.arena = j->c->cx->arena}};
    }
    infc_compare_list(&j->items[i].targets, target);
}

static void judge(judging *j, const infc_compared *r) {
    infc_comparison *c = j->c;
    infc_arena *arena = c->cx->arena;
    for (int m = 0; m < INFC_N_METRICS; m++) {
        const infc_measure *measure = &r->measures[m];
        const double change = infc_measure_change(measure), limit = c->spec->thresholds[m];
        if (isnan(limit) || !(change > limit)) continue;
        regress(c, r,
                infc_arena_printf(arena, "%s %s -> %s, %s, limit %g %%", infc_metrics[m].name,
                                  infc_metric_text(arena, (infc_metric)m, measure->before),
                                  infc_metric_text(arena, (infc_metric)m, measure->now),
                                  infc_change_text(arena, change, limit), limit));
    }
    for (int m = infc_compare_unmeasured(c, r, 0); m < INFC_N_METRICS;
         m = infc_compare_unmeasured(c, r, m + 1)) {
        const char *why = lacks(r, m);
        if (why && !infc_compare_required(c, r)) note_lacking(j, m, why, r->target.name);
        else
            regress(c, r,
                    infc_arena_printf(arena, "%s was %s and could not be measured now%s%s",
                                      infc_metrics[m].name,
                                      infc_metric_text(arena, (infc_metric)m, r->measures[m].before),
                                      why ? ": " : "", why ? why : ""));
    }
}

/* What a baseline has of each metric: none or null is not known, and so limits nothing. */
static void take_measures(infc_comparison *c, const json_t *was, infc_compared *r) {
    infc_buf missing = {.arena = c->cx->arena};
    for (int m = 0; m < INFC_N_METRICS; m++) {
        const json_t *value = json_object_get(was, infc_metrics[m].name);
        infc_measure *measure = &r->measures[m];
        if (json_is_integer(value)) measure->before = (double)json_integer_value(value);
        else if (!isnan(measure->now) && !isnan(c->spec->thresholds[m]))
            infc_compare_list(&missing, infc_metrics[m].name);
    }
    if (missing.len)
        infc_warn(c->cx, (infc_loc){.file = c->baseline},
                  "target %s has no %s in this baseline, so that nothing limits that; add it with "
                  "--update-baseline",
                  r->target.name, infc_buf_str(&missing));
}

/* Its measures, and whether it ran: a target that was compared before and is not now is told, never passed over. */
static void take_target(judging *j, const json_t *was) {
    infc_comparison *c = j->c;
    const char *name = infc_json_text_of(was, "name"), *status = infc_json_text_of(was, "status");
    infc_compared *r = (infc_compared *)infc_compare_find(c, name);
    if (!r) {
        infc_warn(c->cx, (infc_loc){.file = c->baseline},
                  "target %s is in this baseline and is not compared now", name);
        return;
    }
    r->in_baseline = true;
    take_measures(c, was, r);
    if (r->agreement == INFC_NOT_RUN && strcmp(status, infc_agreement_words[INFC_NOT_RUN]) != 0)
        infc_compare_list(&j->not_run, name);
    judge(j, r);
}

infc_status infc_compare_baseline_suits(infc_comparison *c, const char *model) {
    if (!c->baseline_json) return INFC_OK;
    const char *was = infc_json_text_of(c->baseline_json, "model");
    if (strcmp(was, model) == 0) return INFC_OK;
    return infc_fail(
        c->cx, INFC_ERR_MODEL, (infc_loc){.file = c->baseline},
        "this baseline is of model \"%.200s\", not of \"%s\"; name another file, or remove this "
        "one and write it anew with --update-baseline",
        was, model);
}

void infc_compare_baseline(infc_comparison *c) {
    judging j = {.c = c, .not_run = {.arena = c->cx->arena}};
    const json_t *was;
    size_t i;
    const infc_loc loc = {.file = c->baseline};
    const char *version = infc_json_text_of(c->baseline_json, "infc");
    if (strcmp(infc_json_text_of(c->baseline_json, "model_sha256"), c->model_sha256) != 0)
        infc_warn(c->cx, loc, "the model's file has changed since this baseline");
    if (strcmp(version, INFC_VERSION) != 0)
        infc_warn(c->cx, loc, "this baseline was made by infc %s; this is %s", version, INFC_VERSION);
    json_array_foreach(json_object_get(c->baseline_json, "targets"), i, was) take_target(&j, was);
    if (j.not_run.len)
        infc_warn(c->cx, loc, "run for this baseline and not now, for which the report says why: %s",
                  infc_buf_str(&j.not_run));
    for (i = 0; i < j.n; i++)
        infc_warn(c->cx, loc, "%s of %s not compared, for nothing here measures them: %s",
                  infc_metrics[j.items[i].metric].name, infc_buf_str(&j.items[i].targets),
                  j.items[i].why);
    for (i = 0; i < c->n; i++)
        if (!c->results[i].in_baseline)
            infc_warn(c->cx, loc, "target %s is not in this baseline; add it with --update-baseline",
                      c->results[i].target.name);
}

static const char *difference(infc_arena *arena, const infc_compared *r) {
    const infc_divergence *d = &r->first;
    const char *ulp =
        d->ulp == UINT64_MAX || d->ulp == 0
            ? ""
            : infc_arena_printf(arena, ", %llu representable numbers apart", (unsigned long long)d->ulp);
    return infc_arena_printf(
        arena,
        "%s: tensor \"%s\"%s%s differs in %lld of %lld elements, first in %lld: "
        "%.9g, reference %.9g%s",
        r->target.name, d->tensor, d->node ? " of " : "", d->node ? d->node : "", (long long)d->n_different,
        (long long)d->n_elements, (long long)d->element, d->compiled, d->reference, ulp);
}

size_t infc_compare_faults(const infc_comparison *c, const char ***out) {
    infc_arena *arena = c->cx->arena;
    const char **faults =
        INFC_NEW(arena, const char *, 2 * c->n + c->n_regressions + c->spec->n_required + 1);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        const char *name = r->target.name;
        if (r->agreement == INFC_DIFFERS) faults[n++] = difference(arena, r);
        if (r->agreement == INFC_RUN_FAILED)
            faults[n++] = infc_arena_printf(arena, "%s: failed: %s", name, r->why);
        if (r->agreement == INFC_NOT_RUN && infc_compare_required(c, r))
            faults[n++] = infc_arena_printf(arena, "%s: required by the spec, but not run: %s", name, r->why);
    }
    for (size_t i = 0; i < c->spec->n_required; i++)
        if (!compared(c, c->spec->required[i].name))
            faults[n++] = infc_arena_printf(arena, "%s: required by the spec, but not compared",
                                            c->spec->required[i].name);
    for (size_t i = 0; i < c->n_regressions; i++)
        faults[n++] = infc_arena_printf(arena, "%s: %s", c->regressions[i].target, c->regressions[i].text);
    *out = faults;
    return n;
}

bool infc_compare_ok(const infc_comparison *c) {
    const char **faults;
    return infc_compare_faults(c, &faults) == 0;
}
