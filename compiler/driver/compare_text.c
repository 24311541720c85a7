/* compare_text.c - the comparison as a table: for a terminal, and as Markdown for a comment on a change. */
#include "compare.h"
#include "table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *infc_metric_text(infc_arena *arena, infc_metric metric, double value) {
    const char *unit = infc_metrics[metric].unit;
    if (isnan(value)) return "-";
    if (strcmp(unit, "bytes") == 0) return infc_bytes_text(arena, (uint64_t)value);
    if (strcmp(unit, "count") == 0) return infc_count_text(arena, (uint64_t)value);
    if (value < 1e3) return infc_arena_printf(arena, "%.0f ns", value);
    return value < 1e7 ? infc_arena_printf(arena, "%.1f us", value / 1e3)
                       : infc_arena_printf(arena, "%.2f ms", value / 1e6);
}

const char *infc_change_text(infc_arena *arena, double percent, double limit) {
    enum { MOST_DIGITS = 9 };
    const char *text = "same";
    if (isnan(percent)) return "";
    if (isinf(percent)) return "from nothing";
    for (int digits = 1; percent != 0 && digits <= MOST_DIGITS; digits++) {
        text = infc_arena_printf(arena, "%+.*f %%", digits, percent);
        if ((strtod(text, NULL) > limit) == (percent > limit)) break;
    }
    return text;
}

/* Of what is limited, what is furthest over its limit; when nothing is over, what is not known now, or changed most. */
static const char *worst_change(const infc_comparison *c, const infc_compared *r) {
    double worst = NAN;
    bool worst_over = false;
    int at = 0;
    for (int m = 0; m < INFC_N_METRICS; m++) {
        const double change = infc_measure_change(&r->measures[m]), limit = c->spec->thresholds[m];
        const bool over = change > limit;
        const double weight = over ? change - limit : fabs(change);
        if (isnan(change) || isnan(limit) || over < worst_over) continue;
        if (over == worst_over && !isnan(worst) && weight <= worst) continue;
        worst = weight;
        worst_over = over;
        at = m;
    }
    const int lost = infc_compare_unmeasured(c, r, 0);
    if (lost < INFC_N_METRICS && !worst_over)
        return infc_arena_printf(c->cx->arena, "%s not measured", infc_metrics[lost].name);
    if (isnan(worst)) return "-";
    const char *text =
        infc_change_text(c->cx->arena, infc_measure_change(&r->measures[at]), c->spec->thresholds[at]);
    if (worst == 0 && !worst_over) return text;
    return infc_arena_printf(c->cx->arena, "%s %s%s", infc_metrics[at].name, text, worst_over ? " over" : "");
}

const char *infc_agreement_text(infc_agreement agreement) {
    return agreement == INFC_NOT_RUN ? "not run" : infc_agreement_words[agreement];
}

static const char *output_text(infc_arena *arena, const infc_compared *r) {
    if (r->agreement != INFC_DIFFERS) return infc_agreement_text(r->agreement);
    return infc_arena_printf(arena, "differs in %lld", (long long)r->first.n_different);
}

enum { N_COLUMNS = 9 };

static infc_table table_of(const infc_comparison *c) {
    infc_arena *arena = c->cx->arena;
    infc_table table = {.arena = arena, .n_columns = N_COLUMNS, .right = 0x17c};
    INFC_TABLE_ROW(&table, "target", "output", "file", "text", "arena", "stack", "instructions",
                   "vs baseline", "time");
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        const char *cells[INFC_N_METRICS];
        for (int m = 0; m < INFC_N_METRICS; m++)
            cells[m] = infc_metric_text(arena, (infc_metric)m, r->measures[m].now);
        const bool native = infc_target_runs_here(&r->target);
        INFC_TABLE_ROW(&table, r->target.name, output_text(arena, r), cells[INFC_METRIC_file],
                       cells[INFC_METRIC_text], cells[INFC_METRIC_arena], cells[INFC_METRIC_stack],
                       r->uncounted ? r->uncounted : cells[INFC_METRIC_instructions], worst_change(c, r),
                       native || r->agreement == INFC_NOT_RUN ? cells[INFC_METRIC_time] : "(emulated)");
    }
    return table;
}

static void put_summary(const infc_comparison *c, infc_buf *out) {
    infc_buf_printf(out, "%s, %zu target%s", c->model, c->n, c->n == 1 ? "" : "s");
    if (c->baseline && !c->updates)
        infc_buf_printf(out, ", against %s: %zu regression%s", c->baseline, c->n_regressions,
                        c->n_regressions == 1 ? "" : "s");
    infc_buf_puts(out, "\n\n");
}

/* Faults, then why targets were not run, then kernels that are plain C. */
static void put_notes(const infc_comparison *c, const char *bullet, infc_buf *out) {
    const char **faults;
    const size_t n = infc_compare_faults(c, &faults);
    if (n) infc_buf_puts(out, "\n");
    for (size_t i = 0; i < n; i++) infc_buf_printf(out, "%s%s\n", bullet, faults[i]);
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        if (r->agreement == INFC_NOT_RUN && !infc_compare_required(c, r)) /* else it is a fault */
            infc_buf_printf(out, "%s%s was not run: %s\n", bullet, r->target.name, r->why);
        if (r->n_reference)
            infc_buf_printf(out, "%s%s: %zu of %zu kernels are the plain reference, %.1f %% of the operations\n",
                            bullet, r->target.name, r->n_reference, r->n_steps, 100 * r->reference_share);
    }
}

void infc_compare_text(const infc_comparison *c, infc_buf *out) {
    const infc_table table = table_of(c);
    put_summary(c, out);
    infc_table_print(&table, 0, out);
    const infc_table mix = infc_compare_mix_table(c);
    infc_buf_puts(out, "\nwhat the code is made of\n\n");
    infc_table_print(&mix, 0, out);
    put_notes(c, "  ", out);
}

static void put_markdown(const infc_table *table, infc_buf *out) {
    const size_t n = (size_t)table->n_columns;
    for (size_t i = 0; i < table->n; i++) {
        const size_t column = i % n;
        infc_buf_printf(out, "%s%s%s", column ? " | " : "| ", table->cells[i], column == n - 1 ? " |\n" : "");
        if (i != n - 1) continue;
        for (size_t k = 0; k < n; k++) infc_buf_puts(out, table->right >> k & 1 ? "|---:" : "|---");
        infc_buf_puts(out, "|\n");
    }
}

void infc_compare_markdown(const infc_comparison *c, infc_buf *out) {
    const infc_table table = table_of(c), mix = infc_compare_mix_table(c);
    put_summary(c, out);
    put_markdown(&table, out);
    infc_buf_puts(out, "\nWhat the code is made of:\n\n");
    put_markdown(&mix, out);
    put_notes(c, "- ", out);
}
