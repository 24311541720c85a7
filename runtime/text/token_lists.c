/* token_lists.c - tokens by id and by their bytes.
 * SPDX-License-Identifier: MIT */
#include "token_tables.h"
#include <string.h>

const char *infrt_token_piece(const infrt_tokenizer *t, int32_t id, size_t *n) {
    *n = 0;
    if (id < 0 || (uint32_t)id >= t->n_tokens) return NULL;
    const uint32_t at = infrt_table_get(t->piece_at, (size_t)id);
    *n = infrt_table_get(t->piece_at, (size_t)id + 1) - at;
    return (const char *)t->pieces + at;
}

unsigned infrt_token_flags(const infrt_tokenizer *t, int32_t id) {
    return id >= 0 && (uint32_t)id < t->n_tokens ? t->flags[id] : 0;
}

static int compare(const char *a, size_t n_a, const char *b, size_t n_b) {
    const int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return order ? order : (n_a > n_b) - (n_a < n_b);
}

uint32_t infrt_word_token_find(const infrt_tokenizer *t, const char *text, size_t n) {
    uint32_t low = 0, high = t->n_sorted;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2, id = infrt_table_get(t->sorted, mid);
        size_t bytes;
        const char *piece = infrt_token_piece(t, (int32_t)id, &bytes);
        const int order = compare(text, n, piece, bytes);
        if (order == 0) return id;
        if (order < 0) high = mid;
        else low = mid + 1;
    }
    return INFRT_NO_ID;
}

/* The first string from `low` on whose byte `depth` is at least `c`; all of [low, high) are longer than depth and begin
 * alike. */
static uint32_t lower_bound(const infrt_token_list *list, uint32_t low, uint32_t high, size_t depth, unsigned c) {
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (list->texts[infrt_table_get(list->at, mid) + depth] < c) low = mid + 1;
        else high = mid;
    }
    return low;
}

size_t infrt_token_longest(const infrt_token_list *list, const char *text, size_t n,
                           const infrt_token_filter *filter, uint32_t *id) {
    uint32_t low = 0, high = list->n;
    size_t best = 0;
    for (size_t depth = 0; low < high; depth++) {
        if (infrt_table_get(list->at, low + 1) - infrt_table_get(list->at, low) == depth) {
            const uint32_t found = infrt_table_get(list->ids, low++);
            if (!filter || !filter->refuse(filter->self, found, depth)) *id = found, best = depth;
        }
        if (depth == n || low == high) break;
        const unsigned c = (unsigned char)text[depth];
        low = lower_bound(list, low, high, depth, c);
        high = lower_bound(list, low, high, depth, c + 1);
    }
    return best;
}

int32_t infrt_token_find(const infrt_tokenizer *t, const char *text, size_t n) {
    uint32_t id = INFRT_NO_ID;
    if (n > 0 && infrt_token_longest(&t->added, text, n, NULL, &id) == n) return (int32_t)id;
    for (uint32_t i = 0; i < t->added_normalized.n; i++) { /* their strings there may have a space before */
        size_t bytes;
        const uint32_t added = infrt_table_get(t->added_normalized.ids, i);
        const char *piece = infrt_token_piece(t, (int32_t)added, &bytes);
        if (compare(text, n, piece, bytes) == 0) return (int32_t)added;
    }
    id = infrt_word_token_find(t, text, n);
    return id == INFRT_NO_ID ? -1 : (int32_t)id;
}
