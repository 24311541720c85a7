/* plan_kernel.c - which kernel does a call. Over open dims it must be able to do the call for all sizes. Whether it
 * is, kernels.def says as a condition on numbers, so it is asked for many: all sizes at their least and at their most,
 * each of the first and of some others, since conditions are comparisons and multiples of 16. Where the largest sizes
 * would have another kernel alone, the step has both. */
#include "plan_internal.h"

enum { N_TRIED = 64, N_FIRST = 33 };

static int64_t size_tried(const infc_size *size, int i, int which) {
    int64_t n = (size->max - size->min) / size->step, at;
    uint64_t random = infc_check_random(1, (uint64_t)which, (uint64_t)i);
    if (which == 0) at = 0;
    else if (which == 1) at = n;
    else if (which < N_FIRST) at = which - 1;
    else if (which % 2) at = random % 2 ? n : 0;
    else at = (int64_t)(random % (uint64_t)(n + 1));
    return size->min + (at < n ? at : n) * size->step;
}

void infc_plan_kernel(const infc_builder *b, infc_plan_step *step, infc_kernel_call *most) {
    const infc_kernel_call *call = &step->call;
    const infc_sizes *sizes = b->plan->sizes;
    const infc_isa isa = b->plan->target.isa;
    int n_sizes = infc_sizes_count(sizes);
    *most = *call;
    if (n_sizes == 0) {
        step->kernel = infk_kernel_select(call->kind, call->types, isa, &call->dims);
        return;
    }
    infc_arena *scratch = infc_arena_create_scratch(b->cx->arena);
    infc_kernel_call *calls = INFC_NEW(scratch, infc_kernel_call, N_TRIED);
    for (int which = 0; which < N_TRIED; which++) {
        int64_t tried[INFC_MAX_SIZES] = {0};
        for (int i = 0; i < n_sizes; i++) tried[i] = size_tried(infc_sizes_at(sizes, i), i, which);
        calls[which] = infc_call_at(call, tried);
    }
    *most = calls[1];
    const infk_kernel *best = infk_kernel_select(call->kind, call->types, isa, &most->dims);
    step->kernel = infk_kernel_select_all(call->kind, call->types, isa, &calls[0].dims, sizeof *calls, N_TRIED);
    step->large = best == step->kernel ? NULL : best;
    infc_arena_destroy(&scratch);
}
