/* spec_adapters.c - the key `adapters`: what a language model takes while it runs, and what it has from the start. */
#include "../../runtime/include/infc_abi.h"
#include "spec_fill.h"
#include <string.h>

enum { LOADED = 8, RANK = 32 };

static bool name_is_good(const char *name) {
    const size_t n = strlen(name);
    return n > 0 && n <= INFC_ADAPTER_NAME && strspn(name, INFC_ADAPTER_SIGNS) == n;
}

static void fill_preload(infc_spec_check *check, const infc_yaml *map, infc_spec *out) {
    const infc_yaml *list = infc_spec_get_list(map, "preload");
    out->preload = INFC_NEW(check->cx->arena, infc_spec_adapter, list->n + 1);
    for (size_t i = 0; i < list->n; i++) {
        infc_yaml *name = infc_spec_get(list->items[i].value, "name"),
                  *path = infc_spec_get(list->items[i].value, "path");
        if (!name || !path) continue;
        if (!name_is_good(name->text))
            infc_spec_problem(check, name, "adapters.preload.name",
                              "%s is not 1 to %d letters, digits and signs of . _ : -",
                              infc_yaml_quote(check->cx, name->text), (int)INFC_ADAPTER_NAME);
        const size_t n = out->name ? strlen(out->name) : 0;
        if (n && !strncmp(name->text, out->name, n) && (!name->text[n] || name->text[n] == ':'))
            infc_spec_problem(check, name, "adapters.preload.name",
                              "%s names the base, as requests do; give another name",
                              infc_yaml_quote(check->cx, name->text));
        if (!*path->text) infc_spec_problem(check, path, "adapters.preload.path", "it is empty");
        for (size_t k = 0; k < out->n_preload && !name->bad; k++)
            if (strcmp(out->preload[k].name, name->text) == 0)
                infc_spec_problem(check, name, "adapters.preload.name", "%s is there already",
                                  infc_yaml_quote(check->cx, name->text));
        if (!name->bad && (int64_t)out->n_preload == out->max_adapters)
            infc_spec_problem(check, name, "adapters.preload",
                              "more than max_loaded, %lld, are at a time", (long long)out->max_adapters);
        if (!name->bad && !path->bad)
            out->preload[out->n_preload++] = (infc_spec_adapter){name->text, path->text};
    }
}

void infc_spec_print_adapters(const infc_spec *spec, infc_buf *out) {
    if (!spec->max_adapters) return;
    infc_buf_printf(out, "adapters:\n  max_loaded: %lld\n  max_rank: %lld\n",
                    (long long)spec->max_adapters, (long long)spec->max_rank);
    if (spec->adapter_weights != INFC_FORMAT_NONE)
        infc_buf_printf(out, "  weights: %s\n", spec->adapter_weights == INFC_FORMAT_int8 ? "int8" : "keep");
    if (spec->n_preload) infc_buf_puts(out, "  preload:\n");
    for (size_t i = 0; i < spec->n_preload; i++) {
        infc_buf_puts(out, "    - {name: ");
        infc_buf_json_string(out, spec->preload[i].name);
        infc_buf_puts(out, ", path: ");
        infc_buf_json_string(out, spec->preload[i].path);
        infc_buf_puts(out, "}\n");
    }
}

void infc_spec_fill_adapters(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    static const char *const keys[] = {"adapters.max_loaded", "adapters.max_rank",
                                       "adapters.weights", "adapters.preload"};
    const infc_yaml *map = infc_spec_get_map(root, "adapters");
    bool any = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const infc_yaml *key = infc_spec_get(map, keys[i] + sizeof "adapters");
        if (!key || (key->kind == INFC_YAML_LIST && key->n == 0)) continue;
        any = true;
        out->llm_loc = key->loc;
        out->llm_key = keys[i];
    }
    if (!any) return;
    const infc_yaml *loaded = infc_spec_get(map, "max_loaded"),
                    *rank = infc_spec_get(map, "max_rank"), *weights = infc_spec_get(map, "weights");
    out->max_adapters = loaded ? loaded->integer : LOADED;
    out->max_rank = rank ? rank->integer : RANK;
    if (weights)
        out->adapter_weights = infc_spec_is(weights, "int8") ? INFC_FORMAT_int8 : INFC_FORMAT_keep;
    fill_preload(check, map, out);
}
