/* serve_metrics.h - what is counted for /metrics; the network thread's. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_METRICS_H
#define INFRT_SERVE_METRICS_H
#include "serve_text.h"

enum { INFRT_BUCKETS = 20, INFRT_ROUTES_MOST = 32, INFRT_STATUS_CLASSES = 6 };

/* Bounds of buckets. */
extern const double infrt_seconds_fine[INFRT_BUCKETS], infrt_seconds_short[INFRT_BUCKETS],
    infrt_seconds_long[INFRT_BUCKETS], infrt_counts[INFRT_BUCKETS], infrt_counts_small[INFRT_BUCKETS];

typedef struct infrt_histogram {
    uint64_t counts[INFRT_BUCKETS + 1], n; /* the last: above all bounds */
    double sum;
} infrt_histogram;

typedef enum infrt_rejected { /* why a request was turned away */
                              INFRT_REJECTED_QUEUE,
                              INFRT_REJECTED_RATE,
                              INFRT_REJECTED_TOKENS,
                              INFRT_REJECTED_ADAPTERS,
                              INFRT_REJECTED_CONNECTIONS, /* before a request of it was read */
                              INFRT_REJECTED_BODIES,
                              INFRT_N_REJECTED
} infrt_rejected;

typedef struct infrt_metrics { /* of any service */
    uint64_t failed, rejected[INFRT_N_REJECTED];
    uint64_t tls_read[2], keys_read[2]; /* again: it was good, it was not */
    uint64_t disconnected[2];           /* while they waited, while they were answered */
    infrt_histogram http_times;
    uint64_t http[INFRT_ROUTES_MOST][INFRT_STATUS_CLASSES]; /* by route, 2xx .. */
} infrt_metrics;

void infrt_histogram_see(infrt_histogram *h, const double bounds[INFRT_BUCKETS], double value);

/* As Prometheus' text format has them, with the model's name as a label. `labels`: further ones, each with a comma
 * behind it; `help` null: the name was there before. */
void infrt_gauge_put(infrt_out *out, const char *model, const char *name, double value, const char *help);
void infrt_counter_put(infrt_out *out, const char *model, const char *name, const char *labels,
                       uint64_t value, const char *help);
void infrt_histogram_put(infrt_out *out, const char *model, const char *name, const infrt_histogram *h,
                         const double bounds[INFRT_BUCKETS], const char *help);
void infrt_metric_help(infrt_out *out, const char *name, const char *type, const char *help);

#endif
