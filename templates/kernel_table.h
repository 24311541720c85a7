/* kernel_table.h - what kernels there are: their dims, their text, where each may be used. Shared by the
 * compiler and the kernel tests; generated code gets the text instead (emit/kernel_text.c).
 *
 * The contract of a kernel (docs/adr/0004-epilogue-contract.md, 0005-reference-kernels.md):
 *   static inline void NAME(const infk_<dims>_dims *d, const X *x, [const W *w, [const X *u..,]] [float *scratch,]
 *                           const EPI_TYPE *e, ptrdiff_t begin, ptrdiff_t end)
 * does units [begin, end) of infk_units(kind, d), reads operands within their bounds (+ INFC_OVER_READ inside
 * the arena and the weights), hands every result exactly once to EPI(acc, o, m, n) or, for fewer than 16
 * lanes, EPI_TAIL(acc, o, m, n, lanes), and does nothing else: no allocation, no libc, no state.
 *   o: element offset of the first lane in the output (every full-size operand of the epilogue shares it)
 *   m: row (matmul: batch * M + row; conv, pool: pixel of the image; others: outer index)
 *   n: column of the first lane (matmul: column; conv, pool: channel; others: inner index)
 * Text with lanes = 1 is scalar: its acc is one element. Text with lanes = 16 is over the vf16x vocabulary.
 * Kernels whose result is no tensor of numbers (packed weights, rows of records) take no epilogue: they write to
 * RESULT, a pointer to the result's first element. kv_store also writes one operand, the cache. */
#ifndef INFK_KERNEL_TABLE_H
#define INFK_KERNEL_TABLE_H
#include "../targets/target.h"
#include <stddef.h>
#include <stdint.h>

#define F(name, meaning) ptrdiff_t name;
typedef struct infk_conv_dims {
#include "kernels/conv/conv_dims.def"
} infk_conv_dims;
typedef struct infk_pool_dims {
#include "kernels/pool/pool_dims.def"
} infk_pool_dims;
typedef struct infk_matmul_dims {
#include "kernels/matmul/matmul_dims.def"
} infk_matmul_dims;
typedef struct infk_reduce_dims {
#include "kernels/reduce/reduce_dims.def"
} infk_reduce_dims;
typedef struct infk_softmax_dims {
#include "kernels/softmax/softmax_dims.def"
} infk_softmax_dims;
typedef struct infk_norm_dims {
#include "kernels/norm/norm_dims.def"
} infk_norm_dims;
typedef struct infk_resize_dims {
#include "kernels/resize/resize_dims.def"
} infk_resize_dims;
typedef struct infk_strided_dims {
#include "kernels/strided/strided_dims.def"
} infk_strided_dims;
typedef struct infk_attention_dims {
#include "kernels/attention/attention_dims.def"
} infk_attention_dims;
typedef struct infk_kv_dims {
#include "kernels/kv/kv_dims.def"
} infk_kv_dims;
typedef struct infk_adapter_dims {
#include "kernels/adapter/adapter_dims.def"
} infk_adapter_dims;
typedef struct infk_gather_dims {
#include "kernels/gather/gather_dims.def"
} infk_gather_dims;
typedef struct infk_top_dims {
#include "kernels/top/top_dims.def"
} infk_top_dims;
typedef struct infk_running_dims {
#include "kernels/running/running_dims.def"
} infk_running_dims;
typedef struct infk_scatter_dims {
#include "kernels/scatter/scatter_dims.def"
} infk_scatter_dims;
typedef struct infk_sample_dims {
#include "kernels/sample/sample_dims.def"
} infk_sample_dims;
typedef struct infk_choose_dims {
#include "kernels/choose/choose_dims.def"
} infk_choose_dims;
typedef struct infk_pad_dims {
#include "kernels/pad/pad_dims.def"
} infk_pad_dims;
typedef struct infk_recurrent_dims {
#include "kernels/recurrent/recurrent_dims.def"
} infk_recurrent_dims;
typedef struct infk_relayout_dims {
#include "kernels/relayout/relayout_dims.def"
} infk_relayout_dims;
typedef struct infk_quantize_dims {
#include "kernels/linear/quantize_dims.def"
} infk_quantize_dims;
typedef struct infk_linear_dims {
#include "kernels/linear/linear_dims.def"
} infk_linear_dims;
typedef struct infk_pack_dims {
#include "kernels/linear/pack_dims.def"
} infk_pack_dims;
typedef struct infk_embed_dims {
#include "kernels/linear/embed_dims.def"
} infk_embed_dims;
typedef struct infk_groups_dims {
#include "kernels/keep/groups_dims.def"
} infk_groups_dims;
typedef struct infk_keep_dims {
#include "kernels/keep/keep_dims.def"
} infk_keep_dims;
#undef F

enum {
    INFK_MAX_DIMS = 32,
    INFK_MAX_TYPES = 3,
    INFK_MAX_OPERANDS = 7,
    INFK_SCRATCH = INFK_MAX_OPERANDS
};

typedef enum infk_kind {
#define INFK_OP(kind, dims, types, by_size, unit) INFK_##kind,
#include "kernel_ops.def"
#undef INFK_OP
    INFK_N_KINDS
} infk_kind;

