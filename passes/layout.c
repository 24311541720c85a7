/* layout.c - chooses how each tensor lies in memory and inserts the relayouts.
 *
 * One walk in program order. Convolutions write channel blocks of 16 (c16) and read either layout, because
 * their input is read one value at a time; those of one channel a group, 16 groups at a time, read blocks;
 * pooling, element-wise work, concats and reductions over pixels stay in blocks when they get them; everything else
 * works on plain tensors. Weights of matmul and conv become panels; a relayout of a constant is done at compile
 * time, as the plan turns it into a weight's recipe. No value changes: reduction orders are defined on logical
 * indices (docs/numerics.md). */
#include "../compiler/ir/access.h"
#include "../compiler/ir/op_rules.h"
#include "pass.h"

typedef struct relayouts { /* made so far: value, layout -> converted value */
    struct {
        MlirValue from, to;
        infc_layout layout;
    } *items;
    size_t n, cap;
} relayouts;

/* Makes operand i of op have `layout`, converting it once per value. */
static infc_status want(infc_pass_cx *pass, relayouts *made, MlirOperation op, int i, infc_layout layout) {
    infc_ir *ir = pass->ir;
    MlirValue value = mlirOperationGetOperand(op, i), to;
    if (infc_ir_type(ir, value).layout == layout) return INFC_OK;
    for (size_t k = 0; k < made->n; k++)
        if (mlirValueEqual(made->items[k].from, value) && made->items[k].layout == layout) {
            infc_ir_set_operand(op, i, made->items[k].to);
            return INFC_OK;
        }
    infc_ir_at at = {mlirOperationGetBlock(op), op};
    infc_attr attr = infc_attr_layout(layout);
    INFC_TRY(infc_ir_build(ir, at, INFC_OP_relayout, mlirOperationGetLocation(op), &value, 1, &attr, 1, &to));
    INFC_GROW(pass->scratch, made->items, made->n, made->cap);
    made->items[made->n].from = value;
    made->items[made->n].to = to;
    made->items[made->n++].layout = layout;
    infc_ir_set_operand(op, i, to);
    pass->n_changes++;
    return INFC_OK;
}

static infc_status all_plain(infc_pass_cx *pass, relayouts *made, MlirOperation op) {
    for (int i = 0; i < (int)mlirOperationGetNumOperands(op); i++)
        INFC_TRY(want(pass, made, op, i, INFC_LAYOUT_plain));
    return INFC_OK;
}

static bool any_blocked(const infc_op_desc *desc) {
    for (int i = 0; i < desc->n_in; i++)
        if (desc->in[i].layout == INFC_LAYOUT_c16) return true;
    return false;
}

/* Whether every operand of a map can be read beside a c16 output, after converting the full-size ones. */
static bool map_can_block(MlirOperation op, const infc_op_desc *desc) {
    infc_type out = desc->out;
    out.layout = INFC_LAYOUT_c16;
    for (int i = 0; i < desc->n_in; i++) {
        int64_t strides[INFC_MAX_RANK + 1];
        infc_type in = desc->in[i];
        MlirOperation def = infc_ir_def(mlirOperationGetOperand(op, i));
        if (infc_shape_equal(&in, &out)) in.layout = INFC_LAYOUT_c16;
        if (!infc_access_strides(&out, &in, !mlirOperationIsNull(def), strides)) return false;
    }
    return true;
}

static infc_status lay_out_map(infc_pass_cx *pass, relayouts *made, MlirOperation op, const infc_op_desc *desc) {
    if (!any_blocked(desc) || !infc_desc_in_lanes(desc) || desc->out.rank < 3 || !map_can_block(op, desc))
        return all_plain(pass, made, op);
    for (int i = 0; i < desc->n_in; i++)
        if (infc_shape_equal(&desc->in[i], &desc->out))
            INFC_TRY(want(pass, made, op, i, INFC_LAYOUT_c16));
    infc_ir_set_layout(pass->ir, mlirOperationGetResult(op, 0), INFC_LAYOUT_c16);
    return INFC_OK;
}

static infc_status lay_out_reduce(infc_pass_cx *pass, relayouts *made, MlirOperation op,
                                  const infc_op_desc *desc) {
    const infc_attr *axes = infc_desc_attr(desc, "axes");
    bool spatial = desc->in[0].layout == INFC_LAYOUT_c16 && axes->n_ints == desc->in[0].rank - 2;
    for (int i = 0; spatial && i < axes->n_ints; i++) spatial = axes->ints[i] >= 2;
    if (!spatial) return all_plain(pass, made, op);
    infc_ir_set_layout(pass->ir, mlirOperationGetResult(op, 0), INFC_LAYOUT_c16);
    return INFC_OK;
}

