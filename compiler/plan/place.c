/* place.c - one item after the other goes to the lowest offset that is free for its whole life (greedy by size, as in
 * Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). A few orders are tried and
 * the best one is improved: an item that reaches the end, or one in its way, is placed earlier. */
#include "../base/sort.h"
#include "place.h"
#include <string.h>

enum {
    N_ORDERS = 6,
    MAX_CONFLICTS = 4000000, /* pairs that are looked at: more, and only the order of first use is tried */
    SEARCH_WORK = 20000000 /* pairs looked at to improve an order: some 50 ms */
};

typedef struct placing {
    infc_place_item *items;
    int n;
    size_t *near_begin; /* items whose lives overlap with that of i: near[near_begin[i] .. near_begin[i + 1]) */
    int *near;
    bool *placed;
    struct span {
        uint64_t begin, end;
    } *spans; /* scratch of lowest_fit */
    uint64_t bound;
    int fullest; /* step where most is live */
    uint64_t work, seed;
} placing;

typedef struct ranked { /* larger ones first */
    uint64_t rank;
    int item;
} ranked;

static int larger_first(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank > y->rank ? -1 : 1;
    return x->item - y->item;
}

static void find_bound(infc_arena *arena, placing *p) {
    int steps = 0;
    for (int i = 0; i < p->n; i++)
        if (p->items[i].last >= steps) steps = p->items[i].last + 1;
    uint64_t *born = INFC_NEW(arena, uint64_t, (size_t)steps + 1), live = 0;
    uint64_t *dead = INFC_NEW(arena, uint64_t, (size_t)steps + 1);
    for (int i = 0; i < p->n; i++) {
        born[p->items[i].first] += p->items[i].size;
        dead[p->items[i].last] += p->items[i].size;
    }
    for (int s = 0; s < steps; s++) {
        live += born[s];
        if (live > p->bound) p->bound = live, p->fullest = s;
        live -= dead[s];
    }
}

/* By first use: what can be in the way is live at that moment, so no pairs need to be kept. The items of `live` are
 * sorted by offset. */
static uint64_t by_first_use(placing *p, const ranked *order, int *live) {
    uint64_t end = 0;
    int n_live = 0;
    for (int i = 0; i < p->n; i++) {
        infc_place_item *item = &p->items[order[i].item];
        uint64_t at = 0;
        int kept = 0, where = -1;
        for (int k = 0; k < n_live; k++) {
            const infc_place_item *other = &p->items[live[k]];
            if (other->last < item->first) continue;
            if (where < 0 && at + item->size <= other->offset) where = kept;
            if (where < 0) at = other->offset + other->size;
            live[kept++] = live[k];
        }
        if (where < 0) where = kept;
        memmove(live + where + 1, live + where, (size_t)(kept - where) * sizeof *live);
        live[where] = order[i].item;
        n_live = kept + 1;
        item->offset = at;
        if (at + item->size > end) end = at + item->size;
    }
    return end;
}

/* `order` is by first use. False when there are too many pairs; near_begin and near are then not set. */
static bool find_pairs(infc_arena *arena, placing *p, const ranked *order, int *live) {
    size_t pairs = 0;
    for (int round = 0; round < 2; round++) {
        int n_live = 0;
        for (int i = 0; i < p->n; i++) {
            int item = order[i].item, kept = 0;
            for (int k = 0; k < n_live; k++) {
                int other = live[k];
                if (p->items[other].last < p->items[item].first) continue;
                live[kept++] = other;
                if (round == 0) {
                    p->near_begin[item + 1]++, p->near_begin[other + 1]++;
                    continue;
                }
                p->near[p->near_begin[item]++] = other;
                p->near[p->near_begin[other]++] = item;
            }
            live[kept] = item;
            n_live = kept + 1;
            pairs += (size_t)kept;
            if (round == 0 && pairs > MAX_CONFLICTS) return false;
        }
        if (round == 1) break;
        for (int i = 0; i < p->n; i++) p->near_begin[i + 1] += p->near_begin[i];
        p->near = INFC_NEW(arena, int, 2 * pairs + 1);
    }
    for (int i = p->n; i > 0; i--) p->near_begin[i] = p->near_begin[i - 1];
    p->near_begin[0] = 0;
    return true;
}

static uint64_t lowest_fit(placing *p, int item) {
    int n = 0;
    uint64_t at = 0, size = p->items[item].size;
    p->work += p->near_begin[item + 1] - p->near_begin[item] + 1;
    for (size_t k = p->near_begin[item]; k < p->near_begin[item + 1]; k++) {
        const infc_place_item *other = &p->items[p->near[k]];
        if (!p->placed[p->near[k]]) continue;
        int to = n++;
        for (; to > 0 && p->spans[to - 1].begin > other->offset; to--)
            p->spans[to] = p->spans[to - 1], p->work++;
        p->spans[to] = (struct span){other->offset, other->offset + other->size};
    }
    for (int k = 0; k < n; k++) {
        if (at + size <= p->spans[k].begin) break;
        if (p->spans[k].end > at) at = p->spans[k].end;
    }
    return at;
}