enum { INFK_ADAPTER_ROWS = 8 }; /* of a unit of adapter_in and adapter_rms */

typedef struct infk_kind_info {
    const char *name, *dims_name; /* "conv", "conv" */
    const char *operands;         /* "x w i32": see kernel_ops.def */
    int by_size, n_dims;
    const char *const *dim_names; /* fields of infk_<dims_name>_dims in order, all ptrdiff_t */
    const char *unit;
} infk_kind_info;
const infk_kind_info *infk_kind_get(infk_kind kind);
int infk_operand_count(infk_kind kind);
/* The operand that kernels of the kind write too, or -1. */
int infk_written_operand(infk_kind kind);
/* How many units of work a call has. `dims` is the struct of the kind. */
ptrdiff_t infk_units(infk_kind kind, const void *dims);
/* Whether kernels of the kind take scratch memory; floats of it for a call, of which a unit uses a part of its own. */
int infk_has_scratch(infk_kind kind);
/* The dim that is only the place of a layer in an operand, by its number among dim_names, or -1. Generated functions
 * take it as an argument, so that all layers share one. */
int infk_place_dim(infk_kind kind);
ptrdiff_t infk_scratch(infk_kind kind, const void *dims);
/* What does a matmul with weights of type `w` where precision.float is fast: the kind that is as an instruction of the
 * level for products of half floats, or INFK_matmul, when it has none. */
infk_kind infk_fast(infc_isa isa, const char *w);
/* INFK_matmul for a kind that does it as an instruction does; else the kind itself. */
infk_kind infk_exact(infk_kind kind);
/* Multiply-adds count two. */
uint64_t infk_flops(infk_kind kind, const void *dims);
/* Weights as GGUF stores them, of a type with kernels (format: its number in GGUF; dims as in keep_dims.def): bytes of
 * `halves` times n packed outputs of k inputs; 0 when there are no kernels for them. And bytes of a record of k. */
ptrdiff_t infk_keep_bytes(ptrdiff_t format, ptrdiff_t n, ptrdiff_t k, ptrdiff_t halves);
ptrdiff_t infk_groups_record(ptrdiff_t k);

/* The cache of keys and values (docs/adr/0011-kv-cache.md). Bytes of one group of heads of one layer in a block, a
 * multiple of 64, so that a block has layers * groups of them; bytes of what kv_store makes of one head of q. `format`
 * as in infk_kv_dims. */
enum { INFK_KV_POSITIONS = 32, INFK_KV_INT8 = 0, INFK_KV_F16 = 1 };
ptrdiff_t infk_kv_part_bytes(ptrdiff_t head_dim, ptrdiff_t format);
ptrdiff_t infk_kv_query_bytes(ptrdiff_t head_dim, ptrdiff_t format);

/* Sizes in bytes of what linear kernels read, for k inputs: a record of a row, a panel of 16 outputs of int8 and of
 * int4, and an output as choose_i4 makes it. */
ptrdiff_t infk_record_bytes(ptrdiff_t k);
ptrdiff_t infk_panel_i8_bytes(ptrdiff_t k);
ptrdiff_t infk_panel_i4_bytes(ptrdiff_t k);
ptrdiff_t infk_chosen_i4_bytes(ptrdiff_t k);

typedef struct infk_kernel {
    const char *name; /* infk_f32_conv_6x16__x86_64_avx2 */
    infk_kind kind;
    const char *tile;                  /* "ref", "6x16" */
    const char *types[INFK_MAX_TYPES]; /* x, w ("" when one operand), y: "f32", "i8", "b4" */
    infc_isa isa;
    int lanes;                     /* 1 scalar text, 16 vector text */
    const char *file;              /* below templates/kernels/ */
    const char *params;            /* "mr=6 np=1" for the expander; "" for plain C */
    int (*fits)(const void *dims); /* whether this text can do that call */
    const char *condition;         /* the same as C over `d`, its dims */
} infk_kernel;

/* The same for a call that is made with several dims (n structs of `stride` bytes): the last that fits all. */
const infk_kernel *infk_kernel_select_all(infk_kind kind, const char *const types[INFK_MAX_TYPES],
                                          infc_isa isa, const void *dims, size_t stride, size_t n);

/* The element type of operand i, a word as in kernels.def; "" when there is none. */
const char *infk_operand_type(const infk_kernel *kernel, int i);
/* Whether results go through an epilogue; else the text writes to RESULT. */
int infk_has_epilogue(const infk_kernel *kernel);
/* Such a word in C: "float" for "f32"; null when unknown. */
const char *infk_c_type(const char *type);

size_t infk_kernel_count(void);
const infk_kernel *infk_kernel_at(size_t i); /* order of kernels.def: oldest to newest */
/* The last kernel of that kind and those types whose level is within `isa` and that fits; never null for a
 * supported combination, since every kind has a reference. Null: no kernel for these types. */
const infk_kernel *infk_kernel_select(infk_kind kind, const char *const types[INFK_MAX_TYPES],
                                      infc_isa isa, const void *dims);

#endif
