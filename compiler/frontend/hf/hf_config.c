#include "hf_model.h"
#include "json_file.h"
#include <string.h>

typedef struct reader {
    infc_cx *cx;
    infc_loc loc;
    const json_t *root;
} reader;

static void bad(const reader *r, const char *key, const char *what) {
    infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "key \"%s\" %s", key, what);
}

static uint64_t size(const reader *r, const char *key, uint64_t fallback) {
    const json_t *value = json_object_get(r->root, key);
    if (!value || json_is_null(value)) {
        if (!fallback) bad(r, key, "is missing");
        return fallback;
    }
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (uint64_t)json_integer_value(value);
    bad(r, key, "is no size");
    return fallback;
}

static double real(const reader *r, const json_t *object, const char *key, double fallback) {
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return fallback;
    if (!json_is_number(value)) bad(r, key, "is no number");
    return json_number_value(value);
}

static const char *text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* Keys that must have this value, where they are there at all: another one changes what the model computes, here or in
 * the relatives of Llama that have them. */
typedef struct fixed_key {
    const char *key, *value; /* as JSON */
} fixed_key;
static const fixed_key fixed_keys[] = {
    {"hidden_act", "\"silu\""},
    {"attention_bias", "false"},
    {"mlp_bias", "false"},
    {"pretraining_tp", "1"},
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"rope_interleaved", "false"},
    {"use_qk_norm", "false"},
    {"partial_rotary_factor", "1"},
    {"logit_scale", "1"},
    {"logits_scaling", "1"},
    {"residual_multiplier", "1"},
    {"embedding_multiplier", "1"},
    {"attention_multiplier", "1"},
};

/* Keys whose presence says that the weights or the code are of another kind. */
static const char *const refused_keys[] = {
    "quantization_config",     "compression_config",     "auto_map",       "num_local_experts",
    "final_logit_softcapping", "attn_logit_softcapping", "no_rope_layers", "clip_qkv",
};

static bool same(const json_t *a, const json_t *b) { /* 1 is 1.0 */
    if (json_is_number(a) && json_is_number(b)) return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static void check_fixed(const reader *r, const json_t *object, const fixed_key *key) {
    const json_t *value = json_object_get(object, key->key);
    if (!value || json_is_null(value)) return;
    json_t *wanted = json_loads(key->value, JSON_DECODE_ANY, NULL);
    if (!same(value, wanted))
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc, "key \"%s\" is supported as %s only",
                  key->key, key->value);
    json_decref(wanted);
}

static void check_keys(const reader *r) {
    const json_t *types = json_object_get(r->root, "layer_types");
    for (size_t i = 0; i < sizeof fixed_keys / sizeof *fixed_keys; i++)
        check_fixed(r, r->root, &fixed_keys[i]);
    for (size_t i = 0; i < sizeof refused_keys / sizeof *refused_keys; i++) {
        const json_t *value = json_object_get(r->root, refused_keys[i]);
        if (value && !json_is_null(value))
            infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                      "key \"%s\": such a model is not supported", refused_keys[i]);
    }
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = json_string_value(json_array_get(types, i));
        if (type && strcmp(type, "full_attention") == 0) continue;
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc, "key \"layer_types\" is supported as full_attention only");
        return;
    }
}

/* What turns the heads: rope_parameters, as transformers 5 writes it, or rope_scaling; null: neither. */
static const json_t *rope_of(const reader *r) {
    const json_t *now = json_object_get(r->root, "rope_parameters"),
                 *before = json_object_get(r->root, "rope_scaling");
    if (json_is_null(now)) now = NULL;
    if (json_is_null(before)) before = NULL;
    if (now && before && !json_equal(now, before))
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                  "keys \"rope_parameters\" and \"rope_scaling\" say different things; remove one");
    const json_t *rope = now ? now : before;
    if (rope && !json_is_object(rope))
        bad(r, now ? "rope_parameters" : "rope_scaling", "is no object");
    return rope;
}

