/* The reader of tokenizer.json on any bytes: what it accepts must be whole, what it refuses says why. */
#include "compiler/frontend/spec_fill.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infc_arena *arena = infc_arena_create();
    if (!arena) abort();
    const char *why = NULL;
    const infc_wordpiece *w = infc_spec_tokenizer_parse(arena, (infc_bytes){data, size}, &why);
    if (!w == !why) abort();
    for (size_t i = 0; w && i < w->n_tokens; i++)
        if (!w->tokens[i].text[0] || (i && strcmp(w->tokens[i - 1].text, w->tokens[i].text) >= 0))
            abort();
    if (w && (w->most_chars < 1 || w->most_chars > 256 || w->n_before > 8 || w->n_after > 8))
        abort();
    infc_arena_destroy(&arena);
    return 0;
}
