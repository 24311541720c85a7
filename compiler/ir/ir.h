/* ir.h - the module and the thin layer over the MLIR C API that importers and passes are written against.
 * Only compiler/ir/ includes mlir-c/ headers for more than the handles below. */
#ifndef INFC_IR_H
#define INFC_IR_H
#include "../base/ptr_map.h"
#include "llm_facts.h"
#include "weights.h"
#include <mlir-c/IR.h>

/* What a pass has to say about a node of the model, for reports. */
typedef struct infc_ir_note_row {
    const char *node, *text;
} infc_ir_note_row;
typedef struct infc_ir_notes {
    infc_ir_note_row *items;
    size_t n, cap;
} infc_ir_notes;

typedef struct infc_ir {
    infc_cx *cx;
    MlirContext ctx;   /* shared by clones; owned by the first */
    MlirModule module; /* func.func @main, plus private functions after `fuse` */
    MlirOperation main;
    infc_weights weights;
    const char *source;          /* model file, for locations */
    infc_ir_notes *stayed_float; /* shared by clones; null while there are none */
    const infc_llm_facts *llm;   /* shared by clones; null unless a language model */
    infc_isa fast; /* whose instructions add the products of half floats (infk_fast); generic: they are exact */
    struct infc_ir_kinds *kinds;     /* identifier pointer -> kind */
    struct infc_ir_symbols *symbols; /* name -> function */
} infc_ir;

/* Insertion point: before `before`, or at the end of `block` when it is null. */
typedef struct infc_ir_at {
    MlirBlock block;
    MlirOperation before;
} infc_ir_at;

/* ---- module -------------------------------------------------------------------------------------- */
infc_status infc_ir_create(infc_cx *cx, const char *source, infc_ir *out);
infc_status infc_ir_clone(const infc_ir *ir, infc_ir *out); /* same context, own module, weights table copied */
/* @main with named, typed arguments; body empty. The block owns nothing yet. */
typedef struct infc_ir_port {
    const char *name;
    infc_type type;
} infc_ir_port;
infc_status infc_ir_main_begin(infc_ir *ir, const infc_ir_port *inputs, size_t n, MlirBlock *out_block);
/* Adds func.return and the result types and names. */
infc_status infc_ir_main_end(infc_ir *ir, const MlirValue *results, const char *const *names, size_t n);
/* The sizes of the module's context, for dims; to be added before @main begins. */
infc_sizes *infc_ir_sizes(const infc_ir *ir);
size_t infc_ir_input_count(const infc_ir *ir);
const char *infc_ir_input_name(const infc_ir *ir, size_t i);
size_t infc_ir_output_count(const infc_ir *ir);
const char *infc_ir_output_name(const infc_ir *ir, size_t i);

/* `node` is computed in f32 though it is between quantised tensors, and why. Texts are kept. */
void infc_ir_note(infc_ir *ir, const char *node, const char *text);

/* ---- building ------------------------------------------------------------------------------------- */
MlirLocation infc_ir_location(infc_ir *ir, const char *node, int line); /* node as shown, line = node index or 0 */
MlirLocation infc_ir_location_fuse(infc_ir *ir, const MlirLocation *parts, size_t n);
infc_loc infc_ir_loc(const infc_ir *ir, MlirLocation location); /* for diagnostics */

/* How attributes and kernels' dims hold a float: its 32 bits, never negative. */
int64_t infc_f32_bits(float value);
infc_attr infc_attr_int(const char *name, int64_t value);
infc_attr infc_attr_ints(const char *name, const int64_t *values, int n);
infc_attr infc_attr_string(const char *name, const char *value);
infc_attr infc_attr_layout(infc_layout value);

/* Makes an op; its type comes from the shape rule. A rule's complaint is recorded at `location`. */
infc_status infc_ir_build(infc_ir *ir, infc_ir_at at, infc_op_kind kind, MlirLocation location,
                          const MlirValue *in, int n_in, const infc_attr *attrs, int n_attrs, MlirValue *out);
