#include "model_digest.h"
#include "../base/file.h"
#include "../base/digest.h"
#include "../base/hash.h"

static infc_status of_file(infc_cx *cx, const char *path, const char **out) {
    infc_bytes file;
    INFC_TRY(infc_file_map(cx, path, &file));
    *out = infc_digest_mapped(cx, file);
    infc_file_forget(cx, file.ptr, file.len);
    return INFC_OK;
}

infc_status infc_model_digest(infc_cx *cx, const infc_spec *spec, const infc_ir *ir, const char **out) {
    infc_buf lines = {.arena = cx->arena};
    if (!ir->llm || ir->llm->n_files == 1)
        return of_file(cx, ir->llm ? ir->llm->files[0] : spec->model, out);
    for (size_t i = 0; i < ir->llm->n_files; i++) {
        const char *digest;
        INFC_TRY(of_file(cx, ir->llm->files[i], &digest));
        infc_buf_printf(&lines, "%s  %s\n", digest, infc_path_base(ir->llm->files[i]));
    }
    *out = infc_sha256_hex(cx->arena, infc_buf_bytes(&lines));
    return INFC_OK;
}
