/* adapters.h - the adapters of an engine: which slot of the model's pool each lies in, and who still needs it.
 *
 * A slot is free, ready under its name, or draining: its name is gone (unloaded, or given to a newer one) and requests
 * that began with it go on with it. Its weights never change while a request holds it. */
#ifndef INFRT_ADAPTERS_H
#define INFRT_ADAPTERS_H
#include "infrt_llm.h"

#define INFRT_ADAPTER_WEIGHT 1000.0 /* of a part of a sum, and as far below 0 */

enum {
    INFRT_NO_ADAPTER = -1,
    INFRT_ADAPTER_BASE = 128 /* bytes of a base model's name, of another model; or empty */
};

/* Packed as a slot of the pool is; see infrt_llm_adapter_read. */
struct infrt_llm_adapter {
    const infc_model *model;
    char *slot;
    size_t bytes;  /* of the slot that are used; the block has as many */
    uint64_t hash; /* of these */
    uint32_t rank; /* the highest */
    uint32_t n_modules;
    uint32_t uses; /* bit of each input of the model that says so */
    char base[INFRT_ADAPTER_BASE];
};

/* Told the bytes of each part's adapter_model.safetensors before anything is made of them, since the file may be
 * another one later. False: `error` says why they are refused. */
typedef bool infrt_adapter_seen(void *self, uint32_t part, const char *path, const char *bytes,
                                size_t n, infrt_error *error);
typedef struct infrt_adapter_watch {
    infrt_adapter_seen *seen; /* null: nobody */
    void *self;
    const _Atomic bool *unwanted; /* once true, reading ends with INFRT_ERR_USAGE; null: never */
} infrt_adapter_watch;
/* adapter_read.c: infrt_llm_adapter_sum, watched. */
infrt_status infrt_adapter_sum_watched(const infrt_llm *llm, const infrt_llm_adapter_part *parts,
                                       uint32_t n, infrt_adapter_watch watch,
                                       infrt_llm_adapter **out, infrt_error *error);

/* adapter_base.c: whether "owner/name" or a path is clearly of another model: neither has the other's name in it. */
bool infrt_adapter_base_is_foreign(const infc_model *model, const char *base);

typedef struct infrt_adapter_slot {
    char name[INFRT_LLM_ADAPTER_NAME]; /* empty: none, or draining */
    uint32_t holders;                  /* requests */
    bool taken;
    bool pinned;        /* never the one to give way; its name's, so that of whoever replaces it */
    uint64_t content;   /* the same for the same bytes, else never the same */
    uint64_t last_used; /* for the one to give way */
    int64_t loaded;     /* when; seconds since 1970 */
    uint64_t hash, bytes;
    uint32_t rank, n_modules, uses;
    char base[INFRT_ADAPTER_BASE];
} infrt_adapter_slot;

typedef struct infrt_adapters {
    const infc_adapter_info *info; /* null: the model takes none */
    infrt_adapter_slot *slots;     /* [info->max_loaded] */
    char *pool;                    /* of slot_bytes each */
    size_t pool_bytes;
    uint64_t n_contents, time;
} infrt_adapters;

/* INFRT_ERR_USAGE, after `what`: the model takes none. */
infrt_status infrt_adapters_needed(const infc_model *model, const char *what, infrt_error *error);
/* False: no memory. */
bool infrt_adapters_init(infrt_adapters *a, const infc_adapter_info *info);
void infrt_adapters_deinit(infrt_adapters *a); /* {0} is fine */
/* The slot that has this name, or INFRT_NO_ADAPTER. */
int32_t infrt_adapters_find(const infrt_adapters *a, const char *name);
/* It stays until it is removed, however many others come. */
void infrt_adapter_pin(infrt_llm *llm, const char *name);
/* One more request of a slot, one less; INFRT_NO_ADAPTER is fine. */
void infrt_adapters_hold(infrt_adapters *a, int32_t slot);
void infrt_adapters_drop(infrt_adapters *a, int32_t slot);
/* What the first block of a text of it has as parent. Names of blocks count up from 1, so no block has one of these. */
static inline uint64_t infrt_adapter_root(const infrt_adapters *a, int32_t slot) {
    return slot == INFRT_NO_ADAPTER ? 0 : a->slots[slot].content | UINT64_C(1) << 63;
}

#endif
