/* adapters.c - adapters come, are held by requests, and go. */
#include "adapters.h"
#include "engine.h"
#include "infrt_os.h"
#include <string.h>

bool infrt_adapters_init(infrt_adapters *a, const infc_adapter_info *info) {
    *a = (infrt_adapters){.info = info};
    if (!info) return true;
    a->pool_bytes = (size_t)info->max_loaded * (size_t)info->slot_bytes + INFC_OVER_READ;
    a->slots = infrt_os_block_create(info->max_loaded * sizeof *a->slots);
    a->pool = infrt_os_block_reserve(a->pool_bytes, true);
    return a->slots && a->pool;
}

infrt_status infrt_adapters_needed(const infc_model *model, const char *what, infrt_error *error) {
    if (model->llm && model->llm->adapters) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_USAGE,
                      "%s%s takes no adapters; compile it with adapters.max_loaded, as with "
                      "--set adapters.max_loaded=8",
                      what, model->name);
}

void infrt_adapters_deinit(infrt_adapters *a) {
    if (!a->info) return;
    infrt_os_block_destroy(a->slots, a->info->max_loaded * sizeof *a->slots);
    infrt_os_block_destroy(a->pool, a->pool_bytes);
    *a = (infrt_adapters){0};
}

static char *slot_memory(const infrt_adapters *a, int32_t slot) {
    return a->pool + (size_t)slot * (size_t)a->info->slot_bytes;
}

int32_t infrt_adapters_find(const infrt_adapters *a, const char *name) {
    for (uint32_t i = 0; name[0] && a->info && i < a->info->max_loaded; i++)
        if (strcmp(a->slots[i].name, name) == 0) return (int32_t)i;
    return INFRT_NO_ADAPTER;
}

void infrt_adapter_pin(infrt_llm *llm, const char *name) {
    const int32_t slot = infrt_adapters_find(&llm->adapters, name);
    if (slot != INFRT_NO_ADAPTER) llm->adapters.slots[slot].pinned = true;
}

void infrt_adapters_hold(infrt_adapters *a, int32_t slot) {
    if (slot == INFRT_NO_ADAPTER) return;
    a->slots[slot].holders++;
    a->slots[slot].last_used = ++a->time;
}

/* Its memory stays resident: the next adapter would fault it in again page by page, while tokens wait. */
static void slot_clear(infrt_adapters *a, int32_t slot) {
    a->slots[slot] = (infrt_adapter_slot){0};
}

void infrt_adapters_drop(infrt_adapters *a, int32_t slot) {
    if (slot == INFRT_NO_ADAPTER) return;
    if (--a->slots[slot].holders == 0 && !a->slots[slot].name[0]) slot_clear(a, slot);
}

/* A free slot, else the one of that name, else of those that may go the one that was used longest ago. */
static int32_t slot_choose(infrt_adapters *a, const char *name) {
    const int32_t same = infrt_adapters_find(a, name);
    int32_t chosen = INFRT_NO_ADAPTER;
    for (uint32_t i = 0; i < a->info->max_loaded; i++)
        if (!a->slots[i].taken) return (int32_t)i;
    if (same != INFRT_NO_ADAPTER && !a->slots[same].holders) return same;
    for (uint32_t i = 0; i < a->info->max_loaded; i++) {
        const infrt_adapter_slot *s = &a->slots[i];
        if (s->holders || s->pinned) continue;
        if (chosen == INFRT_NO_ADAPTER || s->last_used < a->slots[chosen].last_used)
            chosen = (int32_t)i;
    }
    return chosen;
}

static bool name_is_good(const char *name) {
    const size_t n = strlen(name);
    return n > 0 && n <= INFC_ADAPTER_NAME && strspn(name, INFC_ADAPTER_SIGNS) == n;
}

/* A number for these bytes: that of a slot which holds the same, or a new one. */
static uint64_t content_of(infrt_adapters *a, const infrt_llm_adapter *adapter) {
    for (uint32_t i = 0; i < a->info->max_loaded; i++) {
        const infrt_adapter_slot *s = &a->slots[i];
        if (s->taken && s->hash == adapter->hash && s->bytes == adapter->bytes &&
            memcmp(slot_memory(a, (int32_t)i), adapter->slot, adapter->bytes) == 0)
            return s->content;
    }
    return ++a->n_contents;
}

