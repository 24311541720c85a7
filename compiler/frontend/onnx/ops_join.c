/* Larger tensors from small ones: Concat, Expand, Tile, Pad. */
#include "ops_part.h"
#include <string.h>

/* ---- Concat ------------------------------------------------------------------------------------------- */

enum { MAX_JOINED = 4 };

/* Up to four at a time, so that with more each element moves once per level of a tree. Works in place on `in`. */
infc_status infc_onnx_join(infc_onnx_at *at, infc_onnx_operand *in, int n, int axis, infc_onnx_operand *out) {
    static const infc_op_kind kinds[] = {INFC_OP_concat2, INFC_OP_concat3, INFC_OP_concat4};
    int kept = 0;
    infc_onnx_operand first = in[0];
    for (int i = 0; i < n; i++)
        if (infc_type_count(&in[i].type) > 0) in[kept++] = in[i];
    if (kept == 0) in[kept++] = first;
    while (kept > 1) {
        int made = 0;
        for (int i = 0; i < kept; made++) {
            int together = kept - i < MAX_JOINED ? kept - i : MAX_JOINED;
            infc_attr attr = infc_attr_int("axis", axis);
            if (together > 1)
                INFC_TRY(infc_onnx_build(at, kinds[together - 2], in + i, together, &attr, 1, &in[made]));
            else in[made] = in[i];
            i += together;
        }
        kept = made;
    }
    *out = in[0];
    return INFC_OK;
}

/* Ranks, types, and all dims but the one along `axis` agree: said here, since empty operands reach no op. */
static infc_status check_joined(infc_onnx_at *at, const infc_onnx_operand *in, int n, int axis) {
    for (int i = 1; i < n; i++) {
        const infc_type *a = &in[0].type, *b = &in[i].type;
        bool same = a->dtype == b->dtype && a->rank == b->rank;
        for (int k = 0; same && k < a->rank; k++) same = k == axis || a->dims[k] == b->dims[k];
        if (!same)
            return infc_onnx_invalid(at, "input %d, %s, does not join %s along axis %d", i,
                                     infc_type_text(at->arena, b), infc_type_text(at->arena, a), axis);
    }
    return INFC_OK;
}

infc_status infc_onnx_import_concat(infc_onnx_at *at) {
    infc_onnx_operand in[INFC_ONNX_MAX_VARIADIC], y;
    int n = (int)at->node->n_inputs, axis;
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "axis");
    if (!attribute) return infc_onnx_invalid(at, "attribute \"axis\" is missing");
    for (int i = 0; i < n; i++) {
        if (!infc_onnx_has(at, (size_t)i))
            return infc_onnx_invalid(at, "input %d must not be left out", i);
        in[i] = infc_onnx_any(at, (size_t)i);
    }
    INFC_TRY(infc_onnx_axis(at, attribute->i, in[0].type.rank, &axis));
    INFC_TRY(check_joined(at, in, n, axis));
    INFC_TRY(infc_onnx_join(at, in, n, axis, &y));
    return infc_onnx_output(at, 0, &y);
}

/* ---- Expand, Tile --------------------------------------------------------------------------------------- */

static infc_status expand_to(infc_onnx_at *at, const infc_onnx_operand *x, const infc_type *to,
                             infc_onnx_operand *out) {
    infc_onnx_operand from = *x;
    *out = from;
    if (infc_shape_equal(&from.type, to)) return INFC_OK;
    infc_attr attr = infc_attr_ints("shape", to->dims, to->rank);
    return infc_onnx_build(at, INFC_OP_expand, &from, 1, &attr, 1, out);
}

/* Broadcasting goes both ways: where the shape says 1, x keeps its extent. */
infc_status infc_onnx_import_expand(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    infc_type shape = {.dtype = x.type.dtype}, to;
    INFC_TRY(infc_onnx_input_ints(at, 1, shape.dims, INFC_MAX_RANK, &shape.rank));
    const char *wrong = infc_type_check(at->arena, &shape);
    if (wrong) return infc_onnx_invalid(at, "the new shape: %s", wrong);
    if (!infc_type_broadcast(&x.type, &shape, &to))
        return infc_onnx_invalid(at, "%s cannot be repeated to %s", infc_type_text(at->arena, &x.type),
                                 infc_type_text(at->arena, &shape));
    wrong = infc_type_check(at->arena, &to);
    if (wrong) return infc_onnx_invalid(at, "the new shape: %s", wrong);
    INFC_TRY(expand_to(at, &x, &to, &x));
    return infc_onnx_output(at, 0, &x);
}

