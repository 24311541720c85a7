/* emit.h - a plan as files: C, headers, weights, build files, reports. Sees no IR. */
#ifndef INFC_EMIT_H
#define INFC_EMIT_H
#include "../plan/plan.h"

typedef struct infc_emit_options {
    const infc_spec *spec;
    const char *dir; /* folder to write to: DIR/NAME.h, DIR/src/... */
} infc_emit_options;

/* What was written, for link and reports. Names relative to `dir`. */
typedef struct infc_emitted {
    const char **model_sources; size_t n_model_sources;     /* C of the model; go into library and binary */
    const char **runtime_sources; size_t n_runtime_sources; /* infrt core and app, main: binary only */
    const char *weights_file;   /* "src/NAME.weights": header and tensors */
    const char *weights_asm;    /* "src/NAME_weights.S": .incbin; null with weights: file */
    const char *header;         /* "NAME.h" */
    uint64_t layout_hash, weights_hash, weights_bytes;
} infc_emitted;

infc_status infc_emit(infc_cx *cx, const infc_plan *plan, const infc_emit_options *options, infc_emitted *out);
/* The generated C alone, as text: for golden tests and --dump emit. */
infc_status infc_emit_source(infc_cx *cx, const infc_plan *plan, infc_buf *out);

/* ---- parts, one file each --------------------------------------------------------------------------- */
/* expand.c: the template language: ${expr}, lines `$for i in 0..mr`, `$if expr`, `$else`, `$end`; integers and
 * names given in `vars`. Errors name file:line. */
typedef struct infc_expand_var {
    const char *name;
    const char *text; /* substituted by ${name}; used as an integer in expressions when it is one */
} infc_expand_var;
infc_status infc_expand(infc_cx *cx, const char *file, infc_bytes text, const infc_expand_var *vars, size_t n_vars,
                        infc_buf *out);

/* kernel_text.c: one instance of a kernel as a static inline function `fn`, results through the functions `epi`
 * and (vector text only) `<epi>_tail`, whose first argument is `const struct <epi> *e`. Emits its own prologue (types, ld, st, EPI) and undoes
 * it, so that instances can follow each other in one file. */
infc_status infc_kernel_text(infc_cx *cx, const infk_kernel *kernel, const char *fn, const char *epi, infc_buf *out);
/* The dims struct of a kind as C text. */
void infc_kernel_dims_text(infk_kind kind, infc_buf *out);
/* The vocabulary of a level: scalar.h and <isa>.h of templates/simd, as one guarded header. */
infc_status infc_simd_text(infc_cx *cx, infc_isa isa, const char *guard, infc_buf *out);

/* expr.c: the expression printer, scalar (lanes 1) or 16 lanes. */
void infc_expr_print(const infc_plan *plan, const infc_plan_step *step, int lanes, infc_buf *out);

#endif
