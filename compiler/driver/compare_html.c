/* compare_html.c - the comparison as one page that needs nothing else: the verdict, one table whose cells are bars,
 * what is the same on all targets, and the functions that execute most. */
#include "compare.h"
#include "table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font:14px/1.45 system-ui,sans-serif;max-width:76rem;margin:1.5rem auto;padding:0 "
    "1rem;color:#1d2433;"
    "background:var(--page);--page:#fff;--bar:#c9d9f7;--line:#e3e6ec;--good:#146c3c;--wrong:#"
    "b3261e;--quiet:#6b7280;--"
    "tile:#f4f6fa}"
    "h1{font-size:1.4rem;margin:0 0 .8rem}h2{font-size:1.05rem;margin:1.6rem 0 "
    ".4rem}p{margin:.3rem 0}"
    ".tiles{display:flex;flex-wrap:wrap;gap:.5rem;margin-bottom:1rem}"
    ".tiles div{background:var(--tile);border-radius:.5rem;padding:.4rem .7rem}"
    ".tiles b{display:block;font-size:1.35rem}.tiles span{color:var(--quiet);font-size:.85rem}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.2rem .5rem;text-align:right;"
    "border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums;white-space:nowrap}"
    "th{font-size:.85rem;color:var(--quiet);font-weight:600;vertical-align:bottom}"
    "th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}"
    ".wide{overflow-x:auto}.wide th:first-child,.wide "
    "td:first-child{position:sticky;left:0;background:var(--page)}"
    "td.m{background:linear-gradient(to right,var(--bar) var(--w),transparent 0) no-repeat 0 "
    "50%/100% 76%}"
    "td.best{font-weight:700}tr.family td{border-top:2px solid var(--quiet)}"
    ".ok{color:var(--good)}.bad{color:var(--wrong);font-weight:600}.none{color:var(--quiet)}"
    "td.m.bad{--bar:#f6cfcb}summary{cursor:pointer}code{font-size:.9em}"
    "@media(prefers-color-scheme:dark){body{color:#e6e9ef;--page:#14181f;--bar:#2b4170;--line:#"
    "2c3340;"
    "--good:#63c58a;--wrong:#f28b82;--quiet:#9aa3b2;--tile:#1c222c}td.m.bad{--bar:#5c2b28}}";

static void put_text(infc_buf *out, const char *before, const char *text, const char *after) {
    infc_buf_puts(out, before);
    infc_compare_escape(out, text);
    infc_buf_puts(out, after);
}

static void put_tile(infc_buf *out, const char *class, const char *value, const char *what) {
    infc_buf_printf(out, "<div><b class=\"%s\">", class);
    infc_compare_escape(out, value);
    put_text(out, "</b><span>", what, "</span></div>\n");
}

/* The target with the least of a metric, among those that run right; null where none has it. */
static const infc_compared *least(const infc_comparison *c, int m) {
    const infc_compared *best = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        if (r->agreement != INFC_AGREES || isnan(r->measures[m].now)) continue;
        if (!best || r->measures[m].now < best->measures[m].now) best = r;
    }
    return best;
}

static void put_least(const infc_comparison *c, int m, const char *what, infc_buf *out) {
    const infc_compared *r = least(c, m);
    infc_arena *arena = c->cx->arena;
    if (!r) return;
    put_tile(out, "", infc_metric_text(arena, (infc_metric)m, r->measures[m].now),
             infc_arena_printf(arena, "%s: %s", what, r->target.name));
}