/* [.., d, ..] as [.., 1, d, ..], that 1 repeated, and both as one again. */
infc_status infc_onnx_import_tile(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    int64_t repeats[INFC_MAX_RANK], dims[INFC_MAX_RANK], split[2 * INFC_MAX_RANK];
    infc_type to = {.dtype = x.type.dtype};
    int n, rank = 0;
    INFC_TRY(infc_onnx_input_ints(at, 1, repeats, INFC_MAX_RANK, &n));
    if (n != x.type.rank)
        return infc_onnx_invalid(at, "%d repeats for %d dimensions", n, x.type.rank);
    for (int i = 0; i < n; i++) {
        if (infc_dim_least(repeats[i]) < 0 || infc_dim_most(repeats[i]) > INFC_MAX_ELEMENTS)
            return infc_onnx_invalid(at, "repeat %s along axis %d", infc_dim_text(at->arena, repeats[i]), i);
        dims[i] = infc_dim_mul(x.type.dims[i], repeats[i]);
        if (dims[i] == INFC_DIM_BAD)
            return infc_onnx_invalid(at, "the result has too many elements");
        if (rank + 2 > INFC_MAX_RANK && repeats[i] != 1 && x.type.dims[i] != 1)
            return infc_onnx_refuse(at, "repeats along too many axes");
        if (rank >= INFC_MAX_RANK) return infc_onnx_refuse(at, "repeats along too many axes");
        if (repeats[i] != 1 && x.type.dims[i] != 1) {
            to.dims[rank] = repeats[i];
            split[rank++] = 1;
        }
        to.dims[rank] = x.type.dims[i] == 1 ? repeats[i] : x.type.dims[i];
        split[rank++] = x.type.dims[i];
    }
    to.rank = rank;
    const char *wrong = infc_type_check(at->arena, &to);
    if (wrong) return infc_onnx_invalid(at, "the result: %s", wrong);
    INFC_TRY(infc_onnx_view(at, &x, split, rank, &x));
    INFC_TRY(expand_to(at, &x, &to, &x));
    INFC_TRY(infc_onnx_view(at, &x, dims, n, &x));
    return infc_onnx_output(at, 0, &x);
}

/* ---- Pad ------------------------------------------------------------------------------------------------ */

/* pads of the axes that are padded, as [begin.., end..]. */
static infc_status read_pads(infc_onnx_at *at, int rank, int64_t *before, int64_t *after) {
    int64_t pads[2 * INFC_MAX_RANK], axes[INFC_MAX_RANK];
    int n = 0, n_axes = rank;
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, "pads");
    for (int i = 0; i < rank; i++) before[i] = after[i] = 0, axes[i] = i;
    if (infc_onnx_has(at, 1)) INFC_TRY(infc_onnx_input_ints(at, 1, pads, 2 * INFC_MAX_RANK, &n));
    if (at->opset < 11 && !attribute) return infc_onnx_invalid(at, "attribute \"pads\" is missing");
    if (attribute && attribute->n_ints <= 2 * INFC_MAX_RANK)
        for (n = 0; (size_t)n < attribute->n_ints; n++) pads[n] = attribute->ints[n];
    if (infc_onnx_has(at, 3)) INFC_TRY(infc_onnx_input_ints(at, 3, axes, INFC_MAX_RANK, &n_axes));
    if (n != 2 * n_axes)
        return infc_onnx_invalid(at, "%d pads for %d axes; it takes two for each", n, n_axes);
    for (int i = 0; i < n_axes; i++) {
        int axis;
        INFC_TRY(infc_onnx_axis(at, axes[i], rank, &axis));
        if (before[axis] || after[axis])
            return infc_onnx_invalid(at, "axis %d is given twice", axis);
        before[axis] = pads[i];
        after[axis] = pads[n_axes + i];
    }
    return INFC_OK;
}

