/* engine_chat.c - a conversation as token ids, by the model's own template. */
#include "chat.h"
#include "engine_prompt.h"

infrt_status infrt_chat_encode(const infc_model *model, const infrt_llm_request *request,
                               int32_t **ids, size_t *n_ids, infrt_error *error) {
    const infrt_chat *chat = model->llm->chat;
    (void)request;
    *ids = NULL;
    *n_ids = 0;
    return infrt_fail(error, INFRT_ERR_USAGE, "%s has no chat template (%s); give the prompt as plain text",
                      model->name, chat && chat->why_not ? chat->why_not : "its files have none");
}
