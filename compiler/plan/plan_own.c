/* plan_own.c - steps of a language model that each worker does whole, into memory of its own, when there are few rows:
 * making a record of a row again costs less than waiting for whoever made it. What it reads stays as it is until
 * everyone is past the steps that read the record. */
#include "place.h"
#include "plan_internal.h"

static bool makes_records(const infc_plan_step *step) {
    if (!step->kernel || step->guard || step->n_stores != 1) return false;
    switch (step->kernel->kind) {
    case INFK_quantize:
    case INFK_rms_quantize:
    case INFK_quantize_groups:
    case INFK_rms_groups: return true;
    default: return false;
    }
}

/* Where a step's buffer is read last; -1 when not as an operand alone. */
static int last_reader(const infc_plan *plan, int buffer) {
    int last = -1;
    for (int s = 0; s < plan->n_steps; s++) {
        const infc_plan_step *step = &plan->steps[s];
        for (int i = 0; i < step->n_operands; i++)
            if (infc_plan_root(plan, step->operands[i]) == buffer) last = s;
        for (int i = 0; i < step->n_extras; i++)
            if (infc_plan_root(plan, plan->extras[step->first_extra + i].buffer) == buffer)
                return -1;
    }
    return last;
}

static void keep_operands(infc_plan *plan, const infc_plan_step *step, int until) {
    for (int i = 0; i < step->n_operands; i++) {
        infc_plan_buffer *read = &plan->buffers[infc_plan_root(plan, step->operands[i])];
        if (read->last < until) read->last = until;
    }
}

/* The step before a kv_store, when it makes q, k and v one after another and nothing else. Those between that only
 * adapters need are left out where there are none. */
static void share_by_groups(infc_plan *plan, int s) {
    const infc_plan_step *store = &plan->steps[s];
    const infk_kv_dims *kv = &store->call.dims.kv;
    int before = s - 1;
    while (before >= 0 && plan->steps[before].guard) before--;
    infc_plan_step *qkv = before >= 0 ? &plan->steps[before] : NULL;
    if (!qkv || !qkv->kernel || qkv->guard || qkv->n_stores != 1 || qkv->n_exprs) return;
    const infk_kind kind = qkv->kernel->kind;
    if (kind != INFK_linear_i8 && kind != INFK_linear_i4 && kind != INFK_linear_keep) return;
    const int64_t q = kv->heads * kv->head_dim / 16, k = kv->groups * kv->head_dim / 16;
    if (plan->stores[qkv->first_store].buffer != infc_plan_root(plan, store->operands[0]) ||
        qkv->units != q + 2 * k)
        return;
    for (int i = before; i < s; i++) { /* and what adds to them in place */
        infc_plan_step *step = &plan->steps[i];
        if (i > before && (!step->kernel || step->kernel->kind != INFK_adapter_out)) continue;
        step->parts[0] = q;
        step->parts[1] = step->parts[2] = k;
    }
}

void infc_plan_own(infc_cx *cx, infc_plan *plan) {
    if (!plan->llm) return;
    infc_place_item *items = INFC_NEW(cx->arena, infc_place_item, (size_t)plan->n_steps + 1);
    int *buffers = INFC_NEW(cx->arena, int, (size_t)plan->n_steps + 1), n = 0;
    for (int s = 0; s < plan->n_steps; s++) {
        infc_plan_step *step = &plan->steps[s];
        if (step->kernel && step->kernel->kind == INFK_kv_store) {
            keep_operands(plan, step, s + 1);
            share_by_groups(plan, s);
        }
        if (!makes_records(step)) continue;
        const int id = plan->stores[step->first_store].buffer, last = last_reader(plan, id);
        infc_plan_buffer *made = &plan->buffers[id];
        if (last < 0 || made->place != INFC_PLACE_ARENA || made->alias_of >= 0) continue;
        const uint64_t row = made->bytes / (uint64_t)infc_dim_most(made->type.dims[0]);
        step->own = made->own = true;
        keep_operands(plan, step, last);
        const uint64_t bytes = INFC_PLAN_FEW_ROWS * row + INFC_OVER_READ;
        items[n] = (infc_place_item){(bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN, 0, s, last};
        buffers[n++] = id;
    }
    uint64_t bound;
    infc_place_items(cx->arena, items, n, &plan->arena_bytes_per_worker, &bound);
    for (int i = 0; i < n; i++) plan->buffers[buffers[i]].own_offset = INFC_ALIGN + items[i].offset;
    plan->arena_bytes_per_worker += INFC_ALIGN; /* before them, what is taken of its units: NAME.c.in */
}
