/* adapter_config.c - adapter_config.json of PEFT. */
#include "adapter_file.h"
#include "json_read.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_RANK = 1 << 16 };

/* Keys that say where an adapter comes from, or how it was trained: they change no result. */
static const char *const harmless[] = {
    "auto_mapping", "corda_config",   "eva_config",          "inference_mode", "loftq_config",
    "lora_dropout", "megatron_core",  "peft_version",        "revision",       "runtime_config",
    "task_type",    "lora_ga_config", "ensure_weight_tying",
};

typedef struct config_reader {
    infrt_adapter_config *config;
    bool type, rank;   /* there were such keys */
    char unknown[128]; /* what is refused, if any */
} config_reader;

static bool is_one_of(const char *key, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], key) == 0) return true;
    return false;
}

static bool nothing(void *self, infrt_json_reader *r, const char *key) {
    (void)self;
    (void)key;
    return infrt_json_refuse(r, "not supported");
}

/* null, false, {} or []. */
static bool off(infrt_json_reader *r) {
    switch (infrt_json_next(r)) {
    case '{': return infrt_json_object(r, nothing, NULL);
    case '[': return infrt_json_array(r, nothing, NULL);
    case 'f': return infrt_json_word(r, "false");
    case 'n': return infrt_json_word(r, "null");
    default: return infrt_json_refuse(r, "not supported");
    }
}

static bool flag(infrt_json_reader *r, bool *out) {
    *out = infrt_json_next(r) == 't';
    return infrt_json_word(r, *out ? "true" : "false");
}

static bool positive(infrt_json_reader *r, double *out) {
    if (!infrt_json_number(r, out)) return false;
    return (*out >= 1e-9 && *out < 1e9) || infrt_json_refuse(r, "not a number from 1e-9 to 1e9");
}

static bool rank(infrt_json_reader *r, double *out) {
    uint64_t n;
    if (!infrt_json_count(r, &n)) return false;
    *out = (double)n;
    return (n >= 1 && n <= MAX_RANK) || infrt_json_refuse(r, "not a rank of 1 to 65536");
}

static bool text_is(infrt_json_reader *r, const char *wanted) {
    char text[64];
    if (!infrt_json_string_read(r, text, sizeof text)) return false;
    return strcmp(text, wanted) == 0 || infrt_json_refuse(r, "not supported");
}

/* Ways to begin that do not touch the weights of the base. */
static bool beginning(infrt_json_reader *r) {
    static const char *const apart[] = {"gaussian", "eva", "orthogonal"};
    char text[64];
    bool any;
    if (infrt_json_next(r) != '"') return flag(r, &any);
    if (!infrt_json_string_read(r, text, sizeof text)) return false;
    return is_one_of(text, apart, sizeof apart / sizeof *apart) ||
           infrt_json_refuse(
               r, "such an adapter goes with other weights of the base; convert it to plain LoRA");
}

/* Pattern lists: of ranks, or of alphas. */
typedef struct pattern_reader {
    infrt_adapter_pattern *list;
    uint32_t n;
    bool ranks;
} pattern_reader;

static bool is_expression(const char *name) { return name[strcspn(name, "\\^$*+?()[]{}|")] != 0; }

static bool pattern_take(void *self, infrt_json_reader *r, const char *key) {
    pattern_reader *p = self;
    infrt_adapter_pattern *next = &p->list[p->n];
    if (p->n == INFRT_ADAPTER_PATTERNS) return infrt_json_refuse(r, "too many patterns");
    if (strlen(key) >= sizeof next->name) return infrt_json_refuse(r, "a pattern that is too long");
    if (is_expression(key))
        return infrt_json_refuse(r, "regular expressions are not supported, only names of modules");
    strcpy(next->name, key);
    p->n++;
    return p->ranks ? rank(r, &next->value) : positive(r, &next->value);
}

static bool patterns(infrt_json_reader *r, infrt_adapter_pattern **list, uint32_t *n, bool ranks) {
    if (infrt_json_next(r) == 'n') return infrt_json_word(r, "null");
    if (*list) return infrt_json_refuse(r, "there twice");
    pattern_reader p = {.list = calloc(INFRT_ADAPTER_PATTERNS, sizeof **list), .ranks = ranks};
    *list = p.list;
    if (!p.list) return infrt_json_refuse(r, "no memory");
    const bool good = infrt_json_object(r, pattern_take, &p);
    *n = p.n;
    return good;
}

