#include "reference.h"
#include <string.h>

#if defined(INFK_REFERENCE_FMA)
/* The same kernels compiled with hardware fma: the same bits, sooner. */
extern const infk_reference_row infk_reference_fma_rows[];

static const infk_reference_row *rows_here(void) {
    const int fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return fma ? infk_reference_fma_rows : infk_reference_rows;
}
#else
static const infk_reference_row *rows_here(void) { return infk_reference_rows; }
#endif

infk_entry *infk_reference_find(const infk_kernel *kernel) {
    const infk_reference_row *rows = rows_here();
    for (size_t i = 0; i < infk_reference_n; i++)
        if (strcmp(rows[i].name, kernel->name) == 0) return rows[i].entry;
    return NULL;
}
