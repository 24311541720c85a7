#include "import.h"
#include "../base/file.h"
#include "llm/llm_import.h"
#include "llm/llm_model.h"
#include "onnx/onnx_import.h"

/* What only language models have is not for others. */
static infc_status check_onnx(infc_cx *cx, const infc_spec *spec) {
    const size_t mark = cx->n_diags;
    const infc_loc loc = {.file = spec->path ? spec->path : spec->model};
    if (spec->llm_key)
        infc_fail(cx, INFC_ERR_SPEC, spec->llm_loc, "%s is for language models; remove it", spec->llm_key);
    if (spec->weights > INFC_FORMAT_int8)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "precision.weights: %s is for language models; give f32 or int8",
                  infc_spec_formats[spec->weights]);
    for (size_t i = 0; i < spec->n_rules; i++)
        if (spec->rules[i].weights > INFC_FORMAT_int8)
            infc_fail(cx, INFC_ERR_UNSUPPORTED, spec->rules[i].loc,
                      "precision.rules.weights: %s is for language models; give f32 or int8",
                      infc_spec_formats[spec->rules[i].weights]);
    return infc_diags_status(cx, mark);
}

/* Nor what only others have for them. */
static infc_status check_llm(infc_cx *cx, const infc_spec *spec) {
    const char *of_adapters = spec->serve.adapter_root   ? "adapter_root"
                              : spec->serve.key_adapters ? "key_adapters"
                                                         : NULL;
    if (of_adapters && !spec->max_adapters)
        return infc_fail(cx, INFC_ERR_SPEC, spec->serve.loc,
                         "serve.%s: the model would take no adapters; say how many with "
                         "adapters.max_loaded",
                         of_adapters);
    if (!spec->serve.batch_wait) return INFC_OK;
    return infc_fail(
        cx, INFC_ERR_SPEC, spec->serve.batch_wait_loc,
        "serve.batch_wait is for models of tensors: answers of language models share steps as "
        "they are; remove it");
}

infc_status infc_frontend_import(infc_cx *cx, const infc_spec *spec, infc_ir *out) {
    const char *model = spec->model;
    bool in_spec = spec->path && spec->model_loc.line > 0;
    infc_loc loc = in_spec ? spec->model_loc : (infc_loc){.file = model};
    if (spec->serve.asked && !spec->binary)
        infc_warn(cx, spec->serve.loc,
                  "serve: the server is in the binary, "
                  "and output.kinds has none; add binary to it");
    if (infc_path_ends(model, ".onnx") && !infc_dir_exists(model)) {
        INFC_TRY(check_onnx(cx, spec));
        return infc_onnx_read_file(cx, spec, out);
    }
    if (infc_llm_is_model(model)) {
        INFC_TRY(check_llm(cx, spec));
        return infc_llm_import(cx, spec, out);
    }
    return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                     "model \"%s\" is none of the kinds of model that infc knows: .onnx, .gguf, "
                     ".safetensors, .infw, a folder "
                     "with config.json and safetensors",
                     model);
}
