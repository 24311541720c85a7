/* token_merge.c - byte pair encoding of one word.
 *
 * The word begins as a list of single bytes or characters. Of all neighbours that merge, those of the lowest rank do
 * first, the leftmost of equals, until none does. A tournament over positions, whose keys are the ranks of a position
 * with its next, finds them: a merge changes three keys, each in at most log n matches.
 * SPDX-License-Identifier: MIT */
#include "token_tables.h"
#include "utf8.h"

typedef struct word {
    const infrt_tokenizer *t;
    uint32_t n, leaves;           /* leaves: a power of two */
    uint32_t *id, *next, *before; /* of each position; next == n: none; before == n: none */
    uint32_t *rank;               /* of the merge with next; UINT32_MAX: none */
    uint32_t *best; /* [leaves]: best[1] is the position with the lowest rank; children of k are 2k, 2k + 1 */
} word;

/* The merge of two neighbours: its rank, and what they become; UINT32_MAX: none. */
static uint32_t merge_find(const infrt_tokenizer *t, uint32_t left, uint32_t right, uint32_t *id) {
    uint32_t low = infrt_table_get(t->merge_at, left);
    const uint32_t end = infrt_table_get(t->merge_at, (size_t)left + 1);
    uint32_t high = end;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (infrt_table_get(t->merges, 3 * (size_t)mid) < right) low = mid + 1;
        else high = mid;
    }
    if (low == end || infrt_table_get(t->merges, 3 * (size_t)low) != right) return UINT32_MAX;
    *id = infrt_table_get(t->merges, 3 * (size_t)low + 2);
    return infrt_table_get(t->merges, 3 * (size_t)low + 1);
}

static uint32_t rank_at(const word *w, uint32_t position) {
    uint32_t id;
    const uint32_t next = w->next[position];
    return next == w->n ? UINT32_MAX : merge_find(w->t, w->id[position], w->id[next], &id);
}

static uint32_t key(const word *w, uint32_t position) {
    return position < w->n ? w->rank[position] : UINT32_MAX;
}

/* The better of the two below node k. */
static uint32_t match(const word *w, uint32_t k) {
    const int leaf = 2 * k >= w->leaves;
    const uint32_t left = leaf ? 2 * k - w->leaves : w->best[2 * k],
                   right = leaf ? 2 * k + 1 - w->leaves : w->best[2 * k + 1];
    return key(w, right) < key(w, left) ? right : left;
}

static void rank_set(word *w, uint32_t position, uint32_t rank) {
    if (w->rank[position] == rank) return;
    w->rank[position] = rank;
    for (uint32_t k = (w->leaves + position) / 2; k > 0; k /= 2) {
        const uint32_t was = w->best[k];
        w->best[k] = match(w, k);
        if (was != position && w->best[k] != position) return; /* all above are as they were */
    }
}

static void tournament(word *w) {
    for (uint32_t i = 0; i < w->n; i++) w->rank[i] = rank_at(w, i);
    for (uint32_t k = w->leaves - 1; k > 0; k--) w->best[k] = match(w, k);
}

static void merge(word *w, uint32_t position) {
    const uint32_t next = w->next[position], after = w->next[next], before = w->before[position];
    uint32_t id = 0;
    (void)merge_find(w->t, w->id[position], w->id[next], &id);
    w->id[position] = id;
    w->next[position] = after;
    if (after < w->n) w->before[after] = position;
    rank_set(w, next, UINT32_MAX);
    rank_set(w, position, rank_at(w, position));
    if (before < w->n) rank_set(w, before, rank_at(w, before));
}

static void add(word *w, uint32_t id) {
    w->id[w->n] = id;
    w->n++;
}

/* A character that is no token: its bytes, if they all are tokens; else the unknown one. */
static void add_bytes(word *w, const char *text, size_t n, int *unknown) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = w->t->byte_ids ? infrt_table_get(w->t->byte_ids, (unsigned char)text[i]) : INFRT_NO_ID;
        if (id != INFRT_NO_ID) {
            add(w, id);
            *unknown = 0;
        } else if (w->t->unknown >= 0 && (i == 0 || w->t->byte_level) && !(*unknown && w->t->fuse_unknown)) {
            add(w, (uint32_t)w->t->unknown);
            *unknown = 1;
        }
    }
}

static void begin(word *w, const char *text, size_t n) {
    int unknown = 0; /* the last one was */
    for (size_t at = 0, length; at < n; at += length) {
        uint32_t id = INFRT_NO_ID;
        length = n - at;
        if (!w->t->byte_level) {
            (void)infrt_utf8_next(text + at, n - at, &length);
            id = infrt_word_token_find(w->t, text + at, length);
        }
        if (id == INFRT_NO_ID) {
            add_bytes(w, text + at, length, &unknown);
            continue;
        }
        add(w, id);
        unknown = 0;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->next[i] = i + 1;
        w->before[i] = i ? i - 1 : w->n;
    }
}

static size_t leaves_of(size_t n) {
    size_t leaves = 2;
    while (leaves < n) leaves *= 2;
    return leaves;
}

size_t infrt_merge_scratch(size_t n) { return sizeof(uint32_t) * (4 * n + leaves_of(n)); }

void infrt_word_merge(const infrt_tokenizer *t, const char *text, size_t n, void *scratch,
                      infrt_token_sink *sink) {
    uint32_t *memory = scratch;
    word w = {.t = t,
              .id = memory,
              .next = memory + n,
              .before = memory + 2 * n,
              .rank = memory + 3 * n,
              .best = memory + 4 * n};
    begin(&w, text, n);
    if (w.n == 0) return;
    w.leaves = (uint32_t)leaves_of(w.n);
    tournament(&w);
    while (w.rank[w.best[1]] != UINT32_MAX) merge(&w, w.best[1]);
    for (uint32_t i = 0; i < w.n; i = w.next[i]) infrt_token_put(sink, w.id[i]);
}
