/* compare_outputs.c - which report goes where: each --format with its -o, or by the ends of the files' names. */
#include "../base/file.h"
#include "compare.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *ending;
    void (*put)(const infc_comparison *c, infc_buf *out);
} formats[] = {
    {"text", ".txt", infc_compare_text},  {"md", ".md", infc_compare_markdown},
    {"json", ".json", infc_compare_json}, {"junit", ".xml", infc_compare_junit},
    {"html", ".html", infc_compare_html},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static infc_status find_format(infc_cx *cx, const char *name, infc_compare_output *out) {
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (strcmp(formats[i].name, name) != 0) continue;
        out->put = formats[i].put;
        return INFC_OK;
    }
    return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                     "--format %s: give one of text, md, json, junit, html", name);
}

/* Of "page.html" or "page.junit"; text for every other name. */
static void format_of_name(infc_cx *cx, infc_compare_output *out) {
    out->put = formats[0].put;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (infc_path_ends(out->path, formats[i].ending) ||
            infc_path_ends(out->path, infc_arena_printf(cx->arena, ".%s", formats[i].name)))
            out->put = formats[i].put;
}

/* As many of both, or files alone, or one format for standard output. */
static infc_status pair(infc_cx *cx, const infc_texts *names, const infc_texts *files, infc_compare_outputs *out) {
    if (files->n == 0 && names->n > 1)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--format is given %zu times: add a file for each, -o F", names->n);
    if (files->n && names->n && files->n != names->n)
        return infc_fail(
            cx, INFC_ERR_SPEC, INFC_NO_LOC,
            "%zu formats for %zu files: give a --format for each -o, in the same order, or none: "
            "names that end in .txt, .md, .json, .xml or .html say it",
            names->n, files->n);
    size_t n_standard = 0;
    out->n = files->n ? files->n : 1;
    out->items = INFC_NEW(cx->arena, infc_compare_output, out->n);
    for (size_t i = 0; i < out->n; i++) {
        infc_compare_output *o = &out->items[i];
        o->put = formats[0].put;
        if (files->n && strcmp(files->items[i], "-") != 0) o->path = files->items[i];
        else if (n_standard++)
            return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "-o -, standard output, is given twice; give it once");
        if (names->n) INFC_TRY(find_format(cx, names->items[i], o));
        else if (o->path) format_of_name(cx, o);
    }
    return INFC_OK;
}

infc_status infc_compare_outputs_choose(infc_cx *cx, const infc_texts *names, const infc_texts *files,
                                        bool json, infc_compare_outputs *out) {
    static const char *json_name = "json";
    const infc_texts only_json = {.items = &json_name, .n = 1};
    for (size_t i = 0; i < names->n && json; i++)
        if (strcmp(names->items[i], json_name) != 0)
            return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                             "--json and --format %s: give one of them", names->items[i]);
    return pair(cx, json && names->n == 0 ? &only_json : names, files, out);
}

/* What a file is called in full, whether it is there or not. */
static const char *place(infc_arena *arena, const char *path) {
    char full[PATH_MAX];
    if (realpath(path, full)) return infc_arena_copy_string(arena, full, strlen(full));
    if (!realpath(infc_path_dir(arena, path), full)) return path;
    return infc_arena_printf(arena, "%s/%s", full, infc_path_base(path));
}

infc_status infc_compare_outputs_check(infc_cx *cx, const infc_compare_outputs *outputs, const char *baseline) {
    for (size_t i = 0; i < outputs->n; i++) {
        const char *path = outputs->items[i].path;
        if (!path) continue;
        const char *at = place(cx->arena, path);
        if (baseline && strcmp(at, place(cx->arena, baseline)) == 0)
            return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                             "-o %s: that is the baseline; choose another name", path);
        for (size_t k = 0; k < i; k++)
            if (outputs->items[k].path && strcmp(at, place(cx->arena, outputs->items[k].path)) == 0)
                return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                                 "-o %s is given twice; choose another name", path);
        INFC_TRY(infc_file_check_named(cx, path));
    }
    return INFC_OK;
}

/* One that cannot be written does not keep the others from being. */
infc_status infc_compare_outputs_write(const infc_comparison *c,
                                       const infc_compare_outputs *outputs, infc_buf *out) {
    infc_status first = INFC_OK;
    for (size_t i = 0; i < outputs->n; i++) {
        const infc_compare_output *o = &outputs->items[i];
        infc_buf text = {.arena = c->cx->arena};
        o->put(c, o->path ? &text : out);
        if (!o->path) continue;
        const infc_status status = infc_file_write_named(c->cx, o->path, infc_buf_bytes(&text));
        if (first == INFC_OK) first = status;
    }
    return first;
}
