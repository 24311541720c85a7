/* The gguf reader on any bytes: it must return, and say something when it refuses. */
#include <stdlib.h>
#include "compiler/frontend/gguf/gguf_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infc_cx cx;
    infc_gguf gguf;
    infc_llm_config config;
    if (infc_cx_init(&cx) != INFC_OK) return 0;
    infc_status status = infc_gguf_read(&cx, "m.gguf", (infc_bytes){data, size}, &gguf);
    if (status == INFC_OK) status = infc_gguf_config(&cx, &gguf, &config);
    if (status == INFC_OK) status = infc_llm_config_check(&cx, INFC_NO_LOC, &config);
    if (status == INFC_OK)
        status = infc_llm_check_tensors(&cx, INFC_NO_LOC, &config, &gguf.tensors, true);
    if (status == INFC_ERR_INTERNAL || (status == INFC_OK) != (cx.n_errors == 0)) abort();
    infc_cx_deinit(&cx);
    return 0;
}
