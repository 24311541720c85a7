/* llm_build.h - a language model as IR: docs/adr/0010-language-model-step.md. llm_import.c makes the module with its
 * inputs, llm_llama.c the layers, out of these blocks. */
#ifndef INFC_LLM_BUILD_H
#define INFC_LLM_BUILD_H
#include "../../ir/ir.h"
#include "../spec.h"
#include "llm_model.h"

/* How the weights of one linear layer are stored. */
typedef struct infc_llm_format {
    infc_spec_format kind;
    int gguf; /* kind keep: the number of the type in GGUF */
} infc_llm_format;

typedef struct infc_llm_build {
    infc_cx *cx;
    const infc_spec *spec;
    const infc_llm_model *model;
    bool gguf;
    infc_llm_facts facts;
    infc_ir *ir;
    MlirBlock block;
    MlirValue inputs[INFC_LLM_INPUTS_ADAPTED]; /* those of adapters: null without any */
    MlirValue rope;
    infc_kv_format kv;
    int64_t layer;       /* that is being built; -1: none */
    bool *matched;       /* per rule of the spec */
    int64_t *weight_ids; /* per tensor of the checkpoint: in the weight table, or -1 */
} infc_llm_build;

/* An op at the end of the module; `node` names what it is for, e.g. "qkv". */
infc_status infc_llm_op(infc_llm_build *b, infc_op_kind kind, const char *node, const MlirValue *in,
                        int n_in, const infc_attr *attrs, int n_attrs, MlirValue *out);

/* ---- llm_weights.c: tensors of the checkpoint as constants --------------------------------------------------- */

/* The tensor that has this role (llama_tensors.def) in the layer that is being built. */
const infc_stored_tensor *infc_llm_tensor(const infc_llm_build *b, const char *role);
/* How it is to be stored; refused when it cannot be. */
infc_status infc_llm_format_of(infc_llm_build *b, const infc_stored_tensor *tensor, infc_llm_format *out);
bool infc_llm_format_equal(infc_llm_format a, infc_llm_format b);
/* int8, int4: infc_llm_rotate of the format. */
int64_t infc_llm_format_rotate(const infc_llm_build *b, infc_llm_format format);
/* f32, f16, bf16: products of floats, whose rows are f32. */
bool infc_llm_format_floats(infc_llm_format format);
/* A vector as f32. */
infc_status infc_llm_vector(infc_llm_build *b, const infc_stored_tensor *tensor, MlirValue *out);
/* Matrices of one format, the rows of one after those of the other, packed as it says; `parts` 2: in turn. */
infc_status infc_llm_packed(infc_llm_build *b, const infc_stored_tensor *const *tensors, int n,
                            infc_llm_format format, int parts, MlirValue *out);
/* The same as f32, f16 or bf16 [inputs, outputs]: for matmul; or, not `turned`, [outputs, inputs]. */
infc_status infc_llm_floats(infc_llm_build *b, const infc_stored_tensor *const *tensors, int n,
                            infc_llm_format format, bool turned, MlirValue *out);
/* Cosine and sine of each position and pair: f32 [positions, head_dim]. */
infc_status infc_llm_rope(infc_llm_build *b, MlirValue *out);
/* What keys and queries of a layer are balanced by before they become int8 (ADR 0024), f32 [3, groups * head_dim]: by
 * nothing, until the pass `calibrate` knows better. */
MlirValue infc_llm_balance(infc_llm_build *b);

/* ---- llm_blocks.c: layers ------------------------------------------------------------------------------------ */

/* Rows of f32, and what layers read of them: made when first wanted. */
typedef struct infc_llm_rows {
    MlirValue x, norm; /* norm: null, or what rows are multiplied with after their root mean square is taken off */
    int64_t columns;
    MlirValue floats, records[2], groups; /* records: transformed by 64 and by 128 values */
    MlirValue adapted;                    /* what infc_llm_adapter_rows has made last */
} infc_llm_rows;

infc_llm_rows infc_llm_rows_of(MlirValue x, int64_t columns);
/* rows times the matrices one after another: f32 [rows, all outputs]. */
infc_status infc_llm_linear(infc_llm_build *b, infc_llm_rows *rows, const char *node,
                            const infc_stored_tensor *const *tensors, int n, MlirValue *out);
/* silu(rows times gate) * (rows times up). */
infc_status infc_llm_gated(infc_llm_build *b, infc_llm_rows *rows, const infc_stored_tensor *gate,
                           const infc_stored_tensor *up, MlirValue *out);
infc_status infc_llm_add(infc_llm_build *b, const char *node, MlirValue x, MlirValue y, MlirValue *out);
/* qkv goes into the cache, and each row looks at its sequence. */
infc_status infc_llm_attend(infc_llm_build *b, MlirValue qkv, MlirValue *out);
/* Rows of the embedding for the tokens. */
infc_status infc_llm_embed(infc_llm_build *b, const infc_stored_tensor *table, MlirValue *out);

/* ---- llm_adapters.c ------------------------------------------------------------------------------------------ */

/* Sets facts.adapters as the spec asks. */
void infc_llm_adapter_facts(infc_llm_build *b);
bool infc_llm_adapts(const infc_llm_build *b);
/* A x of n modules of the layer that read `rows`, from the one of that role on. Before what the base makes of the rows,
 * as all of these wait for no more than the rows; without adapters nothing. */
infc_status infc_llm_adapter_rows(infc_llm_build *b, infc_llm_rows *rows, const char *first, int n);
/* y, which nothing else reads, plus what adapters add to it: those modules. Without adapters y stays as it is. */
infc_status infc_llm_adapt(infc_llm_build *b, const infc_llm_rows *rows, const char *first, int n, MlirValue *y);
/* The same of one module, of a y that `before` has been added to. */
infc_status infc_llm_adapt_sum(infc_llm_build *b, const infc_llm_rows *rows, const char *role,
                               MlirValue before, MlirValue *y);
/* The same of h, a gated feed-forward; both: gate and up before that, 16 of each in turn. */
infc_status infc_llm_adapt_gated(infc_llm_build *b, const infc_llm_rows *rows, MlirValue both, MlirValue *h);

/* ---- llm_llama.c --------------------------------------------------------------------------------------------- */
infc_status infc_llm_build_llama(infc_llm_build *b, MlirValue *logits);

#endif
