/* Chat templates of any bytes on a conversation: compiling and rendering must return, within the memory they
 * are given. */
#include "compiler/frontend/template/template.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const infrt_chat *chat, size_t room) {
    static const infrt_chat_message messages[] = {{"user", "Hi", 4, 2}, {"assistant", "\xe2\x82 x\n", 9, 5}};
    infrt_chat_text out = {.text = malloc(room),
                           .room = room,
                           .parts = calloc(room / 64 + 1, sizeof *out.parts),
                           .parts_room = room / 64,
                           .scratch = malloc(8 * room),
                           .scratch_bytes = 8 * room};
    const int status = infrt_chat_render(chat, messages, 2, 1, &out);
    size_t bytes = 0;
    for (size_t i = 0; i < out.n_parts; i++) bytes += out.parts[i].bytes;
    if (status == INFRT_CHAT_OK && bytes != out.bytes) abort();
    for (size_t i = 0; i < out.said_bytes; i++)
        if (out.said[i] == 1) break; /* all of it can be read */
    free(out.text);
    free(out.parts);
    free(out.scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const infc_template_text texts[] = {{"bos_token", "<s>"}};
    infc_arena *arena = infc_arena_create();
    if (!arena || memchr(data, 0, size)) {
        infc_arena_destroy(&arena);
        return 0;
    }
    const infrt_chat chat =
        infc_template_compile(arena, infc_arena_copy_string(arena, (const char *)data, size), texts, 1);
    if (!chat.why_not == !chat.code) abort();
    if (chat.code)
        for (size_t room = 64; room <= 65536; room *= 32) render(&chat, room);
    infc_arena_destroy(&arena);
    return 0;
}
