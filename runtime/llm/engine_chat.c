/* engine_chat.c - a conversation as token ids, by the model's own template. */
#include "chat.h"
#include "engine_prompt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a chat template writes around a message, and the most that a conversation may become. */
enum { MESSAGE_ROOM = 512, CHAT_MOST = 1 << 28 };

/* What the template said, as one line that a terminal only shows: control characters as \xNN. */
static void said_copy(const infrt_chat_text *text, char *out, size_t room) {
    size_t n = 0;
    for (size_t i = 0; text->said && i < text->said_bytes && n + 5 <= room; i++) {
        const unsigned char c = (unsigned char)text->said[i],
                            next = i + 1 < text->said_bytes ? (unsigned char)text->said[i + 1] : 0;
        const bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F: they control terminals, too */
        if (c >= 0x20 && c != 0x7f && !c1) out[n++] = (char)c;
        else n += (size_t)snprintf(out + n, room - n, "\\x%02x", c1 ? next : c);
        i += c1;
    }
    out[n] = 0;
}

static infrt_status chat_failed(const infc_model *model, int result, const infrt_chat_text *text,
                                infrt_error *error) {
    const infrt_chat *chat = model->llm->chat;
    char said[401];
    if (result == INFRT_CHAT_NONE)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s has no chat template (%s); give the prompt as plain text",
                          model->name, chat && chat->why_not ? chat->why_not : "its files have none");
    if (result == INFRT_CHAT_NO_ROOM || result == INFRT_CHAT_TOO_MANY)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "the chat template of %s makes too much of this conversation", model->name);
    said_copy(text, said, sizeof said);
    return infrt_fail(error, INFRT_ERR_DATA,
                      "the chat template of %s refuses this conversation: %s", model->name, said);
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

infrt_status infrt_chat_encode(const infc_model *model, const infrt_llm_request *request,
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
    else if (model->llm->chat && !model->llm->chat->why_not)
        while ((result = chat_render(model->llm->chat, messages, n, room, &text, &memory)) == INFRT_CHAT_NO_ROOM &&
               (room *= 2) < CHAT_MOST)
            free(memory);
    infrt_status status =
        result == INFRT_CHAT_OK
            ? infrt_text_encode(model, text.text, text.bytes, text.parts, text.n_parts, ids, n_ids, error)
        : result == -1 ? infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a conversation")
                       : chat_failed(model, result, &text, error);
    free(memory);
    free(messages);
    return status;
}
