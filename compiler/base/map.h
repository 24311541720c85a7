/* map.h - string to number, insertion order kept: iteration never follows the hash. */
#ifndef INFC_MAP_H
#define INFC_MAP_H
#include "arena.h"
#include <stdbool.h>

typedef struct infc_map_entry {
    const char *key; /* copied into the arena */
    size_t value;
} infc_map_entry;

typedef struct infc_map {
    infc_arena *arena;
    infc_map_entry *entries; /* in insertion order */
    size_t n, cap;
    uint32_t *slots; /* open addressing, entry index + 1 */
    size_t n_slots;
} infc_map;

/* Initialise with {.arena = arena}. */
bool infc_map_find(const infc_map *map, const char *key, size_t *out_value); /* out_value may be null */
void infc_map_put(infc_map *map, const char *key, size_t value);             /* replaces */

/* The name in names[0..n) nearest to `text` by edit distance, or null when none is near. */
const char *infc_nearest(const char *text, const char *const *names, size_t n);

#endif
