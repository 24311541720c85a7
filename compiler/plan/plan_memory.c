/* plan_memory.c - offsets in the arena. Buffers whose lives overlap must not overlap in memory. Largest first,
 * each at the lowest offset that is free for its whole life (greedy by size, as in Pisarchyk and Lee, "Efficient
 * Memory Management for Deep Neural Net Inference", 2020). The lower bound is the most that is live in one step. */
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

typedef struct sized {
    uint64_t bytes;
    int buffer;
} sized;

static int larger_first(const void *a, const void *b) {
    const sized *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->buffer - y->buffer;
}

static uint64_t lower_bound(infc_cx *cx, const infc_plan *plan) {
    uint64_t *live = INFC_NEW(cx->arena, uint64_t, (size_t)plan->n_steps + 1), most = 0;
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &plan->buffers[i];
        if (!in_arena(buffer)) continue;
        for (int s = buffer->first; s <= buffer->last && s < plan->n_steps; s++)
            live[s] += padded(buffer);
    }
    for (int s = 0; s < plan->n_steps; s++)
        if (live[s] > most) most = live[s];
    return most;
}

infc_status infc_plan_place(infc_cx *cx, infc_plan *plan) {
    sized *order = INFC_NEW(cx->arena, sized, (size_t)plan->n_buffers + 1);
    int *placed = INFC_NEW(cx->arena, int, (size_t)plan->n_buffers + 1), n = 0;
    for (int i = 0; i < plan->n_buffers; i++)
        if (in_arena(&plan->buffers[i])) order[n++] = (sized){padded(&plan->buffers[i]), i};
    qsort(order, (size_t)n, sizeof *order, larger_first);
    plan->arena_bytes = 0;
    for (int i = 0; i < n; i++) {
        infc_plan_buffer *buffer = &plan->buffers[order[i].buffer];
        buffer->offset = lowest_fit(plan, placed, i, buffer);
        insert_by_offset(plan, placed, i, order[i].buffer);
        if (buffer->offset + padded(buffer) > plan->arena_bytes)
            plan->arena_bytes = buffer->offset + padded(buffer);
    }
    plan->arena_lower_bound = lower_bound(cx, plan);
    return INFC_OK;
}
