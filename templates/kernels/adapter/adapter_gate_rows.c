/* adapter_gate in 16 lanes; see adapter_gate_ref.c. */
static INFK_INLINE vf16x INFK_PART(with)(const infk_adapter_dims *d, vf16x y, const T *down,
                                         const int8_t *slot, ptrdiff_t m, ptrdiff_t panel) {
    const infk_i4 *entry = (const infk_i4 *)(const void *)slot + (d->first + m) * 4;
    const ptrdiff_t rank = entry[0] & 0xffff, at = (ptrdiff_t)entry[3] * 64;
    const int type = (int)(entry[0] >> 16 & 0xff);
    const float *floats = (const float *)(const void *)(slot + at) + panel * rank * 16;
    const infk_b2 *halves = (const infk_b2 *)(const void *)(slot + at) + panel * rank * 16;
    const int8_t *bytes = slot + at + panel * (64 + rank * 16);
    vf16x sum = v_zero();
    if (rank == 0) return y;
    if (type == 0)
        for (ptrdiff_t i = 0; i < rank; i++)
            sum = v_fma(v_set1(down[m * d->ranks + i]), v_load(floats + i * 16), sum);
    else if (type == 1)
        for (ptrdiff_t i = 0; i < rank; i++)
            sum = v_fma(v_set1(down[m * d->ranks + i]), v_load_bf16(halves + i * 16), sum);
    else if (type == 2)
        for (ptrdiff_t i = 0; i < rank; i++)
            sum = v_fma(v_set1(down[m * d->ranks + i]), v_load_f16(halves + i * 16), sum);
    else {
        for (ptrdiff_t i = 0; i < rank; i++)
            sum = v_fma(v_set1(down[m * d->ranks + i]), v_from_int(vi_load_i8(bytes + 64 + i * 16)), sum);
        sum = v_mul(sum, v_load((const float *)(const void *)bytes));
    }
    if (entry[0] >> 24)
        return v_mul(v_load((const float *)(const void *)(slot + at) - d->n + panel * 16), v_add(y, sum));
    return v_add(y, sum);
}

static INFK_INLINE void INFK(adapter_gate)(const infk_adapter_dims *d, const T *x, const T *z, const T *down,
                                           const int32_t *slots, const int8_t *pool, const uint8_t *use,
                                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    (void)x;
    (void)use;
    for (ptrdiff_t t = 0; t < d->t; t++) {
        const int8_t *slot = slots[t] >= 0 && slots[t] < d->slots ? pool + slots[t] * d->slot_bytes : 0;
        const T *of = down + t * d->modules * d->ranks;
        for (ptrdiff_t unit = begin; unit < end; unit++) {
            const T *zi = z + t * 2 * d->n + unit * 32;
            vf16x gate = v_load(zi), up = v_load(zi + 16);
            if (slot) gate = INFK_PART(with)(d, gate, of, slot, 0, unit);
            if (slot) up = INFK_PART(with)(d, up, of, slot, 1, unit);
            v_store(RESULT + t * d->n + unit * 16, v_mul(v_silu(gate), up));
        }
    }
}