static bool base_take(infrt_json_reader *r, infrt_adapter_config *config) {
    infrt_json_reader ahead = *r;
    if (infrt_json_next(r) != '"') return infrt_json_skip(r);
    if (!infrt_json_string_read(&ahead, config->base, sizeof config->base))
        config->base[0] = 0;              /* a long path */
    for (char *c = config->base; *c; c++) /* it is shown on terminals */
        if (*c < 0x20 || *c >= 0x7f) *c = '?';
    return infrt_json_skip(r);
}

/* ---- which modules ------------------------------------------------------------------------------- */

static bool target_take(void *self, infrt_json_reader *r, const char *key) {
    infrt_adapter_names *names = self;
    char name[INFRT_ADAPTER_NAME];
    (void)key;
    if (!infrt_json_string_read(r, name, sizeof name)) return false;
    if (names->n == INFRT_ADAPTER_TENSORS) return infrt_json_refuse(r, "too many names");
    if (names->n == names->room) {
        const uint32_t room = names->room ? 2 * names->room : 16;
        void *grown = realloc(names->at, room * sizeof *names->at);
        if (!grown) return infrt_json_refuse(r, "no memory");
        names->at = grown;
        names->room = room;
    }
    strcpy(names->at[names->n++], name);
    return true;
}

/* A list of names, or one text: "all-linear", or a regular expression that PEFT matches with whole names of modules.
 * That is not looked into, so the tensors alone tell what is adapted. */
static bool names_take(infrt_json_reader *r, infrt_adapter_names *out) {
    char text[4096];
    if (infrt_json_next(r) == 'n') return infrt_json_word(r, "null");
    if (out->said) return infrt_json_refuse(r, "there twice");
    out->said = true;
    if (infrt_json_next(r) == '[') return infrt_json_array(r, target_take, out);
    if (!infrt_json_string_read(r, text, sizeof text)) return false;
    out->text = true;
    out->all = strcasecmp(text, "all-linear") == 0;
    return true;
}

static bool layer_take(void *self, infrt_json_reader *r, const char *key) {
    infrt_adapter_config *config = self;
    uint64_t layer;
    (void)key;
    if (!infrt_json_count(r, &layer)) return false;
    if (layer >= INFRT_ADAPTER_LAYERS) return infrt_json_refuse(r, "a layer that no model has");
    config->layers[layer / 64] |= UINT64_C(1) << layer % 64;
    config->layers_said = true;
    return true;
}

/* null, one, or a list of them. */
static bool any_take(infrt_json_reader *r, infrt_json_take *take, infrt_adapter_config *config) {
    switch (infrt_json_next(r)) {
    case 'n': return infrt_json_word(r, "null");
    case '[': return infrt_json_array(r, take, config);
    default: return take(config, r, NULL);
    }
}

/* What stands before the number of a layer. */
static bool pattern_name_take(void *self, infrt_json_reader *r, const char *key) {
    infrt_adapter_config *config = self;
    char name[INFRT_ADAPTER_NAME];
    (void)key;
    if (!infrt_json_string_read(r, name, sizeof name)) return false;
    if (!name[0]) return true;
    config->pattern_said = true;
    config->pattern_fits |= strcmp(name, "layers") == 0 || is_expression(name);
    return true;
}

static bool value_take(config_reader *c, infrt_json_reader *r, const char *key) {
    infrt_adapter_config *config = c->config;
    double value = 0;
    if (is_one_of(key, harmless, sizeof harmless / sizeof *harmless)) return infrt_json_skip(r);
    if (strcmp(key, "base_model_name_or_path") == 0) return base_take(r, config);
    if (strcmp(key, "target_modules") == 0) return names_take(r, &config->targets);
    if (strcmp(key, "exclude_modules") == 0) return names_take(r, &config->excluded);
    if (strcmp(key, "layers_to_transform") == 0) return any_take(r, layer_take, config);
    if (strcmp(key, "layers_pattern") == 0) return any_take(r, pattern_name_take, config);
    if (strcmp(key, "peft_type") == 0) return (c->type = text_is(r, "LORA"));
    if (strcmp(key, "bias") == 0) return text_is(r, "none");
    if (strcmp(key, "init_lora_weights") == 0) return beginning(r);
    if (strcmp(key, "use_dora") == 0)
        return infrt_json_next(r) == 'n' ? infrt_json_word(r, "null") : flag(r, &config->dora);
    if (strcmp(key, "use_rslora") == 0) return flag(r, &config->rslora);
    if (strcmp(key, "rank_pattern") == 0)
        return patterns(r, &config->ranks, &config->n_ranks, true);
    if (strcmp(key, "alpha_pattern") == 0)
        return patterns(r, &config->alphas, &config->n_alphas, false);
    if (strcmp(key, "r") == 0) {
        c->rank = rank(r, &value);
        if (c->rank) config->rank = (uint32_t)value;
        return c->rank;
    }
    if (strcmp(key, "lora_alpha") == 0) return (config->has_alpha = positive(r, &config->alpha));
    return off(r);
}

