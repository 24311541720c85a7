/* pack_i8: f32 rows x[n][x_row] to panels as linear_i8 has them. Per output scale = max|w| / 127, q rounded to nearest,
 * half to even. Inputs beyond k and outputs beyond n are zero; weights must be numbers. */
static INFK_INLINE void INFK_PART(row)(const infk_pack_dims *d, const T *x, ptrdiff_t lane, int8_t *y) {
    const ptrdiff_t groups = (d->k + 63) / 64, block = s_rotate_most(d->rotate);
    float v[128], most = 0.0f;
    int32_t sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        const float by = s_quantize_by(most);
        for (ptrdiff_t k = 0; k < groups * 64; k++) {
            if (k % block == 0) {
                const ptrdiff_t n = s_rotate_size(d->rotate, groups * 64 - k);
                for (ptrdiff_t i = 0; i < n; i++) v[i] = x && k + i < d->k ? x[k + i] : 0.0f;
                s_rotate(v, n, d->rotate);
            }
            if (pass == 0) {
                most = s_max_nan(most, s_abs(v[k % block]));
                continue;
            }
            const int8_t q = (int8_t)s_whole(s_round(v[k % block] * by), -127, 127);
            y[k / 4 * 64 + lane * 4 + k % 4] = q;
            sum += q;
        }
    }
    ((infk_i4 *)(void *)(y + groups * 1024))[lane] = sum;
    ((infk_b4 *)(void *)(y + groups * 1024 + 64))[lane] =
        s_bits(s_quantize_scale(most, s_rotated_weight(d->rotate)));
}

static INFK_INLINE void INFK(pack_i8)(const infk_pack_dims *d, const T *x, const EPI_TYPE *e,
                                      ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t part = d->n / d->parts;
    for (ptrdiff_t panel = begin; panel < end; panel++)
        for (ptrdiff_t lane = 0; lane < 16; lane++) {
            const ptrdiff_t n = panel / d->parts * 16 + lane, row = panel % d->parts * part + n;
            INFK_PART(row)(d, n < part ? x + row * d->x_row : (const T *)0, lane, RESULT + panel * d->y_row);
        }
}
