/* spec_outputs.c - the keys below `outputs`: which belong to which kind, and what they say. */
#include "spec_fill.h"

static const infc_spec_kind kinds[] = {
    {"classes", " labels top scores "},
    {"embedding", " pooling mask normalize "},
    {0},
};

const char *const infc_spec_scores[] = {[INFC_SCORES_values] = "as_is",
                                        [INFC_SCORES_probabilities] = "as_is",
                                        [INFC_SCORES_softmax] = "softmax",
                                        [INFC_SCORES_sigmoid] = "sigmoid",
                                        NULL};
const char *const infc_spec_poolings[] = {"mean", "first", "none", NULL};

static const char *path_of(infc_spec_check *check, const infc_yaml_item *output, const char *key) {
    return infc_arena_printf(check->cx->arena, "outputs.%s%s%s", output->key, *key ? "." : "", key);
}

static void fill_classes(infc_spec_check *check, infc_yaml_item *output, infc_spec *out) {
    const infc_yaml *map = output->value, *list = infc_spec_get(map, "labels");
    infc_yaml *top = infc_spec_get(map, "top");
    if (!list) {
        infc_spec_problem(
            check, output->value, path_of(check, output, ""),
            "classes need labels, for example labels: [cat, dog] or labels: labels.txt");
        return;
    }
    const infc_spec_labels *labels = list->parsed;
    if (!top->is_default && top->integer > (int64_t)labels->n)
        infc_spec_problem(check, top, path_of(check, output, "top"),
                          "%s of %zu labels; give at most %zu", top->text, labels->n, labels->n);
    infc_spec_classes *classes = &out->classes[out->n_classes++];
    *classes = (infc_spec_classes){
        .output = output->key,
        .labels = labels->items,
        .n_labels = labels->n,
        .top = top->integer < (int64_t)labels->n ? (int)top->integer : (int)labels->n,
        .loc = output->key_loc,
    };
    while (!infc_spec_is(infc_spec_get(map, "scores"), infc_spec_scores[classes->scores]))
        classes->scores++;
}

static void fill_embedding(infc_spec_check *check, infc_yaml_item *output, infc_spec *out) {
    const infc_yaml *map = output->value, *mask = infc_spec_get(map, "mask");
    infc_spec_embedding *embedding = &out->embeddings[out->n_embeddings++];
    *embedding = (infc_spec_embedding){
        .output = output->key,
        .mask = mask ? mask->text : NULL,
        .normalize = infc_spec_get(map, "normalize")->integer != 0,
        .loc = output->key_loc,
    };
    for (int i = 0; infc_spec_poolings[i]; i++)
        if (infc_spec_is(infc_spec_get(map, "pooling"), infc_spec_poolings[i]))
            embedding->pooling = (infc_spec_pooling)i;
    if (mask && embedding->pooling != INFC_POOLING_mean)
        infc_spec_problem(check, infc_spec_get(map, "mask"), path_of(check, output, "mask"),
                          "is a key of pooling: mean; remove it");
}

void infc_spec_fill_outputs(infc_spec_check *check, const infc_yaml *outputs, infc_spec *out) {
    out->classes = INFC_NEW(check->cx->arena, infc_spec_classes, outputs->n);
    out->embeddings = INFC_NEW(check->cx->arena, infc_spec_embedding, outputs->n);
    for (size_t i = 0; i < outputs->n; i++) {
        infc_yaml_item *output = &outputs->items[i];
        if (output->value->bad) continue;
        infc_spec_check_kind(check, kinds, "outputs", output);
        if (infc_spec_is(infc_spec_get(output->value, "kind"), "classes"))
            fill_classes(check, output, out);
        else fill_embedding(check, output, out);
    }
}
