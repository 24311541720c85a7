#include "spec_fill.h"
#include "../base/file.h"
#include <string.h>

/* The value of `key` unless it is missing or bad. */
static infc_yaml *get(const infc_yaml *map, const char *key) {
    infc_yaml *node = map && map->kind == INFC_YAML_MAP ? infc_yaml_get(map, key) : NULL;
    return node && !node->bad ? node : NULL;
}

/* As get, for what may hold some bad values; empty when it is missing or something else. */
static const infc_yaml *get_any(const infc_yaml *map, const char *key, infc_yaml_kind kind) {
    static const infc_yaml none;
    const infc_yaml *node = map->kind == INFC_YAML_MAP ? infc_yaml_get(map, key) : NULL;
    return node && node->kind == kind ? node : &none;
}

static const infc_yaml *get_map(const infc_yaml *map, const char *key) {
    return get_any(map, key, INFC_YAML_MAP);
}

static const infc_yaml *get_list(const infc_yaml *map, const char *key) {
    return get_any(map, key, INFC_YAML_LIST);
}

static bool is(const infc_yaml *node, const char *text) {
    return node && strcmp(node->text, text) == 0;
}

static infc_dtype dtype_of(const infc_yaml *node) {
    return is(node, "int8") ? INFC_DTYPE_i8 : INFC_DTYPE_f32;
}

