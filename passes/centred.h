/* centred.h - quantised tensors as importers write them: convert(q) - zero. */
#ifndef INFC_CENTRED_H
#define INFC_CENTRED_H
#include "match.h"

typedef struct infc_centred {
    MlirValue q, zero; /* zero: f32, when has_zero */
    bool has_zero;
} infc_centred;

/* convert(q) - zero or convert(q), of i8, u8, or i32 without a zero point. */
bool infc_match_centred(const infc_ir *ir, MlirValue value, infc_centred *out);
/* Takes bytes as they are to sums of products, where an imatmul or iconv has operands that are such; passes/bytes.c. */
infc_status infc_sum_bytes(infc_pass_cx *pass);

#endif