static uint64_t place_in_order(placing *p, const ranked *order) {
    uint64_t end = 0;
    memset(p->placed, 0, (size_t)p->n * sizeof *p->placed);
    for (int i = 0; i < p->n; i++) {
        infc_place_item *item = &p->items[order[i].item];
        item->offset = lowest_fit(p, order[i].item);
        p->placed[order[i].item] = true;
        if (item->offset + item->size > end) end = item->offset + item->size;
    }
    return end;
}

/* By size; by size and length of life; from the step where most is live outwards, by size or by life; by life; by
 * first use. */
static uint64_t rank_of(const placing *p, const infc_place_item *item, int order) {
    uint64_t life = (uint64_t)(item->last - item->first + 1);
    uint64_t fullest = item->first <= p->fullest && p->fullest <= item->last ? UINT64_MAX / 2 : 0;
    switch (order) {
    case 0: return item->size;
    case 1: return item->size / 64 * life;
    case 2: return item->size + fullest;
    case 3: return life + fullest;
    case 4: return life;
    default: return UINT64_MAX - (uint64_t)item->first;
    }
}

static void sort_by(const placing *p, ranked *order, int which) {
    for (int i = 0; i < p->n; i++) order[i] = (ranked){rank_of(p, &p->items[i], which), i};
    infc_sort(order, (size_t)p->n, sizeof *order, larger_first);
}

static int random_below(placing *p, int n) {
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((p->seed >> 33) % (uint64_t)n);
}

/* An item that reaches the end, or one beside it. */
static int in_the_way(placing *p, uint64_t end) {
    int top = 0;
    for (int i = 0; i < p->n; i++)
        if (p->items[i].offset + p->items[i].size == end) top = i;
    int n = (int)(p->near_begin[top + 1] - p->near_begin[top]);
    return n == 0 || random_below(p, 2) ? top : p->near[p->near_begin[top] + (size_t)random_below(p, n)];
}

static void move_earlier(placing *p, ranked *order, int item) {
    int from = 0;
    while (order[from].item != item) from++;
    ranked moved = order[from];
    int to = from == 0 ? random_below(p, p->n) : random_below(p, from);
    if (to < from) memmove(order + to + 1, order + to, (size_t)(from - to) * sizeof *order);
    else memmove(order + from, order + from + 1, (size_t)(to - from) * sizeof *order);
    order[to] = moved;
}

/* Improves `best`, which takes `end` bytes, until the bound is met or the work is done. */
static uint64_t improve(placing *p, ranked *best, ranked *now, ranked *next, uint64_t end) {
    size_t bytes = (size_t)p->n * sizeof *best;
    uint64_t now_end = place_in_order(p, best), top = now_end;
    memcpy(now, best, bytes);
    for (p->work = 0; end > p->bound && p->work < SEARCH_WORK; p->work += (uint64_t)p->n) {
        memcpy(next, now, bytes);
        move_earlier(p, next, in_the_way(p, top));
        top = place_in_order(p, next);
        bool little_worse = top <= now_end + now_end / 64 && random_below(p, 16) == 0;
        if (top > now_end && !little_worse) continue;
        memcpy(now, next, bytes);
        now_end = top;
        if (top >= end) continue;
        memcpy(best, next, bytes);
        end = top;
    }
    return end;
}

void infc_place_items(infc_arena *arena, infc_place_item *items, int n, uint64_t *end, uint64_t *bound) {
    placing p = {.items = items, .n = n, .seed = 1};
    size_t cap = (size_t)n + 1;
    ranked *order = INFC_NEW(arena, ranked, cap), *best = INFC_NEW(arena, ranked, cap);
    ranked *now = INFC_NEW(arena, ranked, cap);
    int *live = INFC_NEW(arena, int, cap);
    p.near_begin = INFC_NEW(arena, size_t, cap);
    find_bound(arena, &p);
    sort_by(&p, best, N_ORDERS - 1);
    *bound = p.bound;
    *end = by_first_use(&p, best, live);
    if (*end == p.bound || !find_pairs(arena, &p, best, live)) return;
    p.placed = INFC_NEW(arena, bool, cap);
    p.spans = INFC_NEW(arena, struct span, cap);
    for (int o = 0; o < N_ORDERS - 1 && *end > p.bound; o++) {
        sort_by(&p, order, o);
        uint64_t taken = place_in_order(&p, order);
        if (taken >= *end) continue;
        *end = taken;
        memcpy(best, order, (size_t)n * sizeof *best);
    }
    *end = improve(&p, best, now, order, *end);
    place_in_order(&p, best);
}
