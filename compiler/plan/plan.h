/* plan.h - the whole program as plain arrays linked by index: no MLIR, no pointers across arrays. Everything
 * after it (emit, dumps, reports) reads only this.
 *
 * Values. A buffer is a tensor in memory: an input, an output, a weight, or a place in the arena. A step is one
 * call of a generated function: a kernel with its epilogue, or a loop nest over expressions alone. All workers
 * run all steps in order; a worker does units [units * w / n, units * (w + 1) / n) of each. */
#ifndef INFC_PLAN_H
#define INFC_PLAN_H
#include "../frontend/spec.h"
#include "../ir/access.h"
#include "../ir/index_range.h"
#include "../ir/ir.h"

typedef enum infc_place {
    INFC_PLACE_INPUT,
    INFC_PLACE_OUTPUT,
    INFC_PLACE_WEIGHT,
    INFC_PLACE_ARENA
} infc_place;

/* Types and calls may have open dims. Bytes, offsets and flops are for the largest sizes. */
typedef struct infc_plan_buffer {
    const char *name;   /* C identifier, unique */
    const char *tensor; /* the model's name for it, or null */
    infc_type type;
    infc_place place;
    int index;       /* of the input, output or weight recipe */
    uint64_t bytes;  /* without over-read pad */
    uint64_t offset; /* in the arena or in the weights payload */
    int first, last; /* steps that write it first and read it last (-1: before all; n_steps: after all) */
    int whole;       /* step that writes it last: from then on all of it is there */
    int alias_of; /* same memory as this buffer (reshape), or -1 */
    bool own;     /* with few rows, each worker has one, at own_offset of its memory */
    uint64_t own_offset;
} infc_plan_buffer;

/* How one packed weight is made: ops of the IR over constants, evaluated at emit time one weight at a time. */
typedef struct infc_plan_recipe {
    int buffer;
    int first_op, n_ops; /* in recipe_ops, in the order of a stack: infc.weight puts a constant on it, others take their
                          * operands off it, the last operand first */
    int n_weights;
    infc_bytes packed; /* its result, from a packed file; ptr null: it is to be evaluated */
} infc_plan_recipe;

/* plan_packed.c: what the recipe makes, as a name in a packed file: its first weight, and a hash of all of it. Null
 * when it needs no bytes that such a file leaves out. */
const char *infc_plan_recipe_key(infc_arena *arena, const infc_weights *weights,
                                 const infc_op_desc *ops, int n_ops);
/* A line for each op: all that its result follows from, but for the bytes of the weights. */
void infc_plan_recipe_text(infc_arena *arena, const infc_weights *weights, const infc_op_desc *ops,
                           int n_ops, infc_buf *out);

/* Expressions: the epilogue of a kernel, or the body of a loop nest. Node i may use nodes before it. */
typedef enum infc_expr_kind {
    INFC_EXPR_ACC,
    INFC_EXPR_EXTRA,
    INFC_EXPR_FN,
    INFC_EXPR_CONVERT, /* the value as an element type holds it: see infc_desc_in_lanes */
    INFC_EXPR_INTEGER  /* in a loop nest of one function: emit/nest_integer.c */
} infc_expr_kind;
typedef struct infc_plan_expr {
    infc_expr_kind kind;
    int fn;      /* FN: index in scalar.def; INTEGER: in integer.def; CONVERT: an infc_dtype */
    int args[3]; /* functions: nodes, relative to the step's first; EXTRA: args[0] = extra */
} infc_plan_expr;

const char *infc_expr_fn_name(const infc_plan_expr *expr); /* of a function node */
int infc_expr_fn_arity(const infc_plan_expr *expr);
bool infc_expr_is_function(const infc_plan_expr *expr);

/* An operand of an expression, and how it is read (ir/access.h). Kernel epilogues use the first four accesses,
 * loop nests use strides over the step's iteration space. The output of a nest is dense in that space. */
typedef struct infc_plan_extra {
    int buffer;
    infc_access access;
    int64_t strides[INFC_MAX_RANK + 1]; /* STRIDED: elements per step of each nest dim; the innermost is 0 or 1 */
} infc_plan_extra;

typedef struct infc_plan_store {
    int buffer;
    int expr; /* node, relative to the step's first; -1: the accumulator itself */
} infc_plan_store;

/* Holds where its parent does and the bool in `buffer` is `taken`; see ir/guards.h. */
typedef struct infc_plan_guard {
    int parent; /* 0: none */
    int buffer;
    bool taken;
} infc_plan_guard;

/* What rows a step of a language model has: at most INFC_PLAN_FEW_ROWS of tokens and of logits (SHARED: and each worker
 * as many KV groups as the others; APART: else each row of a sequence of its own), or more. */
