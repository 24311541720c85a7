/* verify.h - parts of `infc verify`, one file each. */
#ifndef INFC_VERIFY_H
#define INFC_VERIFY_H
#include "built_folder.h"
#include "compile.h"
#include "npz.h"

typedef struct infc_verify_options {
    bool json;
    infc_texts targets, sets;
    const char *inputs, *expect; /* .npz files, or null */
    const char *model; /* of a folder: the spec or model that it was compiled from, or null */
    double tolerance;  /* 0: the default */
    bool against_onnx;
} infc_verify_options;

/* ---- numbers: verify_close.c ------------------------------------------------------------------------- */

/* How far one tensor is from another. */
typedef struct infc_closeness {
    double error, largest; /* the greatest difference; the greatest finite number of the reference, 1 when all are 0 */
    double relative; /* error / largest; infinite where one is a number and the other is not, or shapes differ */
    int64_t at; /* the element where it is greatest */
    double reference, compiled;
    int64_t n_elements, n_over; /* all; those off by more than the tolerance */
    double rms; /* root mean square of the errors, over that of the reference (1 when all are 0) */
} infc_closeness;

typedef struct infc_tensor_stats {
    double least, most, mean; /* of the finite numbers */
    int64_t n, n_odd;         /* elements; those that are infinite or no number */
} infc_tensor_stats;

double infc_verify_element(infc_dtype dtype, const void *data, int64_t i);
infc_closeness infc_verify_close(const infc_tensor *reference, const infc_npz_entry *compiled, double tolerance);
infc_tensor_stats infc_verify_stats(const infc_tensor *tensor);

/* ---- results ------------------------------------------------------------------------------------------- */

/* Where compiled code and reference part for the first time. */
typedef struct infc_divergence {
    const char *tensor; /* null: they do not */
    const char *node;
    int64_t element, n_elements, n_different;
    double reference, compiled;
    uint64_t ulp; /* floats: representable numbers between them; UINT64_MAX when one is not a number */
} infc_divergence;

typedef struct infc_onnx_row { /* a tensor of the model that the compiled code keeps */
    const char *tensor, *node;
    infc_type type;
    infc_closeness total; /* all of the model from its inputs */
    infc_closeness own; /* its step alone, from what the compiled code has before it; when `stepped` */
    bool rounds, rounds_before; /* a float becomes a whole number or a truth value in its step; or before it */
    bool diverges;
} infc_onnx_row;

typedef struct infc_onnx_operand_stats { /* what the step that diverges reads */
    const char *name;                    /* null: a value that the model has no name for */
    infc_type type;
    infc_tensor_stats stats;
} infc_onnx_operand_stats;

enum { INFC_VERIFY_MAX_READ = 12, INFC_VERIFY_MAX_NODES = 12 };

typedef struct infc_onnx_check { /* against the graph as the file has it */
    infc_onnx_row *rows;         /* in the order of the graph */
    size_t n_rows, cap_rows;
    size_t n_fused;    /* named in the model, but kept by no step */
    bool stepped;      /* some total was off: steps were looked at one by one, */
    bool own_is_off;   /* and one of them is off by itself */
    size_t n_off;      /* total is off, */
    size_t n_diverged; /* and that is not because a number before it was rounded the other way */
    size_t first;      /* row of the first that diverges, when one does */
    const char *nodes[INFC_VERIFY_MAX_NODES]; /* that made it: the last is its own, the others are fused with it */
    infc_onnx_operand_stats read[INFC_VERIFY_MAX_READ]; /* by these; what the compiled code keeps, and was right */
    size_t n_nodes, n_read;
    infc_tensor first_reference; /* on the arena */
    const char *cause;           /* of the first */
} infc_onnx_check;

typedef struct infc_verified_run { /* one run of the binary */
    const char *sizes; /* "tokens 16"; null: the model has none known at run time only */
    size_t n_tensors;  /* compared bit for bit, outputs included */
    size_t n_fused;    /* named in the model, but kept by no step */
    infc_divergence first;
    infc_onnx_check *onnx; /* null: not asked for */
    double worst; /* --expect: the largest error over the largest expected value; -1: not asked for */
    const char *worst_output;
    bool ok;
} infc_verified_run;

typedef struct infc_verified { /* one target */
    const char *target, *how;  /* "natively" */
    const char *not_run;       /* a level that this machine cannot run: why; null: it was */
    infc_verified_run *runs;
    size_t n_runs;
    const char *left_out; /* sizes that were not run, and why; or null */
    bool own_ok;          /* the binary's own `verify` */
    const char *own_text;
    bool ok;
} infc_verified;

