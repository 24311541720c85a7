/* access.h - how an element-wise operand is read beside an output: one rule for fuse and plan. */
#ifndef INFC_ACCESS_H
#define INFC_ACCESS_H
#include "type.h"

typedef enum infc_access {
    INFC_ACCESS_SCALAR,  /* one value */
    INFC_ACCESS_ROW,     /* by m: matmul row, pixel of a convolution */
    INFC_ACCESS_COLUMN,  /* by n: matmul column, channel of a convolution */
    INFC_ACCESS_FULL,    /* by the output's own offset */
    INFC_ACCESS_STRIDED, /* loop nests only */
} infc_access;

/* How the epilogue of a `root` op with output `out` reads `extra`; false when it cannot. `padded`: the operand
 * may be read up to 16 lanes past its end (arena and weights, not model inputs). */
bool infc_access_epilogue(infc_op_kind root, const infc_type *out, const infc_type *extra,
                          bool padded, infc_access *access);

/* The iteration space of a loop nest that writes `out` as it lies in memory, and the strides with which it reads
 * `extra` in it; false when it cannot. c16: [N, C/16, spatial.., 16]. */
int infc_access_space(const infc_type *out, int64_t dims[INFC_MAX_RANK + 1]);
bool infc_access_strides(const infc_type *out, const infc_type *extra, bool padded,
                         int64_t strides[INFC_MAX_RANK + 1]);

#endif
