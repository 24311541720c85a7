/* The safetensors reader on any bytes: it must return, and say something when it refuses. */
#include <stdlib.h>
#include "compiler/frontend/hf/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infc_cx cx;
    infc_checkpoint checkpoint;
    if (infc_cx_init(&cx) != INFC_OK) return 0;
    checkpoint = infc_checkpoint_empty(cx.arena);
    infc_status status = infc_safetensors_read(&cx, "m.safetensors", (infc_bytes){data, size}, &checkpoint);
    if (status == INFC_ERR_INTERNAL || (status == INFC_OK) != (cx.n_errors == 0)) abort();
    infc_cx_deinit(&cx);
    return 0;
}
