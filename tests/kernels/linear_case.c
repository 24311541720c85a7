/* linear_case.c - calls of the kinds in templates/kernels/linear: inputs that are no multiple of 64, outputs that are
 * none of 16, every class of rows; records and panels with the largest values of both signs, zeros, scales at their
 * limits. */
#include "kernel_case.h"
#include <string.h>

static const ptrdiff_t rows[] = {1, 2, 3,  4,  5,  6,  7,
                                 8, 9, 13, 16, 17, 33, 64}; /* each height of a tile */
static const ptrdiff_t inputs[] = {1, 63, 64, 65, 130, 200, 576};
static const ptrdiff_t outputs[] = {1, 15, 16, 17, 40, 80};
enum {
    N_ROWS = sizeof rows / sizeof *rows,
    N_INPUTS = sizeof inputs / sizeof *inputs,
    N_OUTPUTS = sizeof outputs / sizeof *outputs
};

static bool is_gated(infk_kind kind) { return kind == INFK_gated_i8 || kind == INFK_gated_i4; }

static bool is_i4(infk_kind kind) { return kind == INFK_linear_i4 || kind == INFK_gated_i4; }

/* Rows, inputs, outputs beyond what kernels take at a time. */
static const ptrdiff_t large[][3] = {{33, 1100, 40}, {200, 65, 17}, {600, 64, 40}};
enum { N_LARGE = sizeof large / sizeof *large };

static bool matmul_case(size_t i, kernel_case *c) {
    if (i >= N_ROWS * N_INPUTS + N_LARGE) return false;
    infk_linear_dims *d = &c->dims.linear;
    const ptrdiff_t *of = i < N_ROWS * N_INPUTS ? NULL : large[i - N_ROWS * N_INPUTS];
    d->t = of ? of[0] : rows[i % N_ROWS];
    d->k = of ? of[1] : inputs[i / N_ROWS];
    d->n = of ? of[2] : outputs[(i + i / N_ROWS) % N_OUTPUTS];
    d->x_row = infk_record_bytes(d->k);
    d->w_panel = is_i4(c->kind) ? infk_panel_i4_bytes(d->k) : infk_panel_i8_bytes(d->k);
    d->y_row = d->n + (ptrdiff_t)(i % 2) * 3;
    c->x_count = d->t * d->x_row;
    c->w_inner = (d->n + 15) / 16 * (is_gated(c->kind) ? 2 : 1) * d->w_panel;
    c->y_count = (d->t - 1) * d->y_row + d->n;
    c->columns = d->n;
    return true;
}

/* Values of a transform: none, 64, 128 in turn. */
static ptrdiff_t rotate_of(size_t i) { return (ptrdiff_t)(i % 3 * 64); }

static bool quantize_case(size_t i, kernel_case *c) {
    if (i >= N_INPUTS * 12) return false;
    infk_quantize_dims *d = &c->dims.quantize;
    d->t = 1 + (ptrdiff_t)(i % 3);
    d->k = inputs[i / 12];
    d->rotate = rotate_of(i / 4);
    d->epsilon = 0x3727c5ac; /* 1e-5 */
    d->y_row = infk_record_bytes(d->k);
    c->x_count = d->t * d->k;
    c->w_inner = d->k;
    c->y_count = c->columns = d->t * d->y_row;
    return true;
}

static bool pack_case(size_t i, kernel_case *c) {
    if (i >= N_OUTPUTS * N_INPUTS * 6) return false;
    infk_pack_dims *d = &c->dims.pack;
    d->parts = c->kind == INFK_choose_i4 ? 1 : 1 + (ptrdiff_t)(i % 2);
    d->rotate = c->kind == INFK_pack_i4 ? 0 : rotate_of(i / 2);
    d->n = outputs[i / 6 % N_OUTPUTS] * d->parts;
    d->k = inputs[i / 6 / N_OUTPUTS];
    d->x_row = c->kind == INFK_pack_i4 ? infk_chosen_i4_bytes(d->k) : d->k;
    d->y_row = c->kind == INFK_pack_i8     ? infk_panel_i8_bytes(d->k)
               : c->kind == INFK_choose_i4 ? infk_chosen_i4_bytes(d->k)
                                           : infk_panel_i4_bytes(d->k);
    c->x_count = d->n * d->x_row;
    c->y_count = c->columns = infk_units(c->kind, d) * d->y_row;
    return true;
}

static bool embed_case(size_t i, kernel_case *c) {
    if (i >= N_INPUTS * 3) return false;
    infk_embed_dims *d = &c->dims.embed;
    if (c->kind == INFK_embed_half) {
        *d = (infk_embed_dims){.t = 3, .k = inputs[i / 3]};
        c->x_count = d->t;
        c->w_inner = 3 * 16 * d->k;
        c->y_count = d->t * (c->columns = d->k);
        return true;
    }
    *d = (infk_embed_dims){3, inputs[i / 3], rotate_of(i), infk_panel_i8_bytes(inputs[i / 3])};
    c->x_count = d->t;
    c->w_inner = 3 * d->w_panel;
    c->y_count = d->t * (c->columns = d->k);
    return true;
}

