/* plan_memory.c - offsets in the arena. Buffers whose lives overlap must not overlap in memory. One
 * after the other goes to the lowest offset that is free for its whole life (greedy by size, as in Pisarchyk and Lee,
 * "Efficient Memory Management for Deep Neural Net Inference", 2020); of a few such orders the best is kept. The lower
 * bound is the most that is live in one step. */
#include "plan_internal.h"
#include <stdlib.h>

int infc_plan_root(const infc_plan *plan, int buffer) {
    while (plan->buffers[buffer].alias_of >= 0) buffer = plan->buffers[buffer].alias_of;
    return buffer;
}

static uint64_t padded(const infc_plan_buffer *buffer) {
    return (buffer->bytes + INFC_OVER_READ + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
}

static bool in_arena(const infc_plan_buffer *buffer) {
    return buffer->place == INFC_PLACE_ARENA && buffer->alias_of < 0;
}

static bool lives_overlap(const infc_plan_buffer *a, const infc_plan_buffer *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest offset where `buffer` fits among those placed before it, which are sorted by offset. */
static uint64_t lowest_fit(const infc_plan *plan, const int *placed, int n, const infc_plan_buffer *buffer) {
    uint64_t at = 0;
    for (int i = 0; i < n; i++) {
        const infc_plan_buffer *other = &plan->buffers[placed[i]];
        if (!lives_overlap(buffer, other)) continue;
        if (at + padded(buffer) <= other->offset) break;
        if (other->offset + padded(other) > at) at = other->offset + padded(other);
    }
    return at;
}

static void insert_by_offset(const infc_plan *plan, int *placed, int n, int buffer) {
    int i = n;
    while (i > 0 && plan->buffers[placed[i - 1]].offset > plan->buffers[buffer].offset) {
        placed[i] = placed[i - 1];
        i--;
    }
    placed[i] = buffer;
}

/* One order in which to place the buffers. */
typedef struct ranked {
    uint64_t rank; /* larger ones first */
    int buffer;
} ranked;

static int larger_first(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank > y->rank ? -1 : 1;
    return x->buffer - y->buffer;
}

/* By size; by size and length of life; from the step where most is live outwards; by first use. */
enum { N_ORDERS = 4 };
static uint64_t rank_of(const infc_plan *plan, const infc_plan_buffer *buffer, int order, int fullest) {
    uint64_t life = (uint64_t)(buffer->last - buffer->first + 1), bytes = padded(buffer);
    bool at_fullest = buffer->first <= fullest && fullest <= buffer->last;
    switch (order) {
    case 0: return bytes;
    case 1: return bytes * life;
    case 2: return bytes + (at_fullest ? UINT64_MAX / 2 : 0);
    default: return (uint64_t)(plan->n_steps - buffer->first);
    }
}

/* The most bytes live in one step, and which step. */
static uint64_t lower_bound(infc_cx *cx, const infc_plan *plan, int *fullest) {
    uint64_t *live = INFC_NEW(cx->arena, uint64_t, (size_t)plan->n_steps + 1), most = 0;
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &plan->buffers[i];
        if (!in_arena(buffer)) continue;
        for (int s = buffer->first; s <= buffer->last && s < plan->n_steps; s++)
            live[s] += padded(buffer);
    }
    *fullest = 0;
    for (int s = 0; s < plan->n_steps; s++) {
        if (live[s] <= most) continue;
        most = live[s];
        *fullest = s;
    }
    return most;
}

/* Places the n buffers of `order`; returns the bytes needed. */
static uint64_t place_in_order(infc_plan *plan, const ranked *order, int n, int *placed) {
    uint64_t end = 0;
    for (int i = 0; i < n; i++) {
        infc_plan_buffer *buffer = &plan->buffers[order[i].buffer];
        buffer->offset = lowest_fit(plan, placed, i, buffer);
        insert_by_offset(plan, placed, i, order[i].buffer);
        if (buffer->offset + padded(buffer) > end) end = buffer->offset + padded(buffer);
    }
    return end;
}

infc_status infc_plan_place(infc_cx *cx, infc_plan *plan) {
    ranked *orders[N_ORDERS];
    int *placed = INFC_NEW(cx->arena, int, (size_t)plan->n_buffers + 1), n = 0, fullest, best = -1;
    plan->arena_lower_bound = lower_bound(cx, plan, &fullest);
    for (int o = 0; o < N_ORDERS; o++) {
        orders[o] = INFC_NEW(cx->arena, ranked, (size_t)plan->n_buffers + 1);
        n = 0;
        for (int i = 0; i < plan->n_buffers; i++)
            if (in_arena(&plan->buffers[i]))
                orders[o][n++] = (ranked){rank_of(plan, &plan->buffers[i], o, fullest), i};
        qsort(orders[o], (size_t)n, sizeof **orders, larger_first);
        uint64_t bytes = place_in_order(plan, orders[o], n, placed);
        if (best >= 0 && bytes >= plan->arena_bytes) continue;
        best = o;
        plan->arena_bytes = bytes;
        if (bytes == plan->arena_lower_bound) return INFC_OK;
    }
    place_in_order(plan, orders[best], n, placed);
    return INFC_OK;
}
