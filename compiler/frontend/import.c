#include "import.h"
#include "../base/file.h"
#include "onnx/onnx_import.h"

infc_status infc_frontend_import(infc_cx *cx, const infc_spec *spec, infc_ir *out) {
    const char *model = spec->model;
    bool in_spec = spec->path && spec->model_loc.line > 0;
    infc_loc loc = in_spec ? spec->model_loc : (infc_loc){.file = model};
    if (infc_path_ends(model, ".onnx") && !infc_dir_exists(model))
        return infc_onnx_read_file(cx, spec, out);
    const char *what = "is none of the kinds of model that infc knows: .onnx";
    if (infc_dir_exists(model))
        what = "is a folder; reading Hugging Face folders is not implemented yet";
    else if (infc_path_ends(model, ".gguf")) what = "is GGUF; reading it is not implemented yet";
    else if (infc_path_ends(model, ".safetensors"))
        what = "is safetensors; reading it is not implemented yet";
    return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "model \"%s\" %s", model, what);
}
