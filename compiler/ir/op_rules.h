/* op_rules.h - the shape rules and kernel calls that ops.def names (ops/<family>.c), and what they share.
 *
 * A shape rule takes any operand types and attributes. It starts with infc_desc_check, after which counts,
 * attributes and operand types can be relied on, and returns null or one clause for "<op>: <clause>".
 *
 * Layouts. A rule gives the layout that follows from the operands. The result of conv and the pools may be
 * plain or c16 whatever it says: it is a choice of the layout pass, carried by the result's type alone
 * (infc_op_layout_free), and the kernel call reads it from desc->out. */
#ifndef INFC_OP_RULES_H
#define INFC_OP_RULES_H
#include "type.h"

/* Operand count, attributes present and of their kind, operand types valid. */
const char *infc_desc_check(infc_arena *arena, const infc_op_desc *desc);
/* "operand 1 must be plain, not f32[1,2]{c16}", and alike. */
const char *infc_want_f32(infc_arena *arena, const infc_op_desc *desc, int operand);
const char *infc_want_layout(infc_arena *arena, const infc_op_desc *desc, int operand, infc_layout layout);
/* Operands of an integer sum: i16 and weights that ipack packed, or u8, those of qpack and zero points. */
const char *infc_want_integers(infc_arena *arena, const infc_op_desc *desc);
/* An attribute of `n` numbers within [low, high]. */
const char *infc_want_ints(infc_arena *arena, const infc_op_desc *desc, const char *name, int n,
                           int64_t low, int64_t high);
/* An attribute that is one number within [low, high]. */
const char *infc_want_int(infc_arena *arena, const infc_op_desc *desc, const char *name, int64_t low, int64_t high);
/* `rotate` is 64 or 128. */
const char *infc_want_rotate(infc_arena *arena, const infc_op_desc *desc);
bool infc_op_layout_free(infc_op_kind kind);
/* Its result is sums of integers: i32. */
bool infc_op_sums_integers(infc_op_kind kind);

/* One "name:kind" of infc_op_info.attrs; advances *list, false at its end. */
typedef struct infc_attr_decl {
    char name[24];
    infc_attr_kind kind;
} infc_attr_decl;
bool infc_attr_next(const char **list, infc_attr_decl *out);

/* False on overflow. */
bool infc_mul(int64_t a, int64_t b, int64_t *out);
int64_t infc_round_up(int64_t n, int64_t unit);
/* Of a checked type: the product of dims [first, last). */
int64_t infc_dims_product(const infc_type *type, int first, int last);
/* Of a checked panel type: inner dimension in memory, a multiple of 64 when elements are bytes. */
int64_t infc_panel_inner(const infc_type *type);
bool infc_layout_is_packed(infc_layout layout);

/* Where the elements of an image [N,C,H,W] lie, plain or c16: the strides of conv_dims.def. */
typedef struct infc_image_strides {
    ptrdiff_t batch, block, lane, row, col;
} infc_image_strides;
infc_image_strides infc_image_strides_of(const infc_type *type);
/* The ten stride fields of conv_dims.def and its kin, as designated initialisers. */
#define INFC_IMAGE_STRIDES(x, y)                                                                        \
    .x_batch = (x).batch, .x_block = (x).block, .x_lane = (x).lane, .x_row = (x).row, .x_col = (x).col, \
    .y_batch = (y).batch, .y_block = (y).block, .y_lane = (y).lane, .y_row = (y).row, .y_col = (y).col
/* Output extent of a window: (in + before + after - (dilation * (kernel - 1) + 1)) / stride + 1, 0 or less
 * when the window does not fit. Arguments up to 2^40. */
int64_t infc_window_extent(int64_t in, int64_t before, int64_t after, int64_t kernel,
                           int64_t stride, int64_t dilation);
/* How far a window reaches: dilation * (kernel - 1) + 1. */
int64_t infc_window_reach(int64_t kernel, int64_t dilation);
/* What to do when a window does not fit, behind the image's type. */
const char *infc_window_advice(const infc_type *image);

enum {
    INFC_MAX_WINDOW = 1 << 20
}; /* kernel extents, strides, dilations and pads are at most this */

#define INFC_OP(name, n_in, attrs, shape, call, summary) \
    const char *infc_shape_##shape(infc_arena *arena, const infc_op_desc *desc, infc_type *out);
#include "ops.def"
#undef INFC_OP
#define infc_call_none NULL
void infc_call_attention(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_gather(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_choose(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_conv(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_pool(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_matmul(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_ipack(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_reduce(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_resize(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_softmax(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_norm(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_transpose(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_slice(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_expand(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_running_sum(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_sample(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_scatter(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_top(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_pad(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_recurrent(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_relayout(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_kv(const infc_op_desc *desc, infc_kernel_call *out);
/* Whether the op writes its result into the memory of its first operand, and only where its last one, a bool, is true:
 * what it reads beside these is needed only there. */
bool infc_op_is_adapted(infc_op_kind kind);
void infc_call_adapter(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_records(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_linear(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_embed(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_embed_half(const infc_op_desc *desc, infc_kernel_call *out);
void infc_call_pack(const infc_op_desc *desc, infc_kernel_call *out);
/* Of a record of k elements: with one scale for the row, or one for each 32 (ops/records.c). */
int64_t infc_record_bytes(int64_t k, bool groups);
/* Bytes of a row of k weights as GGUF stores them, when they can be kept so; else 0 (ops/linear.c). */
int64_t infc_keep_row_bytes(int64_t format, int64_t k);
/* Operand `part` of a concat of any kind: the copy into its place. */
void infc_call_concat_part(const infc_op_desc *desc, int part, infc_kernel_call *out);
bool infc_op_is_concat(infc_op_kind kind);
/* An element-wise walk over x in order of axes: extents, strides of x. Axes of extent 1 go, those that stay
 * neighbours merge; more than six are left out, then the result is above six. */
enum { INFC_MAX_WALK = 6 };
int infc_walk_merge(int rank, const int64_t *extents, const int64_t *strides, int64_t *out_extents,
                    int64_t *out_strides);
/* The strided copy of that walk, from element `base` of x, to a dense y. */
void infc_call_strided(infc_dtype dtype, int64_t base, int n, const int64_t *extents,
                       const int64_t *strides, infc_kernel_call *out);
/* infk_units of a call whose fields may be open dims; INFC_DIM_BAD for kinds that have no formula for them. */
int64_t infc_call_units(const infc_kernel_call *call);
/* Types "b1".."b8" of a kernel that only moves elements. */
void infc_call_by_size(infc_kernel_call *call, infc_dtype dtype);

#endif
