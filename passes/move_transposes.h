/* move_transposes.h - the part of simplify that moves transposes. */
#ifndef INFC_MOVE_TRANSPOSES_H
#define INFC_MOVE_TRANSPOSES_H
#include "constants.h"

/* Whether axes longer than 1 keep their order, so that no element moves. */
bool infc_moves_nothing(const infc_type *x, const int64_t *perm);
/* `from` with axes permuted, past transposes on the way to it; a reshape, or `from` itself, where no element
 * moves. Built before op. */
infc_status infc_transposed(infc_pass_cx *pass, MlirOperation op, MlirValue from,
                            const infc_attr *perm, MlirValue *out);
/* An op over transposes from channels first to channels last as a transpose of the op over channels first: maps,
 * concats, reductions. *out is set when that can be done. */
infc_status infc_sink_transposes(infc_pass_cx *pass, MlirOperation op, const infc_op_desc *desc, MlirValue *out);
/* A transpose of a pad that nothing else uses as a pad of the transpose. */
infc_status infc_lift_over_pad(infc_pass_cx *pass, MlirOperation op, const infc_attr *perm, MlirValue *out);

#endif
