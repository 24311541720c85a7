/* bpe_model.c - which files of a model tell of its tokenizer, and the ids that begin and end texts. */
#include <string.h>
#include "../hf/json_file.h"
#include "../llm/llm_pack.h"
#include "../template/template.h"
#include "bpe_tokenizer.h"

enum { SPECIALS = 4 };
static const char *const special_names[SPECIALS] = {"bos_token", "eos_token", "unk_token", "pad_token"};

/* The template of the file at `path`, if there is one; `texts` of special_names: null where the model has none. */
static void read_chat(infc_cx *cx, const char *path, const char *template,
                      const char *const texts[SPECIALS], infc_tokenizer *out) {
    infc_template_text known[SPECIALS];
    size_t n = 0;
    for (size_t i = 0; i < SPECIALS; i++)
        if (texts[i] && *texts[i]) known[n++] = (infc_template_text){special_names[i], texts[i]};
    if (template) out->chat = infc_template_compile(cx->arena, template, known, n);
    else out->chat.why_not = "its files have no chat template";
    if (template && out->chat.why_not)
        infc_warn(cx, (infc_loc){.file = path},
                  "the chat template, %s: chats are refused, plain prompts are not", out->chat.why_not);
}

static const char *token_of(infc_cx *cx, const infc_tokenizer *t, const infc_gguf *gguf, const char *key) {
    uint64_t id;
    size_t n;
    if (!infc_gguf_u64(infc_gguf_find(gguf, key), &id) || id >= t->tables.n_tokens) return NULL;
    const char *piece = infrt_token_piece(&t->tables, (int32_t)id, &n);
    return infc_arena_copy_string(cx->arena, piece, n);
}

static infc_status read_gguf(infc_cx *cx, const infc_gguf *gguf, infc_tokenizer *out) {
    static const char *const keys[SPECIALS] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                                               "tokenizer.ggml.unknown_token_id",
                                               "tokenizer.ggml.padding_token_id"};
    const infc_gguf_value *value = infc_gguf_find(gguf, "tokenizer.chat_template");
    const char *template = infc_gguf_text(cx->arena, value), *texts[SPECIALS];
    INFC_TRY(infc_tokenizer_gguf(cx, gguf, out));
    if (value && !template)
        return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = gguf->path}, "tokenizer.chat_template: it is no text");
    for (size_t i = 0; i < SPECIALS; i++) texts[i] = token_of(cx, out, gguf, keys[i]);
    read_chat(cx, gguf->path, template, texts, out);
    return INFC_OK;
}

typedef struct folder {
    infc_cx *cx;
    const infc_llm_model *model;
    infc_tokenizer *out;
} folder;

/* An object of the folder; null when there is no such file. */
static infc_status read_object(const folder *f, const char *name, const char **path, json_t **root) {
    infc_bytes text;
    *root = NULL;
    INFC_TRY(infc_llm_file(f->cx, f->model, name, path, &text));
    if (!text.ptr) return INFC_OK;
    return infc_json_object_read(f->cx, *path, text, root);
}

static void add_eos(infc_tokenizer *out, int32_t id) {
    if (id < 0 || out->n_eos == sizeof out->eos / sizeof *out->eos) return;
    for (uint32_t i = 0; i < out->n_eos; i++)
        if (out->eos[i] == id) return;
    out->eos[out->n_eos++] = id;
}

/* The id that a key has, -1 for null and, with a warning, for one that the tokenizer does not have. */
static infc_status read_id(const folder *f, const char *path, const char *key, const json_t *value, int32_t *out) {
    const json_int_t id = json_integer_value(value);
    *out = -1;
    if (!value || json_is_null(value)) return INFC_OK;
    if (!json_is_integer(value))
        return infc_fail(f->cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                         "key \"%s\" is neither an id nor a list of ids", key);
    if (id >= 0 && id < f->out->tables.n_tokens) *out = (int32_t)id;
    else
        infc_warn(f->cx, (infc_loc){.file = path},
                  "key \"%s\": %lld is none of the %u ids of the tokenizer; it is left out", key,
                  (long long)id, f->out->tables.n_tokens);
    return INFC_OK;
}

