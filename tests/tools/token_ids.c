/* token_ids.c - the tokenizer of a model on texts, for tests.
 *
 * usage: token_ids MODEL [around]      MODEL: GGUF, folder, or tokenizer.json
 * stdin: texts: the number of parts (4 bytes, little-endian), then of each its bytes, control (4 bytes each), the bytes
 * stdout: a line each: ids, "|", the decoded bytes in hex. Decoding id by id is checked to give the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/base/file.h"
#include "compiler/frontend/tokenizer/bpe_tokenizer.h"

static const infc_tokenizer *load(infc_cx *cx, const char *path) {
    infc_llm_model model = {.path = path};
    const infc_tokenizer *out = NULL;
    infc_bytes file;
    if (infc_path_ends(path, ".json")) {
        infc_tokenizer *made = INFC_NEW(cx->arena, infc_tokenizer, 1);
        if (infc_file_map(cx, path, &file) == INFC_OK && infc_tokenizer_json(cx, path, file, made) == INFC_OK)
            out = made;
    } else if (infc_path_ends(path, ".gguf")) {
        if (infc_file_map(cx, path, &file) == INFC_OK && infc_gguf_read(cx, path, file, &model.gguf) == INFC_OK)
            (void)infc_tokenizer_read(cx, &model, &out);
    } else {
        model.path = infc_path_join(cx->arena, path, "config.json");
        (void)infc_tokenizer_read(cx, &model, &out);
    }
    return out;
}

static uint32_t number(void) {
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4) exit(0);
    return (uint32_t)infc_little_endian(bytes, 4);
}

/* Texts and parts in memory of exactly their size, so that a sanitizer sees what goes beyond. */
static char *read_text(infrt_text_part **parts, size_t *n_parts, size_t *n) {
    char *text = malloc(1);
    *n_parts = number();
    *parts = calloc(*n_parts + !*n_parts, sizeof **parts);
    *n = 0;
    for (size_t i = 0; i < *n_parts; i++) {
        (*parts)[i].bytes = number();
        (*parts)[i].control = number();
        text = realloc(text, *n + (*parts)[i].bytes + !(*n + (*parts)[i].bytes));
        if (!text || fread(text + *n, 1, (*parts)[i].bytes, stdin) != (*parts)[i].bytes) exit(1);
        *n += (*parts)[i].bytes;
    }
    return text;
}

/* Id by id: each time whole characters, and together the same. */
static void check_parts(const infrt_tokenizer *t, const int32_t *ids, size_t n, const char *all, size_t bytes) {
    infrt_detokenizer d;
    char *piece = malloc(infrt_detokenizer_room(t));
    size_t at = 0;
    infrt_detokenizer_init(&d, t, 1, 0);
    for (size_t i = 0; i <= n; i++) {
        const size_t more =
            i < n ? infrt_detokenizer_put(&d, ids[i], piece) : infrt_detokenizer_end(&d, piece);
        if (more > infrt_detokenizer_room(t) || at + more > bytes ||
            memcmp(all + at, piece, more) != 0 || !infc_text_is_utf8(piece, more)) {
            fprintf(stderr, "decoding id by id differs at id %zu\n", i);
            exit(1);
        }
        at += more;
    }
    if (at != bytes) exit(1);
    free(piece);
}

static void show(const infrt_tokenizer *t, const int32_t *ids, size_t n) {
    const size_t bytes = infrt_decode(t, ids, n, 1, NULL, 0);
    char *text = malloc(bytes + !bytes);
    (void)infrt_decode(t, ids, n, 1, text, bytes);
    check_parts(t, ids, n, text, bytes);
    for (size_t i = 0; i < n; i++) printf("%d ", ids[i]);
    printf("|");
    for (size_t i = 0; i < bytes; i++) printf("%02x", (unsigned char)text[i]);
    printf("\n");
    free(text);
}

int main(int argc, char **argv) {
    infc_cx cx;
    infc_buf problems;
    if (argc < 2 || infc_cx_init(&cx) != INFC_OK) return 2;
    const infc_tokenizer *made = load(&cx, argv[1]);
    problems = (infc_buf){.arena = cx.arena};
    infc_diags_text(&cx, &problems);
    fputs(infc_buf_str(&problems), stderr);
    if (!made) return 3;
    for (;;) {
        infrt_text_part *parts;
        size_t n, n_parts;
        char *text = read_text(&parts, &n_parts, &n);
        void *scratch = malloc(infrt_encode_scratch(&made->tables, text, n));
        const size_t most = infrt_encode(&made->tables, text, n, parts, n_parts, argc > 2, scratch, NULL, 0);
        int32_t *ids = malloc(sizeof *ids * (most + !most));
        if (infrt_encode(&made->tables, text, n, parts, n_parts, argc > 2, scratch, ids, most) != most)
            return 1;
        show(&made->tables, ids, most);
        free(ids), free(scratch), free(parts), free(text);
    }
}
