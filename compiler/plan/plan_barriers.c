/* plan_barriers.c - where workers must meet. A step needs a barrier before it when, since the last one, memory
 * that it reads was written, or memory that it writes was read or written, by another worker. Steps of one unit are
 * all done by the same worker, so they need none among themselves, but for what every worker reads: conditions, and
 * indices, which are checked before they are used. */
#include "plan_internal.h"

enum {
    MAX_SINCE = 512
}; /* steps that are looked back at: more, and a barrier costs less than knowing */

typedef struct span { /* bytes that a step touches */
    infc_place place;
    int index;
    uint64_t begin, end;
} span;

static span span_of(const infc_plan *plan, int id) {
    const infc_plan_buffer *buffer = &plan->buffers[infc_plan_root(plan, id)];
    uint64_t begin = buffer->place == INFC_PLACE_ARENA ? buffer->offset : 0;
    int index = buffer->place == INFC_PLACE_ARENA ? 0 : buffer->index;
    return (span){buffer->place, index, begin, begin + buffer->bytes};
}

static bool overlap(span a, span b) {
    return a.place == b.place && a.index == b.index && a.begin < b.end && b.begin < a.end;
}

static int n_reads(const infc_plan_step *step) { return step->n_operands + step->n_extras; }

static int read_at(const infc_plan *plan, const infc_plan_step *step, int i) {
    return i < step->n_operands ? step->operands[i]
                                : plan->extras[step->first_extra + i - step->n_operands].buffer;
}

/* Whether all workers read that, whatever their part. */
static bool read_by_all(const infc_plan_step *step, int i) {
    return i == 1 && infc_plan_step_checks(step);
}

static int n_writes(const infc_plan_step *step) { return step->n_stores + (step->scratch >= 0); }

static int written_at(const infc_plan *plan, const infc_plan_step *step, int i) {
    return i < step->n_stores ? plan->stores[step->first_store + i].buffer : step->scratch;
}

static bool writes_overlap(const infc_plan *plan, const infc_plan_step *step, span s) {
    for (int i = 0; i < n_writes(step); i++)
        if (overlap(s, span_of(plan, written_at(plan, step, i)))) return true;
    return false;
}

/* `shared`: only what all workers read. */
static bool reads_overlap(const infc_plan *plan, const infc_plan_step *step, span s, bool shared) {
    for (int i = 0; i < n_reads(step); i++)
        if ((!shared || read_by_all(step, i)) && overlap(s, span_of(plan, read_at(plan, step, i))))
            return true;
    for (int g = 0; (g = infc_plan_guard_next(plan, step, g)) > 0;)
        if (overlap(s, span_of(plan, plan->guards[g].buffer))) return true;
    return false;
}

static bool conflict(const infc_plan *plan, const infc_plan_step *earlier, const infc_plan_step *later) {
    bool one_worker = earlier->units == 1 && later->units == 1;
    for (int i = 0; i < n_writes(earlier); i++)
        if (reads_overlap(plan, later, span_of(plan, written_at(plan, earlier, i)), one_worker))
            return true;
    for (int i = 0; i < n_writes(later); i++) {
        span s = span_of(plan, written_at(plan, later, i));
        if (!one_worker && writes_overlap(plan, earlier, s)) return true;
        if (reads_overlap(plan, earlier, s, one_worker)) return true;
    }
    return false;
}

void infc_plan_barriers(infc_plan *plan) {
    int since = 0; /* first step after the last barrier */
    for (int s = 0; s < plan->n_steps; s++) {
        plan->steps[s].barrier = s - since >= MAX_SINCE;
        for (int e = since; e < s && !plan->steps[s].barrier; e++)
            plan->steps[s].barrier = conflict(plan, &plan->steps[e], &plan->steps[s]);
        if (plan->steps[s].barrier) since = s;
    }
}
