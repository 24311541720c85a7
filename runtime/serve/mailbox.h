/* mailbox.h - what threads of the server hand each other. SPDX-License-Identifier: MIT */
#ifndef INFRT_MAILBOX_H
#define INFRT_MAILBOX_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The first member of what is handed on; the sender no longer touches it. */
typedef struct infrt_letter {
    struct infrt_letter *next;
    int kind; /* of the receiver's choice */
} infrt_letter;

typedef struct infrt_mailbox {
    pthread_mutex_t lock;
    pthread_cond_t came;
    infrt_letter *first, **end;
    bool woken;
    int event_fd; /* written to when something comes; -1: the receiver waits in infrt_mailbox_take */
} infrt_mailbox;

/* With `event_fd` the receiver polls that: false when the system has none left. */
bool infrt_mailbox_init(infrt_mailbox *box, bool event_fd);
void infrt_mailbox_deinit(infrt_mailbox *box); /* letters in it are the caller's to take before */
void infrt_mailbox_put(infrt_mailbox *box, infrt_letter *letter);
void infrt_mailbox_wake(infrt_mailbox *box);
/* All that is there, the oldest first. Waits for something, or to be woken, up to `ms`; 0: not at all. */
infrt_letter *infrt_mailbox_take(infrt_mailbox *box, uint32_t ms);

/* A condition whose waits end by the clock of infrt_os_now_ns. */
void infrt_cond_init(pthread_cond_t *cond);
/* False when it is `until_ns`. */
bool infrt_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns);

/* A thread that no signal goes to; `name`: what the system shows, at most 15 bytes. */
bool infrt_thread_start(pthread_t *thread, const char *name, void *(*run)(void *self), void *self);

#endif
