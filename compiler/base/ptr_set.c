#include "ptr_set.h"

/* Where `pointer` is, or the free slot where it would go. */
static size_t slot_of(const void *const *slots, size_t n_slots, const void *pointer) {
    size_t i = (size_t)(((uint64_t)(uintptr_t)pointer >> 4) * 0x9E3779B97F4A7C15u >> 32) & (n_slots - 1);
    while (slots[i] && slots[i] != pointer) i = (i + 1) & (n_slots - 1);
    return i;
}

static void grow(infc_ptr_set *set) {
    size_t n_slots = set->n_slots ? set->n_slots * 2 : 64;
    const void **slots = INFC_NEW(set->arena, const void *, n_slots);
    for (size_t i = 0; i < set->n_slots; i++)
        if (set->slots[i]) slots[slot_of(slots, n_slots, set->slots[i])] = set->slots[i];
    set->slots = slots;
    set->n_slots = n_slots;
}

void infc_ptr_set_add(infc_ptr_set *set, const void *pointer) {
    if (!pointer || infc_ptr_set_has(set, pointer)) return;
    if (set->n * 2 >= set->n_slots) grow(set);
    set->slots[slot_of(set->slots, set->n_slots, pointer)] = pointer;
    set->n++;
}

bool infc_ptr_set_has(const infc_ptr_set *set, const void *pointer) {
    return pointer && set->n_slots && set->slots[slot_of(set->slots, set->n_slots, pointer)];
}
