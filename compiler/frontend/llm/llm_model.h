/* llm_model.h - a language model as its files describe it: hyperparameters and tensors. */
#ifndef INFC_LLM_MODEL_H
#define INFC_LLM_MODEL_H
#include "../gguf/gguf.h"
#include "llm_config.h"

typedef struct infc_llm_model {
    const char *path;   /* of the file that holds the configuration */
    const char *format; /* "GGUF v3", "safetensors", "infw 1" */
    infc_llm_config config;
    infc_gguf gguf; /* GGUF only */
    infc_checkpoint checkpoint;
    uint64_t file_bytes;              /* of all files with tensors */
    const struct infc_llm_pack *pack; /* .infw: matrices have no bytes (llm_pack.h); else null */
} infc_llm_model;

/* Whether the name, or what is in the folder, tells a language model. */
bool infc_llm_is_model(const char *path);
/* Reads a .gguf or .infw file, a .safetensors file with config.json beside it, or a folder with config.json and
 * safetensors, and checks it whole: config, names and shapes of tensors. What the architectures do not cover is refused
 * by name. Problems are collected; when only the check of config and tensors fails, `out` is filled all the same. */
infc_status infc_llm_read(infc_cx *cx, const char *path, infc_llm_model *out);

#endif