typedef enum infc_plan_mode {
    INFC_MODE_SHARED,
    INFC_MODE_APART,
    INFC_MODE_FEW,
    INFC_MODE_MANY,
    INFC_N_MODES
} infc_plan_mode;
enum { INFC_PLAN_FEW_ROWS = 8, INFC_PLAN_GROUPS = INFC_LLM_INPUTS_ADAPTED - INFC_LLM_ADAPTS_QKV };

typedef struct infc_plan_step {
    const char *name; /* C identifier of the generated function; steps that do the same share it */
    const char *node; /* the model's nodes, for comments and traces */
    const char *what; /* e.g. "conv 3x3, 16 -> 32 channels, stride 1, pad 1, on 8x8; then add, relu" */
    const infk_kernel *kernel; /* null: a loop nest */
    const infk_kernel *large; /* null, or over open dims: taken instead where its condition holds, as for the largest */
    infc_kernel_call call;                       /* with a kernel */
    int operands[INFK_MAX_OPERANDS], n_operands; /* buffers */
    int scratch;                                 /* buffer that only this step uses, or -1 */
    int first_expr, n_exprs, first_extra, n_extras, first_store, n_stores;
    int nest_rank; /* loop nests: dims of the iteration space, innermost last */
    int64_t nest_dims[INFC_MAX_RANK + 1]; /* these, strides and units may be open dims (ir/dim.h) */
    int64_t units; /* kernel: infk_units; nest: product of all dims but the innermost, or, when there is only
                        * one, ceil(dim / 16): blocks of 16 elements */
    int barrier; /* 1: all workers meet before it, whatever its guard */
    uint64_t meets; /* bit infc_plan_mode + INFC_N_MODES * which groups rows have adapters for, in which they do;
                     * language models only, else all bits or none */
    uint64_t guided; /* likewise, in which who is done with his units takes from the others', but for `parts` */
    bool own; /* with few rows, each worker does all of it, into its own buffer (plan_own.c) */
    int64_t parts[3]; /* of units, when it makes q, k and v for a kv_store: in mode SHARED a worker does its share of
                       * each, which is what its KV groups need; else 0 */
    int guard; /* it is left out unless this holds; 0: always done */
    uint64_t flops, bytes;
} infc_plan_step;

typedef struct infc_plan {
    const char *name; /* of the model: symbol prefix */
    const char *source, *source_sha256;
    infc_target target;
    /* clang-format off */
    infc_plan_buffer *buffers;  int n_buffers;
    int *inputs;                int n_inputs;  /* buffer of each input */
    int *outputs;               int n_outputs;
    infc_plan_recipe *recipes;  int n_recipes;
    infc_op_desc *recipe_ops;   int n_recipe_ops;
    infc_plan_step *steps;      int n_steps;
    infc_plan_expr *exprs;      int n_exprs;
    infc_plan_extra *extras;    int n_extras;
    infc_plan_store *stores;    int n_stores;
    infc_plan_guard *guards;    int n_guards;  /* the first stands for none */
    /* clang-format on */
    uint64_t arena_bytes, arena_bytes_per_worker, arena_lower_bound, weights_bytes;
    const infc_sizes *sizes;           /* what open dims are made of; of the module */
    const infc_weights *weights;       /* borrowed: what recipes start from */
    const infc_ir_notes *stayed_float; /* borrowed; may be null */
    const infc_llm_facts *llm;         /* borrowed; null unless a language model */
    uint64_t check_seed, check_hash;   /* see infc_abi.h */
    const infc_index_range *made_up;   /* of each input; may be null */
} infc_plan;

infc_status infc_plan_build(infc_cx *cx, infc_ir *lowered, const infc_spec *spec,
                            const infc_target *target, infc_plan *out);
/* YAML, for --dump plan and golden tests. */
void infc_plan_dump(const infc_plan *plan, infc_buf *out);

/* Parts of the build, one file each. */
void infc_plan_own(infc_cx *cx, infc_plan *plan);   /* plan_own.c: before memory is placed */
void infc_plan_place(infc_cx *cx, infc_plan *plan); /* plan_memory.c: arena offsets, lower bound */
void infc_plan_barriers(infc_plan *plan);           /* plan_barriers.c */
/* A language model whose rows may have adapters: steps with a guard are for these, or in their place. */
bool infc_plan_adapts(const infc_plan *plan);
/* Range of bytes that a buffer occupies after aliases: arena only. */
int infc_plan_root(const infc_plan *plan, int buffer); /* follows alias_of */
/* Whether all workers look at operand 1 before the step: indices, or a condition that must hold. */
bool infc_plan_step_checks(const infc_plan_step *step);
/* The guards that must hold for a step, innermost first: from 0 on, each from the one before, down to 0. */
int infc_plan_guard_next(const infc_plan *plan, const infc_plan_step *step, int guard);

#endif
