/* calibrate.h - parts of the pass `calibrate`, one file each. */
#ifndef INFC_CALIBRATE_H
#define INFC_CALIBRATE_H
#include "calibrate_math.h"
#include "../compiler/ir/eval.h"
#include "pass.h"

/* ---- calibrate_gptq.c ------------------------------------------------------------------------------------------ */

/* u[k][k], upper triangular, of h[k][k], of which the upper half is read: (h + damping * mean of its diagonal)^-1 =
 * u^T u. False: h is no sum of squares of numbers. */
bool infc_gptq_factor(infc_arena *scratch, const float *h, ptrdiff_t k, float damping, float *u);

typedef struct infc_gptq {
    ptrdiff_t n, k;              /* outputs; inputs, a multiple of 64 */
    const float *u, *importance; /* [k][k]; [k]: the diagonal of h */
    float *panels;  /* [ceil(n / 16)][k][16]: weights, and then what they have become */
    int8_t *chosen; /* [n][chosen_row], zeros: as choose_i4 makes them */
    ptrdiff_t chosen_row;
} infc_gptq;
void infc_gptq_round(const infc_gptq *g);

/* ---- calibrate_attend.c ---------------------------------------------------------------------------------------- */

/* Causal attention in floats over sequences of `length` rows each. */
typedef struct infc_attention {
    const float *qkv, *rope; /* [t][(heads + 2 groups) * dim]; [positions][dim]: cosine and sine of a pair in turn */
    float *keys, *out; /* room: [t / length][groups][dim][length]; result: [t][heads * dim] */
    ptrdiff_t t, length, heads, groups, dim, window;
    float scale;
} infc_attention;
void infc_attention_run(const infc_attention *a);
/* out[dim], `stride` apart: element i with i + dim / 2, by the angles of a position. */
void infc_turn(const float *x, const float *rope, ptrdiff_t dim, float *out, ptrdiff_t stride);

/* ---- calibrate_keys.c ------------------------------------------------------------------------------------------ */

/* What kv_store balances keys by (docs/adr/0024-balanced-keys.md), from q and k of all rows: out[3][groups][dim]. */
void infc_balance_of(infc_arena *scratch, const infc_attention *a, float *out);

/* ---- calibrate_weights.c --------------------------------------------------------------------------------------- */

/* The name of the first of the weights that a constant is made of. */
const char *infc_constant_name(const infc_ir *ir, MlirValue v);
/* What a value that depends on weights alone is. */
infc_status infc_constant(infc_ir *ir, infc_arena *scratch, MlirValue v, infc_tensor *out);
/* One that was read, if it lies in a file, gives its memory back: a model can be larger than what there is. */
void infc_constant_forget(const infc_ir *ir, const infc_tensor *constant);

typedef struct infc_matrix {
    int64_t n, inputs, k; /* k: inputs, where they are rotated in whole groups of 64 */
    float *panels;        /* [ceil(n / 16)][k][16] */
} infc_matrix;
/* What `pack` (pack_i8, choose_i4) reads, if `rotates` rotated as it does; `op` is told of in errors. */
infc_status infc_float_matrix(infc_ir *ir, infc_arena *scratch, MlirOperation op,
                              MlirOperation pack, bool rotates, infc_matrix *out);
/* Of pack_keep, as floats. */
infc_status infc_kept_matrix(infc_ir *ir, infc_arena *scratch, MlirOperation pack, infc_matrix *out);

/* ---- calibrate_run.c ------------------------------------------------------------------------------------------- */

typedef struct infc_calibration {
    infc_pass_cx *pass;
    bool chooses, balances; /* int4 weights; what int8 keys are balanced by */
    const int32_t *ids;
    int64_t n_ids, length; /* a multiple of length: sequences of so many tokens */
    const char *key;       /* what results depend on: of the cache */
} infc_calibration;
/* Every choose_i4 with its pack_i4, and what every kv_store balances keys by, becomes a constant. */
infc_status infc_calibration_run(infc_calibration *c);
/* Those that the cache has; true: all of them. */
bool infc_calibration_recall(infc_calibration *c);
/* ... without bytes, which are in a packed file. */
void infc_calibration_packed(infc_calibration *c);

/* ---- calibrate_text.c: what is taken when no text is given ----------------------------------------------------- */
extern const char *const infc_calibration_text[]; /* paragraphs; null at the end */

#endif