static void fill_model(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    infc_arena *arena = check->cx->arena;
    const infc_yaml *model = get(root, "model"), *name = get(root, "name");
    if (model) {
        const char *file = infc_path_base(model->text), *dot = strrchr(file, '.');
        size_t stem = dot && dot > file ? (size_t)(dot - file) : strlen(file);
        bool relative = *model->text != '/' && !infc_spec_from_set(model);
        out->model = model->parsed;
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
    const infc_yaml *output = get_map(root, "output"), *kinds = get_list(output, "kinds");
    for (size_t i = 0; i < kinds->n; i++) {
        out->binary |= is(kinds->items[i].value, "binary");
        out->static_library |= is(kinds->items[i].value, "static-library");
    }
    out->weights_file = is(get(output, "weights"), "file");
    if (get(output, "license")) out->license = get(output, "license")->text;
}

static void fill_targets(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *list = get_list(root, "targets");
    out->targets = INFC_NEW(check->cx->arena, infc_target, list->n);
    for (size_t i = 0; i < list->n; i++) {
        const infc_yaml *node = list->items[i].value;
        const infc_target *target = node->parsed;
        if (node->bad) continue;
        bool again = false;
        for (size_t k = 0; k < out->n_targets; k++)
            again |= strcmp(out->targets[k].name, target->name) == 0;
        if (again)
            infc_warn(check->cx, node->loc, "targets: %s is there already; used once", target->name);
        else out->targets[out->n_targets++] = *target;
    }
}

static void fill_dims(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *shapes = get_map(root, "shapes");
    out->dims = INFC_NEW(check->cx->arena, infc_spec_dim, shapes->n);
    for (size_t i = 0; i < shapes->n; i++) {
        const infc_yaml_item *item = &shapes->items[i];
        if (item->value->bad) continue;
        infc_spec_dim *dim = &out->dims[out->n_dims++];
        const infc_spec_range *range = item->value->parsed;
        *dim = (infc_spec_dim){.name = item->key, .loc = item->key_loc};
        dim->min = range ? range->min : item->value->integer;
        dim->max = range ? range->max : item->value->integer;
        dim->step = range ? range->step : 1;
        dim->value = dim->min == dim->max ? dim->min : 0;
    }
}

static void fill_precision(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *precision = get_map(root, "precision"), *rules = get_list(precision, "rules");
    out->weights = dtype_of(get(precision, "weights"));
    out->rules = INFC_NEW(check->cx->arena, infc_spec_rule, rules->n);
    for (size_t i = 0; i < rules->n; i++) {
        const infc_yaml *rule = rules->items[i].value;
        if (rule->bad) continue;
        const infc_yaml *match = get(rule, "match");
        out->rules[out->n_rules++] = (infc_spec_rule){
            .match = match->text,
            .weights = dtype_of(get(rule, "weights")),
            .loc = match->loc,
            .code = match->parsed,
        };
    }
}

/* One number for all channels or one for each. */
static void fill_per_channel(infc_spec_check *check, const infc_yaml_item *input, const char *key,
                             int channels, double out[4]) {
    infc_yaml *list = get(input->value, key);
    const char *path = infc_arena_printf(check->cx->arena, "inputs.%s.%s", input->key, key);
    if (list->n != 1 && list->n != (size_t)channels) {
        infc_spec_problem(check, list, path, "%zu numbers for %d channel%s; give one, or one per channel",
                          list->n, channels, channels == 1 ? "" : "s");
        return;
    }
    for (size_t c = 0; c < 4; c++) {
        out[c] = list->items[list->n == 1 ? 0 : c < list->n ? c : list->n - 1].value->number;
        if (strcmp(key, "std") == 0 && out[c] == 0) {
            infc_spec_problem(check, list, path, "must not be 0: pixels are divided by it");
            return;
        }
    }
}

static void fill_constant(infc_spec_check *check, infc_yaml_item *input, infc_spec *out) {
    const infc_yaml *value = get(input->value, "value");
    if (!value) {
        infc_spec_problem(check, input->value,
                          infc_arena_printf(check->cx->arena, "inputs.%s", input->key),
                          "a constant needs a value, for example value: 16000");
        return;
    }
    out->constants[out->n_constants++] =
        (infc_spec_constant){.input = input->key, .value = value->number, .loc = input->key_loc};
}

static void fill_images(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *inputs = get_map(root, "inputs");
    out->images = INFC_NEW(check->cx->arena, infc_spec_image, inputs->n);
    out->constants = INFC_NEW(check->cx->arena, infc_spec_constant, inputs->n);
    for (size_t i = 0; i < inputs->n; i++) {
        infc_yaml *map = inputs->items[i].value;
        if (map->bad) continue;
        if (is(get(map, "kind"), "constant")) {
            fill_constant(check, &inputs->items[i], out);
            continue;
        }
        infc_spec_image *image = &out->images[out->n_images++];
        *image = (infc_spec_image){
            .input = inputs->items[i].key,
            .channels = is(get(map, "channels"), "gray") ? 1 : 3,
            .nhwc = is(get(map, "layout"), "nhwc"),
            .bgr = is(get(map, "channels"), "bgr"),
            .loc = inputs->items[i].key_loc,
        };
        fill_per_channel(check, &inputs->items[i], "scale", image->channels, image->scale);
        fill_per_channel(check, &inputs->items[i], "mean", image->channels, image->mean);
        fill_per_channel(check, &inputs->items[i], "std", image->channels, image->std);
    }
}

static void fill_classes(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    const infc_yaml *outputs = get_map(root, "outputs");
    out->classes = INFC_NEW(check->cx->arena, infc_spec_classes, outputs->n);
    for (size_t i = 0; i < outputs->n; i++) {
        const infc_yaml *map = outputs->items[i].value;
        if (map->bad) continue;
        const infc_spec_labels *labels = get(map, "labels")->parsed;
        infc_yaml *top = get(map, "top");
        if (!top->is_default && top->integer > (int64_t)labels->n) {
            infc_spec_problem(
                check, top, infc_arena_printf(check->cx->arena, "outputs.%s.top", outputs->items[i].key),
                "%s of %zu labels; give at most %zu", top->text, labels->n, labels->n);
        }
        out->classes[out->n_classes++] = (infc_spec_classes){
            .output = outputs->items[i].key,
            .labels = labels->items,
            .n_labels = labels->n,
            .top = top->integer < (int64_t)labels->n ? (int)top->integer : (int)labels->n,
            .loc = outputs->items[i].key_loc,
        };
    }
}

static uint64_t budget(const infc_yaml *root, const char *key) {
    const infc_yaml *node = get(get_map(root, "budgets"), key);
    return node ? (uint64_t)node->integer : 0;
}

void infc_spec_fill(infc_spec_check *check, const infc_yaml *root, infc_spec *out) {
    fill_model(check, root, out);
    fill_output(root, out);
    fill_targets(check, root, out);
    fill_dims(check, root, out);
    fill_precision(check, root, out);
    fill_images(check, root, out);
    fill_classes(check, root, out);
    out->budget_file = budget(root, "file");
    out->budget_memory = budget(root, "memory");
}
