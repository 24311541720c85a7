/* place.h - spans of memory for items that live from one step to another: those whose lives overlap must not overlap
 * in memory. Knows nothing of tensors: plan_memory.c brings the buffers. */
#ifndef INFC_PLACE_H
#define INFC_PLACE_H
#include "../base/cx.h"

typedef struct infc_place_item {
    uint64_t size;   /* the caller rounds it to the alignment */
    uint64_t offset; /* result */
    int first, last; /* steps, both included; first <= last */
} infc_place_item;

/* Sets the offsets and *end, the bytes that all take together. *bound becomes the most that is live in one step:
 * no placement takes less. Deterministic; the work is bounded whatever the items are. */
void infc_place_items(infc_arena *arena, infc_place_item *items, int n, uint64_t *end, uint64_t *bound);

#endif
