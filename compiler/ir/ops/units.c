/* units.c - infk_units over open dims. */
#include "../op_rules.h"

static int64_t product(int64_t a, int64_t b, int64_t c) {
    return infc_dim_mul(infc_dim_mul(a, b), c);
}

static bool has_open_fields(const infc_kernel_call *call) {
    for (int i = 0; i < infk_kind_get(call->kind)->n_dims; i++)
        if (infc_dim_open(call->dims.fields[i])) return true;
    return false;
}

/* Kinds of language models. */
static int64_t llm_units(const infc_kernel_call *call) {
    switch (call->kind) {
    case INFK_kv_store: return infc_dim_mul(call->dims.kv.rows, call->dims.kv.groups);
    case INFK_attend: return infc_dim_mul(call->dims.kv.rows, call->dims.kv.heads);
    case INFK_adapter_in:
    case INFK_adapter_rms:
        return product(infc_dim_blocks(call->dims.adapter.t, INFK_ADAPTER_ROWS),
                       call->dims.adapter.modules, call->dims.adapter.ranks / 16);
    case INFK_adapter_out:
    case INFK_adapter_sum:
    case INFK_adapter_gate: return infc_dim_blocks(call->dims.adapter.n, 16);
    case INFK_quantize_groups:
    case INFK_rms_groups: return call->dims.groups.m;
    case INFK_quantize:
    case INFK_rms_quantize: return call->dims.quantize.t;
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_gated_i8:
    case INFK_gated_i4: return infc_dim_blocks(call->dims.linear.n, 16);
    case INFK_linear_keep:
    case INFK_gated_keep: return infc_dim_blocks(call->dims.keep.n, 16);
    case INFK_embed_keep: return call->dims.keep.m;
    case INFK_embed_half:
    case INFK_embed_i8: return call->dims.embed.t;
    default: return INFC_DIM_BAD;
    }
}

int64_t infc_call_units(const infc_kernel_call *call) {
    if (!has_open_fields(call)) return infk_units(call->kind, &call->dims);
    switch (infk_exact(call->kind)) {
    case INFK_iconv:
    case INFK_qconv:
    case INFK_conv: {
        const infk_conv_dims *d = &call->dims.conv;
        return product(d->batch, infc_dim_blocks(d->oc, 16), d->oh);
    }
    case INFK_imatmul:
    case INFK_qmatmul:
    case INFK_qmatmul_both:
    case INFK_matmul: {
        const infk_matmul_dims *d = &call->dims.matmul;
        return infc_dim_mul(d->batch, infc_dim_blocks(d->n, 16));
    }
    case INFK_pool_max:
    case INFK_pool_avg: {
        const infk_pool_dims *d = &call->dims.pool;
        return product(d->batch, infc_dim_blocks(d->c, 16), d->oh);
    }
    case INFK_resize: {
        const infk_resize_dims *d = &call->dims.resize;
        return product(d->batch, infc_dim_blocks(d->c, 16), d->oh);
    }
    case INFK_reduce_sum:
    case INFK_reduce_max: return call->dims.reduce.outer;
    case INFK_softmax: return call->dims.softmax.outer;
    case INFK_norm: return call->dims.norm.outer;
    case INFK_gather: return infc_dim_mul(call->dims.gather.outer, call->dims.gather.n);
    case INFK_attention:
    case INFK_attention_masked: {
        const infk_attention_dims *d = &call->dims.attention;
        return product(d->batch, d->heads, infc_dim_blocks(d->m, 16));
    }
    case INFK_lstm:
    case INFK_gru:
    case INFK_rnn: return infc_dim_mul(call->dims.recurrent.dirs, call->dims.recurrent.batch);
    case INFK_choose: return infc_dim_blocks(call->dims.choose.n, 16);
    case INFK_strided: return infc_dim_mul(call->dims.strided.d0, call->dims.strided.d1);
    case INFK_pad: return infc_dim_mul(call->dims.pad.n0, call->dims.pad.n1);
    case INFK_to_c16:
    case INFK_from_c16:
    case INFK_ipack_matmul:
    case INFK_qpack_matmul:
    case INFK_pack_matmul: {
        const infk_relayout_dims *d = &call->dims.relayout;
        return infc_dim_mul(d->batch, infc_dim_blocks(d->c, 16));
    }
    default: return llm_units(call);
    }
}