static bool key_take(void *self, infrt_json_reader *r, const char *key) {
    config_reader *c = self;
    if (value_take(c, r, key)) return true;
    strncpy(c->unknown, key, sizeof c->unknown - 1);
    return false;
}

infrt_status infrt_adapter_config_read(const char *path, const char *text, size_t bytes,
                                       infrt_adapter_config *out, infrt_error *error) {
    infrt_json_reader r;
    *out = (infrt_adapter_config){0};
    config_reader c = {.config = out};
    infrt_json_reader_init(&r, text, bytes);
    if (!infrt_json_object(&r, key_take, &c) || !infrt_json_end(&r))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: at byte %zu%s%s: %s", path,
                          (size_t)(r.at - r.begin), c.unknown[0] ? ", " : "", c.unknown, r.wrong);
    if (out->layers_said && out->targets.text)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: layers_to_transform beside a text as target_modules", path);
    if (out->pattern_said && !out->layers_said)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: layers_pattern without layers_to_transform", path);
    if (!c.type || !c.rank || !out->has_alpha)
        return infrt_fail(error, INFRT_ERR_DATA, "%s has no %s", path,
                          !c.type   ? "peft_type"
                          : !c.rank ? "r"
                                    : "lora_alpha");
    return INFRT_OK;
}

void infrt_adapter_config_free(infrt_adapter_config *config) {
    free(config->ranks);
    free(config->alphas);
    free(config->targets.at);
    free(config->excluded.at);
    *config = (infrt_adapter_config){0};
}

/* Whether a module is called so, or ends so after a dot. */
static bool names(const char *name, const char *module) {
    const size_t n = strlen(name), all = strlen(module);
    return n <= all && strcmp(module + all - n, name) == 0 && (n == all || module[all - n - 1] == '.');
}

static double chosen(const infrt_adapter_pattern *list, uint32_t n, const char *module, double otherwise) {
    for (uint32_t i = 0; i < n; i++)
        if (names(list[i].name, module)) return list[i].value;
    return otherwise;
}

void infrt_adapter_config_of(const infrt_adapter_config *config, const char *module,
                             uint32_t *rank_of, float *scale) {
    const double r = chosen(config->ranks, config->n_ranks, module, config->rank);
    const double alpha = chosen(config->alphas, config->n_alphas, module, config->alpha);
    *rank_of = (uint32_t)r;
    *scale = (float)(alpha / (config->rslora ? sqrt(r) : r));
}

static bool any_names(const infrt_adapter_names *list, const char *module) {
    for (uint32_t i = 0; i < list->n; i++)
        if (names(list->at[i], module)) return true;
    return false;
}

infrt_adapter_place infrt_adapter_config_place(const infrt_adapter_config *config,
                                               const char *module, uint32_t layer, const char **why) {
    const infrt_adapter_names *targets = &config->targets, *excluded = &config->excluded;
    const bool chosen_layer = layer < INFRT_ADAPTER_LAYERS && (config->layers[layer / 64] >> layer % 64 & 1);
    *why = "target_modules";
    if (targets->said && !targets->text && !any_names(targets, module))
        return INFRT_ADAPTER_ELSEWHERE;
    *why = "exclude_modules";
    if (any_names(excluded, module)) return INFRT_ADAPTER_ELSEWHERE;
    *why = "layers_to_transform";
    if (config->layers_said && !chosen_layer) return INFRT_ADAPTER_ELSEWHERE;
    *why = "layers_pattern";
    if (config->pattern_said && !config->pattern_fits) return INFRT_ADAPTER_ELSEWHERE;
    *why = "target_modules";
    const bool known = targets->said && (!targets->text || targets->all) && !excluded->text;
    return known ? INFRT_ADAPTER_HERE : INFRT_ADAPTER_ANYWHERE;
}