typedef struct infc_verification {
    infc_cx *cx;
    const infc_verify_options *options;
    double tolerance;
    const char *temp;
    const char *name; /* of the model */
    size_t n_files;   /* of a folder: hashes that were checked */
    infc_verified *results;
    size_t n;
    bool ok;
} infc_verification;

/* ---- parts ------------------------------------------------------------------------------------------------ */

/* verify_model.c: a spec or a model, compiled into a temporary folder; or what an earlier compile left. */
infc_status infc_verify_model(infc_verification *v, const char *path);
infc_status infc_verify_folder(infc_verification *v, const char *dir);

/* verify_sizes.c: the sizes to run at, most useful first. One choice when the model has none. */
typedef struct infc_verify_sizes {
    int64_t at[INFC_MAX_SIZES];
} infc_verify_sizes;
enum { INFC_VERIFY_MAX_SIZES = 3 };
size_t infc_verify_sizes_choose(const infc_ir *ir, infc_verify_sizes out[INFC_VERIFY_MAX_SIZES],
                                const char **left_out);
/* The sizes that inputs have: "tokens 16"; null when the model has none. */
const char *infc_verify_sizes_of(const infc_ir *ir, const infc_tensor *inputs);

/* verify_inputs.c: the inputs of the model from the file, or made up for given sizes when `path` is null: floats in
 * [-1, 1), small integers. */
infc_status infc_verify_inputs(infc_cx *cx, const infc_ir *ir, const int64_t *sizes,
                               const char *path, infc_tensor *inputs, const char **names);

/* What a run of the binary left. */
typedef struct infc_dumped {
    infc_npz outputs, tensors; /* tensors: intermediates, by the model's names */
} infc_dumped;

/* verify_walk.c: runs `ir` with the reference kernels beside what was dumped. */
typedef struct infc_verify_walk {
    const char *what; /* for the progress */
    void *user;
    bool forced; /* go on from the compiled code's numbers instead of the reference's */
    /* Every value but weights, in program order; or null. */
    void (*value)(void *user, MlirOperation op, const infc_tensor *tensor);
    /* Every value that the model names; `got` null: the compiled code has it not. Then the outputs; `op` is null.
     * False ends it. */
    bool (*tensor)(void *user, MlirOperation op, const char *name, const infc_tensor *reference,
                   const infc_npz_entry *got);
} infc_verify_walk;
infc_status infc_verify_each(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                             const infc_dumped *dumped, const infc_verify_walk *told);
/* `node "conv1" (Conv)`, or what stands for the outputs. */
const char *infc_verify_node(const infc_ir *ir, MlirOperation op);

/* verify_compare.c: what is before the targets, bit for bit. */
infc_status infc_verify_compare(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                                const infc_dumped *dumped, infc_verified_run *result);

/* verify_onnx.c: the graph as imported, within a tolerance. */
infc_status infc_verify_onnx(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs,
                             const infc_dumped *dumped, double tolerance, infc_onnx_check *out);
/* verify_cause.c: where the first divergence comes from: the compiled code, or which of the passes. */
infc_status infc_verify_cause(infc_cx *cx, const infc_build *build, const infc_tensor *inputs,
                              const infc_dumped *dumped, infc_onnx_check *check);

/* verify_expect.c: outputs against expected ones of the same name. Fails when no name is in both, or shapes differ. */
infc_status infc_verify_expect(infc_cx *cx, const infc_npz *outputs, const char *path, infc_verified_run *result);

/* verify_binary.c: the binary's outputs, and its intermediates when `tensors` is set; its own check. `run` tells the
 * files of one run in the folder `temp` from those of another. */
infc_status infc_verify_run(infc_cx *cx, const infc_target *target, const char *binary, const char *inputs,
                            const char *temp, const char *run, bool tensors, infc_dumped *out);
infc_status infc_verify_own(infc_cx *cx, const infc_target *target, const char *binary, infc_verified *result);

/* verify_folder.c: every file of the manifest has the hash it states, weights also that of their header; the header
 * and the bill of materials are among them. Records what differs. */
infc_status infc_verify_manifest(infc_cx *cx, const infc_built_folder *built, size_t *out_n_files);

/* verify_text.c, verify_json.c */
void infc_verify_text(const infc_verification *v, infc_buf *out);
void infc_verify_json(const infc_verification *v, infc_buf *out);

#endif
