#include "gguf_config.h"
#include <string.h>

typedef struct reader {
    infc_cx *cx;
    const infc_gguf *gguf;
    infc_loc loc;
    const char *architecture;
} reader;

/* The names of the keys below `architecture.`, and those that change nothing here. */
static const char *const known[] = {
    "block_count",
    "embedding_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "feed_forward_length",
    "vocab_size",
    "context_length",
    "attention.layer_norm_rms_epsilon",
    "rope.freq_base",
    "rope.dimension_count",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scale_linear",
    "rope.scaling.original_context_length",
    "rope.scaling.finetuned",
    "attention.sliding_window",
};

static const infc_gguf_value *find(const reader *r, const char *name) {
    return infc_gguf_find(r->gguf, infc_arena_printf(r->cx->arena, "%s.%s", r->architecture, name));
}

static void bad(const reader *r, const char *name, const char *what) {
    infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "key \"%s.%s\" %s", r->architecture, name, what);
}

/* A size that must be there unless `fallback` is given. */
static uint64_t size(const reader *r, const char *name, uint64_t fallback) {
    const infc_gguf_value *value = find(r, name);
    uint64_t number = fallback;
    if (!value && !fallback) bad(r, name, "is missing");
    else if (value && !infc_gguf_u64(value, &number)) bad(r, name, "is no size");
    return number;
}

static double real(const reader *r, const char *name, double fallback) {
    const infc_gguf_value *value = find(r, name);
    double number = fallback;
    if (value && !infc_gguf_f64(value, &number)) bad(r, name, "is no number");
    return number;
}

static void read_scaling(const reader *r, infc_llm_config *out) {
    const infc_gguf_value *value = find(r, "rope.scaling.type");
    const char *type = value ? infc_gguf_text(r->cx->arena, value) : "none";
    out->rope_factor = real(r, "rope.scaling.factor", real(r, "rope.scale_linear", 1));
    if (type && strcmp(type, "linear") == 0) out->rope_scaling = INFC_ROPE_LINEAR;
    else if (!type || strcmp(type, "none") != 0)
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                  "rotary scaling \"%s\" is not supported, only none and linear", type ? type : "?");
    else if (out->rope_factor != 1) out->rope_scaling = INFC_ROPE_LINEAR;
}

static void read_factors(const reader *r, infc_llm_config *out) {
    const infc_stored_tensor *t = infc_checkpoint_find(&r->gguf->tensors, "rope_freqs.weight");
    if (!t) return;
    out->rope_factors = t;
    if (t->type != INFC_STORED_F32 || t->rank != 1 || t->dims[0] != out->head_dim / 2)
        infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tensor \"rope_freqs.weight\" is %s; it must be F32[%llu]",
                  infc_stored_type_text(r->cx->arena, t), (unsigned long long)(out->head_dim / 2));
}

/* A key of the architecture that is not known may change what the model computes. */
static void refuse_others(const reader *r) {
    size_t n = strlen(r->architecture);
    for (size_t i = 0; i < r->gguf->n_values; i++) {
        const char *key = r->gguf->values[i].key;
        bool found = false;
        if (strncmp(key, r->architecture, n) != 0 || key[n] != '.') continue;
        for (size_t k = 0; k < sizeof known / sizeof *known && !found; k++)
            found = strcmp(key + n + 1, known[k]) == 0;
        if (!found)
            infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                      "key \"%s\" is not known; it may change what the model computes", key);
    }
}

static uint64_t vocabulary(const reader *r) {
    const infc_gguf_value *tokens = infc_gguf_find(r->gguf, "tokenizer.ggml.tokens");
    const infc_stored_tensor *embedding =
        infc_checkpoint_find(&r->gguf->tensors, "token_embd.weight");
    uint64_t fallback = tokens ? tokens->count : embedding ? embedding->dims[0] : 0;
    uint64_t vocab = size(r, "vocab_size", fallback);
    if (tokens && tokens->count != vocab)
        infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "the tokenizer has %llu tokens, but the vocabulary %llu",
                  (unsigned long long)tokens->count, (unsigned long long)vocab);
    return vocab;
}

infc_status infc_gguf_config(infc_cx *cx, const infc_gguf *gguf, infc_llm_config *out) {
    reader r = {.cx = cx, .gguf = gguf, .loc = {.file = gguf->path}};
    size_t mark = cx->n_diags;
    r.architecture = infc_gguf_text(cx->arena, infc_gguf_find(gguf, "general.architecture"));
    *out = (infc_llm_config){.architecture = r.architecture};
    if (!r.architecture)
        return infc_fail(cx, INFC_ERR_MODEL, r.loc, "key \"general.architecture\" is missing or no text");
    if (strcmp(r.architecture, "llama") != 0)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc,
                         "architecture \"%s\" is not supported, only llama", r.architecture);
    out->layers = size(&r, "block_count", 0);
    out->hidden = size(&r, "embedding_length", 0);
    out->heads = size(&r, "attention.head_count", 0);
    out->kv_heads = size(&r, "attention.head_count_kv", out->heads);
    const uint64_t head = out->heads ? out->hidden / out->heads : 0; /* 0: told by the check of all sizes */
    out->head_dim = head ? size(&r, "attention.key_length", head) : 0;
    out->ffn = size(&r, "feed_forward_length", 0);
    out->context = size(&r, "context_length", 0);
    out->window = find(&r, "attention.sliding_window") ? size(&r, "attention.sliding_window", 0) : 0;
    out->norm_epsilon = real(&r, "attention.layer_norm_rms_epsilon", 1e-5);
    out->rope_theta = real(&r, "rope.freq_base", 10000);
    out->tied = !infc_checkpoint_find(&gguf->tensors, "output.weight");
    out->vocab = vocabulary(&r);
    if (head && size(&r, "attention.value_length", out->head_dim) != out->head_dim)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc, "heads with values of another size than keys are not supported");
    if (head && size(&r, "rope.dimension_count", out->head_dim) != out->head_dim)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc, "rotary embedding of a part of each head is not supported");
    read_scaling(&r, out);
    read_factors(&r, out);
    refuse_others(&r);
    return infc_diags_status(cx, mark);
}
