/* llm_facts.h - what a language model's runtime must know beside its inputs (ADR 0010): becomes infc_llm_info. */
#ifndef INFC_LLM_FACTS_H
#define INFC_LLM_FACTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INFC_OWN_CALIBRATION \
    "the text that comes with infc" /* infc_llm_facts.calibration without a file */

enum { INFC_KV_POSITIONS = 32 }; /* of a block */

/* @main's inputs, in this order. */
typedef enum infc_llm_input {
    INFC_LLM_TOKENS,
    INFC_LLM_POSITIONS,
    INFC_LLM_SLOTS,
    INFC_LLM_LAST_ROWS,
    INFC_LLM_TABLES,
    INFC_LLM_KV,
    INFC_LLM_INPUTS,
    /* With adapters: of each row, all of them, and whether any row's changes a module of a group. */
    INFC_LLM_ADAPTER_SLOTS = INFC_LLM_INPUTS,
    INFC_LLM_ADAPTER_POOL,
    INFC_LLM_ADAPTS_QKV,
    INFC_LLM_ADAPTS_O,
    INFC_LLM_ADAPTS_GATE_UP,
    INFC_LLM_ADAPTS_DOWN,
    INFC_LLM_INPUTS_ADAPTED
} infc_llm_input;

/* What an adapter may change: a linear layer that each layer of the model has one of. */
typedef struct infc_adapter_facts_module {
    const char *name; /* after "model.layers.N." */
    int64_t inputs, outputs;
    infc_llm_input use;
} infc_adapter_facts_module;

typedef struct infc_adapter_facts_preload {
    const char *name, *path; /* a folder, where the program runs */
} infc_adapter_facts_preload;

enum { INFC_ADAPTER_MODULES = 7 }; /* of a layer: q, k, v, o, gate, up, down */
typedef struct infc_adapter_facts {
    int64_t max_loaded, max_rank, layers, slot_bytes; /* max_loaded 0: no adapters */
    bool int8;                                        /* in slots; else as their files have them */
    infc_adapter_facts_module modules[INFC_ADAPTER_MODULES];
    infc_adapter_facts_preload *preload; /* [n_preload] */
    size_t n_preload;
} infc_adapter_facts;

typedef struct infc_llm_facts {
    int64_t vocab, context, chunk, max_sequences, max_blocks, block_bytes;
    int64_t kv_memory, target_itl; /* defaults of the runtime: bytes, nanoseconds; 0: none */
    bool no_prefix_cache;
    int64_t bos; /* -1: none */
    int64_t eos[16];
    int n_eos;
    const char *format, *kv_format; /* "Q4_1", "int8" */
    const char *calibration; /* null, or what int4 weights were chosen on: "text.txt, 8192 tokens" */
    int64_t int4_rotate;     /* 64 or 128; to be read by infc_llm_rotate */
    uint64_t parameters;
    const char **files; /* that it was read from */
    size_t n_files;
    bool keeps; /* the file holds quantised weights, which stay as they are */
    infc_adapter_facts adapters;
    const struct infrt_tokenizer *tokenizer; /* null: none */
    const struct infrt_chat *chat;           /* null: none */
} infc_llm_facts;

/* By how many values weights of int8, or of int4, and the rows that meet them are transformed: 64 or 128 (ADR 0022). */
static inline int64_t infc_llm_rotate(const infc_llm_facts *facts, bool int4) {
    return int4 ? facts->int4_rotate : 128;
}

#endif
