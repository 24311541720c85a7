/* chat_text.c - chat templates on conversations, for tests.
 *
 * usage: chat_text TEMPLATE [NAME=TEXT]...     texts: bos_token and its like
 * stdin: conversations: whether an answer follows, the number of messages (4 bytes each, little-endian), then of each
 *        the bytes of role and content, with their lengths before them (4 bytes)
 * stdout: a line each: "ok", the parts (m or t, bytes), the text in hex; or the status and what was said, in hex */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/base/file.h"
#include "compiler/frontend/template/template.h"

enum { MOST = 16 };

static uint32_t number(void) {
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4) exit(0);
    return (uint32_t)infc_little_endian(bytes, 4);
}

static char *text(size_t *n) {
    *n = number();
    char *out = malloc(*n + !*n);
    if (!out || fread(out, 1, *n, stdin) != *n) exit(1);
    return out;
}

static void hex(const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) printf("%02x", (unsigned char)bytes[i]);
    printf("\n");
}

/* Twice the room each time until it fits. */
static void render(const infrt_chat *chat, const infrt_chat_message *messages, size_t n, int answer) {
    infrt_chat_text out;
    int status = INFRT_CHAT_NO_ROOM;
    for (size_t room = 256; status == INFRT_CHAT_NO_ROOM && room < (1 << 26); room *= 2) {
        out = (infrt_chat_text){.text = malloc(room),
                                .room = room,
                                .parts = calloc(room / 8, sizeof *out.parts),
                                .parts_room = room / 8,
                                .scratch = malloc(4 * room),
                                .scratch_bytes = 4 * room};
        status = infrt_chat_render(chat, messages, n, answer, &out);
        if (status == INFRT_CHAT_NO_ROOM) free(out.text), free(out.parts), free(out.scratch);
    }
    printf(status ? "%d" : "ok", status);
    for (size_t i = 0; !status && i < out.n_parts; i++)
        printf(" %c%zu", out.parts[i].control ? 't' : 'm', out.parts[i].bytes);
    printf(" ");
    if (status == INFRT_CHAT_NO_ROOM) printf("\n");
    else {
        hex(status ? out.said : out.text, status ? out.said_bytes : out.bytes);
        free(out.text), free(out.parts), free(out.scratch);
    }
}

int main(int argc, char **argv) {
    infc_cx cx;
    infc_bytes file;
    infc_template_text texts[MOST];
    size_t n_texts = 0;
    if (argc < 2 || infc_cx_init(&cx) != INFC_OK || infc_file_map(&cx, argv[1], &file) != INFC_OK)
        return 2;
    for (int i = 2; i < argc && n_texts < MOST; i++) {
        const size_t n = strcspn(argv[i], "=");
        if (argv[i][n])
            texts[n_texts++] =
                (infc_template_text){infc_arena_copy_string(cx.arena, argv[i], n), argv[i] + n + 1};
    }
    const infrt_chat chat = infc_template_compile(
        cx.arena, infc_arena_copy_string(cx.arena, (const char *)file.ptr, file.len), texts, n_texts);
    if (chat.why_not) fprintf(stderr, "%s\n", chat.why_not);
    if (chat.why_not) return 3;
    for (;;) {
        const uint32_t answer = number(), n = number();
        infrt_chat_message *messages = calloc(n + !n, sizeof *messages);
        for (uint32_t i = 0; i < n; i++) {
            messages[i].role = text(&messages[i].role_bytes);
            messages[i].content = text(&messages[i].content_bytes);
        }
        render(&chat, messages, n, (int)answer);
        for (uint32_t i = 0; i < n; i++)
            free((void *)(uintptr_t)messages[i].role), free((void *)(uintptr_t)messages[i].content);
        free(messages);
    }
}
