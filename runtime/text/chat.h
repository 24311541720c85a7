/* chat.h - a conversation as one text, by the model's own template, which was compiled to a small program. The
 * text comes in parts: what the template says may hold control tokens, what the messages say may not (tokenizer.h).
 *
 * Nothing is allocated; steps and text are bounded. No libc but mem*.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_CHAT_H
#define INFRT_CHAT_H
#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque but for the first field. */
typedef struct infrt_chat {
    const char *why_not; /* null, or why this model's template could not be compiled: what to tell the user */
    const uint32_t *code;
    uint32_t n_code;
    const char *texts; /* constants of the program, n_texts bytes */
    uint32_t n_texts;
} infrt_chat;

typedef struct infrt_chat_message {
    const char *role, *content; /* UTF-8; role "system", "user", "assistant" */
    size_t role_bytes, content_bytes;
} infrt_chat_message;

enum {
    INFRT_CHAT_OK = 0,
    INFRT_CHAT_REFUSED = 1,  /* the template calls it an error: `said` */
    INFRT_CHAT_NO_ROOM = 2,  /* the text, its parts or what is computed on the way do not fit */
    INFRT_CHAT_TOO_MANY = 3, /* more steps than any sensible conversation needs */
    INFRT_CHAT_TYPE = 4, /* the template computes what has no value, e.g. a number plus a text: `said` */
    INFRT_CHAT_NONE = 5 /* why_not says why there is no template */
};

/* Memory of a rendering: the caller's. */
typedef struct infrt_chat_text {
    char *text;
    size_t room, bytes; /* room: the caller's; bytes: of the result, also while it is made */
    infrt_text_part *parts;
    size_t parts_room, n_parts;
    void *scratch; /* 8 aligned, for texts on the way: as much as the text is a good measure, at least 64 KiB */
    size_t scratch_bytes;
    const char *said; /* without a NUL; valid as long as the memory above */
    size_t said_bytes;
} infrt_chat_text;

/* `answer`: the text ends where the assistant's answer begins (add_generation_prompt). Returns an INFRT_CHAT_. Tokenise
 * it with infrt_encode(..., parts, n_parts, around = 0, ...): templates say themselves where bos belongs. */
int infrt_chat_render(const infrt_chat *chat, const infrt_chat_message *messages, size_t n_messages,
                      int answer, infrt_chat_text *out);

#ifdef __cplusplus
}
#endif
#endif
