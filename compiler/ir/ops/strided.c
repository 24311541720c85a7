/* strided.c - what transpose, slice, expand and concat share: a walk over one operand by strides. */
#include "../op_rules.h"

int infc_walk_merge(int rank, const int64_t *extents, const int64_t *strides, int64_t *out_extents,
                    int64_t *out_strides) {
    int n = 0;
    for (int i = 0; i < rank; i++) {
        if (extents[i] == 1) continue;
        if (n > 0 && out_strides[n - 1] == infc_dim_mul(strides[i], extents[i])) {
            out_extents[n - 1] = infc_dim_mul(out_extents[n - 1], extents[i]);
            out_strides[n - 1] = strides[i];
            continue;
        }
        out_extents[n] = extents[i];
        out_strides[n++] = strides[i];
    }
    return n;
}

/* One axis is split in two, so that workers can share it. */
static int split_single(int n, int64_t *extents, int64_t *strides) {
    if (n != 1 || extents[0] == 0) return n;
    int64_t parts = 64, share;
    while (parts > 1 && !infc_dim_share(extents[0], parts, &share)) parts /= 2;
    if (parts == 1) return n;
    extents[1] = share;
    strides[1] = strides[0];
    extents[0] = parts;
    strides[0] = infc_dim_mul(strides[1], extents[1]);
    return 2;
}

void infc_call_strided(infc_dtype dtype, int64_t base, int n, const int64_t *extents,
                       const int64_t *strides, infc_kernel_call *out) {
    int64_t e[INFC_MAX_WALK], s[INFC_MAX_WALK];
    ptrdiff_t d[INFC_MAX_WALK], t[INFC_MAX_WALK];
    for (int i = 0; i < n; i++) e[i] = extents[i], s[i] = strides[i];
    n = split_single(n, e, s);
    for (int i = 0; i < INFC_MAX_WALK; i++) d[i] = 1, t[i] = 0;
    int leading = n > 2 ? 2 : n - 1; /* axes that number the units; the innermost never does */
    for (int i = 0; i < n; i++) {
        int to = i < leading ? i : INFC_MAX_WALK - n + i;
        d[to] = (ptrdiff_t)e[i];
        t[to] = (ptrdiff_t)s[i];
    }
    *out = (infc_kernel_call){.kind = INFK_strided};
    infc_call_by_size(out, dtype);
    infk_strided_dims dims = {d[0], d[1], d[2], d[3], d[4], d[5], t[0], t[1],
                              t[2], t[3], t[4], t[5], 0,    0,    0};
    dims.base = (ptrdiff_t)base;
    dims.y_unit = (ptrdiff_t)infc_dim_mul(infc_dim_mul(d[2], d[3]), infc_dim_mul(d[4], d[5]));
    out->dims.strided = dims;
}
