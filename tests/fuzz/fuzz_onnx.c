/* The ONNX importer on any bytes: it must return, say something when it refuses, and give IR that verifies when it
 * does not. External data is refused, since the model comes from memory. */
#include <stdlib.h>
#include "compiler/frontend/onnx/onnx_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infc_cx cx;
    infc_ir ir;
    infc_spec_dim dims[] = {{.name = "n", .value = 2}, {.name = "x.0", .value = 3}};
    infc_spec spec = {.model = "model.onnx", .dims = dims, .n_dims = size & 1 ? 2 : 0};
    if (infc_cx_init(&cx) != INFC_OK) return 0;
    infc_status status = infc_onnx_read_bytes(&cx, &spec, (infc_bytes){data, size}, NULL, &ir);
    if (status == INFC_ERR_INTERNAL || (status == INFC_OK) != (cx.n_errors == 0)) abort();
    if (status == INFC_OK && infc_ir_verify(&ir, "import") != INFC_OK) abort();
    infc_buf diags = {.arena = cx.arena};
    infc_diags_text(&cx, &diags);
    infc_diags_json(&cx, &diags);
    infc_cx_deinit(&cx);
    return 0;
}
