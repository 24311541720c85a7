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

/* Keys that must have this value, where they are there at all: another one changes what the model computes. */
typedef struct fixed_key {
    const char *key, *value; /* as JSON */
} fixed_key;
static const fixed_key fixed_keys[] = {
    {"hidden_act", "\"silu\""}, {"attention_bias", "false"},      {"mlp_bias", "false"},
    {"pretraining_tp", "1"},    {"add_cross_attention", "false"}, {"is_encoder_decoder", "false"},
};

/* Keys whose presence says that the weights or the code are of another kind. */
static const char *const refused_keys[] = {"quantization_config", "compression_config", "auto_map",
                                           "num_local_experts"};

static void check_keys(const reader *r) {
    for (size_t i = 0; i < sizeof fixed_keys / sizeof *fixed_keys; i++) {
        const fixed_key *key = &fixed_keys[i];
        const json_t *value = json_object_get(r->root, key->key);
        if (!value || json_is_null(value)) continue;
        json_t *wanted = json_loads(key->value, JSON_DECODE_ANY, NULL);
        if (!json_equal(value, wanted))
            infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc, "key \"%s\" is supported as %s only",
                      key->key, key->value);
        json_decref(wanted);
    }
    for (size_t i = 0; i < sizeof refused_keys / sizeof *refused_keys; i++) {
        const json_t *value = json_object_get(r->root, refused_keys[i]);
        if (value && !json_is_null(value))
            infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                      "key \"%s\": such a model is not supported", refused_keys[i]);
    }
}

static void read_scaling(const reader *r, infc_llm_config *out) {
    const json_t *scaling = json_object_get(r->root, "rope_scaling");
    if (!scaling || json_is_null(scaling)) return;
    const char *type = text(scaling, "rope_type");
    if (!type) type = text(scaling, "type");
    out->rope_factor = real(r, scaling, "factor", 1);
    if (type && strcmp(type, "default") == 0) return;
    if (type && strcmp(type, "linear") == 0) out->rope_scaling = INFC_ROPE_LINEAR;
    else if (type && strcmp(type, "llama3") == 0) {
        out->rope_scaling = INFC_ROPE_LLAMA3;
        out->rope_low = real(r, scaling, "low_freq_factor", 1);
        out->rope_high = real(r, scaling, "high_freq_factor", 4);
        double context = real(r, scaling, "original_max_position_embeddings", 0);
        out->rope_context = context >= 1 && context < 1e9 ? (uint64_t)context : 0;
    } else {
        infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                  "rotary scaling \"%s\" is not supported, only linear and llama3", type ? type : "?");
    }
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
    if (strcmp(type, "llama") != 0 && strcmp(type, "mistral") != 0)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc,
                         "model_type \"%s\" is not supported, only llama and mistral", type);
    out->architecture = "llama";
    out->layers = size(&r, "num_hidden_layers", 0);
    out->hidden = size(&r, "hidden_size", 0);
    out->heads = size(&r, "num_attention_heads", 0);
    out->kv_heads = size(&r, "num_key_value_heads", out->heads);
    out->head_dim = size(&r, "head_dim", out->heads ? out->hidden / out->heads : 0);
    out->ffn = size(&r, "intermediate_size", 0);
    out->vocab = size(&r, "vocab_size", 0);
    out->context = size(&r, "max_position_embeddings", 2048);
    out->norm_epsilon = real(&r, root, "rms_norm_eps", 1e-6);
    out->rope_theta = real(&r, root, "rope_theta", 10000);
    out->tied = json_is_true(json_object_get(root, "tie_word_embeddings"));
    if (json_is_integer(json_object_get(root, "sliding_window")))
        out->window = size(&r, "sliding_window", 0);
    check_keys(&r);
    read_scaling(&r, out);
    return infc_diags_status(cx, mark);
}
