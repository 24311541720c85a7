/* type.h - tensors and ops as plain values, without MLIR: what shape rules, kernel calls, the evaluator and
 * the plan builder see. */
#ifndef INFC_TYPE_H
#define INFC_TYPE_H
#include "../../templates/kernel_table.h"
#include "../base/cx.h"
#include "../base/dtype.h"
#include "dim.h"

typedef struct infc_type {
    infc_dtype dtype;
    infc_layout layout;
    int rank;
    int64_t dims[INFC_MAX_RANK]; /* logical shape, see dim.h; numbers >= 0, open dims >= 1; product checked */
} infc_type;

#define INFC_MAX_ELEMENTS \
    (INT64_C(1) << 40) /* of one tensor: byte counts and strides cannot overflow */
/* Null, or what is wrong with it (on the arena): takes any values. The functions below expect a type that passed. */
const char *infc_type_check(infc_arena *arena, const infc_type *type);
bool infc_type_open(const infc_type *type); /* has a dim known only at run time */
infc_type infc_type_at(const infc_type *type, const int64_t *sizes); /* for given sizes */
int64_t infc_type_count(const infc_type *type); /* logical elements; the most there can be */
/* The most bytes in memory, padding of the layout included (c16: channels to 16; panel: outputs to 16, and for i8 the
 * inner dimension to 64). `panel` of a rank-4 tensor is a convolution's weight, else [.., K, N]. */
uint64_t infc_type_bytes(const infc_type *type);
/* Of a checked type, as it is packed for integer sums, ipanel or qpanel: elements of one panel of 16 outputs. */
int64_t infc_ipanel_elements(const infc_type *type);
bool infc_type_equal(const infc_type *a, const infc_type *b);
bool infc_shape_equal(const infc_type *a, const infc_type *b);        /* rank and dims alone */
const char *infc_type_text(infc_arena *arena, const infc_type *type); /* f32[1,16,8,8]{c16} */
const char *infc_layout_name(infc_layout layout);
/* numpy broadcast of shapes; false when they do not. */
bool infc_type_broadcast(const infc_type *a, const infc_type *b, infc_type *out);
/* Why they do not: "f32[2,3] and f32[2] do not broadcast: ...". */
const char *infc_type_no_broadcast(infc_arena *arena, const infc_type *a, const infc_type *b);

typedef enum infc_op_kind {
#define INFC_OP(name, n_in, attrs, shape, call, summary) INFC_OP_##name,
#include "ops.def"
#undef INFC_OP
    INFC_N_OP_KINDS,
    INFC_OP_FUNC = INFC_N_OP_KINDS, /* func.func, func.call, func.return, anything else */
    INFC_OP_CALL,
    INFC_OP_RETURN,
    INFC_OP_OTHER
} infc_op_kind;

enum { INFC_MAX_OPERANDS = 7, INFC_MAX_ATTRS = 6, INFC_MAX_INTS = 8 };

typedef enum infc_attr_kind {
    INFC_ATTR_I64,
    INFC_ATTR_I64S,
    INFC_ATTR_STR,
    INFC_ATTR_LAYOUT
} infc_attr_kind;
typedef struct infc_attr {
    const char *name;
    infc_attr_kind kind;
    int64_t i;
    int n_ints;
    int64_t ints[INFC_MAX_INTS];
    const char *str;
    infc_layout layout;
} infc_attr;

/* An op without MLIR. */
typedef struct infc_op_desc {
    infc_op_kind kind;
    int n_in, n_attrs;
    infc_type in[INFC_MAX_OPERANDS];
    infc_attr attrs[INFC_MAX_ATTRS];
    infc_type out; /* not read by shape rules */
    infc_isa fast; /* of a matmul: as infc_ir's */
} infc_op_desc;

/* The op for given sizes: its types and lists of numbers. */
infc_op_desc infc_desc_at(const infc_op_desc *desc, const int64_t *sizes);
bool infc_desc_open(const infc_op_desc *desc); /* whether that makes a difference */
const infc_attr *infc_desc_attr(const infc_op_desc *desc, const char *name); /* null when absent */
int64_t infc_desc_int(const infc_op_desc *desc, const char *name);           /* must exist */
const char *infc_desc_str(const infc_op_desc *desc, const char *name);       /* must exist */

