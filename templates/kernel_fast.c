/* kernel_fast.c - kinds that are matmul as an instruction for products of half floats does it: precision.float fast. */
#include "kernel_table.h"
#include <string.h>

infk_kind infk_exact(infk_kind kind) {
    switch (kind) {
    case INFK_matmul_vdpbf16:
    case INFK_matmul_tdpbf16:
    case INFK_matmul_fmaph:
    case INFK_matmul_bfdot: return INFK_matmul;
    default: return kind;
    }
}

infk_kind infk_fast(infc_isa isa, const char *w) {
    for (size_t i = infk_kernel_count(); i-- > 0;) {
        const infk_kernel *k = infk_kernel_at(i);
        if (infk_exact(k->kind) != k->kind && k->lanes > 1 && strcmp(k->types[1], w) == 0 &&
            infc_isa_includes(isa, k->isa))
            return k->kind;
    }
    return INFK_matmul;
}
