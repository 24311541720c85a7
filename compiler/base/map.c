#include "map.h"
#include "hash.h"
#include <string.h>
#include <strings.h>

/* The slot of `key`, or the free slot where it belongs. */
static size_t slot_of(const infc_map *map, const char *key) {
    size_t mask = map->n_slots - 1;
    size_t at = (size_t)infc_hash64((infc_bytes){(const uint8_t *)key, strlen(key)}) & mask;
    while (map->slots[at] && strcmp(map->entries[map->slots[at] - 1].key, key) != 0)
        at = (at + 1) & mask;
    return at;
}

bool infc_map_find(const infc_map *map, const char *key, size_t *out_value) {
    if (!map->n) return false;
    uint32_t entry = map->slots[slot_of(map, key)];
    if (!entry) return false;
    if (out_value) *out_value = map->entries[entry - 1].value;
    return true;
}

static void rehash(infc_map *map) {
    map->n_slots = map->n_slots ? map->n_slots * 2 : 16;
    map->slots = INFC_NEW(map->arena, uint32_t, map->n_slots);
    for (size_t i = 0; i < map->n; i++)
        map->slots[slot_of(map, map->entries[i].key)] = (uint32_t)(i + 1);
}

void infc_map_put(infc_map *map, const char *key, size_t value) {
    if ((map->n + 1) * 4 > map->n_slots * 3) rehash(map);
    size_t slot = slot_of(map, key);
    if (map->slots[slot]) {
        map->entries[map->slots[slot] - 1].value = value;
        return;
    }
    INFC_GROW(map->arena, map->entries, map->n, map->cap);
    map->entries[map->n] = (infc_map_entry){infc_arena_copy_string(map->arena, key, strlen(key)), value};
    map->slots[slot] = (uint32_t)++map->n;
}

enum { NEAREST_MAX = 64 }; /* longer names are not typing mistakes */

static unsigned min_of(unsigned a, unsigned b) { return a < b ? a : b; }

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

/* Edit distance with swaps of neighbours (optimal string alignment), ignoring ASCII case. */
static unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b) {
    unsigned rows[3][NEAREST_MAX + 1];
    for (size_t j = 0; j <= n_b; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned cost = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = min_of(min_of(last[j] + 1, now[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                now[j] = min_of(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[n_a % 3][n_b];
}

const char *infc_nearest(const char *text, const char *const *names, size_t n) {
    const char *best = NULL;
    size_t length = strlen(text);
    if (length == 0 || length > NEAREST_MAX) return NULL;
    unsigned limit = (unsigned)(length + 2) / 3 + 1; /* exclusive */
    for (size_t i = 0; i < n; i++) {
        size_t n_name = strlen(names[i]);
        if (n_name == 0 || n_name > NEAREST_MAX) continue;
        unsigned distance = edit_distance(text, length, names[i], n_name);
        if (distance < limit && distance < n_name) {
            limit = distance;
            best = names[i];
        }
    }
    return best;
}
