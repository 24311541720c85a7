#include "words.h"
#include <string.h>

void infc_words_add(infc_words *words, const char *text) {
    INFC_GROW(words->arena, words->items, words->n, words->cap);
    words->items[words->n++] = text;
}

void infc_words_split(infc_words *words, const char *text) {
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        size_t length = strcspn(text, " \t");
        infc_words_add(words, infc_arena_copy_string(words->arena, text, length));
        text += length;
    }
}

void infc_words_all(infc_words *words, const char *const *items, size_t n) {
    for (size_t i = 0; i < n; i++) infc_words_add(words, items[i]);
}

const char *const *infc_words_argv(infc_words *words) {
    infc_words_add(words, NULL);
    words->n--;
    return words->items;
}
