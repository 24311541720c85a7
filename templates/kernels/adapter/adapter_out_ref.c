/* adapter_out: y, plus B of what adapter_in made, for rows with an adapter; see adapter_dims.def. The ranks are summed
 * in order, with fma, then the sum is added. The result may lie where y does. A unit is 16 outputs of all rows. */
static INFK_INLINE float INFK_PART(at)(const int8_t *p, ptrdiff_t i, int type) {
    const infk_b2 *halves = (const infk_b2 *)(const void *)p;
    if (type == 0) return ((const float *)(const void *)p)[i];
    if (type == 3) return (float)p[i];
    return type == 1 ? s_float((uint32_t)halves[i] << 16) : s_from_f16(halves[i]);
}

static INFK_INLINE void INFK(adapter_out)(const infk_adapter_dims *d, const T *x, const T *down,
                                          const int32_t *slots, const int8_t *pool, const uint8_t *use,
                                          const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    (void)use; /* false: the planner leaves the step out */
    for (ptrdiff_t t = 0; t < d->t; t++)
        for (ptrdiff_t n = begin * 16; n < end * 16 && n < d->n; n++) {
            const ptrdiff_t m = (n >= d->n0) + (n >= d->n0 + d->n1), i = t * d->n + n;
            const ptrdiff_t output = n - (m > 0 ? d->n0 : 0) - (m > 1 ? d->n1 : 0);
            float sum = 0.0f;
            int rank = 0;
            if (slots[t] >= 0 && slots[t] < d->slots) {
                const int8_t *slot = pool + slots[t] * d->slot_bytes;
                const infk_i4 *entry = (const infk_i4 *)(const void *)slot + (d->first + m) * 4;
                rank = entry[0] & 0xffff;
                const int type = (int)(entry[0] >> 16);
                const int8_t *scales = slot + (ptrdiff_t)entry[3] * 64 + (type == 3 ? output / 16 * 64 : 0);
                const int8_t *b = scales + (type == 3 ? 64 : 0);
                for (int r = 0; r < rank; r++)
                    sum = s_fma(down[(t * d->modules + m) * d->ranks + r],
                                INFK_PART(at)(b, (output / 16 * rank + r) * 16 + output % 16, type), sum);
                if (type == 3)
                    sum *= ((const float *)(const void *)(scales + output / 16 * rank * 16))[output % 16];
            }
            RESULT[i] = rank ? x[i] + sum : x[i];
        }
}
