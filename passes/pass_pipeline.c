/* pass_pipeline.c - runs the passes of passes.def in order; the IR is verified after each. */
#include "../compiler/base/interrupt.h"
#include "pass.h"
#include <string.h>
#include <time.h>

static const infc_pass passes[] = {
#define INFC_PASS(name, function, phase, required, needs, keeps, breaks) \
    {name, INFC_PASSES_##phase, needs, keeps, breaks, infc_pass_##function, required},
#include "passes.def"
#undef INFC_PASS
};

size_t infc_pass_count(void) { return sizeof passes / sizeof *passes; }

const infc_pass *infc_pass_at(size_t i) { return &passes[i]; }

const infc_pass *infc_pass_find(const char *name) {
    for (size_t i = 0; i < infc_pass_count(); i++)
        if (strcmp(passes[i].name, name) == 0) return &passes[i];
    return NULL;
}

static bool is_left_out(const infc_pass_options *options, const infc_pass *pass) {
    if (options->only) return strcmp(options->only, pass->name) != 0;
    for (size_t i = 0; i < options->n_without; i++)
        if (strcmp(options->without[i], pass->name) == 0) return !pass->required;
    return false;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static infc_status run(const infc_pass *pass, infc_pass_cx *pass_cx, const infc_pass_options *options) {
    double start = now();
    pass_cx->n_changes = 0;
    INFC_TRY(infc_interrupt_check(pass_cx->ir->cx));
    INFC_TRY(pass->run(pass_cx));
    INFC_TRY(infc_ir_verify(pass_cx->ir, pass->name));
    double seconds = now() - start;
    if (options->seen) options->seen(options->user, pass, pass_cx->ir, pass_cx->n_changes, seconds);
    return INFC_OK;
}

infc_status infc_passes_run(infc_ir *ir, const infc_spec *spec, const infc_target *target,
                            infc_pass_phase phase, const infc_pass_options *options) {
    static const infc_pass_options none = {0};
    if (!options) options = &none;
    infc_arena *scratch = infc_arena_create_scratch(ir->cx->arena);
    infc_pass_cx pass_cx = {.ir = ir, .spec = spec, .target = target, .scratch = scratch};
    infc_status status = INFC_OK;
    for (size_t i = 0; i < infc_pass_count() && status == INFC_OK; i++) {
        if (passes[i].phase != phase || is_left_out(options, &passes[i])) continue;
        status = run(&passes[i], &pass_cx, options);
        infc_arena_reset(scratch);
        if (options->stop_after && strcmp(options->stop_after, passes[i].name) == 0) break;
    }
    infc_arena_destroy(&scratch);
    return status;
}
