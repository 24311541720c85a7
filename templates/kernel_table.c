#include "kernel_table.h"
#include "simd/scalar.h"
#include <string.h>

/* Dims of each kind: their names, and the struct under the kind's own name for the conditions below. */
#define F(name, meaning) #name,
static const char *const dims_of_conv[] = {
#include "kernels/conv/conv_dims.def"
};
static const char *const dims_of_pool[] = {
#include "kernels/pool/pool_dims.def"
};
static const char *const dims_of_matmul[] = {
#include "kernels/matmul/matmul_dims.def"
};
static const char *const dims_of_reduce[] = {
#include "kernels/reduce/reduce_dims.def"
};
static const char *const dims_of_softmax[] = {
#include "kernels/softmax/softmax_dims.def"
};
static const char *const dims_of_norm[] = {
#include "kernels/norm/norm_dims.def"
};
static const char *const dims_of_resize[] = {
#include "kernels/resize/resize_dims.def"
};
static const char *const dims_of_strided[] = {
#include "kernels/strided/strided_dims.def"
};
static const char *const dims_of_attention[] = {
#include "kernels/attention/attention_dims.def"
};
static const char *const dims_of_kv[] = {
#include "kernels/kv/kv_dims.def"
};
static const char *const dims_of_adapter[] = {
#include "kernels/adapter/adapter_dims.def"
};
static const char *const dims_of_gather[] = {
#include "kernels/gather/gather_dims.def"
};
static const char *const dims_of_top[] = {
#include "kernels/top/top_dims.def"
};
static const char *const dims_of_running[] = {
#include "kernels/running/running_dims.def"
};
static const char *const dims_of_scatter[] = {
#include "kernels/scatter/scatter_dims.def"
};
static const char *const dims_of_sample[] = {
#include "kernels/sample/sample_dims.def"
};
static const char *const dims_of_choose[] = {
#include "kernels/choose/choose_dims.def"
};
static const char *const dims_of_pad[] = {
#include "kernels/pad/pad_dims.def"
};
static const char *const dims_of_recurrent[] = {
#include "kernels/recurrent/recurrent_dims.def"
};
static const char *const dims_of_relayout[] = {
#include "kernels/relayout/relayout_dims.def"
};
static const char *const dims_of_quantize[] = {
#include "kernels/linear/quantize_dims.def"
};
static const char *const dims_of_linear[] = {
#include "kernels/linear/linear_dims.def"
};
static const char *const dims_of_pack[] = {
#include "kernels/linear/pack_dims.def"
};
static const char *const dims_of_embed[] = {
#include "kernels/linear/embed_dims.def"
};
static const char *const dims_of_groups[] = {
#include "kernels/keep/groups_dims.def"
};
static const char *const dims_of_keep[] = {
#include "kernels/keep/keep_dims.def"
};
#undef F

static const infk_kind_info kinds[INFK_N_KINDS] = {
#define INFK_OP(kind, dims, types, by_size, unit)                                           \
    {#kind,          #dims, types, by_size, sizeof dims_of_##dims / sizeof *dims_of_##dims, \
     dims_of_##dims, unit},
#include "kernel_ops.def"
#undef INFK_OP
};
#define INFK_OP(kind, dims, types, by_size, unit) typedef infk_##dims##_dims dims_##kind;
#include "kernel_ops.def"
#undef INFK_OP

#define INFK(kind, tile, x, w, y, isa, lanes, file, params, condition)      \
    static int fits_##kind##_##tile##_##x##_##w##_##isa(const void *dims) { \
        const dims_##kind *d = dims;                                        \
        (void)d;                                                            \
        return (condition);                                                 \
    }
#include "kernels.def"
#undef INFK

