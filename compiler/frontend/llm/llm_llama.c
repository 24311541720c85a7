/* llm_llama.c - the Llama family: RMS norms, rotary attention, gated feed-forward. */
#include "llm_build.h"

static infc_status normed(infc_llm_build *b, MlirValue x, const char *role, infc_llm_rows *out) {
    *out = infc_llm_rows_of(x, (int64_t)b->model->config.hidden);
    return infc_llm_vector(b, infc_llm_tensor(b, role), &out->norm);
}

static infc_status attention(infc_llm_build *b, MlirValue x, MlirValue *out) {
    const infc_stored_tensor *qkv[] = {infc_llm_tensor(b, "attn_q"), infc_llm_tensor(b, "attn_k"),
                                       infc_llm_tensor(b, "attn_v")};
    const infc_stored_tensor *o = infc_llm_tensor(b, "attn_o");
    infc_llm_rows rows;
    MlirValue y;
    INFC_TRY(normed(b, x, "attn_norm", &rows));
    INFC_TRY(infc_llm_adapter_rows(b, &rows, "attn_q", 3));
    INFC_TRY(infc_llm_linear(b, &rows, "qkv", qkv, 3, &y));
    INFC_TRY(infc_llm_adapt(b, &rows, "attn_q", 3, &y));
    INFC_TRY(infc_llm_attend(b, y, &y));
    rows = infc_llm_rows_of(y, (int64_t)(b->model->config.heads * b->model->config.head_dim));
    INFC_TRY(infc_llm_adapter_rows(b, &rows, "attn_o", 1));
    INFC_TRY(infc_llm_linear(b, &rows, "attn_o", &o, 1, &y));
    INFC_TRY(infc_llm_add(b, "attn_residual", y, x, out));
    return infc_llm_adapt_sum(b, &rows, "attn_o", x, out);
}

static infc_status feed_forward(infc_llm_build *b, MlirValue x, MlirValue *out) {
    const infc_stored_tensor *down = infc_llm_tensor(b, "ffn_down");
    infc_llm_rows rows;
    MlirValue y;
    INFC_TRY(normed(b, x, "ffn_norm", &rows));
    INFC_TRY(infc_llm_gated(b, &rows, infc_llm_tensor(b, "ffn_gate"), infc_llm_tensor(b, "ffn_up"), &y));
    rows = infc_llm_rows_of(y, (int64_t)b->model->config.ffn);
    INFC_TRY(infc_llm_adapter_rows(b, &rows, "ffn_down", 1));
    INFC_TRY(infc_llm_linear(b, &rows, "ffn_down", &down, 1, &y));
    INFC_TRY(infc_llm_add(b, "ffn_residual", y, x, out));
    return infc_llm_adapt_sum(b, &rows, "ffn_down", x, out);
}

infc_status infc_llm_build_llama(infc_llm_build *b, MlirValue *logits) {
    const infc_llm_config *c = &b->model->config;
    const infc_stored_tensor *table = infc_llm_tensor(b, "embedding"),
                             *head = c->tied ? table : infc_llm_tensor(b, "head");
    MlirValue x, taken[2];
    INFC_TRY(infc_llm_embed(b, table, &x));
    for (b->layer = 0; b->layer < (int64_t)c->layers; b->layer++) {
        INFC_TRY(attention(b, x, &x));
        INFC_TRY(feed_forward(b, x, &x));
        infc_ir_set_name(b->ir, x, infc_arena_printf(b->cx->arena, "layer.%lld", (long long)b->layer));
    }
    b->layer = -1;
    taken[0] = x;
    taken[1] = b->inputs[INFC_LLM_LAST_ROWS];
    infc_attr axis = infc_attr_int("axis", 0);
    infc_llm_rows rows;
    INFC_TRY(infc_llm_op(b, INFC_OP_gather, "take_rows", taken, 2, &axis, 1, &x));
    INFC_TRY(normed(b, x, "norm", &rows));
    INFC_TRY(infc_llm_linear(b, &rows, "head", &head, 1, logits));
    infc_ir_set_name(b->ir, *logits, "logits");
    return INFC_OK;
}
