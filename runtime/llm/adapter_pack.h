/* adapter_pack.h - matrices of adapters as a slot of a model's pool. */
#ifndef INFRT_ADAPTER_PACK_H
#define INFRT_ADAPTER_PACK_H
#include "adapter_file.h"
#include "adapters.h"

/* Of a module: A [rank, inputs] and B [outputs, rank], both or none; DoRA: magnitudes [outputs]. */
typedef struct infrt_adapter_pair {
    const infrt_adapter_tensor *a, *b, *magnitude;
    uint32_t rank;
    float scale;
} infrt_adapter_pair;

/* What an adapter is for; path: of its tensors, for messages. */
typedef struct infrt_adapter_base {
    const infc_model *model;
    const void *weights; /* infc_call.weights */
    const char *path;
    const _Atomic bool *unwanted; /* as infrt_adapter_watch has it */
} infrt_adapter_base;

/* The sum of n adapters times their weights; one with magnitudes has weight 1 and is alone. parts: [n] of
 * [layers][n_modules]; weights: [n]. Fills all of `out` but its model. */
infrt_status infrt_adapter_pack(const infrt_adapter_base *base, const infrt_adapter_pair *const *parts,
                                const float *weights, uint32_t n, infrt_llm_adapter *out, infrt_error *error);

#endif
