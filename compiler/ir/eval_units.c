#include "eval_units.h"
#include "../base/interrupt.h"
#include "../base/threads.h"
#include <time.h>

enum { SHARES = 64 };
#define LONG 0.02 /* seconds that the rest must be expected to take before threads are worth it */

typedef struct work {
    infk_entry *entry;
    const void *dims;
    const void *const *operands;
    void *out;
    ptrdiff_t begin, units, share; /* begin: of the first share that is left */
} work;

static void do_share(void *user, size_t i) {
    const work *w = user;
    const ptrdiff_t begin = w->begin + (ptrdiff_t)i * w->share, end = begin + w->share;
    if (infc_interrupt_signal()) return;
    w->entry(w->dims, w->operands, w->out, begin, end < w->units ? end : w->units);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void infc_eval_units(infk_entry *entry, const void *dims, ptrdiff_t units,
                     const void *const *operands, void *out) {
    work w = {entry, dims, operands, out, 0, units, units / SHARES + 1};
    const double start = now();
    if (units <= 0) return;
    do_share(&w, 0);
    const double rest = (now() - start) * (double)(units - w.share) / (double)w.share;
    const size_t n = (size_t)((units - 1) / w.share);
    w.begin = w.share;
    if (rest > LONG) infc_side_by_side(n, do_share, &w);
    else
        for (size_t i = 0; i < n; i++) do_share(&w, i);
}
