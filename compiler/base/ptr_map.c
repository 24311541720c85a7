#include "ptr_map.h"

/* Where `key` is, or the free slot where it would go. */
static infc_ptr_map_slot *slot_of(const infc_ptr_map *map, const void *key) {
    size_t mask = map->n_slots - 1;
    size_t i = (size_t)(((uint64_t)(uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (map->slots[i].key && map->slots[i].key != key) i = (i + 1) & mask;
    return &map->slots[i];
}

static void grow(infc_ptr_map *map) {
    const infc_ptr_map old = *map;
    map->n_slots = old.n_slots ? old.n_slots * 2 : 64;
    map->slots = INFC_NEW(map->arena, infc_ptr_map_slot, map->n_slots);
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i].key) *slot_of(map, old.slots[i].key) = old.slots[i];
}

void *infc_ptr_map_find(const infc_ptr_map *map, const void *key) {
    return map->n_slots ? slot_of(map, key)->value : NULL;
}

void **infc_ptr_map_at(infc_ptr_map *map, const void *key) {
    if (map->n * 2 >= map->n_slots) grow(map);
    infc_ptr_map_slot *slot = slot_of(map, key);
    if (!slot->key) map->n++;
    slot->key = key;
    return &slot->value;
}

void infc_ptr_set_add(infc_ptr_set *set, const void *pointer) {
    if (pointer) *infc_ptr_map_at(set, pointer) = (void *)(uintptr_t)pointer;
}

bool infc_ptr_set_has(const infc_ptr_set *set, const void *pointer) {
    return pointer && infc_ptr_map_find(set, pointer);
}
