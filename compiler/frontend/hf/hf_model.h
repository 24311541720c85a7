/* hf_model.h - a Hugging Face folder: config.json and safetensors, in one file or in shards with an index. */
#ifndef INFC_HF_MODEL_H
#define INFC_HF_MODEL_H
#include "../llm/llm_model.h"

bool infc_hf_is_folder(const char *path); /* it holds config.json */
/* `path`: the folder, or one .safetensors file of it. Fills config and checkpoint; as infc_llm_read. */
infc_status infc_hf_read(infc_cx *cx, const char *path, infc_llm_model *out);
/* The hyperparameters; INFC_ERR_UNSUPPORTED for each key that changes results and is not covered. */
infc_status infc_hf_config(infc_cx *cx, const char *path, infc_bytes text, infc_llm_config *out);

#endif
