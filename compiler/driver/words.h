/* words.h - an argv that grows. */
#ifndef INFC_WORDS_H
#define INFC_WORDS_H
#include "../base/arena.h"

typedef struct infc_words {
    infc_arena *arena;
    const char **items; /* null after the last, once infc_words_argv has been called */
    size_t n, cap;
} infc_words;

/* Initialise with {.arena = arena}. Texts are kept, not copied, except by split. */
void infc_words_add(infc_words *words, const char *text);
void infc_words_split(infc_words *words, const char *text); /* at blanks */
void infc_words_all(infc_words *words, const char *const *items, size_t n);
const char *const *infc_words_argv(infc_words *words);

#endif
