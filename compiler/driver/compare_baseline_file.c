/* compare_baseline_file.c - what a baseline may hold, looked at before anything is compiled. */
#include "../base/file.h"
#include "../base/map.h"
#include "compare.h"
#include "manifest.h"
#include <string.h>
#include <sys/stat.h>

#define ANEW "; remove the file and write it anew with --update-baseline"

/* Others than metrics: of a baseline, and of a report in JSON, which may be one too. */
static const char *const row_keys[] = {
    "name",
    "status",
    "how",
    "why",
    "difference",
    "uncounted",
    "kernels",
    "reference_kernels",
    "reference_share",
    "mix",
    "loop",
    "functions",
};
enum { N_ROW_KEYS = sizeof row_keys / sizeof *row_keys };

/* A metric that is not known limits nothing, and may be one that was meant to: told of the first target with it. */
static void warn_unknown(infc_comparison *c, json_t *row, infc_map *seen) {
    const char *names[INFC_N_METRICS], *key;
    json_t *value;
    for (int m = 0; m < INFC_N_METRICS; m++) names[m] = infc_metrics[m].name;
    json_object_foreach(row, key, value) {
        bool known = infc_map_find(seen, key, NULL);
        for (int m = 0; m < INFC_N_METRICS && !known; m++) known = strcmp(names[m], key) == 0;
        for (int k = 0; k < N_ROW_KEYS && !known; k++) known = strcmp(row_keys[k], key) == 0;
        if (known) continue;
        const char *nearest = infc_nearest(key, names, INFC_N_METRICS);
        infc_map_put(seen, key, 0);
        infc_warn(c->cx, (infc_loc){.file = c->baseline}, "target %s: \"%.60s\" is no metric and limits nothing%s%s",
                  infc_json_text_of(row, "name"), key, nearest ? "; nearest: " : "", nearest ? nearest : "");
    }
}

/* What ran wrongly is nothing to compare with. */
static infc_status check_status(infc_comparison *c, const char *name, const char *status) {
    const infc_loc loc = {.file = c->baseline};
    if (strcmp(status, infc_agreement_words[INFC_AGREES]) == 0) return INFC_OK;
    if (strcmp(status, infc_agreement_words[INFC_NOT_RUN]) == 0) return INFC_OK;
    const bool differed = strcmp(status, infc_agreement_words[INFC_DIFFERS]) == 0;
    if (differed || strcmp(status, infc_agreement_words[INFC_RUN_FAILED]) == 0)
        return infc_fail(c->cx, INFC_ERR_MODEL, loc, "target %s %s when this baseline was made" ANEW,
                         name, differed ? "differed" : "failed");
    return infc_fail(c->cx, INFC_ERR_MODEL, loc,
                     "target %s: \"status\" is none of identical, differs, not_run, failed" ANEW, name);
}

static infc_status check_row(infc_comparison *c, json_t *row, infc_map *names, infc_map *unknown) {
    const infc_loc loc = {.file = c->baseline};
    const char *name = infc_json_text_of(row, "name");
    if (!*name) return infc_fail(c->cx, INFC_ERR_MODEL, loc, "one of \"targets\" has no name" ANEW);
    if (infc_map_find(names, name, NULL))
        return infc_fail(c->cx, INFC_ERR_MODEL, loc, "target %s is in this baseline twice" ANEW, name);
    infc_map_put(names, name, 0);
    for (int m = 0; m < INFC_N_METRICS; m++) {
        const json_t *value = json_object_get(row, infc_metrics[m].name);
        if (!value || json_is_null(value) || (json_is_integer(value) && json_integer_value(value) >= 0))
            continue;
        return infc_fail(c->cx, INFC_ERR_MODEL, loc, "target %s: \"%s\" is no whole number of at least 0" ANEW,
                         name, infc_metrics[m].name);
    }
    if (!c->updates) warn_unknown(c, row, unknown);
    return check_status(c, name, infc_json_text_of(row, "status"));
}

static bool holds_nothing(const char *path) {
    struct stat info;
    return stat(path, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size == 0;
}

/* What is mapped is never written to, but for this file: its content has been taken out of it. */
static infc_status read_json(infc_comparison *c) {
    infc_cx reading = *c->cx;
    const infc_status status = infc_comparison_read(&reading, c->baseline, &c->baseline_json);
    if (c->updates) reading.mappings = c->cx->mappings;
    *c->cx = reading;
    return status;
}

infc_status infc_compare_baseline_read(infc_comparison *c, const char *path) {
    infc_map names = {.arena = c->cx->arena}, unknown = {.arena = c->cx->arena};
    json_t *row;
    size_t i;
    c->baseline = path;
    if (c->updates && holds_nothing(path)) return INFC_OK;
    INFC_TRY(read_json(c));
    json_array_foreach(json_object_get(c->baseline_json, "targets"), i, row)
        INFC_TRY(check_row(c, row, &names, &unknown));
    return INFC_OK;
}