static void read_rope(const reader *r, infc_llm_config *out) {
    static const fixed_key whole = {"partial_rotary_factor", "1"};
    const json_t *rope = rope_of(r);
    const double outside = real(r, r->root, "rope_theta", 10000);
    out->rope_theta = real(r, rope, "rope_theta", outside);
    if (json_object_get(r->root, "rope_theta") && out->rope_theta != outside)
        bad(r, "rope_theta", "is there twice, with different values; remove one");
    if (!json_object_size(rope)) return;
    check_fixed(r, rope, &whole);
    const char *type = text(rope, "rope_type");
    if (!type) type = text(rope, "type");
    out->rope_factor = real(r, rope, "factor", 1);
    if (type && strcmp(type, "default") == 0) return;
    if (type && strcmp(type, "linear") == 0) out->rope_scaling = INFC_ROPE_LINEAR;
    else if (type && strcmp(type, "llama3") == 0) {
        out->rope_scaling = INFC_ROPE_LLAMA3;
        out->rope_low = real(r, rope, "low_freq_factor", 1);
        out->rope_high = real(r, rope, "high_freq_factor", 4);
        double context = real(r, rope, "original_max_position_embeddings", 0);
        out->rope_context = context >= 1 && context < 1e9 ? (uint64_t)context : 0;
    } else {
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                  "rotary scaling \"%s\" is not supported, only default, linear and llama3",
                  type ? type : "?");
    }
}

/* Mistral's is 4096 where the key is missing, and none where it is null; Llama has none. */
static void read_window(const reader *r, bool mistral, infc_llm_config *out) {
    enum { MISTRAL = 4096 };
    const json_t *value = json_object_get(r->root, "sliding_window");
    if (value && !json_is_null(value) && !mistral)
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                  "key \"sliding_window\": llama has none; remove it, or give model_type mistral");
    else if (!json_is_null(value) && mistral) out->window = size(r, "sliding_window", MISTRAL);
    if (json_is_integer(value) && json_integer_value(value) == 0) bad(r, "sliding_window", "is 0");
}

infc_status infc_hf_config(infc_cx *cx, const char *path, infc_bytes bytes, infc_llm_config *out) {
    json_t *root;
    size_t mark = cx->n_diags;
    *out = (infc_llm_config){0};
    INFC_TRY(infc_json_object_read(cx, path, bytes, &root));
    reader r = {.cx = cx, .loc = {.file = path}, .root = root};
    const char *type = text(root, "model_type");
    if (!type)
        return infc_fail(cx, INFC_ERR_MODEL, r.loc, "key \"model_type\" is missing or no text");
    const bool mistral = strcmp(type, "mistral") == 0;
    if (strcmp(type, "llama") != 0 && !mistral)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc,
                         "model_type \"%s\" is not supported, only llama and mistral", type);
    const json_t *kv_heads = json_object_get(root, "num_key_value_heads");
    out->architecture = "llama";
    out->layers = size(&r, "num_hidden_layers", 0);
    out->hidden = size(&r, "hidden_size", 0);
    out->heads = size(&r, "num_attention_heads", 0);
    /* Defaults are those of transformers. */
    out->kv_heads = size(&r, "num_key_value_heads", mistral && !json_is_null(kv_heads) ? 8 : out->heads);
    if (out->heads && out->hidden) out->head_dim = size(&r, "head_dim", out->hidden / out->heads);
    out->ffn = size(&r, "intermediate_size", 0);
    out->vocab = size(&r, "vocab_size", 0);
    out->context = size(&r, "max_position_embeddings", mistral ? 4096 * 32 : 2048);
    out->norm_epsilon = real(&r, root, "rms_norm_eps", 1e-6);
    const json_t *tied = json_object_get(root, "tie_word_embeddings");
    if (tied && !json_is_boolean(tied) && !json_is_null(tied))
        bad(&r, "tie_word_embeddings", "is neither true nor false");
    out->tied = json_is_true(tied);
    read_window(&r, mistral, out);
    check_keys(&r);
    read_rope(&r, out);
    return infc_diags_status(cx, mark);
}
