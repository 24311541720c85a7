/* fast.c - precision.float: fast, for one target: whose instructions multiply half floats. */
#include "compile.h"

static const char *const halves[] = {"bf16", "f16"};
enum { N_HALVES = sizeof halves / sizeof *halves };

static bool is_any(infc_isa isa) {
    bool any = false;
    for (int i = 0; i < N_HALVES; i++) any |= infk_fast(isa, halves[i]) != INFK_matmul;
    return any;
}

/* A program runs the newest level that its CPU has, and gives the same bits on each. */
static infc_status check_levels(infc_cx *cx, const infc_spec *spec, const infc_target *target) {
    for (size_t i = 1; i < target->n_levels; i++) {
        const infc_target *level = target->levels[i], *before = target->levels[i - 1];
        bool same = true;
        for (int h = 0; h < N_HALVES; h++)
            same &= infk_fast(level->isa, halves[h]) == infk_fast(before->isa, halves[h]);
        if (same) continue;
        return infc_fail(
            cx, INFC_ERR_SPEC, (infc_loc){.file = spec->path},
            "target \"%s\": with precision.float: fast, %s and %s give different bits, and one "
            "program "
            "gives the same on every CPU; make them two targets, or take precision.float: exact",
            target->name, before->name, level->name);
    }
    return INFC_OK;
}

infc_status infc_fast_suit(infc_cx *cx, infc_build *build, const infc_target *target) {
    infc_isa fast = INFC_ISA_generic;
    if (build->spec.fast) {
        INFC_TRY(check_levels(cx, &build->spec, target));
        if (is_any(target->isa)) fast = target->isa;
    }
    build->ir.fast = fast;
    for (size_t i = 0; i < build->n_stages; i++) build->stages[i].ir.fast = fast;
    return INFC_OK;
}

/* Matrices of an ONNX model, which the target does not keep from becoming bf16. */
static size_t count_rounded(const infc_plan *plan) {
    size_t n = 0;
    for (size_t i = 0; i < plan->weights->n; i++)
        n += plan->weights->items[i].origin == infc_origin_rounded;
    return n;
}

void infc_fast_warn(infc_cx *cx, const infc_spec *spec, const infc_plan *plan) {
    const infc_isa isa = plan->target.isa;
    const infc_loc loc = {.file = spec->path};
    bool used = false;
    for (int i = 0; i < plan->n_steps; i++) {
        const infk_kernel *kernel = plan->steps[i].kernel;
        if (!kernel) continue;
        for (int h = 0; h < N_HALVES; h++)
            used |= kernel->kind != INFK_matmul && kernel->kind == infk_fast(isa, halves[h]);
    }
    if (!spec->fast || used) return;
    const size_t rounded = count_rounded(plan);
    const bool any = is_any(isa);
    if (rounded)
        infc_warn(cx, loc,
                  "precision.float: fast: target %s has no instructions for products of %s; they "
                  "are exact, but "
                  "of weights that are rounded to bf16 (matrices: %zu), as for every target; give "
                  "precision.weights: f32 to keep them as they are",
                  plan->target.name, any ? "bf16" : "half floats", rounded);
    else if (!any)
        infc_warn(
            cx, loc,
            "precision.float: fast: target %s has no instructions for products of half floats; "
            "they are exact",
            plan->target.name);
    else
        infc_warn(cx, loc, "precision.float: fast makes no difference on target %s: no matrix of weights is %s%s",
                  plan->target.name, infk_fast(isa, "bf16") != INFK_matmul ? "bf16" : "f16",
                  spec->llm ? "; see precision.weights" : "");
}
