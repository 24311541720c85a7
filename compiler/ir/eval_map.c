#include "eval_map.h"

/* Where the element of a logical index of the result lies in a tensor: strides, 0 where it is broadcast. The
 * channel axis of c16 has two: within a block of 16, and from block to block. */
typedef struct view {
    int64_t strides[INFC_MAX_RANK];
    int64_t block; /* c16 only: stride of 16 channels; strides[1] is that of one */
    bool blocked;
} view;

static view view_of(const infc_type *type, int out_rank) {
    view v = {.blocked = type->layout == INFC_LAYOUT_c16};
    int shift = out_rank - type->rank;
    int64_t stride = v.blocked ? 16 : 1;
    for (int i = type->rank; i-- > 0;) {
        int64_t dim = type->dims[i];
        if (v.blocked && i == 1) {
            v.strides[1] = dim == 1 ? 0 : 1;
            v.block = dim == 1 ? 0 : stride;
            stride *= (dim + 15) / 16;
        } else {
            v.strides[i + shift] = dim == 1 ? 0 : stride;
            stride *= dim;
        }
    }
    return v;
}

static int64_t offset(const view *v, const int64_t *index, int rank) {
    int64_t at = 0;
    for (int i = 0; i < rank; i++) {
        if (v->blocked && i == 1) at += index[1] / 16 * v->block + index[1] % 16 * v->strides[1];
        else at += index[i] * v->strides[i];
    }
    return at;
}

void infc_eval_map(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out) {
    int fn = infc_scalar_find(infc_desc_str(desc, "fn")), rank = desc->out.rank;
    view to = view_of(&desc->out, rank), from[INFC_MAX_OPERANDS] = {0};
    for (int k = 0; k < desc->n_in; k++) from[k] = view_of(&desc->in[k], rank);
    int64_t index[INFC_MAX_RANK] = {0}, n = infc_type_count(&desc->out);
    for (int64_t i = 0; i < n; i++) {
        float args[INFC_MAX_OPERANDS] = {0};
        for (int k = 0; k < desc->n_in; k++)
            args[k] = ((const float *)in[k].data)[offset(&from[k], index, rank)];
        ((float *)out->data)[offset(&to, index, rank)] = infc_scalar_apply(fn, args[0], args[1], args[2]);
        for (int axis = rank; axis-- > 0;) {
            if (++index[axis] < desc->out.dims[axis]) break;
            index[axis] = 0;
        }
    }
}
