/* index_range.h - which integers an input may hold, where they become indices: so that made-up inputs can be run. */
#ifndef INFC_INDEX_RANGE_H
#define INFC_INDEX_RANGE_H
#include "ir.h"

typedef struct infc_index_range {
    int64_t least, span; /* least .. least + span, span at most 7 */
} infc_index_range;

/* Of input i of @main, before target passes, at these sizes, or, when null, at all of them. Integers of 32 bits and
 * more are otherwise 0 or 1, since they may be counts or masks; shorter ones are up to 7. */
infc_index_range infc_index_range_of(const infc_ir *ir, size_t i, const int64_t *sizes);

#endif
