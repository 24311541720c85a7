/* token_tables.h - reading the tables of a tokenizer; the parts of encoding.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_TOKEN_TABLES_H
#define INFRT_TOKEN_TABLES_H
#include "tokenizer.h"

enum { INFRT_JOINER = 0x2581 };
#define INFRT_NO_ID UINT32_MAX

static inline uint32_t infrt_table_get(const unsigned char *table, size_t i) {
    const unsigned char *p = table + 4 * i;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline unsigned infrt_class_of(const infrt_tokenizer *t, uint32_t c) {
    if (!t->pages || c > 0x10ffff) return INFRT_CLASS_OTHER;
    return t->classes[64u * t->pages[c >> 8] + (c >> 2 & 63)] >> (2 * (c & 3)) & 3;
}

/* White space by Unicode's property, whatever the tables hold. */
int infrt_is_space(uint32_t c);

/* token_lists.c: the token that words become when they are exactly these bytes; INFRT_NO_ID: none. */
uint32_t infrt_word_token_find(const infrt_tokenizer *t, const char *text, size_t n);
/* The longest string of `list` that `text` begins with, but for those that `refuse` is true of. Its length; 0: none. */
typedef struct infrt_token_filter {
    int (*refuse)(const void *self, uint32_t id, size_t n);
    const void *self;
} infrt_token_filter;
size_t infrt_token_longest(const infrt_token_list *list, const char *text, size_t n,
                           const infrt_token_filter *filter, uint32_t *id);

/* token_words.c: bytes of the first word of n > 0 bytes of UTF-8. */
size_t infrt_word_next(const infrt_tokenizer *t, const char *text, size_t n);

/* Ids on their way out. */
typedef struct infrt_token_sink {
    int32_t *ids;
    size_t n, most; /* n: all so far */
} infrt_token_sink;
static inline void infrt_token_put(infrt_token_sink *sink, uint32_t id) {
    if (sink->n < sink->most) sink->ids[sink->n] = (int32_t)id;
    sink->n++;
}

/* token_merge.c: the ids of one word of n > 0 bytes of UTF-8. Scratch, 4 aligned, as the other function says. */
size_t infrt_merge_scratch(size_t n);
void infrt_word_merge(const infrt_tokenizer *t, const char *word, size_t n, void *scratch,
                      infrt_token_sink *sink);

#endif
