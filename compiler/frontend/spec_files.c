/* Values of the spec that name files. */
#include "spec_check.h"
#include "../base/file.h"
#include <string.h>

bool infc_spec_from_set(const infc_yaml *node) {
    return node->loc.file && strcmp(node->loc.file, INFC_SPEC_SET_FILE) == 0;
}

const char *infc_spec_path(infc_spec_check *check, const infc_yaml *node) {
    return infc_path_join(check->cx->arena, infc_spec_from_set(node) ? "." : check->dir, node->text);
}

void infc_spec_check_model(infc_spec_check *check, const char *path, infc_yaml *node) {
    const char *quoted = infc_yaml_quote(check->cx, node->text);
    const char *file = infc_spec_path(check, node);
    const char *config = infc_path_join(check->cx->arena, file, "config.json");
    const char *hidden = infc_file_hidden(infc_dir_exists(file) ? config : file);
    node->parsed = file;
    if (!*node->text) {
        infc_spec_problem(check, node, path, "the path is empty");
    } else if (hidden) {
        infc_spec_unreadable(check, node, path, "cannot look at %s: %s", quoted, hidden);
    } else if (infc_dir_exists(file)) {
        if (!infc_file_exists(config))
            infc_spec_problem(check, node, path,
                              "the folder %s has no config.json, as folders of Hugging Face have", quoted);
    } else if (!infc_path_ends(file, ".onnx") && !infc_path_ends(file, ".gguf") &&
               !infc_path_ends(file, ".safetensors") && !infc_path_ends(file, ".infw")) {
        infc_spec_problem(check, node, path,
                          "%s is no .onnx, .gguf, .safetensors or .infw file and no folder", quoted);
    } else if (!infc_file_exists(file)) {
        const char *what = infc_file_what_else(file), *name = infc_yaml_quote(check->cx, file);
        if (what)
            infc_spec_unreadable(check, node, path, "%s is %s, not a regular file", name, what);
        else infc_spec_unreadable(check, node, path, "there is no file %s", name);
    }
}

enum { MAX_LABELS = 100000, MAX_LABEL_BYTES = 1000 };

static bool label_valid(const char *text, size_t n) {
    if (n > MAX_LABEL_BYTES || !infc_text_is_utf8(text, n)) return false;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) return false;
    }
    return true;
}

static void label_add(infc_spec_check *check, infc_spec_labels *labels, size_t *cap, const char *text, size_t n) {
    INFC_GROW(check->cx->arena, labels->items, labels->n, *cap);
    labels->items[labels->n++] = infc_arena_copy_string(check->cx->arena, text, n);
}

static void labels_from_file(infc_spec_check *check, const char *path, infc_yaml *node, infc_spec_labels *labels) {
    infc_bytes text;
    size_t cap = 0, used = 0;
    const char *file = infc_spec_path(check, node);
    const char *quoted = infc_yaml_quote(check->cx, file);
    if (!*node->text) {
        infc_spec_problem(check, node, path, "the path is empty");
        return;
    }
    if (infc_file_try_map(file, &text) != 0) {
        infc_spec_unreadable(check, node, path, "cannot read the labels file %s", quoted);
        return;
    }
    infc_file_note(check->cx, file);
    for (size_t at = 0; at < text.len && !node->bad;) {
        const char *line = (const char *)text.ptr + at;
        const char *end = memchr(line, '\n', text.len - at);
        size_t n = end ? (size_t)(end - line) : text.len - at;
        at += n + 1;
        if (n > 0 && line[n - 1] == '\r') n--;
        if (labels->n == MAX_LABELS) {
            infc_spec_problem(check, node, path, "%s has more than %d lines", quoted, MAX_LABELS);
        } else if (!label_valid(line, n)) {
            infc_spec_problem(check, node, path, "%s: line %zu is no label: not UTF-8, too long or not plain text",
                              quoted, labels->n + 1);
        } else {
            label_add(check, labels, &cap, line, n);
            if (n > 0) used = labels->n;
        }
    }
    infc_file_unmap(text);
    labels->n = used; /* empty lines at the end are none */
}

void infc_spec_check_labels(infc_spec_check *check, const infc_spec_key *key, const char *path, infc_yaml *node) {
    infc_spec_labels *labels = INFC_NEW(check->cx->arena, infc_spec_labels, 1);
    size_t cap = 0;
    node->parsed = labels;
    if (node->kind == INFC_YAML_MAP) {
        infc_spec_problem_expected(check, key, path, node);
        return;
    }
    if (node->kind == INFC_YAML_SCALAR) labels_from_file(check, path, node, labels);
    for (size_t i = 0; i < node->n && i <= MAX_LABELS; i++) {
        infc_yaml *item = node->items[i].value;
        if (item->kind != INFC_YAML_SCALAR || !label_valid(item->text, strlen(item->text))) {
            infc_spec_problem(check, item, path, "expected a label: one line of text");
        }
        node->bad |= item->bad;
        label_add(check, labels, &cap, item->text, strlen(item->text));
    }
    if (!node->bad && labels->n == 0) infc_spec_problem(check, node, path, "there are no labels");
    if (labels->n > MAX_LABELS)
        infc_spec_problem(check, node, path, "more than %d labels", MAX_LABELS);
}
