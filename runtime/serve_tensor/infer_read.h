/* infer_read.h - the body of POST /v2/models/NAME/infer of the Open Inference Protocol: JSON, and bytes of tensors
 * after it (the extension "binary_tensor_data"). Shapes are checked before memory is taken.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_INFER_READ_H
#define INFRT_INFER_READ_H
#include "serve_refusal.h"
#include "tensor_shapes.h"

enum { INFRT_INFER_ID = 256, INFRT_INFER_OUTPUTS = 1024 };

typedef struct infrt_infer_output {
    uint32_t output; /* of the model */
    bool binary;     /* as bytes after the JSON */
} infrt_infer_output;

typedef struct infrt_infer {
    char id[INFRT_INFER_ID];
    bool has_id;
    uint64_t timeout_ns; /* 0: not said */
    int64_t sizes[INFRT_TENSOR_SIZES];
    void **inputs;               /* [n_inputs], INFC_ALIGN aligned; they lie behind it */
    infrt_infer_output *outputs; /* [n_outputs], as asked for, or all of the model's */
    uint32_t n_outputs;
} infrt_infer;

/* `json_bytes`: how much of the body is JSON. False: `refusal` says why. To be freed in any case. Safe for any
 * bytes. */
bool infrt_infer_read(const infc_model *model, const char *body, size_t bytes, size_t json_bytes,
                      infrt_infer *out, infrt_refusal *refusal);
void infrt_infer_free(infrt_infer *infer);

#endif
