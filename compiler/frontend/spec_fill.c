#include "spec_fill.h"
#include "../base/file.h"
#include "../base/map.h"
#include <math.h>
#include <string.h>

enum { CALIBRATION_TOKENS = 8192 };

const char *const infc_spec_formats[] = {"", "f32", "int8", "f16", "bf16", "int4", "keep", NULL};

static infc_spec_format format_of(const infc_yaml *node) {
    for (int i = 1; node && infc_spec_formats[i]; i++)
        if (infc_spec_is(node, infc_spec_formats[i])) return (infc_spec_format)i;
    return INFC_FORMAT_NONE;
}

static void fill_model(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    infc_arena *arena = check->cx->arena;
    const infc_yaml *model = infc_spec_get(root, "model"), *name = infc_spec_get(root, "name");
    if (model) {
        const char *file = infc_path_base(model->text), *dot = strrchr(file, '.');
        size_t stem = dot && dot > file ? (size_t)(dot - file) : strlen(file);
        bool relative = *model->text != '/' && !infc_spec_from_set(model);
        out->model = model->parsed;
        out->llm = out->model && !infc_path_ends(out->model, ".onnx");
        out->model_loc = model->loc;
        out->model_text = relative ? model->text : file;
        const char *why, *plain = infc_arena_copy_string(arena, file, stem);
        out->name = infc_spec_name_from(arena, plain, &why);
        if (why && !infc_yaml_get(root, "name"))
            infc_warn(check->cx, model->loc,
                      "named %s, since %s cannot be the name: %s; choose one with --set name=", out->name,
                      infc_yaml_quote(check->cx, plain), why);
    }
    if (name) out->name = name->text;
}

static void fill_output(const infc_yaml *root, infc_spec *out) {
    const infc_yaml *output = infc_spec_get_map(root, "output"), *kinds = infc_spec_get_list(output, "kinds");
    for (size_t i = 0; i < kinds->n; i++) {
        out->binary |= infc_spec_is(kinds->items[i].value, "binary");
        out->static_library |= infc_spec_is(kinds->items[i].value, "static-library");
    }
    out->weights_file = infc_spec_is(infc_spec_get(output, "weights"), "file");
    if (infc_spec_get(output, "license")) out->license = infc_spec_get(output, "license")->text;
}

static void fill_targets(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *list = infc_spec_get_list(root, "targets");
    out->targets = INFC_NEW(check->cx->arena, infc_target, list->n);
    for (size_t i = 0; i < list->n; i++) {
        const infc_yaml *node = list->items[i].value;
        const infc_target *target = node->parsed;
        if (node->bad) continue;
        bool again = false;
        for (size_t k = 0; k < out->n_targets; k++)
            again |= strcmp(out->targets[k].name, target->name) == 0;
        if (again) infc_warn(check->cx, node->loc, INFC_SPEC_DOUBLED, "targets", target->name);
        else out->targets[out->n_targets++] = *target;
    }
}

static const infc_yaml_item *shape_item(const infc_yaml *shapes, const char *name) {
    for (size_t i = 0; i < shapes->n; i++)
        if (strcmp(shapes->items[i].key, name) == 0) return &shapes->items[i];
    return NULL;
}

static bool is_dim_name(const infc_yaml *value) {
    return value->kind == INFC_YAML_SCALAR && !value->parsed && value->integer == 0;
}

/* What `item` says, or the dimension whose name it has, or the one that this names; null when there is a problem. */
static const infc_yaml_item *dim_origin(infc_spec_check *check, const infc_yaml *shapes, infc_yaml_item *item) {
    const infc_yaml_item *at = item;
    const char *path = infc_arena_printf(check->cx->arena, "shapes.%s", item->key);
    for (size_t steps = 0; is_dim_name(at->value); steps++) {
        const infc_yaml_item *next = shape_item(shapes, at->value->text);
        if (!next && at == item)
            infc_spec_problem(check, item->value, path,
                              "expected the size of a dimension, for example 640 or 1..640, or the "
                              "name of another one "
                              "in shapes; got %s",
                              infc_yaml_quote(check->cx, item->value->text));
        else if (next && steps == shapes->n)
            infc_spec_problem(check, item->value, path, "names lead in a circle; give one of them a size");
        if (!next || next->value->bad || steps == shapes->n)
            return NULL; /* others are told where they stand */
        at = next;
    }
    return at;
}

static void fill_dims(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *shapes = infc_spec_get_map(root, "shapes");
    out->dims = INFC_NEW(check->cx->arena, infc_spec_dim, shapes->n);
    for (size_t i = 0; i < shapes->n; i++) {
        infc_yaml_item *item = &shapes->items[i];
        const infc_yaml_item *origin = item->value->bad ? NULL : dim_origin(check, shapes, item);
        if (!origin) continue;
        infc_spec_dim *dim = &out->dims[out->n_dims++];
        const infc_spec_range *range = origin->value->parsed;
        *dim = (infc_spec_dim){.name = item->key, .loc = item->key_loc};
        if (origin != item) dim->same = origin->key;
        dim->min = range ? range->min : origin->value->integer;
        dim->max = range ? range->max : origin->value->integer;
        dim->step = range ? range->step : 1;
        dim->value = dim->min == dim->max ? dim->min : 0;
    }
}

static void fill_loops(const infc_yaml *root, infc_spec *out) {
    const infc_yaml *most = infc_spec_get(infc_spec_get_map(root, "loops"), "max_trips");
    out->max_trips = most ? most->integer : 0;
}

