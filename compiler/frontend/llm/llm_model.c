#include "llm_model.h"
#include "../../base/file.h"
#include "../gguf/gguf_config.h"
#include "../hf/hf_model.h"
#include "llm_pack.h"

bool infc_llm_is_model(const char *path) {
    return infc_path_ends(path, ".gguf") || infc_path_ends(path, ".safetensors") ||
           infc_path_ends(path, ".infw") || infc_hf_is_folder(path);
}

static infc_status read_gguf(infc_cx *cx, const char *path, infc_llm_model *out) {
    infc_bytes file;
    INFC_TRY(infc_file_map(cx, path, &file));
    INFC_TRY(infc_gguf_read(cx, path, file, &out->gguf));
    out->path = path;
    out->file_bytes = file.len;
    out->format = infc_arena_printf(cx->arena, "GGUF v%u", out->gguf.version);
    out->checkpoint = out->gguf.tensors;
    return infc_gguf_config(cx, &out->gguf, &out->config);
}

infc_status infc_llm_read(infc_cx *cx, const char *path, infc_llm_model *out) {
    *out = (infc_llm_model){0};
    if (infc_path_ends(path, ".infw")) INFC_TRY(infc_llm_pack_read(cx, path, out));
    else
        INFC_TRY(infc_path_ends(path, ".gguf") ? read_gguf(cx, path, out) : infc_hf_read(cx, path, out));
    infc_loc loc = {.file = out->path};
    INFC_TRY(infc_llm_config_check(cx, loc, &out->config));
    return infc_llm_check_tensors(cx, loc, &out->config, &out->checkpoint, out->gguf.path != NULL);
}
