/* engine_prompt.c - a request's prompt as token ids. */
#include "chat.h"
#include "engine.h"
#include <stdlib.h>
#include <string.h>

/* What a chat template writes around a message, and the most that a conversation may become. */
enum { MESSAGE_ROOM = 512, CHAT_MOST = 1 << 28 };

static const char *prompt_name(const infrt_llm *llm) { return llm->model->name; }

/* As many ids as the text has; *ids is the caller's to free. */
static infrt_status text_encode(const infrt_llm *llm, const char *text, size_t n, const infrt_text_part *parts,
                                size_t n_parts, int32_t **ids, size_t *n_ids, infrt_error *error) {
    const infrt_tokenizer *t = llm->info->tokenizer;
    void *scratch = malloc(infrt_encode_scratch(t, text, n) + 1);
    size_t most = n + 16; /* a token has at least a byte, but for those around */
    *ids = calloc(most, sizeof **ids);
    if (scratch && *ids) *n_ids = infrt_encode(t, text, n, parts, n_parts, !parts, scratch, *ids, most);
    free(scratch);
    if (!scratch || !*ids) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory to tokenize %zu bytes", n);
    if (*n_ids > most)
        return infrt_fail(error, INFRT_ERR_INTERNAL, "%zu bytes became %zu tokens", n, *n_ids);
    return INFRT_OK;
}

static infrt_status chat_failed(const infrt_llm *llm, int result, const infrt_chat_text *text, infrt_error *error) {
    const infrt_chat *chat = llm->info->chat;
    int said = text->said ? (int)(text->said_bytes < 400 ? text->said_bytes : 400) : 0;
    if (result == INFRT_CHAT_NONE)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s has no chat template (%s); give the prompt as plain text",
                          prompt_name(llm), chat && chat->why_not ? chat->why_not : "its files have none");
    if (result == INFRT_CHAT_NO_ROOM || result == INFRT_CHAT_TOO_MANY)
        return infrt_fail(error, INFRT_ERR_DATA, "the chat template of %s makes too much of this conversation",
                          prompt_name(llm));
    return infrt_fail(error, INFRT_ERR_DATA, "the chat template of %s refuses this conversation: %.*s",
                      prompt_name(llm), said, said ? text->said : "");
}

/* One attempt with this much room; INFRT_CHAT_NO_ROOM: try with more. -1: no memory. */
static int chat_render(const infrt_chat *chat, const infrt_chat_message *messages, uint32_t n,
                       size_t room, infrt_chat_text *out, void **memory) {
    size_t parts_room = 16 + (size_t)n * 16;
    char *block = malloc(parts_room * sizeof(infrt_text_part) + 2 * room);
    *memory = block;
    if (!block) return -1;
    *out = (infrt_chat_text){.parts = (infrt_text_part *)(void *)block, .parts_room = parts_room};
    out->scratch = block + parts_room * sizeof(infrt_text_part);
    out->scratch_bytes = room;
    out->text = (char *)out->scratch + room;
    out->room = room;
    return infrt_chat_render(chat, messages, n, 1, out);
}

static infrt_status chat_encode(const infrt_llm *llm, const infrt_llm_request *request,
                                int32_t **ids, size_t *n_ids, infrt_error *error) {
    infrt_chat_text text = {0};
    void *memory = NULL;
    uint32_t n = request->n_messages;
    size_t room = 1 << 16;
    int result = INFRT_CHAT_NONE;
    infrt_chat_message *messages = calloc((size_t)n + 1, sizeof *messages);
    for (uint32_t i = 0; i < n && messages; i++) {
        const infrt_llm_message *m = &request->messages[i];
        messages[i] = (infrt_chat_message){m->role, m->content, strlen(m->role), strlen(m->content)};
        room += 2 * messages[i].content_bytes + MESSAGE_ROOM;
    }
    room = (room + 7) / 8 * 8;
    if (!messages) result = -1;
    else if (llm->info->chat && !llm->info->chat->why_not)
        while ((result = chat_render(llm->info->chat, messages, n, room, &text, &memory)) == INFRT_CHAT_NO_ROOM &&
               (room *= 2) < CHAT_MOST)
            free(memory);
    infrt_status status =
        result == INFRT_CHAT_OK ? text_encode(llm, text.text, text.bytes, text.parts, text.n_parts, ids, n_ids, error)
        : result == -1          ? infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a conversation")
                                : chat_failed(llm, result, &text, error);
    free(memory);
    free(messages);
    return status;
}

static infrt_status ids_check(const infrt_llm *llm, const int32_t *ids, size_t n, infrt_error *error) {
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= llm->info->vocab)
            return infrt_fail(error, INFRT_ERR_USAGE, "token %zu of the prompt is %d: ids of %s are 0 to %u", i,
                              ids[i], prompt_name(llm), llm->info->vocab - 1);
    return INFRT_OK;
}

infrt_status infrt_llm_encode(const infrt_llm *llm, const infrt_llm_request *request, int32_t *ids,
                              uint32_t most, uint32_t *out_n, infrt_error *error) {
    int32_t *own = NULL, bos = llm->info->bos;
    const int32_t *prompt = request->tokens;
    size_t n = prompt ? request->n_tokens : 0;
    infrt_status status = INFRT_OK;
    bool is_text = request->messages || request->text;
    if (is_text && !llm->info->tokenizer)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s has no tokenizer; give the prompt as token ids",
                          prompt_name(llm));
    if (request->messages) status = chat_encode(llm, request, &own, &n, error);
    else if (request->text) status = text_encode(llm, request->text, strlen(request->text), NULL, 0, &own, &n, error);
    if (is_text) prompt = own;
    if (status == INFRT_OK && n == 0) {
        prompt = &bos;
        n = bos >= 0 ? 1 : 0;
        if (!n) status = infrt_fail(error, INFRT_ERR_USAGE, "the prompt is empty, and %s has no begin token", prompt_name(llm));
    }
    if (status == INFRT_OK) status = ids_check(llm, prompt, n, error);
    if (status == INFRT_OK && n > INT32_MAX) status = infrt_fail(error, INFRT_ERR_USAGE, "a prompt of %zu tokens", n);
    if (status == INFRT_OK) memcpy(ids, prompt, (n < most ? n : most) * sizeof *ids);
    *out_n = (uint32_t)n;
    free(own);
    return status;
}