/* A kernel call: which kind, and its dims struct filled in. */
typedef struct infc_kernel_call {
    infk_kind kind;
    const char *types[INFK_MAX_TYPES];
    union {
        ptrdiff_t fields[INFK_MAX_DIMS];
        infk_conv_dims conv;
        infk_pool_dims pool;
        infk_matmul_dims matmul;
        infk_reduce_dims reduce;
        infk_softmax_dims softmax;
        infk_strided_dims strided;
        infk_attention_dims attention;
        infk_gather_dims gather;
        infk_top_dims top;
        infk_running_dims running;
        infk_scatter_dims scatter;
        infk_sample_dims sample;
        infk_choose_dims choose;
        infk_pad_dims pad;
        infk_norm_dims norm;
        infk_resize_dims resize;
        infk_recurrent_dims recurrent;
        infk_relayout_dims relayout;
        infk_kv_dims kv;
        infk_adapter_dims adapter;
        infk_groups_dims groups;
        infk_keep_dims keep;
        infk_quantize_dims quantize;
        infk_linear_dims linear;
        infk_embed_dims embed;
        infk_pack_dims pack;
    } dims;
} infc_kernel_call;

/* The call for given sizes: open dims are in its fields too. */
infc_kernel_call infc_call_at(const infc_kernel_call *call, const int64_t *sizes);

typedef struct infc_op_info {
    const char *name;
    int n_in;
    const char *attrs; /* "strides:i64s ..." */
    /* Sets *out; or returns what is wrong with operands and attributes (on the arena). Accepts any operand
     * values: it is the one checking table for importers and the verifier. */
    const char *(*shape)(infc_arena *arena, const infc_op_desc *desc, infc_type *out);
    /* Fills the kernel call of a verified desc; null for ops without a kernel of their own. */
    void (*call)(const infc_op_desc *desc, infc_kernel_call *out);
    const char *summary;
} infc_op_info;
const infc_op_info *infc_op_get(infc_op_kind kind); /* kind < INFC_N_OP_KINDS */

/* How an element-wise op computes: by a function of scalar.def on f32, or of integer.def. */
typedef struct infc_fn {
    bool integer;
    int index; /* in its table */
} infc_fn;
/* The function of a map op; false when there is none of that name for its operands. */
bool infc_desc_fn(const infc_op_desc *desc, infc_fn *out);
/* Whether an op is element-wise, and whether it is f32 alone: other element-wise ops stand alone, and are plain. */
bool infc_op_is_map(infc_op_kind kind);
bool infc_desc_is_f32_map(const infc_op_desc *desc);
/* f32, or narrow enough that f32 holds every value; what lanes of f32 are loaded from and stored to. i32 as
 * well, when a conversion to f32 is all that happens to it. */
bool infc_dtype_in_lanes(infc_dtype dtype);
/* An element-wise op whose values are f32 in lanes: f32 maps, conversions between such types that lose nothing or limit
 * a float. These join one another and kernels' epilogues, and follow channel blocks. */
bool infc_desc_in_lanes(const infc_op_desc *desc);

/* integer.def */
typedef enum infc_integer_operands {
    INFC_INTEGER_INTEGER,
    INFC_INTEGER_TRUTH,
    INFC_INTEGER_FLOAT,
    INFC_INTEGER_ANY
} infc_integer_operands;
typedef enum infc_integer_result {
    INFC_INTEGER_GIVES_SAME,
    INFC_INTEGER_GIVES_TRUTH
} infc_integer_result;
typedef struct infc_integer_info {
    const char *name;
    int arity;
    infc_integer_operands operands;
    infc_integer_result result;
    const char *text; /* the expression over a, b, c */
    int64_t (*of_integers)(int64_t a, int64_t b, int64_t c);
    int64_t (*of_floats)(float a, float b, float c); /* ANY and FLOAT */
} infc_integer_info;
int infc_integer_find(const char *name); /* index, or -1 */
const infc_integer_info *infc_integer_get(int fn);
/* Element types that integer.def computes with; bool, f32 and u64 are not among them. */
bool infc_dtype_is_integer(infc_dtype dtype);
bool infc_dtype_is_half(infc_dtype dtype); /* f16 or bf16 */
/* The limits of such a type, and of bool. */
int64_t infc_dtype_low(infc_dtype dtype);
int64_t infc_dtype_high(infc_dtype dtype);

/* scalar.def */
int infc_scalar_find(const char *name); /* index, or -1 */
const char *infc_scalar_name(int fn);
int infc_scalar_arity(int fn);
const char *infc_scalar_text(int fn); /* the expression with P(...) names */
float infc_scalar_apply(int fn, float a, float b, float c);

#endif
