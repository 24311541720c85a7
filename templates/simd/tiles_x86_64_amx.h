/* tiles_x86_64_amx.h - products of tiles of bytes with AMX. A tile has up to 16 rows of 64 bytes. vt_dot adds to the 16
 * x 16 int32 of tile c what a's records of 64 inputs give with b, whose row r has inputs 4 r .. 4 r + 3 of 16 outputs:
 * the layout of a panel. Sums are exact. The numbers of tiles are constants:
 *   0, 1: sums of the first records with two panels; 2, 3: of the second ones; 4, 5: records; 6, 7: panels.
 * In assembly, since the intrinsics of gcc 12 do not tell it which memory they read. */
#ifndef VT_IN_MEMORY /* tests on CPUs without tiles bring their own */
#define vt_configure(shape) __asm__ volatile("ldtilecfg %0" : : "m"(*(shape)))
#define vt_end() __asm__ volatile("tilerelease")
#define vt_clear(t) __asm__ volatile("tilezero %%tmm" #t : :)
#define vt_load(t, p, row) \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"((ptrdiff_t)(row)) : "memory")
#define vt_store(t, p, row)                              \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" \
                     :                                   \
                     : "r"(p), "r"((ptrdiff_t)(row))     \
                     : "memory")
#define vt_dot(c, a, b) __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
/* The same of 32 bf16 in a row, pairs of steps of 16 outputs in b; sums are f32. See matmul_tdpbf16_ref.c. */
#define vt_dot_bf16(c, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#endif

/* As LDTILECFG reads it. */
typedef struct vt_shape {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} vt_shape;
/* For `first` and `second` records; without second ones tiles 2, 3 and 5 are not to be named. Clears all. */
static INFK_INLINE void vt_begin(ptrdiff_t first, ptrdiff_t second) {
    const ptrdiff_t rows[8] = {first, first, second, second, first, second, 16, 16};
    _Alignas(64) vt_shape shape = {1, 0, {0}, {0}, {0}};
    for (int t = 0; t < 8; t++) {
        shape.rows[t] = (uint8_t)rows[t];
        shape.row_bytes[t] = rows[t] ? 64 : 0;
    }
    vt_configure(&shape);
}
static INFK_INLINE vi16x vi_sub_bytes(vi16x a, vi16x b) { return _mm512_sub_epi8(a, b); }
