/* onnx_node.h - what the importers of operators (ops_<family>.c) are written with. Each takes one node that was
 * checked against its line of onnx_ops.def, builds its results and hands them to infc_onnx_output. */
#ifndef INFC_ONNX_NODE_H
#define INFC_ONNX_NODE_H
#include "../../ir/ir.h"
#include "onnx_model.h"
#include "onnx_ops.h"

/* A tensor while nodes are imported: computed, or a constant that enters the IR once something computes with it. */
typedef struct infc_onnx_operand {
    infc_type type;
    MlirValue value;             /* null for a constant */
    const infc_weight *constant; /* null when computed; its integers may be open dims (weights.h) */
    int64_t dim;                 /* of one computed f32: the open dim that it is; 0: none known */
} infc_onnx_operand;

typedef struct infc_onnx_at {
    struct infc_onnx_import *import;
    infc_arena *arena;
    const infc_onnx_node *node;
    size_t index; /* of the node */
    int64_t opset;
    infc_loc loc;
    MlirLocation location;
    bool wide; /* constants of i32 are given as i64: beside dims, which are held so whatever the model says */
} infc_onnx_at;

/* Problems of this node: valid but not supported; invalid. */
infc_status infc_onnx_refuse(infc_onnx_at *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
infc_status infc_onnx_invalid(infc_onnx_at *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- inputs and outputs ---------------------------------------------------------------------------- */
bool infc_onnx_has(const infc_onnx_at *at, size_t i); /* input i is not left out */
infc_onnx_operand infc_onnx_any(const infc_onnx_at *at, size_t i); /* input i, of any type; must not be left out */
/* Input i to compute with: f32 and not empty, else the reason is recorded. */
infc_status infc_onnx_input(infc_onnx_at *at, size_t i, infc_onnx_operand *out);
/* The same for f32, bool and the integers that integer.def computes with. */
infc_status infc_onnx_number(infc_onnx_at *at, size_t i, infc_onnx_operand *out);
/* The integers of a constant input of at most one dimension; refused, naming its producer, when it is computed. */
infc_status infc_onnx_input_ints(infc_onnx_at *at, size_t i, int64_t *out, int max, int *out_n);
/* The same of any number of dimensions; the integers are a copy. */
infc_status infc_onnx_input_integers(infc_onnx_at *at, size_t i, int64_t **out, int64_t *out_n);
/* True when output i is given and something reads it. */
bool infc_onnx_output_used(const infc_onnx_at *at, size_t i);
/* Refuses statistics that only training wants: outputs 1 to last. */
infc_status infc_onnx_no_statistics(infc_onnx_at *at, size_t last);
/* Sets output i: names it, and compares it with what the model declares about it. */
infc_status infc_onnx_output(infc_onnx_at *at, size_t i, const infc_onnx_operand *operand);

/* onnx_dims.c: refuses nodes over open dims (ir/dim.h) but those that compute with dim.h throughout. */
infc_status infc_onnx_dims_check(infc_onnx_at *at);
/* onnx_types.c: element types that an input must not have, whatever its importer does. */
infc_status infc_onnx_types_check(infc_onnx_at *at);
/* Whether one of the constants holds open dims; then all are i64, and none of the others looks like one. */
infc_status infc_onnx_dims_among(infc_onnx_at *at, const infc_onnx_operand *in, int n, bool *out);

/* onnx_open.c: numbers start, start + step, .. that may depend on open dims, as i64[n]; open. */
infc_status infc_onnx_numbers(infc_onnx_at *at, int64_t start, int64_t step, int64_t n, infc_onnx_operand *out);
/* The same up to, not including, limit. */
infc_status infc_onnx_numbers_until(infc_onnx_at *at, int64_t start, int64_t limit, int64_t step,
                                    infc_onnx_operand *out);
/* A dim as f32, of rank 0; `what` names a constant. */
infc_status infc_onnx_dim_float(infc_onnx_at *at, const char *what, int64_t dim, infc_onnx_operand *out);
/* A constant that holds open dims becomes computed, so that any op may read it; others stay as they are. */
infc_status infc_onnx_dims_computed(infc_onnx_at *at, infc_onnx_operand *x);
/* One value everywhere, of a type that may be open. */
infc_status infc_onnx_filled(infc_onnx_at *at, const infc_type *type, const void *value, infc_onnx_operand *out);

/* ---- attributes: of their kind when present ---------------------------------------------------------- */
const infc_onnx_attribute *infc_onnx_attr(const infc_onnx_at *at, const char *name);
int64_t infc_onnx_attr_int(const infc_onnx_at *at, const char *name, int64_t otherwise);
float infc_onnx_attr_float(const infc_onnx_at *at, const char *name, float otherwise);
/* True when the string is `text`. */
bool infc_onnx_attr_is(const infc_onnx_at *at, const char *name, const char *text);
/* A flag: 0 or 1, anything else is invalid. */
infc_status infc_onnx_attr_flag(infc_onnx_at *at, const char *name, int64_t otherwise, bool *out);
/* An axis: -rank .. rank - 1, made non-negative. */
infc_status infc_onnx_axis(infc_onnx_at *at, int64_t axis, int rank, int *out);

/* ---- building ------------------------------------------------------------------------------------------ */
/* Over constants that look like work on shapes, done at once; the result is a constant. */
infc_status infc_onnx_build(infc_onnx_at *at, infc_op_kind kind, const infc_onnx_operand *in, int n,
                            const infc_attr *attrs, int n_attrs, infc_onnx_operand *out);
/* A new constant of that type, its bytes to be filled; with `dims`, integers that may be open dims. */
infc_status infc_onnx_constant(infc_onnx_at *at, const infc_type *type, void **bytes, infc_onnx_operand *out);
infc_status infc_onnx_constant_dims(infc_onnx_at *at, const infc_type *type, bool dims,
                                    void **bytes, infc_onnx_operand *out);
/* map1, map2, map3 by the number of operands. */
infc_status infc_onnx_map(infc_onnx_at *at, const char *fn, const infc_onnx_operand *in, int n,
                          infc_onnx_operand *out);
infc_status infc_onnx_map2(infc_onnx_at *at, const char *fn, infc_onnx_operand a,
                           infc_onnx_operand b, infc_onnx_operand *out);
/* in[0] (bool) ? in[1] : in[2]; the last two are of one type. */
infc_status infc_onnx_pick(infc_onnx_at *at, const infc_onnx_operand in[3], infc_onnx_operand *out);
infc_status infc_onnx_convert(infc_onnx_at *at, infc_dtype to, const infc_onnx_operand *in,
                              infc_onnx_operand *out);
/* Rows of all axes from `axis` on, as INFC_OP_norm; attribute "epsilon", or else `epsilon`. */
infc_status infc_onnx_norm_rows(infc_onnx_at *at, const infc_onnx_operand *x, int axis, bool center,
                                float epsilon, infc_onnx_operand *out);
/* The same elements in another shape: a constant stays one, the same shape costs nothing. */
infc_status infc_onnx_view(infc_onnx_at *at, const infc_onnx_operand *in, const int64_t *dims,
                           int rank, infc_onnx_operand *out);
infc_status infc_onnx_permute(infc_onnx_at *at, const infc_onnx_operand *in, const int64_t *perm,
                              infc_onnx_operand *out);
/* [.., K, N] as [batch, K, N]. */
infc_status infc_onnx_merge_batch(infc_onnx_at *at, infc_onnx_operand *x);
/* A constant of rank 0 that stands for an attribute of this node. */
infc_onnx_operand infc_onnx_scalar(infc_onnx_at *at, const char *what, float value);
/* [C] as [C,1,1..] so that it broadcasts along axis 1 of a tensor of `rank` dimensions. */
infc_status infc_onnx_per_channel(infc_onnx_at *at, const infc_onnx_operand *in, int rank,
                                  infc_onnx_operand *out);
/* Input i of a normalisation of x, one value per channel, as [C,1,1..]. */
infc_status infc_onnx_channel_input(infc_onnx_at *at, size_t i, const infc_type *x, infc_onnx_operand *out);

/* ---- the importers that onnx_ops.def names -------------------------------------------------------------- */
/* onnx_const.c: what only constants may go through, and integers besides; *done when that is what the node does. */
infc_status infc_onnx_fold(infc_onnx_at *at, bool *done);
infc_status infc_onnx_import_arg(infc_onnx_at *at);
infc_status infc_onnx_import_attention(infc_onnx_at *at);
infc_status infc_onnx_import_average_pool(infc_onnx_at *at);
infc_status infc_onnx_import_batchnorm(infc_onnx_at *at);
infc_status infc_onnx_import_cast(infc_onnx_at *at);
infc_status infc_onnx_import_cast_like(infc_onnx_at *at);
infc_status infc_onnx_import_clip(infc_onnx_at *at);
infc_status infc_onnx_import_concat(infc_onnx_at *at);
infc_status infc_onnx_import_constant(infc_onnx_at *at);
infc_status infc_onnx_import_constant_only(infc_onnx_at *at);
infc_status infc_onnx_import_contrib_attention(infc_onnx_at *at);
infc_status infc_onnx_import_contrib_gelu(infc_onnx_at *at);
infc_status infc_onnx_import_conv(infc_onnx_at *at);
infc_status infc_onnx_import_conv_integer(infc_onnx_at *at);
infc_status infc_onnx_import_conv_transpose(infc_onnx_at *at);
infc_status infc_onnx_import_cum_sum(infc_onnx_at *at);
infc_status infc_onnx_import_depth_to_space(infc_onnx_at *at);
infc_status infc_onnx_import_dequantize(infc_onnx_at *at);
infc_status infc_onnx_import_dropout(infc_onnx_at *at);
infc_status infc_onnx_import_dynamic_quantize(infc_onnx_at *at);
infc_status infc_onnx_import_dynamic_quantize_lstm(infc_onnx_at *at);
infc_status infc_onnx_import_dynamic_quantize_matmul(infc_onnx_at *at);
infc_status infc_onnx_import_einsum(infc_onnx_at *at);
infc_status infc_onnx_import_elu(infc_onnx_at *at);
infc_status infc_onnx_import_embed_layer_norm(infc_onnx_at *at);
infc_status infc_onnx_import_expand(infc_onnx_at *at);
infc_status infc_onnx_import_eye_like(infc_onnx_at *at);
infc_status infc_onnx_import_flatten(infc_onnx_at *at);
infc_status infc_onnx_import_fused_matmul(infc_onnx_at *at);
infc_status infc_onnx_import_gather(infc_onnx_at *at);
infc_status infc_onnx_import_gather_elements(infc_onnx_at *at);
infc_status infc_onnx_import_gather_nd(infc_onnx_at *at);
infc_status infc_onnx_import_gelu(infc_onnx_at *at);
infc_status infc_onnx_import_gemm(infc_onnx_at *at);
infc_status infc_onnx_import_global_lp_pool(infc_onnx_at *at);
infc_status infc_onnx_import_global_pool(infc_onnx_at *at);
infc_status infc_onnx_import_grid_sample(infc_onnx_at *at);
infc_status infc_onnx_import_group_norm(infc_onnx_at *at);
infc_status infc_onnx_import_gru(infc_onnx_at *at);
infc_status infc_onnx_import_hard_sigmoid(infc_onnx_at *at);
infc_status infc_onnx_import_hardmax(infc_onnx_at *at);
infc_status infc_onnx_import_identity(infc_onnx_at *at);
infc_status infc_onnx_import_if(infc_onnx_at *at);
infc_status infc_onnx_import_is_inf(infc_onnx_at *at);
infc_status infc_onnx_import_layer_norm(infc_onnx_at *at);
infc_status infc_onnx_import_leaky_relu(infc_onnx_at *at);
infc_status infc_onnx_import_logic(infc_onnx_at *at);
infc_status infc_onnx_import_loop(infc_onnx_at *at);
infc_status infc_onnx_import_lp_norm(infc_onnx_at *at);
infc_status infc_onnx_import_lp_pool(infc_onnx_at *at);
infc_status infc_onnx_import_lrn(infc_onnx_at *at);
infc_status infc_onnx_import_lstm(infc_onnx_at *at);
infc_status infc_onnx_import_map1(infc_onnx_at *at);
infc_status infc_onnx_import_map2(infc_onnx_at *at);
infc_status infc_onnx_import_map_many(infc_onnx_at *at);
infc_status infc_onnx_import_matmul(infc_onnx_at *at);
infc_status infc_onnx_import_matmul_integer(infc_onnx_at *at);
infc_status infc_onnx_import_matmul_integer_to_float(infc_onnx_at *at);
infc_status infc_onnx_import_max_pool(infc_onnx_at *at);
infc_status infc_onnx_import_mod(infc_onnx_at *at);
infc_status infc_onnx_import_multi_head_attention(infc_onnx_at *at);
infc_status infc_onnx_import_one_hot(infc_onnx_at *at);
infc_status infc_onnx_import_pad(infc_onnx_at *at);
infc_status infc_onnx_import_pow(infc_onnx_at *at);
infc_status infc_onnx_import_prelu(infc_onnx_at *at);
infc_status infc_onnx_import_qgemm(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_average_pool(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_binary(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_concat(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_conv(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_global_average_pool(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_leaky_relu(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_matmul(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_sigmoid(infc_onnx_at *at);
infc_status infc_onnx_import_qlinear_softmax(infc_onnx_at *at);
infc_status infc_onnx_import_quantize(infc_onnx_at *at);
infc_status infc_onnx_import_range(infc_onnx_at *at);
infc_status infc_onnx_import_reduce(infc_onnx_at *at);
infc_status infc_onnx_import_reshape(infc_onnx_at *at);
infc_status infc_onnx_import_resize(infc_onnx_at *at);
infc_status infc_onnx_import_scan(infc_onnx_at *at);
infc_status infc_onnx_import_rnn(infc_onnx_at *at);
infc_status infc_onnx_import_rotary_embedding(infc_onnx_at *at);
infc_status infc_onnx_import_scatter_elements(infc_onnx_at *at);
infc_status infc_onnx_import_scatter_nd(infc_onnx_at *at);
infc_status infc_onnx_import_selu(infc_onnx_at *at);
infc_status infc_onnx_import_shape(infc_onnx_at *at);
infc_status infc_onnx_import_shrink(infc_onnx_at *at);
infc_status infc_onnx_import_size(infc_onnx_at *at);
infc_status infc_onnx_import_skip_layer_norm(infc_onnx_at *at);
infc_status infc_onnx_import_slice(infc_onnx_at *at);
infc_status infc_onnx_import_softmax(infc_onnx_at *at);
infc_status infc_onnx_import_space_to_depth(infc_onnx_at *at);
infc_status infc_onnx_import_split(infc_onnx_at *at);
infc_status infc_onnx_import_squeeze(infc_onnx_at *at);
infc_status infc_onnx_import_swish(infc_onnx_at *at);
infc_status infc_onnx_import_tile(infc_onnx_at *at);
infc_status infc_onnx_import_top_k(infc_onnx_at *at);
infc_status infc_onnx_import_transpose(infc_onnx_at *at);
infc_status infc_onnx_import_trilu(infc_onnx_at *at);
infc_status infc_onnx_import_unsqueeze(infc_onnx_at *at);
infc_status infc_onnx_import_where(infc_onnx_at *at);

#endif
