/* mailbox.c - see mailbox.h. */
#define _GNU_SOURCE 1
#include "mailbox.h"
#include "infrt_os.h"
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void infrt_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &clock);
    pthread_condattr_destroy(&clock);
}

bool infrt_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns) {
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                   .tv_nsec = (long)(until_ns % 1000000000)};
    return pthread_cond_timedwait(cond, lock, &until) == 0;
}

bool infrt_mailbox_init(infrt_mailbox *box, bool event_fd) {
    *box = (infrt_mailbox){.event_fd = -1};
    box->end = &box->first;
    pthread_mutex_init(&box->lock, NULL);
    infrt_cond_init(&box->came);
    if (event_fd) box->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return !event_fd || box->event_fd >= 0;
}

void infrt_mailbox_deinit(infrt_mailbox *box) {
    if (box->event_fd >= 0) close(box->event_fd);
    pthread_cond_destroy(&box->came);
    pthread_mutex_destroy(&box->lock);
}

static void put(infrt_mailbox *box, infrt_letter *letter) {
    const uint64_t one = 1;
    pthread_mutex_lock(&box->lock);
    const bool told = box->woken || box->first;
    if (letter) {
        letter->next = NULL;
        *box->end = letter;
        box->end = &letter->next;
    }
    box->woken = true;
    pthread_cond_signal(&box->came);
    pthread_mutex_unlock(&box->lock);
    if (!told && box->event_fd >= 0 && write(box->event_fd, &one, sizeof one) < 0) {} /* full: it is told */
}

void infrt_mailbox_put(infrt_mailbox *box, infrt_letter *letter) { put(box, letter); }
void infrt_mailbox_wake(infrt_mailbox *box) { put(box, NULL); }

infrt_letter *infrt_mailbox_take(infrt_mailbox *box, uint32_t ms) {
    const uint64_t until = infrt_os_now_ns() + (uint64_t)ms * 1000000;
    uint64_t count;
    if (box->event_fd >= 0 && read(box->event_fd, &count, sizeof count) < 0) {} /* nothing came: as good */
    pthread_mutex_lock(&box->lock);
    while (ms && !box->first && !box->woken)
        if (!infrt_cond_wait(&box->came, &box->lock, until)) break;
    infrt_letter *all = box->first;
    box->first = NULL;
    box->end = &box->first;
    box->woken = false;
    pthread_mutex_unlock(&box->lock);
    return all;
}

bool infrt_thread_start(pthread_t *thread, const char *name, void *(*run)(void *self), void *self) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool started = pthread_create(thread, NULL, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_setname_np(*thread, name);
    return started;
}
