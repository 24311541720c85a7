/* pack_i4: rows as choose_i4 makes them (K64 nibbles, a byte each; K64 / 64 bytes (scale - 1) | zero << 4; the f32
 * scale) to panels as linear_i4 has them. Outputs beyond n are zero. */
static INFK_INLINE void INFK_PART(row)(const infk_pack_dims *d, const T *x, ptrdiff_t lane, int8_t *y) {
    const ptrdiff_t groups = (d->k + 63) / 64;
    for (ptrdiff_t k = 0; k < groups * 64; k += k % 64 == 31 ? 33 : 1)
        y[I4_GROUP(k / 64) + k % 64 / 4 * 64 + lane * 4 + k % 4] = x ? (int8_t)(x[k] | x[k + 32] * 16) : 0;
    for (ptrdiff_t g = 0; g < (groups + 3) / 4 * 4; g++)
        y[I4_SCALES(g) + lane] = x && g < groups ? x[groups * 64 + g] : 0;
    for (ptrdiff_t i = 0; i < 4; i++) y[d->y_row - 64 + lane * 4 + i] = x ? x[groups * 65 + i] : 0;
}

static INFK_INLINE void INFK(pack_i4)(const infk_pack_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t part = d->n / d->parts;
    for (ptrdiff_t panel = begin; panel < end; panel++)
        for (ptrdiff_t lane = 0; lane < 16; lane++) {
            const ptrdiff_t n = panel / d->parts * 16 + lane, row = panel % d->parts * part + n;
            INFK_PART(row)(d, n < part ? x + row * d->x_row : (const T *)0, lane, RESULT + panel * d->y_row);
        }
}
