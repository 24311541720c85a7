/* eval.c - one op on tensors, by the reference kernels. */
#include "eval.h"
#include "../base/interrupt.h"
#include "../../templates/reference.h"
#include "eval_map.h"
#include "eval_units.h"
#include "ir.h"
#include "op_rules.h"
#include <string.h>

infc_status infc_tensor_create(infc_cx *cx, infc_arena *arena, const infc_type *type, infc_tensor *out) {
    const char *wrong = infc_type_check(cx->arena, type);
    if (wrong) return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "tensor: %s", wrong);
    out->type = *type;
    out->data = infc_arena_alloc(arena, (size_t)infc_type_bytes(type) + INFC_OVER_READ, INFC_ALIGN);
    return INFC_OK;
}

static bool same_types(const infk_kernel *kernel, const infc_kernel_call *call) {
    for (int i = 0; i < INFK_MAX_TYPES; i++)
        if (strcmp(kernel->types[i], call->types[i]) != 0) return false;
    return true;
}

static const infk_kernel *find_reference(const infc_kernel_call *call) {
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *kernel = infk_kernel_at(i);
        if (kernel->kind == call->kind && strcmp(kernel->tile, "ref") == 0 && same_types(kernel, call))
            return kernel;
    }
    return NULL;
}

/* The operands; where the kernel takes scratch memory, it is put behind them. */
static infc_status run_call(infc_cx *cx, infc_arena *arena, const infc_kernel_call *call,
                            const void **operands, void *out) {
    const infk_kernel *kernel = find_reference(call);
    infk_entry *entry = kernel ? infk_reference_find(kernel) : NULL;
    if (!entry)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, INFC_NO_LOC, "%s has no reference kernel for %s",
                         infk_kind_get(call->kind)->name, call->types[0]);
    if (infk_has_scratch(call->kind)) {
        size_t floats = (size_t)infk_scratch(call->kind, &call->dims);
        operands[INFK_SCRATCH] = infc_arena_alloc(arena, floats * sizeof(float) + INFC_OVER_READ, INFC_ALIGN);
    }
    infc_eval_units(entry, &call->dims, infk_units(call->kind, &call->dims), operands, out);
    return infc_interrupt_check(cx);
}

static infc_status run_kernel(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                              const infc_tensor *in, infc_tensor *out) {
    infc_kernel_call call;
    const void *operands[INFK_SCRATCH + 1] = {0};
    for (int i = 0; i < desc->n_in; i++) operands[i] = in[i].data;
    infc_op_get(desc->kind)->call(desc, &call);
    return run_call(cx, arena, &call, operands, out->data);
}

static infc_status run_concat(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                              const infc_tensor *in, infc_tensor *out) {
    for (int i = 0; i < desc->n_in; i++) {
        infc_kernel_call call;
        const void *operands[INFK_SCRATCH + 1] = {in[i].data};
        infc_call_concat_part(desc, i, &call);
        INFC_TRY(run_call(cx, arena, &call, operands, out->data));
    }
    return INFC_OK;
}

static infc_status run_indexed(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                               const infc_tensor *in, infc_tensor *out) {
    int64_t extent = desc->in[0].dims[desc->kind == INFC_OP_gather ? infc_desc_int(desc, "axis") : 0];
    const infc_weight indices = {.type = desc->in[1], .bytes = in[1].data};
    for (int64_t i = 0, n = infc_type_count(&desc->in[1]); i < n; i++) {
        int64_t index = infc_weight_i64(&indices, i);
        if (index < -extent || index >= extent)
            return infc_fail(cx, INFC_ERR_MODEL, INFC_NO_LOC,
                             "%s: index %lld is out of range for %lld elements; give inputs "
                             "whose indices are within it",
                             infc_op_get(desc->kind)->name, (long long)index, (long long)extent);
    }
    return run_kernel(cx, arena, desc, in, out);
}

static infc_status run_choose(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                              const infc_tensor *in, infc_tensor *out) {
    if (infc_desc_int(desc, "must") && !*(const uint8_t *)in[1].data)
        return infc_fail(cx, INFC_ERR_MODEL, INFC_NO_LOC,
                         "a loop goes on after loops.max_trips trips; raise that, or give "
                         "inputs that end it");
    return run_kernel(cx, arena, desc, in, out);
}

/* The same weight in panels: what conv and matmul kernels read. Batch dims of a matmul's become one. */
static infc_status pack_weight(infc_cx *cx, infc_arena *arena, infc_op_kind kind,
                               const infc_tensor *w, infc_tensor *out) {
    infc_op_desc desc = {.kind = INFC_OP_relayout, .n_in = 1, .n_attrs = 1, .in = {w->type}};
    desc.attrs[0] = infc_attr_layout(INFC_LAYOUT_panel);
    infc_type *type = &desc.in[0];
    if (kind == INFC_OP_matmul && type->rank > 3) {
        int64_t k = type->dims[type->rank - 2], n = type->dims[type->rank - 1];
        *type = (infc_type){
            type->dtype, INFC_LAYOUT_plain, 3, {infc_dims_product(type, 0, type->rank - 2), k, n}};
    }
    return infc_eval_op(cx, arena, &desc, w, out);
}

