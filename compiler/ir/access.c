#include "access.h"
#include "op_rules.h"

/* Whether `extra`, aligned to the right of `out`, is 1 everywhere except for the axes [first, last) where it
 * has the output's extents. */
static bool varies_only_in(const infc_type *out, const infc_type *extra, int first, int last) {
    if (extra->rank > out->rank) return false;
    int shift = out->rank - extra->rank;
    for (int i = 0; i < out->rank; i++) {
        int64_t dim = i < shift ? 1 : extra->dims[i - shift];
        int64_t want = i >= first && i < last ? out->dims[i] : 1;
        if (dim != want) return false;
    }
    return true;
}

/* Channels may be read in whole vectors: either there are no pad lanes, or reading past the end is allowed. */
static bool channels_readable(const infc_type *extra, int64_t channels, bool padded) {
    return padded || infc_dim_multiple(channels, 16) || extra->layout == INFC_LAYOUT_c16;
}

static bool access_image(const infc_type *out, const infc_type *extra, bool padded, infc_access *access) {
    if (out->rank < 2) return false;
    if (varies_only_in(out, extra, 1, 2)) {
        *access = INFC_ACCESS_COLUMN;
        return channels_readable(extra, out->dims[1], padded);
    }
    if (out->dims[0] == 1 && extra->layout == INFC_LAYOUT_plain && varies_only_in(out, extra, 2, out->rank)) {
        *access = INFC_ACCESS_ROW;
        return true;
    }
    return false;
}

static bool access_matmul(const infc_type *out, const infc_type *extra, bool padded, infc_access *access) {
    int n = out->rank - 1;
    if (extra->layout != INFC_LAYOUT_plain) return false;
    if (varies_only_in(out, extra, n, n + 1)) {
        *access = INFC_ACCESS_COLUMN;
        return padded || infc_dim_multiple(out->dims[n], 16);
    }
    *access = INFC_ACCESS_ROW;
    return varies_only_in(out, extra, 0, n);
}

bool infc_access_epilogue(infc_op_kind root, const infc_type *out, const infc_type *extra,
                          bool padded, infc_access *access) {
    if (!infc_dtype_in_lanes(extra->dtype)) return false;
    if (infc_type_count(extra) == 1 && extra->rank <= out->rank) {
        *access = INFC_ACCESS_SCALAR;
        return true;
    }
    if (infc_shape_equal(out, extra) && out->layout == extra->layout) {
        *access = INFC_ACCESS_FULL;
        return true;
    }
    switch (root) {
    case INFC_OP_conv:
    case INFC_OP_iconv:
    case INFC_OP_qconv:
    case INFC_OP_pool_max:
    case INFC_OP_resize:
    case INFC_OP_pool_avg: return access_image(out, extra, padded, access);
    case INFC_OP_norm:
    case INFC_OP_matmul:
    case INFC_OP_qmatmul:
    case INFC_OP_qmatmul_both:
    case INFC_OP_imatmul: return access_matmul(out, extra, padded, access);
    default: return false;
    }
}

int infc_access_space(const infc_type *out, int64_t dims[INFC_MAX_RANK + 1]) {
    int rank = 0;
    if (out->layout != INFC_LAYOUT_c16) {
        for (int i = 0; i < out->rank; i++) dims[rank++] = out->dims[i];
        if (rank == 0) dims[rank++] = 1;
        return rank;
    }
    dims[rank++] = out->dims[0];
    dims[rank++] = infc_dim_blocks(out->dims[1], 16);
    for (int i = 2; i < out->rank; i++) dims[rank++] = out->dims[i];
    dims[rank++] = 16;
    return rank;
}

static bool strides_c16(const infc_type *out, const infc_type *extra, bool padded, int64_t *strides) {
    int rank = out->rank + 1;
    for (int i = 0; i < rank; i++) strides[i] = 0;
    if (infc_type_count(extra) == 1) return true;
    if (varies_only_in(out, extra, 1, 2)) {
        strides[1] = 16;
        strides[rank - 1] = 1;
        return channels_readable(extra, out->dims[1], padded);
    }
    if (!infc_shape_equal(out, extra) || extra->layout != INFC_LAYOUT_c16) return false;
    int64_t stride = 1;
    int64_t dims[INFC_MAX_RANK + 1];
    infc_access_space(out, dims);
    for (int i = rank; i-- > 0;) {
        strides[i] = stride;
        stride = infc_dim_mul(stride, dims[i]);
    }
    return true;
}

bool infc_access_strides(const infc_type *out, const infc_type *extra, bool padded,
                         int64_t strides[INFC_MAX_RANK + 1]) {
    if (extra->rank > out->rank) return false;
    if (out->layout == INFC_LAYOUT_c16) return strides_c16(out, extra, padded, strides);
    if (extra->layout != INFC_LAYOUT_plain && infc_type_count(extra) != 1) return false;
    int shift = out->rank - extra->rank;
    strides[0] = 0; /* rank 0 is one element */
    for (int i = 0; i < out->rank; i++) {
        int64_t dim = i < shift ? 1 : extra->dims[i - shift];
        if (dim != 1 && dim != out->dims[i]) return false;
        strides[i] = dim == 1 ? 0 : infc_dims_product(extra, i - shift + 1, extra->rank);
    }
    return true;
}
