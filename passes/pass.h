/* pass.h - what a pass is, and running the pipeline of passes.def. */
#ifndef INFC_PASS_H
#define INFC_PASS_H
#include "../compiler/frontend/spec.h"
#include "../compiler/ir/ir.h"

typedef struct infc_pass_cx {
    infc_ir *ir;
    const infc_spec *spec;
    const infc_target *target; /* null before the target is known */
    infc_arena *scratch;       /* reset after the pass */
    size_t n_changes;          /* the pass counts what it did */
} infc_pass_cx;

typedef enum infc_pass_phase { INFC_PASSES_MODEL, INFC_PASSES_TARGET } infc_pass_phase;

typedef struct infc_pass {
    const char *name; /* "fold-batchnorm" */
    infc_pass_phase phase;
    const char *needs, *keeps, *breaks; /* invariants in words, shown by `infc passes` */
    infc_status (*run)(infc_pass_cx *pass);
    int required; /* 1: --without refuses it */
} infc_pass;

size_t infc_pass_count(void);
const infc_pass *infc_pass_at(size_t i);
const infc_pass *infc_pass_find(const char *name);

/* What the driver may ask for while passes run. */
typedef struct infc_pass_options {
    const char *const *without; /* names; unknown ones are refused by the driver */
    size_t n_without;
    const char *only;       /* run this one pass alone (tests), or null */
    const char *stop_after; /* a pass name, or null */
    /* Called after each pass with the IR as it then is. */
    void (*seen)(void *user, const infc_pass *pass, infc_ir *ir, size_t n_changes, double seconds);
    void *user;
} infc_pass_options;

/* Runs the passes of one phase in order, verifying the IR after each. Stops at the first failure. */
infc_status infc_passes_run(infc_ir *ir, const infc_spec *spec, const infc_target *target,
                            infc_pass_phase phase, const infc_pass_options *options);

/* infc_pass_fold_constants and so on, one file each. */
#define INFC_PASS(name, function, phase, required, needs, keeps, breaks) \
    infc_status infc_pass_##function(infc_pass_cx *pass);
#include "passes.def"
#undef INFC_PASS

#endif