static void put_verdict(const infc_comparison *c, infc_buf *out) {
    infc_arena *arena = c->cx->arena;
    const char **faults;
    const size_t n = infc_compare_faults(c, &faults);
    size_t same = 0, not_run = 0;
    for (size_t i = 0; i < c->n; i++) {
        same += c->results[i].agreement == INFC_AGREES;
        not_run += c->results[i].agreement == INFC_NOT_RUN;
    }
    infc_buf_puts(out, "<div class=\"tiles\">\n");
    put_tile(out, same + not_run == c->n ? "ok" : "bad",
             infc_arena_printf(arena, "%zu of %zu", same, c->n - not_run), "targets give the same bits");
    if (not_run) put_tile(out, "none", infc_arena_printf(arena, "%zu", not_run), "not run here");
    if (c->baseline && !c->updates)
        put_tile(out, c->n_regressions ? "bad" : "ok", infc_arena_printf(arena, "%zu", c->n_regressions),
                 c->n_regressions == 1 ? "regression" : "regressions");
    put_least(c, INFC_METRIC_time, "fastest here", out);
    put_least(c, INFC_METRIC_instructions, "fewest instructions", out);
    put_least(c, INFC_METRIC_text, "smallest code", out);
    infc_buf_puts(out, "</div>\n");
    for (size_t i = 0; i < n; i++) put_text(out, "<p class=\"bad\">", faults[i], "</p>\n");
}

static void put_not_run(const infc_comparison *c, infc_buf *out) {
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        if (r->agreement != INFC_NOT_RUN || infc_compare_required(c, r))
            continue; /* told among the faults */
        put_text(out, "<p class=\"none\">", r->target.name, " was not run: ");
        put_text(out, "", r->why, "</p>\n");
    }
}

/* Whether all targets have the same of it: then it needs no column. */
static bool is_common(const infc_comparison *c, int m) {
    for (size_t i = 0; i < c->n; i++) {
        const infc_measure *measure = &c->results[i].measures[m], *first = &c->results[0].measures[m];
        const double change = infc_measure_change(measure);
        if (measure->now != first->now || (!isnan(change) && change != 0)) return false;
    }
    return true;
}

static void put_common(const infc_comparison *c, infc_buf *out) {
    bool first = true;
    for (int m = 0; m < INFC_N_METRICS; m++) {
        if (!is_common(c, m)) continue;
        infc_buf_printf(out, "%s%s %s", first ? "<p class=\"none\">The same on all: " : ", ",
                        infc_metrics[m].name,
                        infc_metric_text(c->cx->arena, (infc_metric)m, c->results[0].measures[m].now));
        first = false;
    }
    if (!first) infc_buf_puts(out, ".</p>\n");
}

static void put_cell(const infc_comparison *c, const infc_compared *r, int m, double most, infc_buf *out) {
    infc_arena *arena = c->cx->arena;
    const double now = r->measures[m].now, limit = c->spec->thresholds[m];
    const double change = infc_measure_change(&r->measures[m]);
    const bool over = !isnan(limit) && change > limit;
    if (isnan(now)) {
        put_text(out, "<td class=\"none\">",
                 m == INFC_METRIC_instructions && r->uncounted ? r->uncounted : "-", "</td>");
        return;
    }
    infc_buf_printf(out, "<td class=\"m%s%s\" style=\"--w:%.1f%%\">", over ? " bad" : "",
                    least(c, m) == r ? " best" : "", most > 0 ? 100 * now / most : 0);
    infc_compare_escape(out, infc_metric_text(arena, (infc_metric)m, now));
    if (!isnan(change) && change != 0)
        infc_buf_printf(out, " (%s)", infc_change_text(arena, change, limit));
    infc_buf_puts(out, "</td>");
}

static void put_row(const infc_comparison *c, size_t i, const double *most, infc_buf *out) {
    static const char *const classes[] = {"ok", "bad", "none", "bad"};
    const infc_compared *r = &c->results[i];
    const bool family = i && strcmp(r->target.platform->arch, c->results[i - 1].target.platform->arch) != 0;
    put_text(out, family ? "<tr class=\"family\"><td>" : "<tr><td>", r->target.name, "</td>");
    infc_buf_printf(out, "<td class=\"%s\" title=\"", classes[r->agreement]);
    infc_compare_escape(out, r->why ? r->why : r->how);
    infc_buf_printf(out, "\">%s</td>",
                    r->agreement == INFC_NOT_RUN ? "not run" : infc_agreement_words[r->agreement]);
    for (int m = 0; m < INFC_N_METRICS; m++)
        if (!is_common(c, m)) put_cell(c, r, m, most[m], out);
    infc_buf_puts(out, "</tr>\n");
}

