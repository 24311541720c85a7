/* app_times.c - times: sorted, picked, written. */
#include "app_times.h"
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void infrt_times_sort(uint64_t *ns, size_t n) { qsort(ns, n, sizeof *ns, compare); }

uint64_t infrt_times_percentile(const uint64_t *ns, size_t n, double percent) {
    size_t rank = (size_t)((double)n * percent / 100);
    if ((double)rank * 100 < (double)n * percent) rank++;
    return ns[rank == 0 ? 0 : rank > n ? n - 1 : rank - 1];
}

const char *infrt_time_text(double ns, char out[INFRT_TIME_TEXT]) {
    if (ns < 1e4) snprintf(out, INFRT_TIME_TEXT, "%.2f us", ns / 1e3);
    else if (ns < 1e6) snprintf(out, INFRT_TIME_TEXT, "%.1f us", ns / 1e3);
    else if (ns < 1e9) snprintf(out, INFRT_TIME_TEXT, "%.2f ms", ns / 1e6);
    else snprintf(out, INFRT_TIME_TEXT, "%.2f s", ns / 1e9);
    return out;
}
