/* app_times.h - times: sorted, picked, written. */
#ifndef INFRT_APP_TIMES_H
#define INFRT_APP_TIMES_H
#include <stddef.h>
#include <stdint.h>

/* "12.3 us", of a size that reads well. */
enum { INFRT_TIME_TEXT = 32 };
const char *infrt_time_text(double ns, char out[INFRT_TIME_TEXT]);
void infrt_times_sort(uint64_t *ns, size_t n);
/* The smallest time that at least `percent` of all are within; of n >= 1 ascending times. */
uint64_t infrt_times_percentile(const uint64_t *ns, size_t n, double percent);

#endif
