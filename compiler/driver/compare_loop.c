/* compare_loop.c - static cycles of the hottest loop, for the pipeline that targets.def names: what llvm-mca makes of a
 * hundred times round, with all loads from the nearest cache. */
#include "../base/file.h"
#include "../base/subprocess.h"
#include "code_words.h"
#include "compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const infc_code_loop *loop_of(const infc_code_mix *mix, const char *function) {
    for (size_t i = 0; i < mix->n_loops; i++)
        if (strcmp(mix->loops[i].function, function) == 0) return &mix->loops[i];
    return NULL;
}

static const infc_code_loop *hottest(const infc_compared *r) {
    const infc_code_loop *best = NULL;
    for (size_t i = 0; i < r->n_functions && !best; i++)
        best = loop_of(&r->mix, r->functions[i].name);
    for (size_t i = 0; i < r->mix.n_loops && r->n_functions == 0; i++)
        if (!best || r->mix.loops[i].products > best->products) best = &r->mix.loops[i];
    return best;
}

static const char *program(infc_arena *arena) {
    const char *path = infc_program_find(arena, "llvm-mca-22");
    return path ? path : infc_program_find(arena, "llvm-mca");
}

/* The line "Total Cycles:      510" of its report; NAN without. */
static double cycles_in(const char *report, int times) {
    static const char label[] = "Total Cycles:";
    const char *at = report ? strstr(report, label) : NULL;
    return at ? strtod(at + sizeof label - 1, NULL) / times : NAN;
}

infc_status infc_compare_loop(infc_comparison *c, infc_compared *out) {
    enum { TIMES = 100 };
    infc_arena *arena = c->cx->arena;
    const infc_target *target = &out->target;
    const infc_code_loop *loop = hottest(out);
    const infc_machine_code *code = infc_machine_code_get(target->platform->arch);
    out->loop = (infc_loop_cycles){.cycles = NAN};
    if (!target->pipeline) out->loop.why = "no pipeline of a CPU is known for it";
    else if (!loop) out->loop.why = "its code has no loop with multiplications";
    if (out->loop.why) return INFC_OK;
    out->loop.function = loop->function;
    out->loop.instructions = loop->instructions;
    const char *mca = program(arena);
    if (!mca) {
        out->loop.why = "llvm-mca is missing: apt-get install -y llvm-22";
        return INFC_OK;
    }
    const char *path = infc_path_join(arena, out->temp, "loop.s");
    INFC_TRY(infc_file_write(c->cx, path, (infc_bytes){(const uint8_t *)loop->text, strlen(loop->text)}, 0644));
    const char *const argv[] = {mca,
                                infc_arena_printf(arena, "-mtriple=%s", code->triple),
                                infc_arena_printf(arena, "-mcpu=%s", target->pipeline),
                                infc_arena_printf(arena, "-iterations=%d", TIMES),
                                "-skip-unsupported-instructions=lack-sched",
                                path,
                                NULL};
    infc_job job = {.argv = argv};
    INFC_TRY(infc_jobs_run(c->cx, &job, 1, 1));
    out->loop.cycles = job.exit_code == 0 ? cycles_in(job.output, TIMES) : NAN;
    if (isnan(out->loop.cycles))
        out->loop.why =
            infc_arena_printf(arena, "llvm-mca failed (exit %d): %.200s", job.exit_code, job.output);
    return INFC_OK;
}
