/* model_level.c - which of several levels of code runs. */
#include <stdio.h>
#include <string.h>
#include "infrt.h"

/* "a, b, c": those that this CPU has, or all. */
static void list_levels(const infc_model *model, int runnable, char *out, size_t bytes) {
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < model->n_levels; i++) {
        const infc_level_info *level = &model->levels[i];
        if (runnable && level->cpu_missing()) continue;
        const int n = snprintf(out + used, bytes - used, "%s%s", used ? ", " : "", level->name);
        if (n > 0 && (size_t)n < bytes - used) used += (size_t)n;
    }
}

static const infc_level_info *find_level(const infc_model *model, const char *name) {
    for (uint32_t i = 0; i < model->n_levels; i++)
        if (strcmp(model->levels[i].name, name) == 0) return &model->levels[i];
    return NULL;
}

/* The newest that this CPU has; null when it lacks even the oldest. */
static const infc_level_info *newest_level(const infc_model *model) {
    for (uint32_t i = model->n_levels; i-- > 0;)
        if (!model->levels[i].cpu_missing()) return &model->levels[i];
    return NULL;
}

infrt_status infrt_model_level(const infc_model *model, const char *name, infc_model *out, infrt_error *error) {
    char levels[256];
    *out = *model;
    if (name && model->n_levels == 0 && strcmp(name, model->target) != 0)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "there is no level %s: this was compiled for %s alone", name, model->target);
    if (model->n_levels == 0) return INFRT_OK;
    const infc_level_info *level = name ? find_level(model, name) : newest_level(model);
    if (!level && name) {
        list_levels(model, 0, levels, sizeof levels);
        return infrt_fail(error, INFRT_ERR_USAGE, "there is no level %s; levels are: %s", name, levels);
    }
    if (!level) return INFRT_OK; /* infrt_model_check tells */
    const char *missing = level->cpu_missing();
    if (missing) {
        list_levels(model, 1, levels, sizeof levels);
        return infrt_fail(error, INFRT_ERR_CPU, "level %s needs %s, which this CPU lacks; it runs: %s",
                          level->name, missing, levels);
    }
    out->run = level->run;
    out->target = level->name;
    out->isa = level->isa;
    out->steps = level->steps;
    out->n_steps = level->n_steps;
    return INFRT_OK;
}
