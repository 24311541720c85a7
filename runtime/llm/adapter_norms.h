/* adapter_norms.h - what DoRA multiplies the outputs of a linear layer by. */
#ifndef INFRT_ADAPTER_NORMS_H
#define INFRT_ADAPTER_NORMS_H
#include "adapter_pack.h"

/* out[outputs]: magnitude / |W + scale * B A|, row by row, of module `number`: W as the model holds it, dequantised; A,
 * B and the magnitudes as the files have them. INFRT_ERR_DATA, with path and name of the tensor: that is no number.
 * INFRT_ERR_USAGE: it is unwanted. The same bits on every machine. */
infrt_status infrt_adapter_factors(const infrt_adapter_base *base, uint64_t number,
                                   const infrt_adapter_pair *pair, float *out, infrt_error *error);

#endif
