/* plan_what.c - a step in words, for comments in generated code, dumps and profiles. */
#include "plan_internal.h"

/* A field of a call, which may be an open dim. */
#define T(dim) infc_dim_text(out->arena, dim)

static void conv_words(const char *name, const infk_conv_dims *d, infc_buf *out) {
    infc_buf_printf(out, "%s %sx%s, %s -> %s channels, stride %s, pad %s, on %sx%s", name, T(d->kh),
                    T(d->kw), T(infc_dim_mul(d->ic, d->groups)), T(d->oc), T(d->sh), T(d->ph),
                    T(d->ih), T(d->iw));
    if (d->groups > 1) infc_buf_printf(out, ", %s groups", T(d->groups));
}

/* Kinds of language models, and all others. */
static void llm_words(const infc_kernel_call *call, const char *name, infc_buf *out) {
    switch (call->kind) {
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_gated_i8:
    case INFK_gated_i4:
        infc_buf_printf(out, "%s %s x %s x %s", name, T(call->dims.linear.t),
                        T(call->dims.linear.k), T(call->dims.linear.n));
        break;
    case INFK_linear_keep:
    case INFK_gated_keep:
        infc_buf_printf(out, "%s %s x %s x %s", name, T(call->dims.keep.m), T(call->dims.keep.k),
                        T(call->dims.keep.n));
        break;
    case INFK_adapter_in:
    case INFK_adapter_rms:
        infc_buf_printf(out, "%s %s x %s x %s of %s", name, T(call->dims.adapter.t),
                        T(call->dims.adapter.k), T(call->dims.adapter.modules), T(call->dims.adapter.ranks));
        break;
    case INFK_adapter_out:
    case INFK_adapter_sum:
    case INFK_adapter_gate:
        infc_buf_printf(out, "%s %s x %s x %s", name, T(call->dims.adapter.t),
                        T(call->dims.adapter.ranks), T(call->dims.adapter.n));
        break;
    case INFK_kv_store:
    case INFK_attend:
        infc_buf_printf(out, "%s of %s rows, %s heads of %s", name, T(call->dims.kv.rows),
                        T(call->dims.kv.heads), T(call->dims.kv.head_dim));
        break;
    default: infc_buf_puts(out, name);
    }
}

static void kernel_words(const infc_plan_step *step, infc_buf *out) {
    const infc_kernel_call *call = &step->call;
    const char *name = infk_kind_get(call->kind)->name;
    switch (infk_exact(call->kind)) {
    case INFK_iconv:
    case INFK_qconv:
    case INFK_conv: conv_words(name, &call->dims.conv, out); break;
    case INFK_imatmul:
    case INFK_qmatmul:
    case INFK_qmatmul_both:
    case INFK_matmul:
        infc_buf_printf(out, "%s %s x %s x %s", name, T(call->dims.matmul.m),
                        T(call->dims.matmul.k), T(call->dims.matmul.n));
        if (call->dims.matmul.batch != 1)
            infc_buf_printf(out, ", %s of them", T(call->dims.matmul.batch));
        break;
    case INFK_pool_max:
    case INFK_pool_avg:
        infc_buf_printf(out, "%s %sx%s, stride %s, on %sx%s", name, T(call->dims.pool.kh),
                        T(call->dims.pool.kw), T(call->dims.pool.sh), T(call->dims.pool.ih),
                        T(call->dims.pool.iw));
        break;
    case INFK_reduce_sum:
    case INFK_reduce_max:
    case INFK_softmax: /* the same three leading fields */
        infc_buf_printf(out, "%s of %s x [%s] x %s", name, T(call->dims.reduce.outer),
                        T(call->dims.reduce.r), T(call->dims.reduce.inner));
        break;
    case INFK_lstm:
    case INFK_gru:
    case INFK_rnn:
        infc_buf_printf(out, "%s of %td units, %td steps of %td rows, %td direction%s", name,
                        call->dims.recurrent.h, call->dims.recurrent.t, call->dims.recurrent.batch,
                        call->dims.recurrent.dirs, call->dims.recurrent.dirs > 1 ? "s" : "");
        break;
    case INFK_resize:
        infc_buf_printf(out, "resize %sx%s to %sx%s, %s", T(call->dims.resize.ih),
                        T(call->dims.resize.iw), T(call->dims.resize.oh), T(call->dims.resize.ow),
                        call->dims.resize.h_pick ? "nearest" : "linear");
        break;
    case INFK_norm:
        infc_buf_printf(out, "%s of %s x [%s]", name, T(call->dims.norm.outer), T(call->dims.norm.r));
        break;
    default: llm_words(call, name, out);
    }
}

const char *infc_expr_fn_name(const infc_plan_expr *expr) {
    if (expr->kind == INFC_EXPR_CONVERT) return infc_dtype_name((infc_dtype)expr->fn);
    return expr->kind == INFC_EXPR_INTEGER ? infc_integer_get(expr->fn)->name : infc_scalar_name(expr->fn);
}

int infc_expr_fn_arity(const infc_plan_expr *expr) {
    if (expr->kind == INFC_EXPR_CONVERT) return 1;
    return expr->kind == INFC_EXPR_INTEGER ? infc_integer_get(expr->fn)->arity : infc_scalar_arity(expr->fn);
}

bool infc_expr_is_function(const infc_plan_expr *expr) {
    return expr->kind != INFC_EXPR_ACC && expr->kind != INFC_EXPR_EXTRA;
}

const char *infc_plan_what(const infc_builder *b, const infc_plan_step *step) {
    infc_buf out = {.arena = b->cx->arena};
    if (step->kernel) kernel_words(step, &out);
    const char *separator = step->kernel ? "; then " : "";
    for (int i = 0; i < step->n_exprs; i++) {
        const infc_plan_expr *expr = &b->plan->exprs[step->first_expr + i];
        if (!infc_expr_is_function(expr)) continue;
        infc_buf_printf(&out, "%s%s", separator, infc_expr_fn_name(expr));
        separator = ", ";
    }
    return out.len ? infc_buf_str(&out) : "copy";
}
