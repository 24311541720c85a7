/* compile.h - the pipeline: spec and model in, artefacts out. */
#ifndef INFC_COMPILE_H
#define INFC_COMPILE_H
#include "dump.h"
#include "link.h"

struct infc_build;
struct infc_built;

typedef struct infc_compile_options {
    const char *path;    /* a spec or a model */
    const char *out_dir; /* null: NAME-infc in the working directory */
    infc_texts targets;  /* instead of the spec's */
    infc_texts sets;     /* key=value, over the spec's */
    infc_texts without;  /* passes left out */
    infc_texts dumps;    /* stages, or "all" */
    const char *dump_to; /* folder for dumps; null: `dump_out` */
    infc_buf *dump_out;
    const char *stop_after; /* a stage, or null */
    bool for_checks;        /* a binary whatever the spec's kinds, and no budgets */
    bool as_floats; /* a language model with weights of f32 and a cache of f16, whatever the spec says */
    const char *only_llm; /* refuses other models at once, and says this of them; or null */
    bool keep_stages;     /* infc_build.stages */
    bool with_names;      /* infc_linked.named */
    bool keep_going; /* a target that cannot be compiled for is told in infc_built.failed, and the others go on */
    /* Null, or looks at each target as soon as it is built, in infc_built.staged, or has failed. Then its files go, so
     * that those of one are there at a time; none get to `out_dir`. */
    infc_status (*look)(void *user, struct infc_build *build, struct infc_built *built);
    void *look_user;
} infc_compile_options;

#define INFC_CHECK_SEED 1u /* of made-up inputs */

typedef struct infc_timing {
    const char *stage, *target; /* target null: before it is known */
    double seconds;
} infc_timing;

typedef struct infc_built { /* for one target */
    const infc_target *target;
    const char *dir;    /* in the output folder: DIR, or DIR/TARGET when there are several */
    const char *staged; /* where it is made; null: nothing is */
    infc_ir *lowered;   /* for it: after the last pass that ran */
    infc_plan plan;
    infc_plan *levels; /* of the target's levels, from the second on */
    infc_emitted emitted;
    infc_linked linked;
    const char *failed; /* why there is nothing of it in `dir`; null: there is */
} infc_built;

typedef enum infc_reached {
    INFC_REACHED_NOTHING,
    INFC_REACHED_SOURCES,
    INFC_REACHED_ARTEFACTS
} infc_reached;

typedef struct infc_stage_ir { /* a copy of the IR as it was then */
    const infc_pass *pass;     /* after which; null: as imported */
    infc_ir ir;
} infc_stage_ir;

typedef struct infc_build {
    infc_spec spec;
    infc_ir ir;            /* after the passes of the model: what the reference runs */
    infc_stage_ir *stages; /* as imported, then after each pass of the model that changed something */
    size_t n_stages, cap_stages;
    const char *out_dir;
    bool touched;         /* what was in out_dir may have changed; else it is as it was */
    infc_reached reached; /* what is in out_dir now */
    infc_built *targets;
    size_t n_targets;
    infc_timing *timings;
    size_t n_timings, cap_timings;
    double seconds;
} infc_build;

infc_status infc_compile(infc_cx *cx, const infc_compile_options *options, infc_build *out);

/* ---- parts, one file each --------------------------------------------------------------------------- */
/* fast.c: products of half floats as the target has them (precision.float: fast), in the reference too. To be called
 * before that runs for another target. Fails when levels of the target would give different bits. */
infc_status infc_fast_suit(infc_cx *cx, infc_build *build, const infc_target *target);
/* Warns when `fast` makes no product faster, and whether it has rounded weights all the same. */
void infc_fast_warn(infc_cx *cx, const infc_spec *spec, const infc_plan *plan);
/* memory.c: activations, inputs and outputs together. A warning says so when they are more than a quarter of this
 * machine's memory; the check fails when there is no room for a run of the reference as well. */
uint64_t infc_plan_memory(const infc_plan *plan);
void infc_memory_warn(infc_cx *cx, const infc_spec *spec, const infc_plan *plan);
infc_status infc_memory_check(infc_cx *cx, const infc_spec *spec, const infc_plan *plan);
/* choices.c: collects what is wrong with names of stages and passes. */
infc_status infc_compile_options_check(infc_cx *cx, const infc_compile_options *options);
/* "A,B" as A and B; a comma after a colon is between levels of one target. */
infc_texts infc_targets_split(infc_arena *arena, const infc_texts *names);
/* The targets of --target, split and duplicates left out, instead of the spec's. */
infc_status infc_targets_choose(infc_cx *cx, const infc_texts *names, infc_spec *spec);
/* budgets.c: fails with INFC_ERR_CHECK for each budget of the spec that a target exceeds, as far as it was built. */
infc_status infc_budgets_check(infc_cx *cx, const infc_build *build);
/* self_check.c: sets plan->check_seed and check_hash to what the reference makes of the inputs of infc_check_f32, for
 * `verify` of the binary; check_hash stays 0 when the model is large or has tensors other than f32, or, with a warning,
 * when it fails with these inputs: a loop that they do not end, an index out of range. */
infc_status infc_self_check(infc_cx *cx, infc_ir *ir, infc_plan *plan);
/* report.c: report.json in the folder of the target. The same compile gives the same bytes: no times. */
infc_status infc_report_write(infc_cx *cx, const infc_build *build, const infc_built *built);
/* summary.c: what a compile says at its end. */
void infc_summary_text(infc_cx *cx, const infc_build *build, infc_buf *out);
void infc_summary_json(infc_cx *cx, const infc_build *build, infc_buf *out);

#endif
