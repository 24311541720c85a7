/* compile.c - the pipeline, from spec and model to artefacts. Each step is in pipeline.c; a step that comes after
 * --stop-after does nothing. */
#include "../base/interrupt.h"
#include "clock.h"
#include "pipeline.h"

static infc_status compile_for(infc_pipeline *p, infc_built *built) {
    p->target = built->target;
    INFC_TRY(infc_pipeline_lower(p, built)); /* a copy of the IR gets layouts and fused steps: no bit changes */
    INFC_TRY(infc_pipeline_plan(p, built)); /* plain arrays: steps, buffers, barriers; MLIR ends here */
    INFC_TRY(infc_pipeline_emit(p, built)); /* C, headers, weights, build files */
    return infc_pipeline_link(p, built); /* cc in parallel, objects from the cache; report and manifest */
}

/* What is wrong with one target, and not with this machine or with infc, ends that target only, if so wished. */
static infc_status try_for(infc_pipeline *p, infc_built *built) {
    const size_t mark = p->cx->n_diags;
    const infc_status status = compile_for(p, built);
    if (p->options->keep_going && status == INFC_OK && !p->no_targets)
        infc_milestone(p->cx, "%s: compiled", built->target->name);
    if (!p->options->keep_going || (status != INFC_ERR_TOOLCHAIN && status != INFC_ERR_UNSUPPORTED))
        return status;
    INFC_TRY(infc_interrupt_check(p->cx));
    built->failed = infc_diags_take(p->cx, mark);
    if (built->staged) infc_dir_remove(built->staged);
    return INFC_OK;
}

static infc_status show(infc_pipeline *p, infc_built *built) {
    const infc_compile_options *o = p->options;
    if (!o->look || p->no_targets) return INFC_OK;
    INFC_TRY(o->look(o->look_user, p->build, built));
    if (!built->staged) return INFC_OK;
    infc_file_let_go(p->cx, built->staged);
    infc_dir_remove(built->staged);
    return INFC_OK;
}

static infc_status run(infc_pipeline *p) {
    infc_build *build = p->build;
    INFC_TRY(infc_pipeline_begin(p));  /* the command line is checked */
    INFC_TRY(infc_pipeline_spec(p));   /* YAML, or the defaults for a bare model */
    INFC_TRY(infc_pipeline_open(p));   /* the staged output folder */
    INFC_TRY(infc_pipeline_import(p)); /* ONNX to the infc dialect and a weight table */
    INFC_TRY(infc_pipeline_model(p));  /* passes that may change a bit; no target is known yet */
    for (size_t i = 0; i < build->n_targets; i++) {
        INFC_TRY(try_for(p, &build->targets[i]));
        INFC_TRY(show(p, &build->targets[i])); /* to who wants to see it now, and not as files */
    }
    if (p->options->look) return INFC_OK;
    return infc_pipeline_commit(p); /* budgets; only now is anything under its final name */
}

infc_status infc_compile(infc_cx *cx, const infc_compile_options *options, infc_build *out) {
    infc_pipeline p = {.cx = cx, .options = options, .build = out};
    double start = infc_seconds();
    infc_status status = run(&p);
    infc_status kept = infc_pipeline_keep_dumps(&p, status);
    if (status == INFC_OK) status = kept;
    out->touched = p.stage && p.stage->touched;
    out->seconds = infc_seconds() - start;
    return status;
}