/* Shorthands over infc_ir_build. */
infc_status infc_ir_map(infc_ir *ir, infc_ir_at at, const char *fn, MlirLocation location,
                        const MlirValue *in, int n_in, MlirValue *out);
MlirValue infc_ir_weight(infc_ir *ir, infc_ir_at at, int64_t id, MlirLocation location);

/* The tensor name of the model that a value stands for: kept in the op's optional attribute `out`, ignored by
 * CSE, kept by passes that replace a value by an equal one. Null when it stands for none. */
void infc_ir_set_name(infc_ir *ir, MlirValue value, const char *name);
const char *infc_ir_name(const infc_ir *ir, MlirValue value);

/* ---- looking -------------------------------------------------------------------------------------- */
infc_op_kind infc_ir_kind(const infc_ir *ir, MlirOperation op);
infc_type infc_ir_type(const infc_ir *ir, MlirValue value);
void infc_ir_describe(const infc_ir *ir, MlirOperation op, infc_op_desc *out); /* an infc op */
const infc_weight *infc_ir_weight_of(const infc_ir *ir, MlirValue value); /* null unless defined by infc.weight */
MlirOperation infc_ir_def(MlirValue value);       /* null for block arguments */
int infc_ir_uses(MlirValue value);                /* 0, 1 or 2 = many */
MlirOperation infc_ir_only_user(MlirValue value); /* null unless exactly one use */
MlirBlock infc_ir_body(MlirOperation func);       /* null for a declaration */
/* Snapshot in program order, so that the caller may erase and insert while it walks. */
size_t infc_ir_ops(infc_arena *arena, MlirBlock block, MlirOperation **out);
size_t infc_ir_funcs(infc_arena *arena, const infc_ir *ir, MlirOperation **out);
/* The ops of the block (their .ptr) that depend on weights alone: weights, and ops over such, in program order as
 * long as they take no more than 16 billion operations and, with 16 times the weights, 512 MiB. What is beyond is
 * computed in each run of the model. */
void infc_ir_constants(const infc_ir *ir, MlirBlock block, infc_ptr_set *out);
MlirOperation infc_ir_callee(const infc_ir *ir, MlirOperation call);
const char *infc_ir_symbol(infc_arena *arena, MlirOperation func);

/* ---- changing ------------------------------------------------------------------------------------- */
/* All uses of old go to value; the name moves along when `value` has none. */
void infc_ir_replace(infc_ir *ir, MlirValue old, MlirValue value);
void infc_ir_erase(MlirOperation op); /* asserts that nothing uses it */
/* Moves ops (program order, one block) into a new private function `name` (made unique) and calls it where the
 * last one stood; inputs are what they use from outside, outputs their values used outside. */
infc_status infc_ir_outline(infc_ir *ir, const MlirOperation *ops, size_t n, const char *name,
                            MlirOperation *out_call);

/* ir_layout.c: the value's type with another layout; operand i of op; op's place in its block. */
void infc_ir_set_layout(infc_ir *ir, MlirValue value, infc_layout layout);
void infc_ir_set_operand(MlirOperation op, int i, MlirValue value);
void infc_ir_move_before(MlirOperation op, MlirOperation before);
void infc_ir_move_after(MlirOperation op, MlirOperation after);

/* ---- checking and text ----------------------------------------------------------------------------- */
/* IRDL constraints, then our own rules: types as the shape rules say, weights in range, callee signatures. */
infc_status infc_ir_verify(infc_ir *ir, const char *after_pass);
/* Text form; weights of up to 16 elements, or of one value throughout, show it, others a hash. The same IR and
 * weights give the same text, and others another. */
void infc_ir_print(infc_ir *ir, infc_buf *out);
/* Reads what infc_ir_print wrote, if all weights show their values: `infc.weight` needs `value = dense<...>`; ids
 * are given anew. `text` is a module by itself: it gets a context of its own. */
infc_status infc_ir_parse(infc_cx *cx, infc_bytes text, const char *name, infc_ir *out);

#endif