/* Negative pads cut elements off. */
static infc_status cut(infc_onnx_at *at, infc_onnx_operand *x, int64_t *before, int64_t *after) {
    infc_onnx_part part;
    infc_onnx_part_all(&x->type, &part);
    for (int i = 0; i < part.rank; i++) {
        int64_t dim = x->type.dims[i], kept = dim, *both[] = {&before[i], &after[i]};
        for (int side = 0; side < 2; side++) {
            int64_t pad = *both[side];
            if (infc_dim_least(infc_dim_add(dim, pad)) < 0 || infc_dim_most(pad) > INFC_MAX_ELEMENTS)
                return infc_onnx_invalid(at, "axis %d, %s long, cannot be padded by %s and %s", i,
                                         infc_dim_text(at->arena, dim), infc_dim_text(at->arena, before[i]),
                                         infc_dim_text(at->arena, after[i]));
            if (infc_dim_least(pad) >= 0) continue;
            if (infc_dim_most(pad) > 0)
                return infc_onnx_refuse(at, "the pad %s of axis %d adds for some sizes and cuts off for others",
                                        infc_dim_text(at->arena, pad), i);
            kept = infc_dim_add(kept, pad);
            if (side == 0) part.starts[i] = infc_dim_sub(0, pad);
            *both[side] = 0;
        }
        if (kept != dim && infc_dim_least(kept) <= 0)
            return infc_onnx_invalid(at, "the pads of axis %d cut off all of its %s elements", i,
                                     infc_dim_text(at->arena, dim));
        part.shape[i] = kept;
    }
    return infc_onnx_part_of(at, x, &part, x);
}

/* The bits of the fill: attribute or input 2, else zero. */
static infc_status read_fill(infc_onnx_at *at, infc_dtype dtype, int64_t *out) {
    float value = infc_onnx_attr_float(at, "value", 0.0f);
    *out = 0;
    if (!infc_onnx_has(at, 2)) {
        if (dtype == INFC_DTYPE_f32) *out = infc_f32_bits(value);
        else if (infc_f32_bits(value) != 0)
            return infc_onnx_refuse(at, "a fill of %g for %s", (double)value, infc_dtype_name(dtype));
        return INFC_OK;
    }
    infc_onnx_operand fill = infc_onnx_any(at, 2);
    if (!fill.constant)
        return infc_onnx_refuse(at, "input 2, \"%s\", must be a constant", at->node->inputs[2]);
    if (fill.type.dtype != dtype || infc_type_count(&fill.type) != 1)
        return infc_onnx_invalid(at, "input 2, \"%s\", is %s; it must be one value of the type of input 0",
                                 at->node->inputs[2], infc_type_text(at->arena, &fill.type));
    memcpy(out, fill.constant->bytes, infc_dtype_bytes(dtype)); /* little-endian */
    return INFC_OK;
}

infc_status infc_onnx_import_pad(infc_onnx_at *at) {
    infc_onnx_operand x = infc_onnx_any(at, 0);
    int64_t before[INFC_MAX_RANK], after[INFC_MAX_RANK], fill = 0;
    const char *mode = infc_onnx_attr_is(at, "mode", "edge")      ? "edge"
                       : infc_onnx_attr_is(at, "mode", "reflect") ? "reflect"
                                                                  : "constant";
    if (infc_onnx_attr(at, "mode") && !infc_onnx_attr_is(at, "mode", mode))
        return infc_onnx_refuse(at, "attribute \"mode\" must be constant, edge or reflect");
    INFC_TRY(read_pads(at, x.type.rank, before, after));
    if (strcmp(mode, "constant") == 0) INFC_TRY(read_fill(at, x.type.dtype, &fill));
    INFC_TRY(cut(at, &x, before, after));
    bool padded = false;
    for (int i = 0; i < x.type.rank; i++) padded = padded || before[i] || after[i];
    if (padded) {
        infc_attr attrs[] = {infc_attr_ints("before", before, x.type.rank),
                             infc_attr_ints("after", after, x.type.rank),
                             infc_attr_string("mode", mode), infc_attr_int("fill", fill)};
        INFC_TRY(infc_onnx_build(at, INFC_OP_pad, &x, 1, attrs, 4, &x));
    }
    return infc_onnx_output(at, 0, &x);
}
