/* pipeline.h - the steps of compile.c, in order. */
#ifndef INFC_PIPELINE_H
#define INFC_PIPELINE_H
#include "../base/file.h"
#include "compile.h"

typedef struct infc_pipeline {
    infc_cx *cx;
    const infc_compile_options *options;
    infc_build *build;
    infc_dumps dumps;
    infc_pass_options passes;
    const infc_target *target; /* null before it is known */
    infc_ir *lowered;          /* for the target; the plan borrows its weights */
    infc_stage *stage;         /* null when no file is to be written */
    infc_stage *dump_stage;    /* of --dump-to, or null */
    double mark;               /* when the stage that runs began */
    bool stopped;              /* --stop-after has been reached: the steps that follow do nothing */
    bool no_targets;           /* it was, before any target was known */
} infc_pipeline;

infc_status infc_pipeline_begin(infc_pipeline *p);
infc_status infc_pipeline_spec(infc_pipeline *p);
infc_status infc_pipeline_open(infc_pipeline *p);
infc_status infc_pipeline_import(infc_pipeline *p);
infc_status infc_pipeline_model(infc_pipeline *p);
infc_status infc_pipeline_lower(infc_pipeline *p, infc_built *built);
infc_status infc_pipeline_plan(infc_pipeline *p, infc_built *built);
infc_status infc_pipeline_emit(infc_pipeline *p, infc_built *built);
infc_status infc_pipeline_link(infc_pipeline *p, infc_built *built);
infc_status infc_pipeline_commit(infc_pipeline *p);
/* Whatever the end of the compile was: gives the files of --dump-to their names, or removes them. */
infc_status infc_pipeline_keep_dumps(infc_pipeline *p, infc_status status);

#endif
