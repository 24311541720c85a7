/* llm_config.h - the hyperparameters of a decoder, whatever file they came from. */
#ifndef INFC_LLM_CONFIG_H
#define INFC_LLM_CONFIG_H
#include "checkpoint.h"

typedef enum infc_rope_scaling {
    INFC_ROPE_NONE,
    INFC_ROPE_LINEAR,
    INFC_ROPE_LLAMA3
} infc_rope_scaling;

typedef struct infc_llm_config {
    const char *architecture; /* "llama" */
    uint64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab, context;
    uint64_t window; /* positions that attention looks back; 0: all */
    double norm_epsilon, rope_theta;
    infc_rope_scaling rope_scaling;
    double rope_factor, rope_low, rope_high; /* rope_low, rope_high and rope_context: llama3 only */
    uint64_t rope_context;
    const infc_stored_tensor *rope_factors; /* GGUF: f32 divisors of the frequencies, one per pair; or null */
    bool tied;                              /* the output head is the embedding */
} infc_llm_config;

/* What must hold among the numbers, whoever wrote them: INFC_ERR_MODEL at `loc` when a size is 0, absurd or does not
 * divide another; all problems are recorded. */
infc_status infc_llm_config_check(infc_cx *cx, infc_loc loc, const infc_llm_config *config);

/* Every tensor that the architecture needs is there with its shape, and there is no other. `gguf`: names of GGUF,
 * else of Hugging Face. All problems are recorded, at most some of each kind. */
infc_status infc_llm_check_tensors(infc_cx *cx, infc_loc loc, const infc_llm_config *config,
                                   const infc_checkpoint *checkpoint, bool gguf);

/* The name of the tensor of a role (llama_tensors.def); null when there is no such role. */
const char *infc_llm_tensor_name(infc_arena *arena, const char *role, uint64_t layer, bool gguf);

/* Bytes of one position of the key-value cache, when an element of it takes `bytes`. */
uint64_t infc_llm_kv_bytes(const infc_llm_config *config, uint64_t bytes);

#endif
