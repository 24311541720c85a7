/* adapter_pack.h - matrices of adapters as a slot of a model's pool. */
#ifndef INFRT_ADAPTER_PACK_H
#define INFRT_ADAPTER_PACK_H
#include "adapter_file.h"
#include "adapters.h"

/* Of a module: A [rank, inputs] and B [outputs, rank], both or none. */
typedef struct infrt_adapter_pair {
    const infrt_adapter_tensor *a, *b;
    uint32_t rank;
    float scale;
} infrt_adapter_pair;

/* The sum of n adapters times their weights. parts: [n] of [layers][n_modules]; weights: [n]. Fills all of `out` but
 * its model. */
infrt_status infrt_adapter_pack(const infc_model *model, const infrt_adapter_pair *const *parts,
                                const float *weights, uint32_t n, infrt_llm_adapter *out, infrt_error *error);

#endif