/* Blocks when some operand has them and those before the last end where a block does. */
static infc_status lay_out_concat(infc_pass_cx *pass, relayouts *made, MlirOperation op,
                                  const infc_op_desc *desc) {
    bool blocked = any_blocked(desc) && desc->out.rank >= 3;
    for (int i = 0; i + 1 < desc->n_in && infc_desc_int(desc, "axis") == 1; i++)
        blocked = blocked && infc_dim_multiple(desc->in[i].dims[1], 16);
    if (!blocked) return all_plain(pass, made, op);
    for (int i = 0; i < desc->n_in; i++) INFC_TRY(want(pass, made, op, i, INFC_LAYOUT_c16));
    infc_ir_set_layout(pass->ir, mlirOperationGetResult(op, 0), INFC_LAYOUT_c16);
    return INFC_OK;
}

/* Channel blocks, unless there is one pixel: then blocks and plain rows are the same bytes. */
static void block_result(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc) {
    if (infc_dims_product(&desc->out, 2, desc->out.rank) != 1)
        infc_ir_set_layout(pass->ir, mlirOperationGetResult(op, 0), INFC_LAYOUT_c16);
}

/* One input channel for each output channel, and enough of them for blocks. */
static bool is_depthwise(const infc_op_desc *desc) {
    enum { LEAST = 8 };
    return desc->in[1].dims[1] == 1 && desc->out.dims[1] == desc->in[0].dims[1] && desc->out.dims[1] >= LEAST &&
           !infc_dim_open(desc->out.dims[1]) && infc_desc_int(desc, "groups") == desc->out.dims[1];
}

static infc_status lay_out(infc_pass_cx *pass, relayouts *made, MlirOperation op) {
    infc_op_kind kind = infc_ir_kind(pass->ir, op);
    if (kind == INFC_OP_RETURN) return all_plain(pass, made, op);
    if (kind >= INFC_N_OP_KINDS) return INFC_OK;
    infc_op_desc desc;
    infc_ir_describe(pass->ir, op, &desc);
    switch (kind) {
    case INFC_OP_weight:
    case INFC_OP_relayout: return INFC_OK;
    case INFC_OP_conv:
        block_result(pass, op, &desc);
        if (is_depthwise(&desc)) INFC_TRY(want(pass, made, op, 0, INFC_LAYOUT_c16));
        return want(pass, made, op, 1, INFC_LAYOUT_panel);
    case INFC_OP_iconv: /* reads pairs of channels */
    case INFC_OP_qconv: /* or four */
        block_result(pass, op, &desc);
        return want(pass, made, op, 0, INFC_LAYOUT_c16);
    case INFC_OP_pool_max:
    case INFC_OP_pool_avg:
    case INFC_OP_resize:
        if (desc.in[0].layout == INFC_LAYOUT_c16) block_result(pass, op, &desc);
        return INFC_OK;
    case INFC_OP_map1:
    case INFC_OP_map2:
    case INFC_OP_map3:
    case INFC_OP_convert: return lay_out_map(pass, made, op, &desc);
    case INFC_OP_reduce_sum:
    case INFC_OP_reduce_max: return lay_out_reduce(pass, made, op, &desc);
    case INFC_OP_concat2:
    case INFC_OP_concat3:
    case INFC_OP_concat4: return lay_out_concat(pass, made, op, &desc);
    case INFC_OP_qmatmul:
    case INFC_OP_qmatmul_both:
    case INFC_OP_imatmul: return want(pass, made, op, 0, INFC_LAYOUT_plain);
    case INFC_OP_lstm:
    case INFC_OP_gru:
    case INFC_OP_rnn:
        INFC_TRY(want(pass, made, op, 1, INFC_LAYOUT_panel));
        for (int i = 0; i < desc.n_in; i++)
            if (i != 1) INFC_TRY(want(pass, made, op, i, INFC_LAYOUT_plain));
        return INFC_OK;
    case INFC_OP_embed_half:
    case INFC_OP_matmul:
        INFC_TRY(want(pass, made, op, 0, INFC_LAYOUT_plain));
        return want(pass, made, op, 1, INFC_LAYOUT_panel);
    default: return all_plain(pass, made, op);
    }
}

infc_status infc_pass_layout(infc_pass_cx *pass) {
    relayouts made = {0};
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) INFC_TRY(lay_out(pass, &made, ops[i]));
    return INFC_OK;
}
