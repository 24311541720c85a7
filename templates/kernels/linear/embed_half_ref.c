/* embed_half: column `token` of panels of f16 or bf16 as matmul has them, widened exactly. */
static INFK_INLINE void INFK(embed_half)(const infk_embed_dims *d, const T *x, const W *w,
                                         const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t t = begin; t < end; t++)
        for (ptrdiff_t k = 0; k < d->k; k++)
            EPI(ldw(w, PANEL(d->k, x[t] / 16, k, x[t] % 16)), t * d->k + k, t, k);
}
