#include "eval_map.h"
#include "../base/interrupt.h"
#include "../../templates/simd/scalar.h"
#include "weights.h"
#include <string.h>

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

/* Before element i: whether an interrupt is to be heeded. */
static bool given_up(int64_t i) { return i % 65536 == 0 && infc_interrupt_signal(); }

/* To the next index of the result, in row-major order. */
static void advance(const infc_op_desc *desc, int64_t *index) {
    for (int axis = desc->out.rank; axis-- > 0;) {
        if (++index[axis] < desc->out.dims[axis]) return;
        index[axis] = 0;
    }
}

/* ---- other than f32 alone ------------------------------------------------------------------ */

/* The operands of one element: as floats where they are f32, else as integers. */
typedef struct element {
    int64_t i[INFC_MAX_OPERANDS];
    float f[INFC_MAX_OPERANDS];
} element;

static element load(const infc_op_desc *desc, const infc_tensor *in, const view *from, const int64_t *index) {
    element e = {0};
    for (int k = 0; k < desc->n_in; k++) {
        const infc_weight values = {.type = desc->in[k], .bytes = in[k].data};
        int64_t at = offset(&from[k], index, desc->out.rank);
        if (desc->in[k].dtype == INFC_DTYPE_f32) e.f[k] = ((const float *)in[k].data)[at];
        else if (desc->in[k].dtype == INFC_DTYPE_bool) e.i[k] = infc_weight_i64(&values, at) != 0;
        else e.i[k] = infc_weight_i64(&values, at);
    }
    return e;
}

/* As nest.c prints it: the low bytes of an integer. */
static void store(const infc_type *type, void *data, int64_t at, int64_t value) {
    size_t size = infc_dtype_bytes(type->dtype);
    float real = (float)value;
    if (type->dtype == INFC_DTYPE_bool) value = value != 0;
    memcpy((char *)data + at * (int64_t)size,
           type->dtype == INFC_DTYPE_f32 ? (void *)&real : (void *)&value, size); /* little-endian */
}

static int64_t compute(const infc_op_desc *desc, const infc_fn *fn, const element *e) {
    infc_dtype to = desc->out.dtype;
    if (desc->kind == INFC_OP_convert) {
        if (desc->in[0].dtype != INFC_DTYPE_f32) return e->i[0];
        if (to == INFC_DTYPE_bool) return e->f[0] != 0.0f;
        return s_whole(e->f[0], infc_dtype_low(to), infc_dtype_high(to));
    }
    const infc_integer_info *info = infc_integer_get(fn->index);
    if (desc->in[0].dtype == INFC_DTYPE_f32) return info->of_floats(e->f[0], e->f[1], e->f[2]);
    return info->of_integers(e->i[0], e->i[1], e->i[2]);
}

static void eval_integers(const infc_op_desc *desc, const infc_fn *fn, const infc_tensor *in, infc_tensor *out) {
    int rank = desc->out.rank;
    view to = view_of(&desc->out, rank), from[INFC_MAX_OPERANDS] = {0};
    for (int k = 0; k < desc->n_in; k++) from[k] = view_of(&desc->in[k], rank);
    int64_t index[INFC_MAX_RANK] = {0};
    for (int64_t i = 0, n = infc_type_count(&desc->out); i < n && !given_up(i); i++) {
        element e = load(desc, in, from, index);
        store(&desc->out, out->data, offset(&to, index, rank), compute(desc, fn, &e));
        advance(desc, index);
    }
}

void infc_eval_map(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out) {
    infc_fn fn = {.integer = true};
    if (desc->kind != INFC_OP_convert) infc_desc_fn(desc, &fn);
    if (fn.integer) {
        eval_integers(desc, &fn, in, out);
        return;
    }
    int rank = desc->out.rank;
    view to = view_of(&desc->out, rank), from[INFC_MAX_OPERANDS] = {0};
    for (int k = 0; k < desc->n_in; k++) from[k] = view_of(&desc->in[k], rank);
    int64_t index[INFC_MAX_RANK] = {0}, n = infc_type_count(&desc->out);
    for (int64_t i = 0; i < n && !given_up(i); i++) {
        float args[INFC_MAX_OPERANDS] = {0};
        for (int k = 0; k < desc->n_in; k++)
            args[k] = ((const float *)in[k].data)[offset(&from[k], index, rank)];
        ((float *)out->data)[offset(&to, index, rank)] =
            infc_scalar_apply(fn.index, args[0], args[1], args[2]);
        advance(desc, index);
    }
}

void infc_eval_widen(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out) {
    const uint16_t *from = in[0].data;
    float *to = out->data;
    const bool halves = desc->in[0].dtype == INFC_DTYPE_f16;
    for (int64_t i = 0, n = infc_type_count(&desc->out); i < n && !given_up(i); i++)
        to[i] = halves ? s_from_f16(from[i]) : s_float((uint32_t)from[i] << 16);
}

bool infc_eval_narrow(const infc_op_desc *desc, const infc_tensor *in, infc_tensor *out) {
    const float *from = in[0].data;
    uint16_t *to = out->data;
    const bool halves = desc->out.dtype == INFC_DTYPE_f16;
    bool good = true;
    for (int64_t i = 0, n = infc_type_count(&desc->out); i < n && !given_up(i); i++) {
        const uint32_t bits = s_bits(from[i]);
        const bool number = (bits & 0x7f800000u) != 0x7f800000u;
        if (halves) {
            to[i] = s_to_f16(from[i]);
            good &= !number || s_abs(from[i]) < 65520.0f; /* the middle between 65504 and what would follow */
        } else {
            const uint32_t other = bits >> 16 | (bits & 0x7fffffu ? 0x40u : 0u); /* a NaN stays one */
            to[i] = (uint16_t)(number ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : other);
            good &= !number || (to[i] & 0x7f80u) != 0x7f80u;
        }
    }
    return good;
}
