/* bpe_model.c - which files of a model tell of its tokenizer, and the ids that begin and end texts. */
#include <string.h>
#include "../../base/file.h"
#include "../hf/json_file.h"
#include "bpe_tokenizer.h"

static infc_status read_gguf(infc_cx *cx, const infc_gguf *gguf, infc_tokenizer *out) {
    const infc_gguf_value *template = infc_gguf_find(gguf, "tokenizer.chat_template");
    INFC_TRY(infc_tokenizer_gguf(cx, gguf, out));
    if (!template) return INFC_OK;
    out->template_file = gguf->path;
    out->template_text = infc_gguf_text(cx->arena, template);
    if (out->template_text) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = gguf->path}, "tokenizer.chat_template: it is no text");
}

typedef struct folder {
    infc_cx *cx;
    const char *dir;
    infc_tokenizer *out;
} folder;

/* An object of the folder; null when there is no such file. */
static infc_status read_object(const folder *f, const char *name, const char **path, json_t **root) {
    infc_bytes text;
    *path = infc_path_join(f->cx->arena, f->dir, name);
    *root = NULL;
    if (!infc_file_exists(*path)) return INFC_OK;
    INFC_TRY(infc_file_map(f->cx, *path, &text));
    return infc_json_object_read(f->cx, *path, text, root);
}

static void add_eos(infc_tokenizer *out, json_int_t id) {
    if (id < 0 || id >= out->tables.n_tokens || out->n_eos == sizeof out->eos / sizeof *out->eos)
        return;
    for (uint32_t i = 0; i < out->n_eos; i++)
        if (out->eos[i] == id) return;
    out->eos[out->n_eos++] = (int32_t)id;
}

/* An id or a list of them. */
static void read_ids(const folder *f, const json_t *root) {
    const json_t *bos = json_object_get(root, "bos_token_id"),
                 *eos = json_object_get(root, "eos_token_id");
    if (json_is_integer(bos) && f->out->bos < 0 && json_integer_value(bos) >= 0 &&
        json_integer_value(bos) < f->out->tables.n_tokens)
        f->out->bos = (int32_t)json_integer_value(bos);
    if (json_is_integer(eos)) add_eos(f->out, json_integer_value(eos));
    for (size_t i = 0; i < json_array_size(eos); i++)
        if (json_is_integer(json_array_get(eos, i)))
            add_eos(f->out, json_integer_value(json_array_get(eos, i)));
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

static infc_status read_template(const folder *f, const json_t *config, const char *config_path) {
    const char *path = infc_path_join(f->cx->arena, f->dir, "chat_template.jinja");
    const char *text = template_of(json_object_get(config, "chat_template"));
    infc_bytes file;
    if (text) f->out->template_file = config_path, f->out->template_text = text;
    if (!infc_file_exists(path)) return INFC_OK;
    INFC_TRY(infc_file_map(f->cx, path, &file)); /* newer than the key, and preferred to it */
    f->out->template_file = path;
    f->out->template_text = infc_arena_copy_string(f->cx->arena, (const char *)file.ptr, file.len);
    if (strlen(f->out->template_text) == file.len && infc_text_is_utf8(f->out->template_text, file.len))
        return INFC_OK;
    return infc_fail(f->cx, INFC_ERR_MODEL, (infc_loc){.file = path}, "it is no UTF-8 text");
}

static infc_status read_folder(infc_cx *cx, const char *dir, const infc_tokenizer **out) {
    const char *path = infc_path_join(cx->arena, dir, "tokenizer.json"), *config_path;
    infc_tokenizer *made = INFC_NEW(cx->arena, infc_tokenizer, 1);
    const folder f = {cx, dir, made};
    static const char *const with_ids[] = {"generation_config.json", "config.json"};
    infc_bytes text;
    json_t *root;
    if (!infc_file_exists(path)) {
        const char *other = infc_path_join(cx->arena, dir, "tokenizer.model");
        if (!infc_file_exists(other)) return INFC_OK;
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = other},
                         "a tokenizer is read from tokenizer.json, which is not beside it: "
                         "transformers writes it when"
                         " it saves a tokenizer");
    }
    INFC_TRY(infc_file_map(cx, path, &text));
    INFC_TRY(infc_tokenizer_json(cx, path, text, made));
    INFC_TRY(read_object(&f, "tokenizer_config.json", &config_path, &root));
    made->bos_text = token_text(&f, root, "bos_token");
    made->eos_text = token_text(&f, root, "eos_token");
    if (*made->bos_text)
        made->bos = infrt_token_find(&made->tables, made->bos_text, strlen(made->bos_text));
    if (*made->eos_text)
        add_eos(made, infrt_token_find(&made->tables, made->eos_text, strlen(made->eos_text)));
    INFC_TRY(read_template(&f, root, config_path));
    for (size_t i = 0; i < 2; i++) {
        INFC_TRY(read_object(&f, with_ids[i], &config_path, &root));
        read_ids(&f, root);
    }
    *out = made;
    return INFC_OK;
}

infc_status infc_tokenizer_read(infc_cx *cx, const infc_llm_model *model, const infc_tokenizer **out) {
    *out = NULL;
    if (!infc_path_ends(model->path, ".gguf"))
        return read_folder(cx, infc_path_dir(cx->arena, model->path), out);
    if (!infc_gguf_find(&model->gguf, "tokenizer.ggml.model")) return INFC_OK;
    infc_tokenizer *made = INFC_NEW(cx->arena, infc_tokenizer, 1);
    INFC_TRY(read_gguf(cx, &model->gguf, made));
    *out = made;
    return INFC_OK;
}
