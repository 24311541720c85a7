/* serve_quota.c - see serve_quota.h. The rate is kept as one time a key: each request moves it on by a minute's share,
 * and is refused when that would be more than a minute from now (the generic cell rate algorithm). */
#include "serve_quota.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)

infrt_status infrt_quotas_init(infrt_quotas *q, const infrt_serve_options *options, uint32_t n_keys,
                               uint32_t max_loaded, infrt_error *error) {
    *q = (infrt_quotas){.options = options, .room = max_loaded, .n_keys = n_keys};
    q->accounts = calloc((size_t)n_keys + 1, sizeof *q->accounts);
    q->loaded = calloc((size_t)max_loaded + 1, sizeof *q->loaded);
    if (q->accounts && q->loaded) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the quotas of %u keys", n_keys);
}

infrt_status infrt_quotas_grow(infrt_quotas *q, uint32_t n_keys, infrt_error *error) {
    if (n_keys <= q->n_keys) return INFRT_OK;
    infrt_account *all = realloc(q->accounts, ((size_t)n_keys + 1) * sizeof *all);
    if (!all)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the quotas of %u keys", n_keys);
    memset(all + q->n_keys + 1, 0, (n_keys - q->n_keys) * sizeof *all);
    q->accounts = all;
    q->n_keys = n_keys;
    return INFRT_OK;
}

void infrt_quotas_free(infrt_quotas *q) {
    free(q->accounts);
    free(q->loaded);
    *q = (infrt_quotas){0};
}

static bool too_many(infrt_refusal *refusal, uint64_t wait_ns, const char *code) {
    refusal->type = "rate_limit_error";
    refusal->code = code;
    refusal->retry_after = (unsigned)((wait_ns + SECOND - 1) / SECOND);
    return false;
}

bool infrt_quota_request(infrt_quotas *q, uint32_t key, uint64_t now_ns, infrt_refusal *refusal) {
    const uint32_t most = q->options->requests_per_minute;
    infrt_account *a = &q->accounts[key];
    if (!most) return true;
    const uint64_t from = a->owed_ns > now_ns ? a->owed_ns : now_ns, then = from + MINUTE / most;
    if (then <= now_ns + MINUTE) {
        a->owed_ns = then;
        return true;
    }
    infrt_refuse(refusal, 429, NULL, "more than %u requests a minute; try again later", most);
    return too_many(refusal, then - now_ns - MINUTE, "rate_limit_exceeded");
}

bool infrt_quota_take(infrt_quotas *q, uint32_t key, uint64_t tokens, infrt_refusal *refusal) {
    const uint64_t most = q->options->key_tokens;
    infrt_account *a = &q->accounts[key];
    if (most && tokens > most)
        return infrt_refuse(refusal, 400, "max_tokens",
                            "the request may come to need %" PRIu64
                            " tokens of the cache, prompts and answers; a key has %" PRIu64
                            " at a time: ask for fewer",
                            tokens, most);
    if (!most || a->tokens + tokens <= most) {
        a->tokens += tokens;
        return true;
    }
    infrt_refuse(refusal, 429, NULL,
                 "the request may come to need %" PRIu64 " tokens of the cache; of the %" PRIu64
                 " that a key has, %" PRIu64 " are taken by its other requests",
                 tokens, most, a->tokens);
    return too_many(refusal, SECOND, "token_quota_exceeded");
}

void infrt_quota_give_back(infrt_quotas *q, uint32_t key, uint64_t tokens) {
    q->accounts[key].tokens -= tokens;
}

/* Those that are no longer there are forgotten; returns the place of the name, or n_loaded. */
static uint32_t loaded_find(infrt_quotas *q, const char *name, infrt_adapter_is_there *there, void *self) {
    uint32_t n = 0, found = UINT32_MAX;
    for (uint32_t i = 0; i < q->n_loaded; i++) {
        if (!there(self, q->loaded[i].name)) continue;
        q->loaded[n] = q->loaded[i];
        if (strcmp(q->loaded[n].name, name) == 0) found = n;
        n++;
    }
    q->n_loaded = n;
    return found < n ? found : n;
}

bool infrt_quota_load(infrt_quotas *q, uint32_t key, const char *name,
                      infrt_adapter_is_there *there, void *self, infrt_refusal *refusal) {
    const uint32_t most = q->options->key_adapters, at = loaded_find(q, name, there, self);
    uint32_t n = q->accounts[key].loading;
    for (uint32_t i = 0; i < q->n_loaded; i++) n += q->loaded[i].key == key;
    const bool again = at < q->n_loaded && q->loaded[at].key == key; /* one of its own is replaced */
    if (!most || n + !again <= most) {
        q->accounts[key].loading++;
        return true;
    }
    infrt_refuse(refusal, 429, "lora_name",
                 "this key has %u adapters loaded, of at most %u; unload one first", n, most);
    return too_many(refusal, MINUTE, "adapter_quota_exceeded");
}

void infrt_quota_loaded(infrt_quotas *q, uint32_t key, const char *name, bool good,
                        infrt_adapter_is_there *there, void *self) {
    const uint32_t at = loaded_find(q, name, there, self);
    q->accounts[key].loading--;
    if (!good || at == q->room) return;
    if (at == q->n_loaded) q->n_loaded++;
    memcpy(q->loaded[at].name, name, sizeof q->loaded[at].name);
    q->loaded[at].key = key;
}