static infc_status read_ids(const folder *f, const char *path, const json_t *root) {
    const json_t *eos = json_object_get(root, "eos_token_id");
    const bool list = json_is_array(eos);
    int32_t id;
    INFC_TRY(read_id(f, path, "bos_token_id", json_object_get(root, "bos_token_id"), &id));
    if (f->out->bos < 0) f->out->bos = id;
    for (size_t i = 0; i < (list ? json_array_size(eos) : 1); i++) {
        INFC_TRY(read_id(f, path, "eos_token_id", list ? json_array_get(eos, i) : eos, &id));
        add_eos(f->out, id);
    }
    return INFC_OK;
}

/* "<s>" or {"content": "<s>", ...}. */
static const char *token_text(const folder *f, const json_t *root, const char *key) {
    const json_t *value = json_object_get(root, key);
    const char *text = json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
    return text ? infc_arena_copy_string(f->cx->arena, text, strlen(text)) : "";
}

/* A text, or a list of named ones, of which "default" counts. */
static const char *template_of(const json_t *value) {
    if (json_is_string(value)) return json_string_value(value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && strcmp(name, "default") == 0)
            return json_string_value(json_object_get(item, "template"));
    }
    return NULL;
}

/* A file of its own is newer than the key, and preferred to it; `path` of the configuration becomes the file's. */
static infc_status read_template(const folder *f, const json_t *config, const char **path, const char **out) {
    const json_t *value = json_object_get(config, "chat_template");
    const char *own;
    infc_bytes file;
    *out = template_of(value);
    if (value && !json_is_null(value) && !json_is_string(value) && !json_is_array(value))
        return infc_fail(f->cx, INFC_ERR_MODEL, (infc_loc){.file = *path},
                         "key \"chat_template\" is neither a text nor a list of named ones");
    INFC_TRY(infc_llm_file(f->cx, f->model, "chat_template.jinja", &own, &file));
    if (!file.ptr) return INFC_OK;
    *path = own;
    *out = infc_arena_copy_string(f->cx->arena, (const char *)file.ptr, file.len);
    if (strlen(*out) == file.len && infc_text_is_utf8(*out, file.len)) return INFC_OK;
    return infc_fail(f->cx, INFC_ERR_MODEL, (infc_loc){.file = own}, "it is no UTF-8 text");
}

static infc_status read_folder(infc_cx *cx, const infc_llm_model *model, const infc_tokenizer **out) {
    const char *path, *config_path, *template, *texts[SPECIALS];
    infc_tokenizer *made = INFC_NEW(cx->arena, infc_tokenizer, 1);
    const folder f = {cx, model, made};
    static const char *const with_ids[] = {"generation_config.json", "config.json"};
    infc_bytes text;
    json_t *root;
    INFC_TRY(infc_llm_file(cx, model, "tokenizer.json", &path, &text));
    if (!text.ptr) {
        const char *other;
        INFC_TRY(infc_llm_file(cx, model, "tokenizer.model", &other, &text));
        if (!text.ptr) return INFC_OK;
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = other},
                         "a tokenizer is read from tokenizer.json, which is not beside it: "
                         "transformers writes it when"
                         " it saves a tokenizer");
    }
    INFC_TRY(infc_tokenizer_json(cx, path, text, made));
    INFC_TRY(read_object(&f, "tokenizer_config.json", &config_path, &root));
    for (size_t i = 0; i < SPECIALS; i++) texts[i] = token_text(&f, root, special_names[i]);
    if (*texts[0]) made->bos = infrt_token_find(&made->tables, texts[0], strlen(texts[0]));
    if (*texts[1]) add_eos(made, infrt_token_find(&made->tables, texts[1], strlen(texts[1])));
    INFC_TRY(read_template(&f, root, &config_path, &template));
    read_chat(cx, config_path, template, texts, made);
    for (size_t i = 0; i < 2; i++) {
        INFC_TRY(read_object(&f, with_ids[i], &config_path, &root));
        INFC_TRY(read_ids(&f, config_path, root));
    }
    *out = made;
    return INFC_OK;
}

infc_status infc_tokenizer_read(infc_cx *cx, const infc_llm_model *model, const infc_tokenizer **out) {
    *out = NULL;
    if (!model->gguf.path) return read_folder(cx, model, out);
    if (!infc_gguf_find(&model->gguf, "tokenizer.ggml.model")) return INFC_OK;
    infc_tokenizer *made = INFC_NEW(cx->arena, infc_tokenizer, 1);
    INFC_TRY(read_gguf(cx, &model->gguf, made));
    *out = made;
    return INFC_OK;
}
