/* ptr_map.h - pointer to pointer, for asking only: nothing iterates over it. A set is a map in which each member stands
 * for itself. */
#ifndef INFC_PTR_MAP_H
#define INFC_PTR_MAP_H
#include "arena.h"
#include <stdbool.h>

typedef struct infc_ptr_map_slot {
    const void *key;
    void *value;
} infc_ptr_map_slot;

typedef struct infc_ptr_map {
    infc_arena *arena;
    infc_ptr_map_slot *slots; /* open addressing */
    size_t n, n_slots;
} infc_ptr_map;
typedef infc_ptr_map infc_ptr_set;

/* Initialise with {.arena = arena}. The key is not null. */
void *infc_ptr_map_find(const infc_ptr_map *map, const void *key); /* null when there is none */
/* Where the value of `key` stands, null when it is new; until another key is added. */
void **infc_ptr_map_at(infc_ptr_map *map, const void *key);

/* Null is never a member. */
void infc_ptr_set_add(infc_ptr_set *set, const void *pointer);
bool infc_ptr_set_has(const infc_ptr_set *set, const void *pointer);

#endif
