/* eval_units.h - the work of one kernel call, on all processors when it takes long. */
#ifndef INFC_EVAL_UNITS_H
#define INFC_EVAL_UNITS_H
#include "../../templates/reference.h"

/* All units, or, when an interrupt came, some. */
void infc_eval_units(infk_entry *entry, const void *dims, ptrdiff_t units,
                     const void *const *operands, void *out);

#endif
