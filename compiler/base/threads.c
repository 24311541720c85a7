#include "threads.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct work { /* shared by threads, each taking the next one */
    size_t n;
    void (*one)(void *user, size_t i);
    void *user;
    atomic_size_t next;
} work;

static void *take(void *shared) {
    work *w = shared;
    for (size_t i; (i = atomic_fetch_add(&w->next, 1)) < w->n;) w->one(w->user, i);
    return NULL;
}

void infc_side_by_side(size_t n, void (*one)(void *user, size_t i), void *user) {
    enum { MOST = 16 };
    pthread_t threads[MOST];
    work w = {n, one, user, 0};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t started = 0;
    while (started < MOST && started + 1 < n && (long)started + 1 < processors &&
           pthread_create(&threads[started], NULL, take, &w) == 0)
        started++;
    take(&w); /* on this thread too */
    while (started > 0) pthread_join(threads[--started], NULL);
}
