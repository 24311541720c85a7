#include "llm_config.h"
#include <math.h>
#include <string.h>

typedef struct size_limit {
    const char *name;
    uint64_t value, least, most;
} size_limit;

static void demand(infc_cx *cx, infc_loc loc, bool holds, const char *what) {
    if (!holds)
        infc_fail(cx, INFC_ERR_MODEL, loc, "the configuration contradicts itself: %s", what);
}

infc_status infc_llm_config_check(infc_cx *cx, infc_loc loc, const infc_llm_config *c) {
    const size_limit limits[] = {
        {"number of layers", c->layers, 1, 1024},
        {"hidden size", c->hidden, 1, 1 << 17},
        {"number of heads", c->heads, 1, 4096},
        {"number of KV heads", c->kv_heads, 1, 4096},
        {"size of a head", c->head_dim, 1, 1 << 12},
        {"size of the feed-forward layer", c->ffn, 1, 1 << 20},
        {"size of the vocabulary", c->vocab, 1, 1 << 22},
        {"context length", c->context, 2, 1 << 26},
    };
    size_t mark = cx->n_diags;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].value >= limits[i].least && limits[i].value <= limits[i].most) continue;
        infc_fail(cx, INFC_ERR_MODEL, loc, "the %s is %llu; it must be from %llu to %llu",
                  limits[i].name, (unsigned long long)limits[i].value,
                  (unsigned long long)limits[i].least, (unsigned long long)limits[i].most);
    }
    demand(cx, loc, !c->kv_heads || c->heads % c->kv_heads == 0,
           "the heads (num_attention_heads; of GGUF, attention.head_count) are no multiple of the "
           "KV heads "
           "(num_key_value_heads; attention.head_count_kv)");
    demand(cx, loc, c->head_dim % 2 == 0, "the size of a head is odd, but rotary embedding turns pairs");
    demand(cx, loc, isfinite(c->norm_epsilon) && c->norm_epsilon >= 0 && c->norm_epsilon < 1,
           "the epsilon of the norms is not in [0, 1)");
    demand(cx, loc, isfinite(c->rope_theta) && c->rope_theta > 0, "the rotary base (theta) is no positive number");
    if (c->rope_scaling != INFC_ROPE_NONE)
        demand(cx, loc, isfinite(c->rope_factor) && c->rope_factor >= 1,
               "the factor of the rotary scaling is under 1");
    if (c->rope_scaling == INFC_ROPE_LLAMA3)
        demand(cx, loc,
               c->rope_context > 0 && isfinite(c->rope_low) && isfinite(c->rope_high) &&
                   c->rope_low > 0 && c->rope_high > c->rope_low,
               "llama3 rotary scaling needs an original context and 0 < low factor < high factor");
    return infc_diags_status(cx, mark);
}

typedef struct tensor_fact {
    const char *role, *gguf, *hf;
    size_t rows, columns; /* of the sizes below */
    bool per_layer;
} tensor_fact;

enum { SIZE_one, SIZE_hidden, SIZE_q, SIZE_kv, SIZE_ffn, SIZE_vocab, N_SIZES };

