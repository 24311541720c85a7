/* engine_prompt.h - prompts as token ids: what becomes of text and of conversations. */
#ifndef INFRT_ENGINE_PROMPT_H
#define INFRT_ENGINE_PROMPT_H
#include "infrt_llm.h"
#include "tokenizer.h"

/* As many ids as the text has; *ids is the caller's to free. Parts as for infrt_encode; null: with the ids around. */
infrt_status infrt_text_encode(const infc_model *model, const char *text, size_t n, const infrt_text_part *parts,
                               size_t n_parts, int32_t **ids, size_t *n_ids, infrt_error *error);
/* The messages of a request, so that the assistant's answer follows. */
infrt_status infrt_chat_encode(const infc_model *model, const infrt_llm_request *request,
                               int32_t **ids, size_t *n_ids, infrt_error *error);

#endif
