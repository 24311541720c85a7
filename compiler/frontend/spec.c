#include "spec.h"
#include "../base/file.h"
#include "spec_check.h"
#include "spec_fill.h"
#include "spec_set.h"
#include "spec_yaml.h"
#include <string.h>

static bool before(const infc_loc *a, const infc_loc *b) {
    return a->line != b->line ? a->line < b->line : a->col < b->col;
}

/* Problems in the order of the file; there are at most a few hundred. */
static void sort_diags(infc_cx *cx, size_t mark) {
    for (size_t i = mark + 1; i < cx->n_diags; i++) {
        infc_diag diag = cx->diags[i];
        size_t at = i;
        for (; at > mark && before(&diag.loc, &cx->diags[at - 1].loc); at--)
            cx->diags[at] = cx->diags[at - 1];
        cx->diags[at] = diag;
    }
}

static infc_status finish(infc_cx *cx, const char *dir, infc_yaml *root, const infc_spec_set *sets,
                          size_t n_sets, size_t mark, infc_spec *out) {
    infc_spec_check check = {.cx = cx, .dir = dir};
    for (size_t i = 0; i < n_sets && root->kind == INFC_YAML_MAP; i++) {
        infc_spec_set_apply(cx, root, sets[i].assignment);
    }
    infc_spec_check_root(&check, root);
    infc_spec_fill(&check, root, out);
    sort_diags(cx, mark);
    return infc_diags_status(cx, mark);
}

infc_status infc_spec_read_bytes(infc_cx *cx, const char *path, infc_bytes text,
                                 const infc_spec_set *sets, size_t n_sets, infc_spec *out) {
    size_t mark = cx->n_diags;
    *out = (infc_spec){.path = path};
    infc_yaml *root = infc_yaml_parse(cx, path, text, NULL);
    if (!root) return infc_diags_status(cx, mark);
    return finish(cx, infc_path_dir(cx->arena, path), root, sets, n_sets, mark, out);
}

static infc_yaml *scalar(infc_cx *cx, infc_loc loc, const char *text) {
    infc_yaml *node = infc_yaml_new(cx, INFC_YAML_SCALAR, loc);
    node->text = text;
    node->plain = true;
    return node;
}

/* The spec `{infc: 1, model: <file>}`, as if it lay beside the model. */
static infc_status read_model(infc_cx *cx, const char *path, const infc_spec_set *sets,
                              size_t n_sets, infc_spec *out) {
    infc_loc loc = {.file = path};
    infc_yaml *root = infc_yaml_new(cx, INFC_YAML_MAP, loc);
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    path = infc_arena_copy_string(cx->arena, path, n);
    *out = (infc_spec){.path = NULL};
    infc_yaml_add(cx, root, "infc", loc, scalar(cx, loc, "1"));
    infc_yaml_add(cx, root, "model", loc, scalar(cx, loc, infc_path_base(path)));
    return finish(cx, infc_path_dir(cx->arena, path), root, sets, n_sets, cx->n_diags, out);
}

static bool ends_in(const char *path, const char *const *extensions) {
    while (*extensions && !infc_path_ends(path, *extensions)) extensions++;
    return *extensions;
}

infc_status infc_spec_read(infc_cx *cx, const char *path, const infc_spec_set *sets, size_t n_sets,
                           infc_spec *out) {
    static const char *const specs[] = {".yaml", ".yml", ".json", NULL};
    static const char *const models[] = {".onnx", ".gguf", ".safetensors", ".infw", NULL};
    *out = (infc_spec){.path = path};
    if (ends_in(path, specs)) {
        infc_bytes text;
        INFC_TRY(infc_file_map(cx, path, &text));
        return infc_spec_read_bytes(cx, path, text, sets, n_sets, out);
    }
    if (ends_in(path, models) || infc_dir_exists(path))
        return read_model(cx, path, sets, n_sets, out);
    bool there = infc_file_exists(path);
    const char *what = infc_file_what_else(path), *hidden = infc_file_hidden(path);
    if (hidden)
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path}, "cannot look at it: %s", hidden);
    if (what)
        return infc_fail(
            cx, INFC_ERR_IO, (infc_loc){.file = path},
            "%s, not a regular file; expected a spec (.yaml, .yml, .json) or a model (.onnx, "
            ".gguf, .infw)",
            what);
    return infc_fail(cx, there ? INFC_ERR_SPEC : INFC_ERR_IO, (infc_loc){.file = path},
                     "%s; expected a spec (.yaml, .yml, .json) or a model (.onnx, .gguf, .infw)",
                     there ? "the name tells neither a spec nor a model" : "there is no such file");
}