static infc_status run_packed(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                              const infc_tensor *in, infc_tensor *out) {
    infc_tensor operands[INFC_MAX_OPERANDS];
    for (int i = 0; i < desc->n_in; i++) operands[i] = in[i];
    if (in[1].type.layout == INFC_LAYOUT_plain)
        INFC_TRY(pack_weight(cx, arena, desc->kind, &in[1], &operands[1]));
    return run_kernel(cx, arena, desc, operands, out);
}

/* Constants may be borrowed from a file at any offset; kernels read whole elements. */
infc_tensor infc_tensor_aligned(infc_arena *arena, const infc_tensor *in) {
    size_t size = infc_dtype_bytes(in->type.dtype), bytes = (size_t)infc_type_bytes(&in->type);
    infc_tensor out = *in;
    if ((uintptr_t)in->data % size == 0) return out;
    out.data = infc_arena_alloc(arena, bytes + INFC_OVER_READ, INFC_ALIGN);
    if (bytes) memcpy(out.data, in->data, bytes);
    return out;
}

uint64_t infc_eval_work(const infc_op_desc *desc) {
    uint64_t work = (uint64_t)infc_type_count(&desc->out);
    for (int i = 0; i < desc->n_in; i++) work += (uint64_t)infc_type_count(&desc->in[i]);
    if (infc_op_is_map(desc->kind) || infc_op_is_concat(desc->kind)) return work;
    if (desc->kind == INFC_OP_convert || desc->kind == INFC_OP_widen ||
        desc->kind == INFC_OP_narrow || desc->kind == INFC_OP_reshape || desc->kind == INFC_OP_weight)
        return work;
    infc_kernel_call call;
    infc_op_get(desc->kind)->call(desc, &call);
    return work + infk_flops(call.kind, &call.dims);
}

infc_status infc_eval_op(infc_cx *cx, infc_arena *arena, const infc_op_desc *desc,
                         const infc_tensor *in, infc_tensor *out) {
    const infc_op_info *info = infc_op_get(desc->kind);
    infc_op_desc full = *desc;
    const char *wrong = info->shape(cx->arena, desc, &full.out);
    if (wrong) return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s: %s", info->name, wrong);
    if (infc_op_layout_free(desc->kind) && desc->out.rank == full.out.rank)
        full.out.layout = desc->out.layout;
    infc_tensor operands[INFC_MAX_OPERANDS];
    for (int i = 0; i < desc->n_in; i++) {
        /* What an If did not compute has no data either. */
        if (!in[i].data && infc_type_count(&in[i].type) && desc->kind != INFC_OP_choose)
            return infc_fail(cx, INFC_ERR_UNSUPPORTED, INFC_NO_LOC,
                             "%s of a weight whose own values are not in the packed file (.infw): "
                             "take the model that "
                             "it was packed from",
                             info->name);
        operands[i] = infc_tensor_aligned(arena, &in[i]);
    }
    in = operands;
    INFC_TRY(infc_tensor_create(cx, arena, &full.out, out));
    switch (desc->kind) {
    case INFC_OP_map1:
    case INFC_OP_map2:
    case INFC_OP_map3:
    case INFC_OP_convert: infc_eval_map(&full, in, out); return infc_interrupt_check(cx);
    case INFC_OP_widen: infc_eval_widen(&full, in, out); return infc_interrupt_check(cx);
    case INFC_OP_narrow:
        if (!infc_eval_narrow(&full, in, out))
            return infc_fail(cx, INFC_ERR_MODEL, INFC_NO_LOC,
                             "a weight is beyond the range of %s%s; give precision.weights: %s",
                             infc_dtype_name(full.out.dtype),
                             full.out.dtype == INFC_DTYPE_f16 ? ", which ends at 65504" : "",
                             full.out.dtype == INFC_DTYPE_f16 ? "bf16 or f32" : "f32");
        return infc_interrupt_check(cx);
    case INFC_OP_choose: return run_choose(cx, arena, &full, in, out);
    case INFC_OP_scatter:
    case INFC_OP_gather: return run_indexed(cx, arena, &full, in, out);
    case INFC_OP_reshape:
        if (infc_type_count(&full.out))
            memcpy(out->data, in[0].data, (size_t)infc_type_bytes(&full.out));
        return INFC_OK;
    case INFC_OP_conv:
    case INFC_OP_matmul:
    case INFC_OP_embed_half:
    case INFC_OP_lstm:
    case INFC_OP_gru:
    case INFC_OP_rnn: return run_packed(cx, arena, &full, in, out);
    case INFC_OP_concat2:
    case INFC_OP_concat3:
    case INFC_OP_concat4: return run_concat(cx, arena, &full, in, out);
    case INFC_OP_weight:
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "a weight is looked up, not evaluated");
    default: return run_kernel(cx, arena, &full, in, out);
    }
}