/* The dtype word of a kernel's name: that of x, with that of w where it differs. */
#define WORD_f32_f32 "f32"
#define WORD_f32_i8 "f32i8"
#define WORD_f32_f16 "f32f16"
#define WORD_f32_bf16 "f32bf16"
#define WORD_f32_ "f32"
#define WORD_f32_i32 "f32i32"
#define WORD_i16_i8 "i16i8"
#define WORD_i16_i16 "i16"
#define WORD_u8_i8 "u8i8"
#define WORD_u8_i32 "u8"
#define WORD_i8_i32 "i8"
#define WORD_i16_i32 "i16i32"
#define WORD_i8_ "i8"
#define WORD_b1_ "b1"
#define WORD_b2_ "b2"
#define WORD_b4_ "b4"
#define WORD_b8_ "b8"
#define WORD_f32_i64 "f32i64"
#define WORD_i8_i8 "i8"
#define WORD_i32_i8 "i32i8"
#define WORD_i32_f16 "i32f16"
#define WORD_i32_bf16 "i32bf16"
#define WORD_i32_ "i32"
#define WORD_i64_ "i64"
#define WORD_b1_b1 "b1"
#define WORD_b2_b1 "b2b1"
#define WORD_b4_b1 "b4b1"
#define WORD_b8_b1 "b8b1"
#define WORD_b1_i32 "b1i32"
#define WORD_b1_i64 "b1i64"
#define WORD_b2_i32 "b2i32"
#define WORD_b2_i64 "b2i64"
#define WORD_b4_i32 "b4i32"
#define WORD_b4_i64 "b4i64"
#define WORD_b8_i32 "b8i32"
#define WORD_b8_i64 "b8i64"
#define TEXT(expanded) #expanded
static const infk_kernel kernels[] = {
#define INFK(kind, tile, x, w, y, isa, lanes, file, params, condition) \
    {"infk_" WORD_##x##_##w "_" #kind "_" #tile "__" #isa,             \
     INFK_##kind,                                                      \
     #tile,                                                            \
     {#x, #w, #y},                                                     \
     INFC_ISA_##isa,                                                   \
     lanes,                                                            \
     file,                                                             \
     params,                                                           \
     fits_##kind##_##tile##_##x##_##w##_##isa,                         \
     TEXT(condition)},
#include "kernels.def"
#undef INFK
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

const infk_kind_info *infk_kind_get(infk_kind kind) { return &kinds[kind]; }

/* ---- types ---------------------------------------------------------------------------------------------- */

static const char *const c_types[][2] = {
    {"f32", "float"},   {"i8", "int8_t"},  {"b1", "uint8_t"},  {"b2", "infk_b2"},
    {"b4", "infk_b4"},  {"b8", "infk_b8"}, {"i16", "int16_t"}, {"i32", "int32_t"},
    {"i64", "int64_t"}, {"u8", "uint8_t"}, {"f16", "infk_b2"}, {"bf16", "infk_b2"}};
enum { N_C_TYPES = sizeof c_types / sizeof *c_types };

const char *infk_c_type(const char *type) {
    for (int i = 0; i < N_C_TYPES; i++)
        if (strcmp(type, c_types[i][0]) == 0) return c_types[i][1];
    return NULL;
}

/* Vectors are of f32 or i32: what is neither has no lanes to hand over. */
int infk_has_epilogue(const infk_kernel *kernel) {
    return kernel->lanes == 1 || strcmp(kernel->types[2], "f32") == 0 || strcmp(kernel->types[2], "i32") == 0;
}

int infk_operand_count(infk_kind kind) {
    int n = 1;
    for (const char *at = kinds[kind].operands; *at; at++) n += *at == ' ';
    return n;
}

const char *infk_operand_type(const infk_kernel *kernel, int i) {
    const char *at = kinds[kernel->kind].operands;
    for (; i > 0 && *at; i--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    const size_t n = strcspn(at, " ");
    if (n == 1) return kernel->types[*at == 'w'];
    for (int t = 0; t < N_C_TYPES; t++)
        if (strlen(c_types[t][0]) == n && memcmp(at, c_types[t][0], n) == 0) return c_types[t][0];
    return "";
}

size_t infk_kernel_count(void) { return N_KERNELS; }

const infk_kernel *infk_kernel_at(size_t i) { return i < N_KERNELS ? &kernels[i] : NULL; }

const infk_kernel *infk_kernel_select(infk_kind kind, const char *const types[INFK_MAX_TYPES],
                                      infc_isa isa, const void *dims) {
    return infk_kernel_select_all(kind, types, isa, dims, 0, 1);
}

const infk_kernel *infk_kernel_select_all(infk_kind kind, const char *const types[INFK_MAX_TYPES],
                                          infc_isa isa, const void *dims, size_t stride, size_t n) {
    for (size_t i = N_KERNELS; i-- > 0;) {
        const infk_kernel *k = &kernels[i];
        int same = k->kind == kind && infc_isa_includes(isa, k->isa);
        for (int t = 0; same && t < INFK_MAX_TYPES; t++)
            same = strcmp(k->types[t], types[t] ? types[t] : "") == 0;
        for (size_t d = 0; same && d < n; d++) same = k->fits((const char *)dims + d * stride);
        if (same) return k;
    }
    return NULL;
}

static ptrdiff_t blocks_of(ptrdiff_t n) { return (n + 15) / 16; }

/* ---- linear layers -------------------------------------------------------------------------------------- */

static ptrdiff_t groups_of(ptrdiff_t k) { return (k + 63) / 64; }

static ptrdiff_t whole_lines(ptrdiff_t bytes) { return (bytes + 63) / 64 * 64; }

ptrdiff_t infk_record_bytes(ptrdiff_t k) { return whole_lines(groups_of(k) * 68 + 4); }

ptrdiff_t infk_panel_i8_bytes(ptrdiff_t k) { return groups_of(k) * 1024 + 128; }

ptrdiff_t infk_panel_i4_bytes(ptrdiff_t k) { return whole_lines(groups_of(k) * 528) + 64; }

ptrdiff_t infk_chosen_i4_bytes(ptrdiff_t k) { return whole_lines(groups_of(k) * 65 + 4); }

static ptrdiff_t linear_units(infk_kind kind, const void *dims) {
    const infk_pack_dims *pack = dims;
    switch (kind) {
    case INFK_linear_i8:
    case INFK_linear_i4:
    case INFK_gated_i8:
    case INFK_gated_i4: return blocks_of(((const infk_linear_dims *)dims)->n);
    case INFK_pack_i8:
    case INFK_pack_i4: return pack->parts * blocks_of(pack->n / pack->parts);
    case INFK_choose_i4: return pack->n;
    default: return *(const ptrdiff_t *)dims; /* rows are their first field */
    }
}

static ptrdiff_t recurrent_rows(const infk_recurrent_dims *d) { return d->dirs * d->batch; }

static ptrdiff_t adapter_units(infk_kind kind, const infk_adapter_dims *d) {
    if (kind != INFK_adapter_in && kind != INFK_adapter_rms) return blocks_of(d->n);
    return (d->t + INFK_ADAPTER_ROWS - 1) / INFK_ADAPTER_ROWS * d->modules * (d->ranks / 16);
}

static uint64_t adapter_flops(infk_kind kind, const infk_adapter_dims *d) {
    const uint64_t ranks = (uint64_t)(d->t * d->ranks);
    if (kind == INFK_adapter_out || kind == INFK_adapter_sum) return 2 * ranks * (uint64_t)d->n;
    return (kind == INFK_adapter_gate ? 4 * ranks * (uint64_t)d->n : 2 * ranks * (uint64_t)(d->k * d->modules));
}

/* Kinds that pick elements from other places. */
static ptrdiff_t picking_units(infk_kind kind, const void *dims) {
    const infk_strided_dims *strided = dims;
    const infk_gather_dims *gather = dims;
    const infk_pad_dims *pad = dims;
    const infk_sample_dims *sample = dims;
    switch (kind) {
    case INFK_strided: return strided->d0 * strided->d1;
    case INFK_gather: return gather->outer * gather->n;
    case INFK_choose: return blocks_of(((const infk_choose_dims *)dims)->n);
    case INFK_pad: return pad->n0 * pad->n1;
    case INFK_sample: return sample->batch * sample->oh;
    default: return 1; /* scatter: all of it */
    }
}

static ptrdiff_t keep_units(infk_kind kind, const infk_keep_dims *d) {
    return (kind == INFK_pack_keep ? d->halves : 1) * blocks_of(d->n);
}

static ptrdiff_t conv_units(const infk_conv_dims *d) { return d->batch * blocks_of(d->oc) * d->oh; }

static ptrdiff_t matmul_units(const infk_matmul_dims *d) { return d->batch * blocks_of(d->n); }

ptrdiff_t infk_units(infk_kind kind, const void *dims) {
    switch (infk_exact(kind)) {
    case INFK_iconv:
    case INFK_qconv:
    case INFK_conv: return conv_units(dims);
    case INFK_imatmul:
    case INFK_qmatmul:
    case INFK_qmatmul_both:
    case INFK_matmul: return matmul_units(dims);
    case INFK_pool_max:
    case INFK_pool_avg: {
        const infk_pool_dims *d = dims;
        return d->batch * blocks_of(d->c) * d->oh;
    }
    case INFK_strided:
    case INFK_gather:
    case INFK_choose:
    case INFK_scatter:
    case INFK_scatter_join:
    case INFK_sample:
    case INFK_pad: return picking_units(kind, dims);
    case INFK_resize: {
        const infk_resize_dims *d = dims;
        return d->batch * blocks_of(d->c) * d->oh;
    }
    case INFK_lstm:
    case INFK_gru:
    case INFK_rnn: return recurrent_rows(dims);
    case INFK_attention:
    case INFK_attention_masked: {
        const infk_attention_dims *d = dims;
        return d->batch * d->heads * blocks_of(d->m);
    }
    case INFK_kv_store:
    case INFK_attend: {
        const infk_kv_dims *d = dims;
        return d->rows * (kind == INFK_attend ? d->heads : d->groups);
    }
    case INFK_adapter_in:
    case INFK_adapter_rms:
    case INFK_adapter_out:
    case INFK_adapter_sum:
    case INFK_adapter_gate: return adapter_units(kind, dims);
    case INFK_to_c16:
    case INFK_from_c16:
    case INFK_ipack_matmul:
    case INFK_qpack_matmul:
    case INFK_pack_matmul: {
        const infk_relayout_dims *d = dims;
        return d->batch * blocks_of(d->c);
    }
    case INFK_ipack_conv:
    case INFK_qpack_conv:
    case INFK_pack_conv: return blocks_of(((const infk_relayout_dims *)dims)->c);
    case INFK_linear_keep:
    case INFK_gated_keep:
    case INFK_pack_keep: return keep_units(kind, dims);
    default: return linear_units(kind, dims);
    }
}

static uint64_t recurrent_flops(const infk_recurrent_dims *d, int gates) {
    return 2 * (uint64_t)(d->t * d->batch * d->dirs) * (uint64_t)(gates * d->h * d->h);
}

/* Kinds that go along one axis. Their first fields are `outer` and `r`; but for norm, `inner` comes next. */
static uint64_t along_flops(infk_kind kind, const void *dims) {
    const ptrdiff_t *d = dims;
    const uint64_t n = (uint64_t)(d[0] * d[1]);
    switch (kind) {
    case INFK_norm: return 6 * n; /* sum, difference and square, difference, product */
    case INFK_softmax:
        return 5 * n * (uint64_t)d[2]; /* maximum, difference, exp, sum, quotient: exp counts one */
    case INFK_top: return n * (uint64_t)d[2] * (uint64_t)((const infk_top_dims *)dims)->k;
    default: return n * (uint64_t)d[2];
    }
}

/* 0 for what moves elements. */
static uint64_t linear_flops(infk_kind kind, const void *dims) {
    const infk_linear_dims *linear = dims;
    const infk_quantize_dims *rows = dims;
    switch (kind) {
    case INFK_linear_i8:
    case INFK_linear_i4: return 2 * (uint64_t)(linear->t * linear->n) * (uint64_t)linear->k;
    case INFK_gated_i8:
    case INFK_gated_i4: return 4 * (uint64_t)(linear->t * linear->n) * (uint64_t)linear->k;
    case INFK_quantize:
        return (rows->rotate == 64 ? 8 : 9) * (uint64_t)(rows->t * rows->k); /* butterflies, size, product */
    case INFK_rms_quantize:
        return (rows->rotate == 64 ? 12 : 13) * (uint64_t)(rows->t * rows->k); /* and square, sum, two products */
    case INFK_adapter_in:
    case INFK_adapter_rms:
    case INFK_adapter_out:
    case INFK_adapter_sum:
    case INFK_adapter_gate: return adapter_flops(kind, dims);
    default: return 0;
    }
}

static uint64_t keep_flops(infk_kind kind, const void *dims) {
    const infk_keep_dims *d = dims;
    const infk_groups_dims *groups = dims;
    switch (kind) {
    case INFK_linear_keep: return 2 * (uint64_t)(d->m * d->n) * (uint64_t)d->k;
    case INFK_gated_keep: return 4 * (uint64_t)(d->m * d->n) * (uint64_t)d->k;
    case INFK_rms_groups:
        return 7 * (uint64_t)(groups->m * groups->k);      /* square, sum, two products, and: */
    default: return 3 * (uint64_t)(groups->m * groups->k); /* maximum, product, sum */
    }
}

static uint64_t conv_flops(const infk_conv_dims *d) {
    return 2 * (uint64_t)(d->batch * d->oc * d->oh * d->ow) * (uint64_t)(d->ic * d->kh * d->kw);
}

static uint64_t matmul_flops(const infk_matmul_dims *d) {
    return 2 * (uint64_t)(d->batch * d->m * d->n) * (uint64_t)d->k;
}

uint64_t infk_flops(infk_kind kind, const void *dims) {
    switch (infk_exact(kind)) {
    case INFK_iconv:
    case INFK_qconv:
    case INFK_conv: return conv_flops(dims);
    case INFK_imatmul:
    case INFK_qmatmul:
    case INFK_qmatmul_both:
    case INFK_matmul: return matmul_flops(dims);
    case INFK_pool_max:
    case INFK_pool_avg: {
        const infk_pool_dims *d = dims;
        return (uint64_t)(d->batch * d->c * d->oh * d->ow) * (uint64_t)(d->kh * d->kw);
    }
    case INFK_reduce_sum:
    case INFK_reduce_max:
    case INFK_softmax:
    case INFK_top:
    case INFK_running_sum:
    case INFK_norm: return along_flops(kind, dims);
    case INFK_linear_keep:
    case INFK_gated_keep:
    case INFK_rms_groups:
    case INFK_quantize_groups: return keep_flops(kind, dims);
    case INFK_resize: { /* linear: three differences and three multiply-adds */
        const infk_resize_dims *d = dims;
        return (d->h_pick ? 0 : 9) * (uint64_t)(d->batch * d->c * d->oh * d->ow);
    }
    case INFK_attention:
    case INFK_attention_masked: { /* per score: two sums, and scale, exp, division count five */
        const infk_attention_dims *d = dims;
        return (uint64_t)(d->batch * d->heads * d->m * d->n) * (uint64_t)(2 * (d->d + d->dv) + 5);
    }
    case INFK_kv_store: { /* turns, butterflies, steps */
        const infk_kv_dims *d = dims;
        return 12 * (uint64_t)(d->rows * d->head_dim) * (uint64_t)(d->heads + 2 * d->groups);
    }
    case INFK_sample: { /* a product and a sum for each neighbour */
        const infk_sample_dims *d = dims;
        const uint64_t side = d->mode == 2 ? 4 : d->mode == 1 ? 2 : 1;
        return 2 * side * side * (uint64_t)(d->batch * d->c * d->oh * d->ow);
    }
    case INFK_lstm: return recurrent_flops(dims, 4);
    case INFK_gru: return recurrent_flops(dims, 3);
    case INFK_rnn: return recurrent_flops(dims, 1);
    default: return linear_flops(kind, dims);
    }
}

ptrdiff_t infk_groups_record(ptrdiff_t k) { return (k / 32 * 44 + 63) / 64 * 64; }

ptrdiff_t infk_keep_bytes(ptrdiff_t format, ptrdiff_t n, ptrdiff_t k, ptrdiff_t halves) {
    static const ptrdiff_t formats[] = {2, 3, 6, 8, 12, 14};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (format == formats[i] && k % (format < 9 ? 32 : 256) == 0)
            return halves * blocks_of(n) * s_keep_panel(format, k);
    return 0;
}
