/* serve_quota.h - what each key may ask for: requests a minute, tokens of the cache at a time, adapters at a time.
 * The network thread's. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_QUOTA_H
#define INFRT_SERVE_QUOTA_H
#include "infrt_serve.h"
#include "serve_refusal.h"

typedef struct infrt_account {
    uint64_t owed_ns; /* until then what was asked for so far is more than the rate allows */
    uint64_t tokens;  /* of the cache, that its answers may come to need */
    uint32_t loading; /* adapters, under way */
} infrt_account;

typedef struct infrt_loaded { /* an adapter, and who loaded it */
    char name[INFRT_LLM_ADAPTER_NAME];
    uint32_t key;
} infrt_loaded;

typedef struct infrt_quotas {
    const infrt_serve_options *options;
    infrt_account *accounts; /* [keys + 1]; 0: of whoever has no key */
    infrt_loaded *loaded;    /* [room] */
    uint32_t n_loaded, room, n_keys;
} infrt_quotas;

/* Whether an adapter of that name is there. */
typedef bool infrt_adapter_is_there(void *self, const char *name);

/* `max_loaded`: adapters that the model has room for. `options` are borrowed. */
infrt_status infrt_quotas_init(infrt_quotas *q, const infrt_serve_options *options, uint32_t n_keys,
                               uint32_t max_loaded, infrt_error *error);
/* There are more keys; those that are there keep what they have. */
infrt_status infrt_quotas_grow(infrt_quotas *q, uint32_t n_keys, infrt_error *error);
void infrt_quotas_free(infrt_quotas *q);

/* One request more; false: there were too many, and `refusal` says when to come again. A key may save up a minute. */
bool infrt_quota_request(infrt_quotas *q, uint32_t key, uint64_t now_ns, infrt_refusal *refusal);
/* Holds that many tokens until they are given back. */
bool infrt_quota_take(infrt_quotas *q, uint32_t key, uint64_t tokens, infrt_refusal *refusal);
void infrt_quota_give_back(infrt_quotas *q, uint32_t key, uint64_t tokens);
/* An adapter is about to be loaded; then how it went has to be told. */
bool infrt_quota_load(infrt_quotas *q, uint32_t key, const char *name,
                      infrt_adapter_is_there *there, void *self, infrt_refusal *refusal);
void infrt_quota_loaded(infrt_quotas *q, uint32_t key, const char *name, bool good,
                        infrt_adapter_is_there *there, void *self);

#endif