bool linear_case_get(size_t i, kernel_case *c) {
    switch (c->kind) {
    case INFK_quantize:
    case INFK_rms_quantize: return quantize_case(i, c);
    case INFK_pack_i8:
    case INFK_choose_i4:
    case INFK_pack_i4: return pack_case(i, c);
    case INFK_embed_half:
    case INFK_embed_i8: return embed_case(i, c);
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_gated_i8:
    case INFK_gated_i4: return matmul_case(i, c);
    default: return false;
    }
}

/* ---- operands --------------------------------------------------------------------------------------------- */

/* A scale of ordinary size, of either sign: the kernels do not care. */
static void set_scale(int8_t *at, uint8_t seed) {
    const float scale = (float)(seed - 100) * 0x1p-13f;
    memcpy(at, &scale, sizeof scale);
}

/* (scale - 1) | zero << 4 such that scale * (nibble - zero) fits an int8; often at a limit. */
static int8_t code_of(uint8_t seed) {
    const int scale = seed % 16 + 1, most = 128 / scale < 15 ? 128 / scale : 15;
    const int least = 127 / scale < 15 ? 15 - 127 / scale : 0;
    const int zero = seed & 128 ? most : least + seed / 16 % (most - least + 1);
    return (int8_t)((scale - 1) | zero << 4);
}

static void repair_records(const infk_linear_dims *d, int8_t *x) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t t = 0; t < d->t; t++, x += d->x_row) {
        const uint8_t seed = (uint8_t)x[0];
        for (ptrdiff_t g = 0; g < groups; g++) {
            int32_t sum = 0;
            for (int8_t *v = x + g * 64; v < x + g * 64 + 64; v++) {
                if (seed % 8 < 3) *v = (int8_t)(seed % 8 * 127 - 127);
                if (*v == -128) *v = -127;
                sum += *v;
            }
            memcpy(x + groups * 64 + g * 4, &sum, sizeof sum);
        }
        set_scale(x + groups * 68, seed);
        memset(x + groups * 68 + 4, 0, (size_t)(d->x_row - groups * 68 - 4));
    }
}

static void repair_panel_i8(ptrdiff_t k, int8_t *w) {
    const ptrdiff_t groups = (k + 63) / 64;
    const uint8_t seed = (uint8_t)w[0];
    for (int lane = 0; lane < 16; lane++) {
        int32_t sum = 0;
        for (ptrdiff_t i = 0; i < groups * 64; i++) {
            int8_t *v = w + i / 4 * 64 + lane * 4 + i % 4;
            if ((seed + lane) % 8 < 3) *v = (int8_t)((seed + lane) % 8 * 127 - 127);
            if (*v == -128) *v = 127;
            sum += *v;
        }
        memcpy(w + groups * 1024 + lane * 4, &sum, sizeof sum);
        set_scale(w + groups * 1024 + 64 + lane * 4, (uint8_t)(seed + lane));
    }
}

static void repair_panel_i4(ptrdiff_t k, int8_t *w) {
    const ptrdiff_t groups = (k + 63) / 64;
    for (ptrdiff_t g = 0; g < groups; g++) {
        int8_t *four = w + g / 4 * 2112, *of = four + 64 + g % 4 * 512; /* as linear_ref.c.in has them */
        if (of[0] % 4 == 0) memset(of, of[0] % 8 == 0 ? 0 : 0xff, 512);
        for (int lane = 0; lane < 16; lane++) {
            int8_t *code = four + g % 4 * 16 + lane;
            *code = code_of((uint8_t)*code);
        }
    }
    for (int lane = 0; lane < 16; lane++)
        set_scale(w + infk_panel_i4_bytes(k) - 64 + lane * 4, (uint8_t)(w[0] + lane));
}

/* Rows as choose_i4 makes them. */
static void repair_chosen(const infk_pack_dims *d, int8_t *x) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t n = 0; n < d->n; n++, x += d->x_row) {
        for (ptrdiff_t k = 0; k < groups * 64; k++) x[k] &= 15;
        for (ptrdiff_t g = 0; g < groups; g++)
            x[groups * 64 + g] = code_of((uint8_t)x[groups * 64 + g]);
    }
}

/* Weights are numbers whose transform is one. */
static void repair_weights(float *x, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++)
        if (!(x[i] < 0x1p100f && x[i] > -0x1p100f)) x[i] = 1.0f;
}

void linear_case_repair(const kernel_case *c, int i, void *data) {
    switch (c->kind) {
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_gated_i8:
    case INFK_gated_i4:
        if (i == 0) repair_records(&c->dims.linear, data);
        for (ptrdiff_t at = 0; i == 1 && at < c->w_inner; at += c->dims.linear.w_panel) {
            if (is_i4(c->kind)) repair_panel_i4(c->dims.linear.k, (int8_t *)data + at);
            else repair_panel_i8(c->dims.linear.k, (int8_t *)data + at);
        }
        break;
    case INFK_embed_half:
    case INFK_embed_i8:
        for (int32_t t = 0; i == 0 && t < c->dims.embed.t; t++) ((int32_t *)data)[t] = t * 23;
        for (ptrdiff_t at = 0; c->kind == INFK_embed_i8 && i == 1 && at < c->w_inner;
             at += c->dims.embed.w_panel)
            repair_panel_i8(c->dims.embed.k, (int8_t *)data + at);
        break;
    case INFK_pack_i4:
        if (i == 0) repair_chosen(&c->dims.pack, data);
        break;
    case INFK_pack_i8:
    case INFK_choose_i4:
        if (i == 0) repair_weights(data, c->x_count);
        break;
    default: break;
    }
}
