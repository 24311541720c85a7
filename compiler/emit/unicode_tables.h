/* unicode_tables.h - what a word-piece tokenizer has to know of Unicode, by the version that utf8proc holds. */
#ifndef INFC_UNICODE_TABLES_H
#define INFC_UNICODE_TABLES_H
#include "../base/arena.h"
#include "../frontend/spec_tokenizer.h"

typedef struct infc_unicode_tables {
    uint32_t *first, *last, *classes; /* ranges of code points, ascending: INFRT_CHAR_ */
    uint32_t *from, *maps, *to; /* code points that become others: to[maps[i]] to to[maps[i + 1]] */
    size_t n_ranges, n_maps, n_to;
} infc_unicode_tables;

/* Hangul syllables are in no map: their letters are arithmetic. */
infc_unicode_tables infc_unicode_tables_make(infc_arena *arena, const infc_wordpiece *w);

#endif
