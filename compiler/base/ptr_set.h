/* ptr_set.h - a set of pointers, for asking only: nothing iterates over it. */
#ifndef INFC_PTR_SET_H
#define INFC_PTR_SET_H
#include "arena.h"
#include <stdbool.h>

typedef struct infc_ptr_set {
    infc_arena *arena;
    const void **slots; /* open addressing */
    size_t n, n_slots;
} infc_ptr_set;

/* Initialise with {.arena = arena}. Null is never a member. */
void infc_ptr_set_add(infc_ptr_set *set, const void *pointer);
bool infc_ptr_set_has(const infc_ptr_set *set, const void *pointer);

#endif
