/* inspect_llm.h - `infc inspect` of a language model: GGUF or a Hugging Face folder. */
#ifndef INFC_INSPECT_LLM_H
#define INFC_INSPECT_LLM_H
#include "command.h"

/* `fit`: a size such as "2GiB", to tell the longest context that it holds; or null. */
infc_status infc_inspect_llm(infc_call_cx *call, const char *path, const char *fit);

#endif