static void put_table(const infc_comparison *c, infc_buf *out) {
    double most[INFC_N_METRICS] = {0};
    infc_buf_puts(out, "<div class=\"wide\"><table>\n<tr><th>target</th><th>output</th>");
    for (int m = 0; m < INFC_N_METRICS; m++) {
        for (size_t i = 0; i < c->n; i++)
            if (c->results[i].measures[m].now > most[m]) most[m] = c->results[i].measures[m].now;
        if (!is_common(c, m))
            infc_buf_printf(out, "<th title=\"%s\">%s</th>", infc_metrics[m].meaning,
                            infc_metrics[m].name);
    }
    infc_buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < c->n; i++) put_row(c, i, most, out);
    infc_buf_puts(out, "</table></div>\n");
    put_common(c, out);
    infc_buf_puts(
        out, "<p class=\"none\">Bars: of the largest in the column. Bold: the least. Columns: ");
    for (int m = 0, n = 0; m < INFC_N_METRICS; m++) {
        if (is_common(c, m)) continue;
        infc_buf_printf(out, "%s%s: %s", n++ ? "; " : "", infc_metrics[m].name, infc_metrics[m].meaning);
    }
    infc_buf_puts(out, ".</p>\n");
}

static void put_mix(const infc_comparison *c, infc_buf *out) {
    const infc_table table = infc_compare_mix_table(c);
    const size_t n = (size_t)table.n_columns;
    infc_buf_puts(out, "<h2>What the code is made of</h2>\n<div class=\"wide\"><table>\n");
    for (size_t i = 0; i < table.n; i++) {
        const char *cell = table.cells[i];
        infc_buf_puts(out, i % n == 0 ? "<tr>" : "");
        if (i >= n && strchr(cell, '%')) /* shares overlap: a bar each, none on another */
            infc_buf_printf(out, "<td class=\"m\" style=\"--w:%.1f%%\">%s</td>", strtod(cell, NULL), cell);
        else put_text(out, i < n ? "<th>" : "<td>", cell, i < n ? "</th>" : "</td>");
        infc_buf_puts(out, i % n == n - 1 ? "</tr>\n" : "");
    }
    infc_buf_puts(out, "</table></div>\n");
}

enum { SHOWN_FUNCTIONS = 20 };

static void put_functions(const infc_comparison *c, infc_buf *out) {
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        if (r->n_functions == 0) continue;
        put_text(out, "<details><summary>Instructions by function, ", r->target.name, "</summary>\n<table>\n");
        infc_buf_puts(out,
                      "<tr><th>function</th><th></th><th>instructions</th><th>share</th></tr>\n");
        for (size_t k = 0; k < r->n_functions && k < SHOWN_FUNCTIONS; k++) {
            const infc_function_count *f = &r->functions[k];
            put_text(out, "<tr><td><code>", f->name, "</code></td><td></td>");
            infc_buf_printf(out, "<td>%s</td><td>%.1f %%</td></tr>\n",
                            infc_count_text(c->cx->arena, f->instructions),
                            100 * (double)f->instructions / r->measures[INFC_METRIC_instructions].now);
        }
        infc_buf_puts(out, "</table></details>\n");
    }
}

void infc_compare_html(const infc_comparison *c, infc_buf *out) {
    infc_buf_puts(out,
                  "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>infc compare: ");
    infc_compare_escape(out, c->model);
    infc_buf_printf(out, "</title>\n<style>%s</style></head>\n<body>\n", style);
    put_text(out, "<h1>", c->model, " on every target</h1>\n");
    put_verdict(c, out);
    put_table(c, out);
    put_not_run(c, out);
    put_mix(c, out);
    infc_buf_puts(out, "<h2>Functions</h2>\n");
    put_functions(c, out);
    infc_buf_printf(out, "<p class=\"none\">infc %s, model sha256 %.16s</p>\n</body></html>\n",
                    INFC_VERSION, c->model_sha256);
}
