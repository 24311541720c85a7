/* threads.h - independent pieces of work on as many threads as there are processors. */
#ifndef INFC_THREADS_H
#define INFC_THREADS_H
#include <stddef.h>

/* Calls one(user, i) for each i below n, several at a time and in any order; returns when all have ended. */
void infc_side_by_side(size_t n, void (*one)(void *user, size_t i), void *user);

#endif
