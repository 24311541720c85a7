/* fold_pads.h - the part of simplify that folds pads into windows. */
#ifndef INFC_FOLD_PADS_H
#define INFC_FOLD_PADS_H
#include "pass.h"

enum { INFC_MAX_PADDING = 1 << 20 }; /* what the ops take */

/* A convolution or a maximum over a pad as one over what is padded. *out is set when that is the same. */
infc_status infc_fold_pad(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc, MlirValue *out);

#endif
