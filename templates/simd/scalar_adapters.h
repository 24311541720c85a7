/* scalar_adapters.h - what kernels of adapters and their references share; see adapter_dims.def. */

/* Of a panel of 16 ranks or outputs, n values each. */
static INFK_INLINE ptrdiff_t s_panel_bytes(int type, ptrdiff_t n) {
    return type == 3 ? 64 + (n + n % 2) * 16 : n * (type ? 32 : 64);
}
/* The first of n rows that is not done, and those after it with the same adapter: how many, at most `most`. */
static INFK_INLINE ptrdiff_t s_rows_alike(const int32_t *slots, const uint8_t *done, ptrdiff_t n,
                                          ptrdiff_t most, ptrdiff_t *at) {
    ptrdiff_t rows = 0;
    for (ptrdiff_t i = 0; i < n && rows < most; i++)
        if (!done[i] && (rows == 0 || slots[i] == slots[at[0]])) at[rows++] = i;
    return rows;
}
