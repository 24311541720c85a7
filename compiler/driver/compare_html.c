/* compare_html.c - the comparison as one page that needs nothing else: a verdict, the table, a bar per target for each
 * metric, and the functions that execute most. */
#include "compare.h"
#include "table.h"
#include <math.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 "
    "1rem;color:#1d2433;background:#fff}"
    "h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.3rem 0}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.3rem "
    ".7rem;text-align:right;border-bottom:1px solid #e3e6ec;"
    "font-variant-numeric:tabular-nums}th:first-child,td:first-child,th:nth-child(2),td:nth-child("
    "2){text-align:left}"
    ".verdict{font-weight:600;margin:.5rem 0 "
    "1rem}.ok{color:#146c3c}.bad{color:#b3261e}.none{color:#6b7280}"
    ".bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:.15rem "
    ".8rem;align-items:center}"
    ".bar{background:#eef1f6;height:.9rem}.bar i{display:block;height:100%;background:#3b6fd4}.bar "
    "i.bad{background:#b3261e}"
    "summary{cursor:pointer}code{font-size:.9em}"
    "@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#14181f}th,td{border-color:#"
    "2c3340}.bar{background:#232a36}"
    ".ok{color:#63c58a}.bad{color:#f28b82}}";

static void put_text(infc_buf *out, const char *before, const char *text, const char *after) {
    infc_buf_puts(out, before);
    infc_compare_escape(out, text);
    infc_buf_puts(out, after);
}

static void put_verdict(const infc_comparison *c, infc_buf *out) {
    const char **faults;
    const size_t n = infc_compare_faults(c, &faults);
    size_t same = 0, not_run = 0;
    for (size_t i = 0; i < c->n; i++) {
        same += c->results[i].agreement == INFC_AGREES;
        not_run += c->results[i].agreement == INFC_NOT_RUN;
    }
    infc_buf_printf(out, "<p class=\"verdict %s\">", n ? "bad" : "ok");
    infc_buf_printf(out, "%zu of %zu targets give the same bits", same, c->n);
    if (not_run) infc_buf_printf(out, ", %zu not run", not_run);
    if (c->baseline)
        infc_buf_printf(out, ", %zu regression%s", c->n_regressions, c->n_regressions == 1 ? "" : "s");
    infc_buf_puts(out, "</p>\n");
    for (size_t i = 0; i < n; i++) put_text(out, "<p class=\"bad\">", faults[i], "</p>\n");
    for (size_t i = 0; i < c->n; i++) {
        if (c->results[i].agreement != INFC_NOT_RUN) continue;
        put_text(out, "<p class=\"none\">", c->results[i].target.name, " was not run: ");
        put_text(out, "", c->results[i].why, "</p>\n");
    }
}

static void put_cell(const infc_comparison *c, const infc_compared *r, int m, infc_buf *out) {
    infc_arena *arena = c->cx->arena;
    const double change = infc_measure_change(&r->measures[m]), limit = c->spec->thresholds[m];
    const bool over = !isnan(limit) && change > limit;
    infc_buf_printf(out, "<td%s>", over ? " class=\"bad\"" : "");
    infc_compare_escape(out, infc_metric_text(arena, (infc_metric)m, r->measures[m].now));
    if (!isnan(change) && change != 0)
        infc_buf_printf(out, " (%s)", infc_change_text(arena, change));
    infc_buf_puts(out, "</td>");
}

static void put_table(const infc_comparison *c, infc_buf *out) {
    static const char *const classes[] = {"ok", "bad", "none", "bad"};
    infc_buf_puts(out, "<table>\n<tr><th>target</th><th>output</th>");
    for (int m = 0; m < INFC_N_METRICS; m++)
        infc_buf_printf(out, "<th title=\"%s\">%s</th>", infc_metrics[m].meaning, infc_metrics[m].name);
    infc_buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        put_text(out, "<tr><td>", r->target.name, "</td>");
        infc_buf_printf(out, "<td class=\"%s\" title=\"", classes[r->agreement]);
        infc_compare_escape(out, r->why ? r->why : r->how);
        infc_buf_printf(out, "\">%s</td>",
                        r->agreement == INFC_NOT_RUN ? "not run" : infc_agreement_words[r->agreement]);
        for (int m = 0; m < INFC_N_METRICS; m++) put_cell(c, r, m, out);
        infc_buf_puts(out, "</tr>\n");
    }
    infc_buf_puts(out, "</table>\n");
}

static void put_bars(const infc_comparison *c, int m, infc_buf *out) {
    double most = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->results[i].measures[m].now > most) most = c->results[i].measures[m].now;
    if (most <= 0) return;
    infc_buf_printf(out, "<h2>%s: %s</h2>\n<div class=\"bars\">\n", infc_metrics[m].name,
                    infc_metrics[m].meaning);
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        const double now = r->measures[m].now, limit = c->spec->thresholds[m];
        const bool over = !isnan(limit) && infc_measure_change(&r->measures[m]) > limit;
        if (isnan(now)) continue;
        put_text(out, "<span>", r->target.name, "</span>");
        infc_buf_printf(out, "<span class=\"bar\"><i%s style=\"width:%.2f%%\"></i></span><span>%s</span>\n",
                        over ? " class=\"bad\"" : "", 100 * now / most,
                        infc_metric_text(c->cx->arena, (infc_metric)m, now));
    }
    infc_buf_puts(out, "</div>\n");
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
    put_bars(c, INFC_METRIC_instructions, out);
    put_bars(c, INFC_METRIC_text, out);
    put_bars(c, INFC_METRIC_time, out);
    infc_buf_puts(out, "<h2>Functions</h2>\n");
    put_functions(c, out);
    infc_buf_printf(out, "<p class=\"none\">infc %s, model sha256 %.16s</p>\n</body></html>\n",
                    INFC_VERSION, c->model_sha256);
}
