#include "import.h"
#include "../base/file.h"
#include "onnx/onnx_import.h"
#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcasecmp(text + n - k, end) == 0;
}

infc_status infc_frontend_import(infc_cx *cx, const infc_spec *spec, infc_ir *out) {
    const char *model = spec->model;
    bool in_spec = spec->path && spec->model_loc.line > 0;
    infc_loc loc = in_spec ? spec->model_loc : (infc_loc){.file = model};
    if (ends_with(model, ".onnx") && !infc_dir_exists(model))
        return infc_onnx_read_file(cx, spec, out);
    const char *what = "is none of the kinds of model that infc knows: .onnx";
    if (infc_dir_exists(model))
        what = "is a folder; reading Hugging Face folders is not implemented yet";
    else if (ends_with(model, ".gguf")) what = "is GGUF; reading it is not implemented yet";
    else if (ends_with(model, ".safetensors"))
        what = "is safetensors; reading it is not implemented yet";
    return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "model \"%s\" %s", model, what);
}
