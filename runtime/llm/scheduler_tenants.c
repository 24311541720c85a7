/* scheduler_tenants.c - how much each tenant was served. There are as many places as jobs, so one is free or idle when
 * a job comes. An idle tenant is remembered until its place is needed: nobody gains by going and coming back. */
#include "scheduler.h"
#include <stddef.h>

/* What the least served one of those present was served; when nobody is, the one that left last. */
static uint64_t least_served(const infrt_scheduler *s) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->most; i++)
        if (s->tenants[i].n_jobs > 0 && s->tenants[i].served < least) least = s->tenants[i].served;
    return least == UINT64_MAX ? s->last_served : least;
}

/* Its own place; else one that nobody has, else that of the idle one that is least ahead. */
static infrt_tenant *place_find(infrt_scheduler *s, uint64_t key) {
    infrt_tenant *best = NULL;
    for (uint32_t i = 0; i < s->most; i++) {
        infrt_tenant *t = &s->tenants[i];
        if (t->known && t->key == key) return t;
        if (t->n_jobs == 0 && (!best || (best->known && (!t->known || t->served < best->served))))
            best = t;
    }
    *best = (infrt_tenant){.key = key, .known = true};
    return best;
}

uint32_t infrt_tenant_hold(infrt_scheduler *s, uint64_t key) {
    infrt_tenant *tenant = place_find(s, key);
    const uint64_t least = least_served(s);
    if (tenant->n_jobs == 0 && tenant->served < least) tenant->served = least;
    tenant->n_jobs++;
    return (uint32_t)(tenant - s->tenants);
}

void infrt_tenant_drop(infrt_scheduler *s, uint32_t place) {
    s->tenants[place].n_jobs--;
    if (s->n_jobs == 0) s->last_served = s->tenants[place].served;
}
