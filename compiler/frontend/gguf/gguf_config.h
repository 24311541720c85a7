/* gguf_config.h - hyperparameters from the keys of a GGUF file. */
#ifndef INFC_GGUF_CONFIG_H
#define INFC_GGUF_CONFIG_H
#include "../llm/llm_config.h"
#include "gguf.h"

/* INFC_ERR_UNSUPPORTED for an architecture or a key of it that changes results and is not covered; all by name. */
infc_status infc_gguf_config(infc_cx *cx, const infc_gguf *gguf, infc_llm_config *out);

#endif