static const tensor_fact llama[] = {
#define INFC_LLAMA(role, gguf, hf, rows, columns, per_layer) \
    {#role, gguf, hf, SIZE_##rows, SIZE_##columns, per_layer},
#include "llama_tensors.def"
#undef INFC_LLAMA
};

enum { MOST_NAMED = 8 }; /* a model with other names would fill pages */

typedef struct tensor_check {
    infc_cx *cx;
    infc_loc loc;
    const infc_checkpoint *checkpoint;
    uint64_t sizes[N_SIZES];
    size_t n_missing, n_used;
} tensor_check;

static void check_one(tensor_check *check, const tensor_fact *fact, const char *name, bool optional) {
    const infc_stored_tensor *t = infc_checkpoint_find(check->checkpoint, name);
    uint64_t rows = check->sizes[fact->rows], columns = check->sizes[fact->columns];
    if (!t) {
        if (!optional && check->n_missing++ < MOST_NAMED)
            infc_fail(check->cx, INFC_ERR_MODEL, check->loc, "tensor \"%s\" is missing", name);
        return;
    }
    check->n_used++;
    bool vector = fact->columns == SIZE_one;
    if (vector ? t->rank == 1 && t->dims[0] == rows : t->rank == 2 && t->dims[0] == rows && t->dims[1] == columns)
        return;
    infc_fail(check->cx, INFC_ERR_MODEL, (infc_loc){.file = t->file},
              vector ? "tensor \"%s\" is %s, but the configuration makes it [%llu]"
                     : "tensor \"%s\" is %s, but the configuration makes it [%llu,%llu]",
              name, infc_stored_type_text(check->cx->arena, t), (unsigned long long)rows,
              (unsigned long long)columns);
}

static const char *name_of(infc_arena *arena, const char *pattern, uint64_t layer) {
    const char *place = strstr(pattern, "%llu");
    if (!place) return pattern;
    return infc_arena_printf(arena, "%.*s%llu%s", (int)(place - pattern), pattern,
                             (unsigned long long)layer, place + 4);
}

/* A tensor that says nothing which the configuration does not say too. */
static bool derived(const char *name) { return strstr(name, ".rotary_emb.inv_freq") != NULL; }

static void name_others(tensor_check *check, const infc_map *wanted) {
    size_t n = 0;
    for (size_t i = 0; i < check->checkpoint->n; i++) {
        const infc_stored_tensor *t = &check->checkpoint->tensors[i];
        if (infc_map_find(wanted, t->name, NULL) || derived(t->name) || n++ >= MOST_NAMED) continue;
        infc_fail(check->cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = t->file},
                  "tensor \"%s\" (%s) has no place in this architecture: the model "
                  "computes something else",
                  t->name, infc_stored_type_text(check->cx->arena, t));
    }
    if (n > MOST_NAMED)
        infc_fail(check->cx, INFC_ERR_UNSUPPORTED, check->loc,
                  "and %zu more tensors have no place in this architecture", n - MOST_NAMED);
}

infc_status infc_llm_check_tensors(infc_cx *cx, infc_loc loc, const infc_llm_config *c,
                                   const infc_checkpoint *checkpoint, bool gguf) {
    tensor_check check = {.cx = cx,
                          .loc = loc,
                          .checkpoint = checkpoint,
                          .sizes = {[SIZE_one] = 1,
                                    [SIZE_hidden] = c->hidden,
                                    [SIZE_q] = c->heads * c->head_dim,
                                    [SIZE_kv] = c->kv_heads * c->head_dim,
                                    [SIZE_ffn] = c->ffn,
                                    [SIZE_vocab] = c->vocab}};
    infc_map wanted = {.arena = cx->arena};
    size_t mark = cx->n_diags;
    for (size_t i = 0; i < sizeof llama / sizeof *llama; i++) {
        const bool optional = c->tied && strcmp(llama[i].role, "head") == 0;
        for (uint64_t layer = 0; layer < (llama[i].per_layer ? c->layers : 1); layer++) {
            const char *name = name_of(cx->arena, gguf ? llama[i].gguf : llama[i].hf, layer);
            infc_map_put(&wanted, name, 0);
            check_one(&check, &llama[i], name, optional);
        }
    }
    if (c->rope_factors) infc_map_put(&wanted, c->rope_factors->name, 0);
    if (check.n_missing > MOST_NAMED)
        infc_fail(cx, INFC_ERR_MODEL, loc, "and %zu more tensors are missing", check.n_missing - MOST_NAMED);
    name_others(&check, &wanted);
    return infc_diags_status(cx, mark);
}

const char *infc_llm_tensor_name(infc_arena *arena, const char *role, uint64_t layer, bool gguf) {
    for (size_t i = 0; i < sizeof llama / sizeof *llama; i++)
        if (strcmp(llama[i].role, role) == 0)
            return name_of(arena, gguf ? llama[i].gguf : llama[i].hf, layer);
    return NULL;
}

uint64_t infc_llm_kv_bytes(const infc_llm_config *config, uint64_t bytes) {
    return 2 * config->layers * config->kv_heads * config->head_dim * bytes;
}
