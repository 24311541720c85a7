/* serve_metrics.h - what is counted for /metrics; the network thread's. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_METRICS_H
#define INFRT_SERVE_METRICS_H
#include <stdint.h>

enum { INFRT_BUCKETS = 20, INFRT_ROUTES_MOST = 32, INFRT_STATUS_CLASSES = 6 };

typedef struct infrt_histogram {
    uint64_t counts[INFRT_BUCKETS + 1], n; /* the last: above all bounds */
    double sum;
} infrt_histogram;

typedef struct infrt_metrics {
    uint64_t preempted, prompt_tokens, generation_tokens, cache_queries, cache_hits, failed, rejected, disconnected;
    uint64_t finished[3];                                   /* stop, length, abort */
    uint64_t http[INFRT_ROUTES_MOST][INFRT_STATUS_CLASSES]; /* by route, 2xx .. */
#define INFRT_HISTOGRAM(member, name, buckets, help) infrt_histogram member;
#include "serve_metrics.def"
} infrt_metrics;

/* Counts one value in the histogram that is this member of `m`. */
void infrt_metrics_see(infrt_metrics *m, infrt_histogram *which, double value);

#endif
