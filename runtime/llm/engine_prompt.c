/* engine_prompt.c - a request's prompt as token ids. */
#include "engine_prompt.h"
#include "tokenizer.h"
#include <stdlib.h>
#include <string.h>

/* As many ids as the text has; *ids is the caller's to free. Mostly a token has at least a byte; but what is no UTF-8
 * becomes U+FFFD, and a blank may become a longer sign, which small vocabularies have as several tokens each. */
infrt_status infrt_text_encode(const infc_model *model, const char *text, size_t n, const infrt_text_part *parts,
                               size_t n_parts, int32_t **ids, size_t *n_ids, infrt_error *error) {
    const infrt_tokenizer *t = model->llm->tokenizer;
    void *scratch = malloc(infrt_encode_scratch(t, text, n) + 1);
    *ids = NULL;
    *n_ids = n + 16;
    for (size_t room = 0; scratch && room < *n_ids;) {
        free(*ids);
        room = *n_ids;
        *ids = calloc(room, sizeof **ids);
        if (!*ids) break;
        *n_ids = infrt_encode(t, text, n, parts, n_parts, !parts, scratch, *ids, room);
    }
    free(scratch);
    if (!*ids) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory to tokenize %zu bytes", n);
    return INFRT_OK;
}

static infrt_status ids_check(const infc_model *model, const int32_t *ids, size_t n, infrt_error *error) {
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= model->llm->vocab)
            return infrt_fail(error, INFRT_ERR_USAGE, "token %zu of the prompt is %d: ids of %s are 0 to %u",
                              i, ids[i], model->name, model->llm->vocab - 1);
    return INFRT_OK;
}

infrt_status infrt_llm_encode(const infc_model *model, const infrt_llm_request *request,
                              int32_t *ids, uint32_t most, uint32_t *out_n, infrt_error *error) {
    int32_t *own = NULL, bos = model->llm->bos;
    const int32_t *prompt = request->tokens;
    size_t n = prompt ? request->n_tokens : 0;
    infrt_status status = INFRT_OK;
    bool is_text = request->messages || request->text;
    if (is_text && !model->llm->tokenizer)
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "%s has no tokenizer; give the prompt as token ids", model->name);
    if (request->messages) status = infrt_chat_encode(model, request, &own, &n, error);
    else if (request->text)
        status = infrt_text_encode(model, request->text, strlen(request->text), NULL, 0, &own, &n, error);
    if (is_text) prompt = own;
    if (status == INFRT_OK && n == 0) {
        prompt = &bos;
        n = bos >= 0 ? 1 : 0;
        if (!n)
            status = infrt_fail(error, INFRT_ERR_USAGE,
                                "the prompt is empty, and %s has no begin token", model->name);
    }
    if (status == INFRT_OK) status = ids_check(model, prompt, n, error);
    if (status == INFRT_OK && n > INT32_MAX)
        status = infrt_fail(error, INFRT_ERR_USAGE, "a prompt of %zu tokens", n);
    if (status == INFRT_OK && most) memcpy(ids, prompt, (n < most ? n : most) * sizeof *ids);
    *out_n = (uint32_t)n;
    free(own);
    return status;
}
