/* calibrate.h - parts of the pass `calibrate`, one file each. */
#ifndef INFC_CALIBRATE_H
#define INFC_CALIBRATE_H
#include "calibrate_math.h"
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

/* ---- calibrate_run.c ------------------------------------------------------------------------------------------- */

typedef struct infc_calibration {
    infc_pass_cx *pass;
    const int32_t *ids;
    int64_t n_ids, length; /* a multiple of length: sequences of so many tokens */
    const char *key;       /* what results depend on: of the cache */
} infc_calibration;
/* Every choose_i4 with its pack_i4 becomes a constant. */
infc_status infc_calibration_run(infc_calibration *c);
/* Those that the cache has; true: all of them. */
bool infc_calibration_recall(infc_calibration *c);
/* ... without bytes, which are in a packed file. */
void infc_calibration_packed(infc_calibration *c);

/* ---- calibrate_text.c: what is taken when no text is given ----------------------------------------------------- */
extern const char *const infc_calibration_text[]; /* paragraphs; null at the end */

#endif
