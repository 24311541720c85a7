/* adapter_gate: silu(gate) * up of z [t][2 n], 16 of gate and 16 of up in turn, to each of which B of what adapter_in
 * made is added first, for rows with an adapter; see adapter_out_ref.c.in. x, a gated feed-forward without adapters, is
 * not read: the result may lie there. A unit is 16 results of all rows. */
static INFK_INLINE float INFK_PART(at)(const int8_t *p, ptrdiff_t i, int type) {
    const infk_b2 *halves = (const infk_b2 *)(const void *)p;
    if (type == 0) return ((const float *)(const void *)p)[i];
    return type == 1 ? s_float((uint32_t)halves[i] << 16) : s_from_f16(halves[i]);
}

static INFK_INLINE float INFK_PART(with)(const infk_adapter_dims *d, float y, const T *down,
                                         const int32_t *slots, const int8_t *pool, ptrdiff_t t,
                                         ptrdiff_t m, ptrdiff_t n) {
    float sum = 0.0f;
    if (slots[t] < 0 || slots[t] >= d->slots) return y;
    const int8_t *slot = pool + slots[t] * d->slot_bytes;
    const infk_i4 *entry = (const infk_i4 *)(const void *)slot + (d->first + m) * 4;
    const int rank = entry[0] & 0xffff;
    const int type = (int)(entry[0] >> 16 & 0xff);
    const int8_t *all = slot + (ptrdiff_t)entry[3] * 64;
    const float *g = (const float *)(const void *)all - d->n;
    const int8_t *panel = all + n / 16 * s_panel_bytes(type, rank);
    const T *of = down + (t * d->modules + m) * d->ranks;
    for (int r = 0; type != 3 && r < rank; r++)
        sum = s_fma(of[r], INFK_PART(at)(panel, r * 16 + n % 16, type), sum);
    if (type == 3)
        sum = s_dot_strips(of, rank, panel + 64 + n % 16 * 2, sum) *
              ((const float *)(const void *)panel)[n % 16];
    if (entry[0] >> 24) return g[n] * (y + sum);
    return rank ? y + sum : y;
}

static INFK_INLINE void INFK(adapter_gate)(const infk_adapter_dims *d, const T *x, const T *z, const T *down,
                                           const int32_t *slots, const int8_t *pool, const uint8_t *use,
                                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    (void)x;
    (void)use;
    for (ptrdiff_t t = 0; t < d->t; t++)
        for (ptrdiff_t n = begin * 16; n < end * 16; n++) {
            const T *zi = z + t * 2 * d->n + n / 16 * 32 + n % 16;
            const float gate = INFK_PART(with)(d, zi[0], down, slots, pool, t, 0, n);
            const float up = INFK_PART(with)(d, zi[16], down, slots, pool, t, 1, n);
            RESULT[t * d->n + n] = s_silu(gate) * up;
        }
}
