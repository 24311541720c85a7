/* keep_case.c - calls of the kernels whose weights are as GGUF stores them: dims, and operands that mean something:
 * records that quantize_groups made of floats, weights that pack_keep made of rows with scales that are numbers. */
#include "keep_case.h"
#include "templates/reference.h"
#include <string.h>

enum { N_FORMATS = 6, MAX_ROW = 4096, MAX_RAW = 1 << 20 };
static const ptrdiff_t formats[N_FORMATS] = {2, 3, 6, 8, 12, 14},
                       raw_bytes[N_FORMATS] = {18, 20, 22, 34, 144, 210};

static int format_index(ptrdiff_t format) {
    int i = 0;
    while (formats[i] != format) i++;
    return i;
}

static ptrdiff_t raw_row(ptrdiff_t format, ptrdiff_t k) {
    return k / (format < 9 ? 32 : 256) * raw_bytes[format_index(format)];
}

bool keep_case_is(infk_kind kind) {
    return kind == INFK_linear_keep || kind == INFK_gated_keep || kind == INFK_embed_keep ||
           kind == INFK_pack_keep || kind == INFK_quantize_groups || kind == INFK_rms_groups;
}

static bool groups_case(size_t i, kernel_case *c) {
    static const ptrdiff_t rows[] = {1, 2, 3, 5}, inputs[] = {32, 64, 96, 480, 512, 544, 1056};
    enum { N_ROWS = sizeof rows / sizeof *rows, N_INPUTS = sizeof inputs / sizeof *inputs };
    if (i >= N_ROWS * N_INPUTS) return false;
    const ptrdiff_t m = rows[i % N_ROWS], k = inputs[i / N_ROWS];
    c->dims.groups = (infk_groups_dims){m, k, infk_groups_record(k), 0x3727c5ac};
    c->x_count = m * k;
    c->w_inner = k;
    c->y_count = m * infk_groups_record(k);
    return true;
}

bool keep_case_get(size_t i, kernel_case *c) {
    static const ptrdiff_t shapes[][3] = {
        /* rows, outputs, groups of inputs (times 8 with blocks of 256) */
        {1, 1, 1},   {1, 16, 1},  {1, 17, 2}, {1, 100, 3}, {2, 33, 3}, {3, 48, 2},
        {4, 15, 5},  {5, 31, 1},  {7, 20, 2}, {8, 17, 3},  {9, 70, 1}, {11, 32, 2},
        {13, 16, 3}, {33, 34, 2}, {1, 48, 9}, {33, 5, 1},  {6, 17, 2}};
    enum { N = sizeof shapes / sizeof *shapes };
    if (c->kind == INFK_quantize_groups || c->kind == INFK_rms_groups) return groups_case(i, c);
    if (i >= N * N_FORMATS) return false;
    const ptrdiff_t format = formats[i % N_FORMATS], *shape = shapes[i / N_FORMATS];
    const ptrdiff_t m = shape[0], n = shape[1], k = shape[2] * (format < 9 ? 32 : 256);
    const ptrdiff_t halves = c->kind == INFK_gated_keep || (c->kind == INFK_pack_keep && m % 2) ? 2 : 1;
    const ptrdiff_t width = c->kind == INFK_embed_keep ? k : n, record = infk_groups_record(k), gap = m % 3;
    c->dims.keep = (infk_keep_dims){m, n, k, format, record, width + gap, halves};
    c->w_inner = infk_keep_bytes(format, n, k, halves);
    c->x_count = c->kind == INFK_embed_keep  ? m
                 : c->kind == INFK_pack_keep ? halves * n * raw_row(format, k)
                                             : m * record;
    c->y_count = c->kind == INFK_pack_keep ? c->w_inner : m * (width + gap) - gap;
    c->columns = width;
    return true;
}

static infk_entry *reference(infk_kind kind) {
    for (size_t i = 0;; i++)
        if (infk_kernel_at(i)->kind == kind)
            return infk_reference_find(infk_kernel_at(i)); /* the first */
}

/* An f16 that is a number, of magnitude up to 2. */
static void put_scale(unsigned char *at, uint64_t *state) {
    const uint64_t bits = kernel_random(state);
    at[0] = (unsigned char)bits;
    at[1] = (unsigned char)((bits >> 8 & 0x3f) | (bits >> 16 & 0x80));
}

void keep_case_rows(void *data, ptrdiff_t format, ptrdiff_t rows, ptrdiff_t k, uint64_t *state) {
    const ptrdiff_t block = raw_bytes[format_index(format)], bytes = rows * raw_row(format, k);
    unsigned char *at = data;
    for (ptrdiff_t i = 0; i < bytes; i++) at[i] = (unsigned char)(kernel_random(state) >> 32);
    for (ptrdiff_t i = 0; i < bytes; i += block) {
        put_scale(at + i + (format == 14 ? 208 : 0), state);
        if (format == 3 || format == 12) put_scale(at + i + 2, state);
    }
}

static void fill_weights(const infk_keep_dims *d, void *w, uint64_t *state) {
    static unsigned char raw[MAX_RAW];
    const void *const in[INFK_MAX_OPERANDS] = {raw};
    keep_case_rows(raw, d->format, d->halves * d->n, d->k, state);
    reference(INFK_pack_keep)(d, in, w, 0, infk_units(INFK_pack_keep, d));
}

static void fill_records(const infk_keep_dims *d, void *x, kernel_data data, uint64_t *state) {
    static float values[MAX_ROW];
    const infk_groups_dims groups = {1, d->k, d->x_row, 0};
    const void *const in[INFK_MAX_OPERANDS] = {values};
    for (ptrdiff_t m = 0; m < d->m; m++) {
        kernel_fill(values, "f32", d->k, data, state);
        reference(INFK_quantize_groups)(&groups, in, (char *)x + m * d->x_row, 0, 1);
    }
}

void keep_case_fill(const kernel_case *c, int operand, void *data, kernel_data kind, uint64_t *state) {
    const infk_keep_dims *d = &c->dims.keep;
    if (c->kind == INFK_pack_keep) keep_case_rows(data, d->format, d->halves * d->n, d->k, state);
    else if (operand == 1) fill_weights(d, data, state);
    else if (c->kind != INFK_embed_keep) fill_records(d, data, kind, state);
    else
        for (ptrdiff_t i = 0; i < d->m; i++)
            ((int32_t *)data)[i] = (int32_t)(kernel_random(state) % (uint64_t)d->n);
}
