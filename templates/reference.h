/* reference.h - the reference kernels compiled for the host, for the evaluator and the tests. The table is made
 * by the build from the `ref` lines of kernels.def. */
#ifndef INFK_REFERENCE_H
#define INFK_REFERENCE_H
#include "kernel_table.h"

/* Does units [begin, end): `dims` is the struct of the kind, `in` its operands, results go to `out` as they are.
 * All pointers borrowed. */
typedef void infk_entry(const void *dims, const void *const *in, void *out, ptrdiff_t begin, ptrdiff_t end);

typedef struct infk_reference_row {
    const char *name;
    infk_entry *entry;
} infk_reference_row;
extern const infk_reference_row infk_reference_rows[];
extern const size_t infk_reference_n;

/* Null when the kernel is not a reference. */
infk_entry *infk_reference_find(const infk_kernel *kernel);

#endif
