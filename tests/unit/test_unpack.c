/* unpack.h: what the references pack comes back as those that look up a row give it, bit by bit; int4, which has no
 * such kernel, as its definition says, with a transform of its own. */
#include "templates/kernel_table.h"
#include "templates/reference.h"
#include "templates/simd/unpack.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { N = 37, MOST_K = 768, PANELS = 3 };
static float w[N * MOST_K], got[PANELS][MOST_K * 16], want[N * MOST_K];
static int32_t rows[N];
static _Alignas(64) int8_t chosen[N * 2048], packed[PANELS * 65536];

static void run(infk_kind kind, const char *x, const char *second, const char *y, const void *dims,
                const void *const *in, void *out) {
    const char *types[INFK_MAX_TYPES] = {x, second, y};
    const infk_kernel *kernel = infk_kernel_select(kind, types, INFC_ISA_generic, dims);
    for (size_t i = 0; i < infk_kernel_count(); i++) { /* the reference */
        const infk_kernel *k = infk_kernel_at(i);
        if (k->kind == kind && strcmp(k->tile, "ref") == 0 && strcmp(k->types[0], x) == 0 &&
            strcmp(k->types[1], second) == 0)
            kernel = k;
    }
    assert_non_null(kernel);
    infk_reference_find(kernel)(dims, in, out, 0, infk_units(kind, dims));
}

static void fill(void) {
    for (uint32_t i = 0; i < N * MOST_K; i++)
        w[i] = (float)(i * 2654435761u % 4001u) / 1000.0f - 2.0f;
    for (int32_t i = 0; i < N; i++) rows[i] = i;
}

static void same(ptrdiff_t k) {
    for (ptrdiff_t n = 0; n < N; n++)
        for (ptrdiff_t i = 0; i < k; i++)
            assert_true(got[n / 16][i * 16 + n % 16] == want[n * k + i]);
}

static const ptrdiff_t sizes[] = {64, 128, 192, 70, 200, 768};

static const ptrdiff_t rotates[] = {64, 128};
enum { CASES = 2 * sizeof sizes / sizeof *sizes };

static void int8(void **state) {
    (void)state;
    fill();
    for (size_t s = 0; s < CASES; s++) {
        const ptrdiff_t k = sizes[s / 2], bytes = infk_panel_i8_bytes(k), rotate = rotates[s % 2];
        const infk_pack_dims pack = {.n = N, .k = k, .rotate = rotate, .parts = 1, .x_row = k, .y_row = bytes};
        const infk_embed_dims embed = {.t = N, .k = k, .rotate = rotate, .w_panel = bytes};
        run(INFK_pack_i8, "f32", "", "i8", &pack, (const void *[]){w}, packed);
        run(INFK_embed_i8, "i32", "i8", "f32", &embed, (const void *[]){rows, packed}, want);
        for (int p = 0; p < PANELS; p++) s_unpack_i8(packed + p * bytes, rotate, k, got[p]);
        same(k);
    }
}

/* Input j of block `at`: the sum over the block of what is stored, with the signs of the transform, over 8 with 64
 * values, over 16 with 128, the values of a block of 64 that is left over of these times the root of 2. */
static double turned(const int8_t *row, ptrdiff_t k, ptrdiff_t rotate, ptrdiff_t at, ptrdiff_t j, float scale) {
    const ptrdiff_t groups = (k + 63) / 64, left = groups * 64 - at, n = left < rotate ? left : rotate;
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const int code = (uint8_t)row[groups * 64 + (at + i) / 64];
        const double v = (code % 16 + 1) * ((double)row[at + i] - code / 16);
        sum += __builtin_popcountll((unsigned long long)(i & j)) % 2 ? -v : v;
    }
    return sum * (double)scale / (rotate == 64 ? 8 : 16) * (n < rotate ? sqrt(2.0) : 1.0);
}

static void int4(void **state) {
    (void)state;
    fill();
    for (size_t s = 0; s < CASES; s++) {
        const ptrdiff_t k = sizes[s / 2], groups = (k + 63) / 64, row = infk_chosen_i4_bytes(k),
                        bytes = infk_panel_i4_bytes(k), rotate = rotates[s % 2];
        const infk_pack_dims choose = {.n = N, .k = k, .rotate = rotate, .parts = 1, .x_row = k, .y_row = row},
                             pack = {.n = N, .k = k, .parts = 1, .x_row = row, .y_row = bytes};
        run(INFK_choose_i4, "f32", "", "i8", &choose, (const void *[]){w}, chosen);
        run(INFK_pack_i4, "i8", "", "i8", &pack, (const void *[]){chosen}, packed);
        for (int p = 0; p < PANELS; p++) s_unpack_i4(packed + p * bytes, bytes, rotate, k, got[p]);
        for (ptrdiff_t n = 0; n < N; n++) {
            double off = 0, all = 0;
            float scale;
            memcpy(&scale, chosen + n * row + groups * 65, sizeof scale);
            for (ptrdiff_t i = 0; i < k; i++) {
                const double value = turned(chosen + n * row, k, rotate, i / rotate * rotate, i % rotate, scale),
                             mine = (double)got[n / 16][i * 16 + n % 16];
                assert_true(fabs(mine - value) < 1e-5);
                off += pow(mine - (double)w[n * k + i], 2);
                all += pow((double)w[n * k + i], 2);
            }
            assert_true(off < 0.02 * all); /* and is near what was packed */
        }
    }
}

/* Blocks of any bytes whose scales are numbers. */
static void keep(void **state) {
    static const ptrdiff_t formats[] = {2, 3, 6, 8, 12, 14};
    static uint8_t file[N * MOST_K * 2];
    (void)state;
    fill();
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const ptrdiff_t k = 768, bytes = s_keep_panel(formats[f], k);
        const infk_keep_dims d = {
            .m = N, .n = N, .k = k, .format = formats[f], .x_row = s_keep_raw(formats[f], k), .y_row = k, .halves = 1};
        for (size_t i = 0; i < sizeof file; i++) file[i] = (uint8_t)(i * 2654435761u >> 13) & 0x3b;
        run(INFK_pack_keep, "b1", "", "b1", &d, (const void *[]){file}, packed);
        run(INFK_embed_keep, "i32", "i8", "f32", &d, (const void *[]){rows, packed}, want);
        for (int p = 0; p < PANELS; p++) s_unpack_keep(formats[f], packed + p * bytes, k, got[p]);
        same(k);
    }
}

static void floats(void **state) {
    static infk_b2 halves[MOST_K * 16];
    const ptrdiff_t k = 70;
    (void)state;
    fill();
    s_unpack_f32(w, k, got[0]);
    assert_memory_equal(got[0], w, (size_t)k * 64);
    for (ptrdiff_t i = 0; i < k * 16; i++) halves[i] = s_to_f16(w[i]);
    s_unpack_f16(halves, k, got[0]);
    for (ptrdiff_t i = 0; i < k * 16; i++) assert_true(fabsf(got[0][i] - w[i]) <= 0x1p-11f * 2);
    for (ptrdiff_t i = 0; i < k * 16; i++) halves[i] = (infk_b2)(s_bits(w[i]) >> 16);
    s_unpack_bf16(halves, k, got[0]);
    for (ptrdiff_t i = 0; i < k * 16; i++) assert_true(fabsf(got[0][i] - w[i]) <= 0x1p-7f * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int8),
        cmocka_unit_test(int4),
        cmocka_unit_test(keep),
        cmocka_unit_test(floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
