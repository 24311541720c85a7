/* adapter_pack.c - the matrices of a folder, or of several whose weighted sum is one adapter, as a slot of the pool.
 *
 * A sum of low ranks is one of their ranks together: the A of all one below the other, times weight and scale; the B of
 * all side by side. */
#include "adapter_norms.h"
#include "infrt_hash.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_WORDS = 4, PANEL = 16, INT8 = 3 /* as adapter_dims.def numbers it */ };

typedef struct packer {
    const infrt_adapter_base *base;
    const infc_adapter_info *info;
    const infrt_adapter_pair *const *parts;
    const float *weights;
    uint32_t n;
    float *row; /* room for the longest */
    infrt_llm_adapter *out;
} packer;

static uint64_t lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- a module of all parts ---------------------------------------------------------------------- */

static uint32_t rank_of(const packer *p, uint64_t number) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < p->n; i++)
        rank += p->parts[i][number].a ? p->parts[i][number].rank : 0;
    return rank;
}

/* A sum's factors go into its A. */
static bool sums(const packer *p) { return p->n > 1 || p->weights[0] != 1.0f; }

static int type_of(const packer *p, uint64_t number) {
    const infrt_adapter_pair *pair = &p->parts[0][number];
    if (p->info->int8) return INT8;
    return !sums(p) && pair->a->type == pair->b->type ? (int)pair->a->type : (int)INFRT_ADAPTER_F32;
}

static uint64_t panel_bytes(int type, uint64_t columns) {
    if (type == INT8) return PANEL * 4 + (columns + columns % 2) * PANEL;
    return columns * PANEL * (type == INFRT_ADAPTER_F32 ? 4 : 2);
}
static uint64_t matrix_bytes(int type, uint64_t rows, uint64_t columns) {
    return lines((rows + PANEL - 1) / PANEL * panel_bytes(type, columns));
}

static uint64_t factors_bytes(uint64_t outputs) { return lines(outputs * sizeof(float)); }

/* Row of A: of one part, whose factor comes back. */
static float row_of_a(const packer *p, uint64_t number, uint64_t row, uint64_t columns) {
    uint32_t i = 0;
    const infrt_adapter_pair *pair = &p->parts[0][number];
    while (!pair->a || row >= pair->rank) {
        row -= pair->a ? pair->rank : 0;
        pair = &p->parts[++i][number];
    }
    infrt_adapter_elements(pair->a, row * columns, columns, p->row);
    return sums(p) ? p->weights[i] * pair->scale : 1.0f;
}

static void row_of_b(const packer *p, uint64_t number, uint64_t row) {
    float *at = p->row;
    for (uint32_t i = 0; i < p->n; i++) {
        const infrt_adapter_pair *pair = &p->parts[i][number];
        if (!pair->a) continue;
        infrt_adapter_elements(pair->b, row * pair->rank, pair->rank, at);
        at += pair->rank;
    }
}

/* Only what stands alone has DoRA. */
static bool has_factors(const packer *p, uint64_t number) {
    return p->n == 1 && p->parts[0][number].magnitude;
}

/* ---- rows of panels ----------------------------------------------------------------------------- */

static void row_put_int8(float *row, uint64_t columns, float factor, uint64_t lane, char *panel) {
    int8_t *to = (int8_t *)panel + (ptrdiff_t)(PANEL * 4 + lane * 2);
    uint32_t largest = 0; /* sizes of floats are in the order of their bits, of which vectors find the largest */
    for (uint64_t k = 0; k < columns; k++) {
        uint32_t bits;
        memcpy(&bits, &row[k], 4);
        bits &= 0x7fffffffu;
        largest = bits > largest ? bits : largest;
    }
    float most;
    memcpy(&most, &largest, 4);
    const float scale = most / 127.0f, stored = scale * factor, whole = 0x1.8p23f;
    if (!(scale > 0)) memset(row, 0, columns * sizeof *row);
    else
        for (uint64_t k = 0; k < columns; k++) {
            const float q = (row[k] / scale + whole) - whole; /* beside 2^23 there is no room for fractions */
            row[k] = q > 127 ? 127 : q < -127 ? -127 : q;
        }
    for (uint64_t k = 0; k < columns; k++) to[k / 2 * PANEL * 2 + k % 2] = (int8_t)row[k];
    memcpy(panel + lane * 4, &stored, sizeof stored);
}

