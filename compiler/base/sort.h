/* sort.h - qsort that takes an empty list, whose pointer may be null. */
#pragma once
#include <stdlib.h>

static inline void infc_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *)) {
    if (n > 1) qsort(items, n, size, compare);
}
