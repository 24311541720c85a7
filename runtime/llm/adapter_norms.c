/* adapter_norms.c - the norms of the rows of W + scale * B A. 16 rows at a time: the model hands them out as [k][16],
 * to which B, in 16 lanes, is added times A. In all two multiply-adds for each weight and rank: half of what it takes
 * to load such an adapter. Sums have one order: the squares of 64 inputs in f32, these in double. */
#include "adapter_norms.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 16, AT_ONCE = 2, SPAN = 64 /* inputs whose squares are added in f32 */, LANES = 4 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

typedef struct matrices {
    float *w; /* [k][16] */
    float *a; /* [k][rank] */
    float *b; /* [rank][16], times scale */
} matrices;

/* Adds the squares of inputs [0, AT_ONCE). All that the loops over r and below hold fits 16 registers of 4 floats. */
static void squares_add(const float *w, const float *a, const float *b, uint32_t rank,
                        lanes sums[PANEL / LANES]) {
    lanes v[AT_ONCE][PANEL / LANES];
    memcpy(v, w, sizeof v);
    for (uint32_t r = 0; r < rank; r++)
#pragma GCC unroll 4
        for (int l = 0; l < PANEL / LANES; l++) {
            lanes of_b;
            memcpy(&of_b, b + (size_t)r * PANEL + l * LANES, sizeof of_b);
#pragma GCC unroll 2
            for (int i = 0; i < AT_ONCE; i++) v[i][l] += a[(size_t)i * rank + r] * of_b;
        }
    for (int i = 0; i < AT_ONCE; i++)
        for (int l = 0; l < PANEL / LANES; l++) sums[l] += v[i][l] * v[i][l];
}

static void norms_of(const matrices *m, uint32_t k, uint32_t rank, double out[PANEL]) {
    memset(out, 0, PANEL * sizeof *out);
    for (uint32_t from = 0; from < k; from += SPAN) {
        lanes sums[PANEL / LANES];
        float each[PANEL];
        memset(sums, 0, sizeof sums);
        for (uint32_t i = from; i < from + SPAN && i < k; i += AT_ONCE)
            squares_add(m->w + (size_t)i * PANEL, m->a + (size_t)i * rank, m->b, rank, sums);
        memcpy(each, sums, sizeof each);
        for (int l = 0; l < PANEL; l++) out[l] += (double)each[l];
    }
    for (int l = 0; l < PANEL; l++) out[l] = sqrt(out[l]);
}

static void b_fill(const infrt_adapter_pair *pair, uint32_t outputs, uint32_t panel, float *out) {
    for (uint32_t l = 0; l < PANEL; l++)
        for (uint32_t r = 0; r < pair->rank; r++) {
            const uint64_t row = (uint64_t)panel * PANEL + l;
            out[r * PANEL + l] =
                row < outputs ? infrt_adapter_element(pair->b, row * pair->rank + r) * pair->scale : 0.0f;
        }
}

static infrt_status factors(const infrt_adapter_base *base, uint64_t number, const infrt_adapter_pair *pair,
                            const matrices *m, float *out, infrt_error *error) {
    const infc_adapter_info *info = base->model->llm->adapters;
    const infc_adapter_module *module = &info->modules[number % info->n_modules];
    for (uint32_t panel = 0; panel * PANEL < module->outputs; panel++) {
        double norms[PANEL];
        if (base->unwanted && atomic_load(base->unwanted))
            return infrt_fail(error, INFRT_ERR_USAGE, "%s: it is no longer wanted", base->path);
        info->panel(base->weights, (uint32_t)number, panel, m->w);
        b_fill(pair, module->outputs, panel, m->b);
        norms_of(m, module->inputs, pair->rank, norms);
        for (uint32_t l = 0; l < PANEL && panel * PANEL + l < module->outputs; l++) {
            const uint32_t row = panel * PANEL + l;
            out[row] = (float)((double)infrt_adapter_element(pair->magnitude, row) / norms[l]);
            if (norms[l] > 0 && isfinite(norms[l]) && isfinite(out[row])) continue;
            return infrt_fail(error, INFRT_ERR_DATA,
                              "%s: tensor \"%s\": element %u by the norm of its row of weights, "
                              "%g, is no number",
                              base->path, pair->magnitude->name, row, norms[l]);
        }
    }
    return INFRT_OK;
}

infrt_status infrt_adapter_factors(const infrt_adapter_base *base, uint64_t number,
                                   const infrt_adapter_pair *pair, float *out, infrt_error *error) {
    const infc_adapter_info *info = base->model->llm->adapters;
    const size_t inputs = info->modules[number % info->n_modules].inputs,
                 k = (inputs + AT_ONCE - 1) / AT_ONCE * AT_ONCE; /* zeros up to there */
    infrt_status status = INFRT_OK;
    matrices m = {calloc(k * PANEL, sizeof *m.w), calloc(k * pair->rank, sizeof *m.a),
                  calloc((size_t)pair->rank * PANEL, sizeof *m.b)};
    if (!m.w || !m.a || !m.b)
        status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an adapter");
    for (size_t r = 0; status == INFRT_OK && r < pair->rank; r++)
        for (size_t i = 0; i < inputs; i++)
            m.a[i * pair->rank + r] = infrt_adapter_element(pair->a, r * inputs + i);
    if (status == INFRT_OK) status = factors(base, number, pair, &m, out, error);
    free(m.w);
    free(m.a);
    free(m.b);
    return status;
}
