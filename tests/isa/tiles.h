/* tiles.h - the tiles of templates/simd/tiles_x86_64_amx.h in memory, for CPUs that have none; to be included before it
 * (-include). What the instructions do by Intel's manual, with its faults as failed asserts, one byte at a time. */
#ifndef TILES_H
#define TILES_H
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define VT_IN_MEMORY

static _Thread_local struct {
    unsigned char shape[64]; /* as LDTILECFG reads it */
    unsigned char rows[8][16][64];
} tile_state;

static inline unsigned tile_rows(int t) { return tile_state.shape[48 + t]; }
static inline unsigned tile_bytes(int t) { return tile_state.shape[16 + 2 * t]; }
static inline int tile_is_there(int t) { return tile_state.shape[0] == 1 && tile_rows(t) > 0; }

static inline void vt_configure(const void *shape) {
    memset(&tile_state, 0, sizeof tile_state);
    memcpy(tile_state.shape, shape, 64);
    assert(tile_state.shape[0] == 1 && tile_state.shape[1] == 0);
    for (int t = 0; t < 8; t++)
        assert(tile_rows(t) <= 16 && tile_bytes(t) <= 64 && !tile_rows(t) == !tile_bytes(t));
}
static inline void vt_end(void) { memset(&tile_state, 0, sizeof tile_state); }
static inline void vt_clear(int t) {
    assert(tile_is_there(t));
    memset(tile_state.rows[t], 0, sizeof tile_state.rows[t]);
}
static inline void vt_load(int t, const void *p, ptrdiff_t row) {
    vt_clear(t);
    for (unsigned r = 0; r < tile_rows(t); r++)
        memcpy(tile_state.rows[t][r], (const char *)p + (ptrdiff_t)r * row, tile_bytes(t));
}
static inline void vt_store(int t, void *p, ptrdiff_t row) {
    assert(tile_is_there(t));
    for (unsigned r = 0; r < tile_rows(t); r++)
        memcpy((char *)p + (ptrdiff_t)r * row, tile_state.rows[t][r], tile_bytes(t));
}
static inline void vt_dot(int c, int a, int b) {
    assert(tile_is_there(c) && tile_is_there(a) && tile_is_there(b) && c != a && c != b && a != b);
    assert(tile_rows(c) == tile_rows(a) && tile_bytes(c) == tile_bytes(b) && tile_rows(b) * 4 == tile_bytes(a));
    for (unsigned m = 0; m < tile_rows(c); m++)
        for (unsigned n = 0; n < tile_bytes(c) / 4; n++) {
            uint32_t sum;
            memcpy(&sum, tile_state.rows[c][m] + 4 * n, 4);
            for (unsigned k = 0; k < tile_bytes(a); k++)
                sum += (uint32_t)((int8_t)tile_state.rows[a][m][k] *
                                  (int8_t)tile_state.rows[b][k / 4][4 * n + k % 4]);
            memcpy(tile_state.rows[c][m] + 4 * n, &sum, 4);
        }
}
/* Zero for a number below 2^-126, of its sign. */
static inline float tile_flush(float a) { return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a; }
static inline float tile_bf16(const unsigned char *p) {
    float a;
    const unsigned char whole[4] = {0, 0, p[0], p[1]};
    memcpy(&a, whole, sizeof a);
    return tile_flush(a);
}
static inline float tile_fma(float a, float b, float c) { return tile_flush(fmaf(a, b, c)); }
static inline void vt_dot_bf16(int c, int a, int b) {
    assert(tile_is_there(c) && tile_is_there(a) && tile_is_there(b) && c != a && c != b && a != b);
    assert(tile_rows(c) == tile_rows(a) && tile_bytes(c) == tile_bytes(b) && tile_rows(b) * 4 == tile_bytes(a));
    for (unsigned m = 0; m < tile_rows(c); m++)
        for (unsigned n = 0; n < tile_bytes(c) / 4; n++) {
            float sum, parts[2] = {0, 0};
            memcpy(&sum, tile_state.rows[c][m] + 4 * n, 4);
            for (unsigned k = 0; k < tile_bytes(a) / 2; k++)
                parts[k % 2] =
                    tile_fma(tile_bf16(tile_state.rows[a][m] + 2 * k),
                             tile_bf16(tile_state.rows[b][k / 2] + 4 * n + k % 2 * 2), parts[k % 2]);
            sum = tile_flush(tile_flush(sum) + tile_flush(parts[0] + parts[1]));
            memcpy(tile_state.rows[c][m] + 4 * n, &sum, 4);
        }
}

#endif