static void name_take_away(infrt_adapters *a, int32_t slot) {
    if (slot == INFRT_NO_ADAPTER) return;
    a->slots[slot].name[0] = 0;
    a->slots[slot].pinned = false;
    if (a->slots[slot].holders == 0) slot_clear(a, slot);
}

infrt_status infrt_llm_adapter_add(infrt_llm *llm, const char *name,
                                   const infrt_llm_adapter *adapter, infrt_error *error) {
    infrt_adapters *a = &llm->adapters;
    if (adapter->model != llm->model)
        return infrt_fail(error, INFRT_ERR_USAGE, "the adapter was read for another model");
    if (!name_is_good(name))
        return infrt_fail(error, INFRT_ERR_USAGE,
                          "\"%.140s\" is no name for an adapter:"
                          " that has 1 to %d letters, digits and signs of . _ : -",
                          name, (int)INFC_ADAPTER_NAME);
    const int32_t slot = slot_choose(a, name);
    if (slot == INFRT_NO_ADAPTER)
        return infrt_fail(
            error, INFRT_ERR_NO_MEMORY,
            "all %u adapters that %s has room for are in use, or there from the start; "
            "wait, unload one, or compile it with a larger adapters.max_loaded",
            a->info->max_loaded, llm->model->name);
    const int32_t before = infrt_adapters_find(a, name);
    const bool pinned = before != INFRT_NO_ADAPTER && a->slots[before].pinned;
    const uint64_t content = content_of(a, adapter);
    infrt_adapter_slot *s = &a->slots[slot];
    if (s->taken) slot_clear(a, slot);
    name_take_away(a, infrt_adapters_find(a, name)); /* not `before`, which may be cleared */
    memcpy(slot_memory(a, slot), adapter->slot, adapter->bytes);
    *s = (infrt_adapter_slot){.taken = true,
                              .pinned = pinned,
                              .content = content,
                              .last_used = ++a->time,
                              .loaded = (int64_t)infrt_os_date(),
                              .hash = adapter->hash,
                              .bytes = adapter->bytes,
                              .rank = adapter->rank,
                              .n_modules = adapter->n_modules,
                              .uses = adapter->uses};
    strcpy(s->name, name);
    memcpy(s->base, adapter->base, sizeof s->base);
    return INFRT_OK;
}

infrt_status infrt_llm_adapter_load(infrt_llm *llm, const char *name, const char *folder, infrt_error *error) {
    infrt_llm_adapter *adapter;
    infrt_status status = infrt_llm_adapter_read(llm, folder, &adapter, error);
    if (status == INFRT_OK) status = infrt_llm_adapter_add(llm, name, adapter, error);
    infrt_llm_adapter_free(&adapter);
    return status;
}

infrt_status infrt_llm_adapter_remove(infrt_llm *llm, const char *name, infrt_error *error) {
    const int32_t slot = infrt_adapters_find(&llm->adapters, name);
    if (slot == INFRT_NO_ADAPTER)
        return infrt_fail(error, INFRT_ERR_USAGE, "there is no adapter \"%.128s\"", name);
    name_take_away(&llm->adapters, slot);
    return INFRT_OK;
}

static uint32_t running_of(const infrt_llm *llm, int32_t slot) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < llm->scheduler.n_running; i++)
        n += ((const infrt_request *)llm->scheduler.running[i])->adapter == slot;
    return n;
}

uint32_t infrt_llm_adapters(const infrt_llm *llm, infrt_llm_adapter_facts *out, uint32_t most) {
    const infrt_adapters *a = &llm->adapters;
    uint32_t n = 0;
    for (uint32_t i = 0; a->info && i < a->info->max_loaded; i++) {
        const infrt_adapter_slot *s = &a->slots[i];
        if (!s->taken) continue;
        if (n < most)
            out[n] = (infrt_llm_adapter_facts){.name = s->name,
                                               .base = s->base[0] ? s->base : NULL,
                                               .draining = !s->name[0],
                                               .pinned = s->pinned,
                                               .requests = s->holders,
                                               .running = running_of(llm, (int32_t)i),
                                               .loaded = s->loaded,
                                               .rank = s->rank,
                                               .n_modules = s->n_modules,
                                               .bytes = s->bytes,
                                               .hash = s->hash};
        n++;
    }
    return n;
}
