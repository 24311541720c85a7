/* model_check.c - whether a model can run here at all. */
#include "infrt.h"

infrt_status infrt_model_check(const infc_model *model, infrt_error *error) {
    if (!model) return infrt_fail(error, INFRT_ERR_USAGE, "no model given");
    if (model->abi != INFC_ABI_VERSION || model->struct_bytes < sizeof(infc_model))
        return infrt_fail(
            error, INFRT_ERR_DATA,
            "the model was compiled for ABI %u (%u bytes), this runtime is ABI %u (%zu bytes);"
            " compile both with the same infc",
            model->abi, model->struct_bytes, INFC_ABI_VERSION, sizeof(infc_model));
    if (!model->run)
        return infrt_fail(error, INFRT_ERR_INTERNAL, "%s: the model has no code", model->name);
    const char *missing = model->cpu_missing ? model->cpu_missing() : NULL;
    if (missing)
        return infrt_fail(
            error, INFRT_ERR_CPU,
            "%s: this binary needs %s (it was compiled for %s); this CPU lacks it; compile the"
            " model with --target host on this machine, or with an older --target",
            model->name, missing, model->target);
    return INFRT_OK;
}

uint64_t infrt_model_flops(const infc_model *model) {
    uint64_t flops = 0;
    for (uint32_t i = 0; i < model->n_steps; i++) flops += model->steps[i].flops;
    return flops;
}
