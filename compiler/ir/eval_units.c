#include "eval_units.h"
#include "../base/interrupt.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { SHARES = 64, MAX_THREADS = 16 };
#define LONG 0.02 /* seconds that the rest must be expected to take before threads are worth it */

typedef struct work { /* shares are taken one after another by whoever is free */
    infk_entry *entry;
    const void *dims;
    const void *const *operands;
    void *out;
    ptrdiff_t units, share;
    atomic_ptrdiff_t next;
} work;

static bool do_share(work *w) {
    const ptrdiff_t begin = atomic_fetch_add(&w->next, w->share);
    if (begin >= w->units || infc_interrupt_signal()) return false;
    w->entry(w->dims, w->operands, w->out, begin, begin + w->share < w->units ? begin + w->share : w->units);
    return true;
}

static void *do_all(void *place) {
    while (do_share(place)) continue;
    return NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void infc_eval_units(infk_entry *entry, const void *dims, ptrdiff_t units,
                     const void *const *operands, void *out) {
    work w = {entry, dims, operands, out, units, units / SHARES + 1, 0};
    pthread_t threads[MAX_THREADS];
    int n = 0;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const double start = now();
    if (!do_share(&w)) return;
    const double rest = (now() - start) * (double)(units - w.share) / (double)w.share;
    for (; rest > LONG && n < MAX_THREADS && n + 1 < processors; n++)
        if (pthread_create(&threads[n], NULL, do_all, &w)) break; /* then fewer do it */
    do_all(&w);
    while (n > 0) pthread_join(threads[--n], NULL);
}
