/* model_facts.h - a model as its file says it, before anything is decided: for `init` and `inspect`. */
#ifndef INFC_MODEL_FACTS_H
#define INFC_MODEL_FACTS_H
#include "../frontend/onnx/onnx_import.h"

typedef struct infc_model_facts {
    infc_spec spec; /* the one given, or the defaults of a bare model */
    uint64_t file_bytes;
    infc_onnx_model model;
    int64_t opset;
    const infc_onnx_value_info **inputs; /* those that a caller gives: initializers left out */
    size_t n_inputs;
    uint64_t parameters, parameter_bytes; /* of the initializers; saturate */
} infc_model_facts;

/* `path` is a model or a spec. Fails when the file cannot be read as a model at all. */
infc_status infc_model_facts_read(infc_cx *cx, const char *path, const infc_spec_set *sets,
                                  size_t n_sets, infc_model_facts *out);

/* float32[batch,3,224,224]; open dims by name, `?` without one. */
const char *infc_model_facts_type(infc_arena *arena, const infc_onnx_value_info *info);
bool infc_model_facts_dim_open(const infc_onnx_dim *dim);

#endif
