/* plan_memory.c - offsets in the arena (place.h says how). The lower bound is the most that is live in one step. */
#include "place.h"
#include "plan_internal.h"

int infc_plan_root(const infc_plan *plan, int buffer) {
    while (plan->buffers[buffer].alias_of >= 0) buffer = plan->buffers[buffer].alias_of;
    return buffer;
}

int infc_plan_guard_next(const infc_plan *plan, const infc_plan_step *step, int guard) {
    return guard == 0 ? step->guard : plan->guards[guard].parent;
}

bool infc_plan_step_checks(const infc_plan_step *step) {
    if (!step->kernel) return false;
    switch (step->kernel->kind) {
    case INFK_gather:
    case INFK_scatter:
    case INFK_scatter_join: return true;
    case INFK_choose: return step->call.dims.choose.must != 0;
    default: return false;
    }
}

static uint64_t padded(const infc_plan_buffer *buffer) {
    return (buffer->bytes + INFC_OVER_READ + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
}

static bool in_arena(const infc_plan_buffer *buffer) {
    return buffer->place == INFC_PLACE_ARENA && buffer->alias_of < 0;
}

void infc_plan_place(infc_cx *cx, infc_plan *plan) {
    infc_place_item *items = INFC_NEW(cx->arena, infc_place_item, (size_t)plan->n_buffers + 1);
    int n = 0;
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &plan->buffers[i];
        if (!in_arena(buffer)) continue;
        int first = buffer->first < 0 ? 0 : buffer->first;
        int last = buffer->last < first ? first : buffer->last;
        items[n++] = (infc_place_item){padded(buffer), 0, first, last};
    }
    infc_place_items(cx->arena, items, n, &plan->arena_bytes, &plan->arena_lower_bound);
    n = 0;
    for (int i = 0; i < plan->n_buffers; i++)
        if (in_arena(&plan->buffers[i])) plan->buffers[i].offset = items[n++].offset;
}