/* `as_it_is`: the tensor whose elements are copied, for types that are kept. */
static void row_put(const packer *p, int type, const infrt_adapter_tensor *as_it_is, uint64_t row,
                    uint64_t columns, float factor, char *out) {
    char *panel = out + row / PANEL * panel_bytes(type, columns);
    const uint64_t lane = row % PANEL;
    if (type == INT8) {
        row_put_int8(p->row, columns, factor, lane, panel);
        return;
    }
    for (uint64_t k = 0; k < columns; k++) {
        const float value = p->row[k] * factor;
        const uint64_t to = k * PANEL + lane;
        if (type == INFRT_ADAPTER_F32) memcpy(panel + to * 4, &value, 4);
        else memcpy(panel + to * 2, as_it_is->data + (row * columns + k) * 2, 2);
    }
}

static infrt_status module_pack(packer *p, uint64_t number, uint64_t *at, infrt_error *error) {
    const infc_adapter_module *m = &p->info->modules[number % p->info->n_modules];
    const infrt_adapter_pair *first = &p->parts[0][number];
    const uint32_t rank = rank_of(p, number);
    const int type = type_of(p, number);
    const float scale = sums(p) ? 1.0f : first->scale;
    const bool dora = has_factors(p, number);
    infrt_status status = INFRT_OK;
    uint32_t words[ENTRY_WORDS] = {rank | (uint32_t)type << 16 | (uint32_t)dora << 24, 0,
                                   (uint32_t)(*at / 64), 0};
    memcpy(&words[1], &scale, sizeof scale);
    for (uint64_t row = 0; row < rank; row++) {
        const float factor = row_of_a(p, number, row, m->inputs);
        row_put(p, type, first->a, row, m->inputs, factor, p->out->slot + *at);
    }
    *at += matrix_bytes(type, rank, m->inputs);
    if (dora) {
        float *g = (float *)(void *)(p->out->slot + *at); /* whole lines */
        status = infrt_adapter_factors(p->base, number, first, g, error);
        *at += factors_bytes(m->outputs);
    }
    words[3] = (uint32_t)(*at / 64);
    for (uint64_t row = 0; row < m->outputs; row++) {
        row_of_b(p, number, row);
        row_put(p, type, first->b, row, rank, 1.0f, p->out->slot + *at);
    }
    *at += matrix_bytes(type, m->outputs, rank);
    memcpy(p->out->slot + number * sizeof words, words, sizeof words);
    p->out->n_modules++;
    p->out->uses |= 1u << m->use;
    if (rank > p->out->rank) p->out->rank = rank;
    return status;
}

/* ---- the slot ----------------------------------------------------------------------------------- */

/* What it takes; and room for the longest row. */
static infrt_status measure(packer *p, const infc_model *model, infrt_error *error) {
    const uint64_t n = (uint64_t)p->info->layers * p->info->n_modules;
    uint64_t bytes = lines(n * ENTRY_WORDS * sizeof(uint32_t)), longest = p->info->max_rank;
    for (uint64_t i = 0; i < n; i++) {
        const infc_adapter_module *m = &p->info->modules[i % p->info->n_modules];
        const uint32_t rank = rank_of(p, i);
        if (rank == 0) continue;
        if (rank > p->info->max_rank)
            return infrt_fail(
                error, INFRT_ERR_DATA,
                "the adapters of a sum have ranks of %u together in layer %u, %s; %s was "
                "compiled for at most %u, see adapters.max_rank",
                rank, (unsigned)(i / p->info->n_modules), m->name, model->name, p->info->max_rank);
        const int type = type_of(p, i);
        bytes += matrix_bytes(type, rank, m->inputs) + matrix_bytes(type, m->outputs, rank) +
                 (has_factors(p, i) ? factors_bytes(m->outputs) : 0);
        if (m->inputs > longest) longest = m->inputs;
    }
    if (bytes > p->info->slot_bytes)
        return infrt_fail(error, INFRT_ERR_INTERNAL, "an adapter of %" PRIu64 " bytes fits no slot", bytes);
    p->out->bytes = (size_t)bytes;
    p->out->slot = calloc(1, (size_t)bytes);
    p->row = malloc((size_t)longest * sizeof *p->row);
    if (p->out->slot && p->row) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an adapter");
}

infrt_status infrt_adapter_pack(const infrt_adapter_base *base, const infrt_adapter_pair *const *parts,
                                const float *weights, uint32_t n, infrt_llm_adapter *out, infrt_error *error) {
    const infc_adapter_info *info = base->model->llm->adapters;
    packer p = {.base = base, .info = info, .parts = parts, .weights = weights, .n = n, .out = out};
    uint64_t at = lines((uint64_t)info->layers * info->n_modules * ENTRY_WORDS * sizeof(uint32_t));
    infrt_status status = measure(&p, base->model, error);
    for (uint64_t i = 0; status == INFRT_OK && i < (uint64_t)info->layers * info->n_modules; i++)
        if (rank_of(&p, i)) status = module_pack(&p, i, &at, error);
    if (status == INFRT_OK) out->hash = infrt_hash64(out->slot, out->bytes);
    free(p.row);
    return status;
}
