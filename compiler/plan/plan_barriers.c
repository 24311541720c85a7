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

/* An operand that is written too. */
static int written_operand(const infc_plan_step *step) {
    return step->kernel ? infk_written_operand(step->kernel->kind) : -1;
}

/* attend shares out the parts of one row in mode FEW alone. */
static bool uses_scratch(const infc_plan_step *step, infc_plan_mode mode) {
    return step->scratch >= 0 && (!step->kernel || step->kernel->kind != INFK_attend || mode == INFC_MODE_FEW);
}

static int n_writes(const infc_plan_step *step, infc_plan_mode mode) {
    return step->n_stores + uses_scratch(step, mode) + (written_operand(step) >= 0);
}

static int written_at(const infc_plan *plan, const infc_plan_step *step, int i, infc_plan_mode mode) {
    if (i < step->n_stores) return plan->stores[step->first_store + i].buffer;
    return i == step->n_stores && uses_scratch(step, mode) ? step->scratch
                                                           : step->operands[written_operand(step)];
}

/* Memory that others do not see in this mode. */
static bool is_own(const infc_plan *plan, int buffer, infc_plan_mode mode) {
    return mode != INFC_MODE_MANY && plan->buffers[infc_plan_root(plan, buffer)].own;
}

/* Units are rows of KV groups, and the worker that stores keys and query of a unit is the one that reads them, where
 * rows do not see each other (APART) or all rows of a group are one worker's (SHARED). Then that worker may also be the
 * one that computes them. */
static bool same_groups(const infc_plan_step *earlier, const infc_plan_step *later, infc_plan_mode mode) {
    if (mode > INFC_MODE_APART || !earlier->kernel || !later->kernel) return false;
    if (later->kernel->kind == INFK_attend) return earlier->kernel->kind == INFK_kv_store;
    return mode == INFC_MODE_SHARED && earlier->parts[0] && later->kernel->kind == INFK_kv_store;
}

static bool writes_overlap(const infc_plan *plan, const infc_plan_step *step, span s, infc_plan_mode mode) {
    for (int i = 0; i < n_writes(step, mode); i++)
        if (!is_own(plan, written_at(plan, step, i, mode), mode) &&
            overlap(s, span_of(plan, written_at(plan, step, i, mode))))
            return true;
    return false;
}

/* `shared`: only what all workers read. */
static bool reads_overlap(const infc_plan *plan, const infc_plan_step *step, span s, bool shared,
                          infc_plan_mode mode) {
    for (int i = 0; i < n_reads(step); i++)
        if ((!shared || read_by_all(step, i)) && !is_own(plan, read_at(plan, step, i), mode) &&
            overlap(s, span_of(plan, read_at(plan, step, i))))
            return true;
    for (int g = 0; (g = infc_plan_guard_next(plan, step, g)) > 0;)
        if (overlap(s, span_of(plan, plan->guards[g].buffer))) return true;
    return false;
}

static bool one_unit(const infc_plan_step *step, infc_plan_mode mode) {
    return step->units == 1 && !(step->own && mode != INFC_MODE_MANY);
}

static bool conflict(const infc_plan *plan, const infc_plan_step *earlier,
                     const infc_plan_step *later, infc_plan_mode mode) {
    const bool one_worker = one_unit(earlier, mode) && one_unit(later, mode);
    for (int i = 0; i < n_writes(earlier, mode); i++) {
        const int written = written_at(plan, earlier, i, mode);
        if (is_own(plan, written, mode) || same_groups(earlier, later, mode)) continue;
        if (reads_overlap(plan, later, span_of(plan, written), one_worker, mode)) return true;
    }
    for (int i = 0; i < n_writes(later, mode); i++) {
        const int written = written_at(plan, later, i, mode);
        if (is_own(plan, written, mode)) continue;
        const span s = span_of(plan, written);
        if (!one_worker && writes_overlap(plan, earlier, s, mode)) return true;
        if (reads_overlap(plan, earlier, s, one_worker, mode)) return true;
    }
    return false;
}

/* Whether the step's guards hold where rows have adapters for the groups of the mask `uses`. */
static bool is_done(const infc_plan *plan, const infc_plan_step *step, unsigned uses) {
    for (int g = 0; infc_plan_adapts(plan) && (g = infc_plan_guard_next(plan, step, g)) > 0;) {
        const int group = plan->buffers[infc_plan_root(plan, plan->guards[g].buffer)].index - INFC_LLM_ADAPTS_QKV;
        if ((uses >> group & 1u) != plan->guards[g].taken) return false;
    }
    return true;
}

/* Whether its units may be any worker's: nobody relies on who did which, and they take long enough to be counted, since
 * each reads weights of its own. */
static bool for_any_worker(const infc_plan_step *step) {
    if (!step->kernel || step->units < 2 || step->units > UINT16_MAX) return false;
    switch (step->kernel->kind) {
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_linear_keep:
    case INFK_gated_i8:
    case INFK_gated_i4:
    case INFK_gated_keep:
    case INFK_matmul:
    case INFK_matmul_vdpbf16:
    case INFK_matmul_tdpbf16:
    case INFK_matmul_bfdot:
    case INFK_matmul_fmaph: return true;
    default: return false;
    }
}

static void find_barriers(infc_plan *plan, infc_plan_mode mode, unsigned uses) {
    const uint64_t bit = (uint64_t)1 << (mode + INFC_N_MODES * uses);
    int since = 0; /* first step after the last barrier */
    bool counted = true; /* a step since then counts what is taken, or some may not have begun: one at a time does */
    for (int s = 0; s < plan->n_steps; s++) {
        bool meet = s - since >= MAX_SINCE;
        if (!is_done(plan, &plan->steps[s], uses)) continue;
        for (int e = since; e < s && !meet; e++)
            meet = is_done(plan, &plan->steps[e], uses) &&
                   conflict(plan, &plan->steps[e], &plan->steps[s], mode);
        if (meet) {
            plan->steps[s].meets |= bit;
            since = s;
            counted = false;
        }
        if (!plan->llm || counted || !for_any_worker(&plan->steps[s])) continue;
        plan->steps[s].guided |= bit;
        counted = true;
    }
}

bool infc_plan_adapts(const infc_plan *plan) { return plan->llm && plan->n_guards > 1; }

void infc_plan_barriers(infc_plan *plan) {
    for (int s = 0; s < plan->n_steps; s++) plan->steps[s].meets = plan->steps[s].guided = 0;
    const unsigned subsets = infc_plan_adapts(plan) ? 1u << INFC_PLAN_GROUPS : 1;
    for (unsigned uses = 0; uses < subsets; uses++)
        for (infc_plan_mode mode = plan->llm ? 0 : INFC_MODE_MANY; mode <= INFC_MODE_MANY; mode++)
            find_barriers(plan, mode, uses);
    for (int s = 0; s < plan->n_steps; s++) plan->steps[s].barrier = plan->steps[s].meets != 0;
}
