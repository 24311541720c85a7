/* kernel_memory.c - memory of kernels beside plain operands: scratch, the cache of keys and values, what lies where by
 * layer. */
#include "kernel_table.h"

ptrdiff_t infk_kv_part_bytes(ptrdiff_t head_dim, ptrdiff_t format) {
    return format == INFK_KV_F16 ? 128 * head_dim : 64 * head_dim + 256;
}

ptrdiff_t infk_kv_query_bytes(ptrdiff_t head_dim, ptrdiff_t format) {
    return format == INFK_KV_F16 ? 4 * head_dim : (head_dim + 8 + 15) / 16 * 16;
}

int infk_written_operand(infk_kind kind) { return kind == INFK_kv_store ? 4 : -1; }

int infk_place_dim(infk_kind kind) {
    switch (kind) {
    case INFK_kv_store:
    case INFK_attend: return (int)(offsetof(infk_kv_dims, part_at) / sizeof(ptrdiff_t));
    case INFK_adapter_in:
    case INFK_adapter_rms:
    case INFK_adapter_out:
    case INFK_adapter_sum:
    case INFK_adapter_gate: return (int)(offsetof(infk_adapter_dims, first) / sizeof(ptrdiff_t));
    default: return -1;
    }
}

int infk_has_scratch(infk_kind kind) {
    return kind == INFK_lstm || kind == INFK_gru || kind == INFK_rnn || kind == INFK_scatter ||
           kind == INFK_scatter_join || kind == INFK_attend;
}

ptrdiff_t infk_scratch(infk_kind kind, const void *dims) {
    const infk_recurrent_dims *d = dims;
    switch (kind) {
    case INFK_lstm: return d->dirs * d->batch * 4 * d->hp; /* h, the next h, c, h rounded */
    case INFK_gru: return d->dirs * d->batch * 4 * d->hp;  /* h, the next h, z, r */
    case INFK_rnn: return d->dirs * d->batch * 2 * d->hp;
    case INFK_scatter:
    case INFK_scatter_join: { /* the result as it grows */
        const infk_scatter_dims *s = dims;
        return (s->rows * s->inner * s->size + 3) / 4;
    }
    case INFK_attend: { /* of one row, what each part of 256 positions gives, its maximum and its sum */
        const infk_kv_dims *k = dims;
        return k->heads * ((k->width + 7) / 8) * (k->head_dim + 16);
    }
    default: return 0;
    }
}