/* `key` with its map: "kv.memory". */
static const infc_yaml *llm_key(const infc_yaml *root, const char *map, const char *key, infc_spec *out) {
    const infc_yaml *node = map ? infc_spec_get(infc_spec_get_map(root, map), key + strlen(map) + 1)
                                : infc_spec_get(root, key);
    if (!node) return NULL;
    out->llm_loc = node->loc;
    out->llm_key = key;
    return node;
}

static void fill_calibration(const infc_yaml *root, infc_spec *out) {
    const infc_yaml *map = infc_spec_get_map(infc_spec_get_map(root, "precision"), "calibration"),
                    *data = infc_spec_get(map, "data"), *tokens = infc_spec_get(map, "tokens");
    out->calibrates = data || tokens;
    if (!out->calibrates) return;
    out->calibration_loc = out->llm_loc = (data ? data : tokens)->loc;
    out->llm_key = "precision.calibration";
    out->calibration_tokens = tokens ? tokens->integer : CALIBRATION_TOKENS;
    if (!data) return;
    const bool plain = *data->text != '/' && !infc_spec_from_set(data);
    out->calibration = data->parsed;
    out->calibration_text = plain ? data->text : infc_path_base(data->text);
}

/* Keys that only language models have. */
static void fill_llm(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *kv = llm_key(root, "precision", "precision.kv", out),
                    *context = llm_key(root, NULL, "context", out),
                    *sequences = llm_key(root, "batch", "batch.max_sequences", out),
                    *target_itl = llm_key(root, "batch", "batch.target_itl", out),
                    *memory = llm_key(root, "kv", "kv.memory", out),
                    *prefix_cache = llm_key(root, "kv", "kv.prefix_cache", out);
    out->kv = infc_spec_is(kv, "f16") ? INFC_KV_f16 : INFC_KV_int8;
    fill_calibration(root, out);
    out->context = context ? context->integer : 0;
    out->max_sequences = sequences ? sequences->integer : 0;
    out->target_itl = target_itl ? target_itl->integer : 0;
    out->kv_memory = memory ? memory->integer : 0;
    if (memory) out->kv_memory_loc = memory->loc;
    out->no_prefix_cache = prefix_cache && !prefix_cache->integer;
    infc_spec_fill_adapters(check, root, out);
    infc_spec_fill_serve(root, out);
}

static void fill_precision(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *precision = infc_spec_get_map(root, "precision"),
                    *rules = infc_spec_get_list(precision, "rules");
    infc_map seen = {.arena = check->cx->arena};
    out->weights = format_of(infc_spec_get(precision, "weights"));
    out->fast = infc_spec_is(infc_spec_get(precision, "float"), "fast");
    out->rules = INFC_NEW(check->cx->arena, infc_spec_rule, rules->n);
    for (size_t i = 0; i < rules->n; i++) {
        const infc_yaml *rule = rules->items[i].value;
        if (rule->bad) continue;
        const infc_yaml *match = infc_spec_get(rule, "match");
        if (infc_map_find(&seen, match->text, NULL))
            infc_warn(check->cx, match->loc, "precision.rules.match: %s is there already; the first of them holds",
                      infc_yaml_quote(check->cx, match->text));
        infc_map_put(&seen, match->text, 0);
        out->rules[out->n_rules++] = (infc_spec_rule){
            .match = match->text,
            .weights = format_of(infc_spec_get(rule, "weights")),
            .loc = match->loc,
            .code = match->parsed,
        };
    }
}

static void fill_compare(const infc_yaml *root, infc_spec *out, infc_arena *arena) {
    const infc_yaml *compare = infc_spec_get_map(root, "compare"),
                    *limits = infc_spec_get_map(compare, "thresholds"),
                    *required = infc_spec_get_list(compare, "required");
    static const char *const metrics[INFC_N_METRICS] = {
#define INFC_METRIC(name, unit, meaning) #name,
#include "spec_metrics.def"
#undef INFC_METRIC
    };
    for (int i = 0; i < INFC_N_METRICS; i++) {
        const infc_yaml *limit = infc_spec_get(limits, metrics[i]);
        out->thresholds[i] = limit ? limit->number : NAN;
    }
    const infc_yaml *seconds = infc_spec_get(compare, "seconds");
    out->run_seconds = seconds ? (double)seconds->integer : 0;
    out->required = INFC_NEW(arena, infc_target, required->n);
    for (size_t i = 0; i < required->n; i++)
        if (!required->items[i].value->bad)
            out->required[out->n_required++] = *(const infc_target *)required->items[i].value->parsed;
}

static uint64_t budget(const infc_yaml *root, const char *key) {
    const infc_yaml *node = infc_spec_get(infc_spec_get_map(root, "budgets"), key);
    return node ? (uint64_t)node->integer : 0;
}

void infc_spec_fill(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    fill_model(check, root, out);
    fill_output(root, out);
    fill_targets(check, root, out);
    fill_dims(check, root, out);
    fill_loops(root, out);
    fill_llm(check, root, out);
    fill_precision(check, root, out);
    infc_spec_fill_inputs(check, infc_spec_get_map(root, "inputs"), out);
    infc_spec_fill_outputs(check, infc_spec_get_map(root, "outputs"), out);
    fill_compare(root, out, check->cx->arena);
    out->budget_file = budget(root, "file");
    out->budget_memory = budget(root, "memory");
}
