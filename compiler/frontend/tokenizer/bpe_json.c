/* bpe_json.c - tokenizer.json: vocabulary, merges and added tokens. What it does to texts is in bpe_steps.c. */
#include <jansson.h>
#include <string.h>
#include "../hf/json_file.h"
#include "bpe_parts.h"

typedef struct reader {
    infc_cx *cx;
    infc_loc loc;
    const json_t *root, *model, *added;
    infc_bpe_parts *parts;
} reader;

static infc_status bad(const reader *r, const char *path, const char *what) {
    return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "%s: %s", path, what);
}

static infc_status refused(const reader *r, const char *path, const char *what) {
    return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc, "%s: %s", path, what);
}

static const char *path_of(const reader *r, const char *list, size_t i) {
    return infc_arena_printf(r->cx->arena, "%s[%zu]", list, i);
}

static bool id_of(const json_t *value, uint32_t *out) {
    const json_int_t id = json_integer_value(value);
    *out = (uint32_t)id;
    return json_is_integer(value) && id >= 0 && id < INFC_BPE_MOST_TOKENS;
}

static bool is_text(const json_t *value) {
    return json_is_string(value) && json_string_length(value) > 0 && json_string_length(value) <= INFC_BPE_MOST_BYTES;
}

static infc_status check_model(const reader *r) {
    const char *type = json_string_value(json_object_get(r->model, "type"));
    static const char *const empty[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    const json_t *dropout = json_object_get(r->model, "dropout");
    if (type ? strcmp(type, "BPE") != 0 : !json_object_get(r->model, "merges"))
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         "model.type: %.100s is not supported, only BPE", type ? type : "no type");
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        const json_t *value = json_object_get(r->model, empty[i]);
        if (value && !json_is_null(value) && (!json_is_string(value) || json_string_length(value) > 0))
            return refused(r, infc_arena_printf(r->cx->arena, "model.%s", empty[i]),
                           "it is supported when empty only");
    }
    if (json_is_number(dropout) && json_number_value(dropout) != 0)
        return refused(r, "model.dropout", "it is supported as 0 only");
    return INFC_OK;
}

/* The largest id plus one. */
static infc_status count_tokens(const reader *r, size_t *out) {
    const json_t *vocab = json_object_get(r->model, "vocab");
    const char *key;
    json_t *value;
    uint32_t id;
    if (!json_is_object(vocab) || json_object_size(vocab) == 0)
        return bad(r, "model.vocab", "it is missing, empty or no object");
    json_object_foreach((json_t *)vocab, key, value) { /* it only reads */
        if (!id_of(value, &id) || strlen(key) > INFC_BPE_MOST_BYTES)
            return infc_fail(r->cx, INFC_ERR_MODEL,
                             r->loc, "model.vocab: token \"%.100s\" is too long, or its id is none below %d",
                             key, INFC_BPE_MOST_TOKENS);
        if (id >= *out) *out = (size_t)id + 1;
    }
    for (size_t i = 0; i < json_array_size(r->added); i++) {
        const json_t *item = json_array_get(r->added, i);
        if (!id_of(json_object_get(item, "id"), &id) || !is_text(json_object_get(item, "content")))
            return bad(r, path_of(r, "added_tokens", i), "it has no id or no content that fits");
        if (id >= *out) *out = (size_t)id + 1;
    }
    return INFC_OK;
}

static infc_status read_vocab(const reader *r) {
    const char *key;
    json_t *value;
    uint32_t id;
    json_object_foreach(json_object_get(r->model, "vocab"), key, value) {
        (void)id_of(value, &id);
        infc_bpe_token *token = &r->parts->tokens[id];
        if (token->stored)
            return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "model.vocab: id %u is of \"%.100s\" and of \"%.100s\"",
                             id, token->stored, key);
        if (!*key) continue; /* no text becomes it */
        infc_map_put(&r->parts->ids, key, id);
        token->stored = infc_arena_copy_string(r->cx->arena, key, strlen(key));
    }
    return INFC_OK;
}

static infc_status read_added(const reader *r, size_t i) {
    static const struct {
        const char *key;
        unsigned flag;
    } flags[] = {{"special", INFRT_TOKEN_CONTROL},
                 {"lstrip", INFRT_TOKEN_LSTRIP},
                 {"rstrip", INFRT_TOKEN_RSTRIP},
                 {"normalized", INFC_BPE_NORMALIZED}};
    const json_t *item = json_array_get(r->added, i);
    const char *text = json_string_value(json_object_get(item, "content"));
    uint32_t id;
    size_t known;
    (void)id_of(json_object_get(item, "id"), &id);
    infc_bpe_token *token = &r->parts->tokens[id];
    if (infc_map_find(&r->parts->ids, text, &known) ? known != id : token->stored != NULL)
        return bad(r, path_of(r, "added_tokens", i), "its id is another token's, or it has another id elsewhere");
    if (json_is_true(json_object_get(item, "single_word")))
        return refused(r, path_of(r, "added_tokens", i), "single_word is not supported");
    token->stored = infc_arena_copy_string(r->cx->arena, text, strlen(text));
    infc_map_put(&r->parts->ids, text, id);
    token->flags = INFRT_TOKEN_ADDED;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (json_is_true(json_object_get(item, flags[k].key))) token->flags |= flags[k].flag;
    return INFC_OK;
}

/* "a b" or ["a", "b"]. */
static bool merge_texts(const reader *r, const json_t *value, const char **left, const char **right) {
    if (json_is_array(value) && json_array_size(value) == 2) {
        *left = json_string_value(json_array_get(value, 0));
        *right = json_string_value(json_array_get(value, 1));
        return *left && *right;
    }
    const char *text = json_string_value(value), *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' ')) return false;
    *left = infc_arena_copy_string(r->cx->arena, text, (size_t)(space - text));
    *right = space + 1;
    return true;
}

static infc_status read_merge(const reader *r, const json_t *value, size_t i, infc_bpe_merge *out) {
    const char *left, *right;
    size_t a, b, both;
    if (!merge_texts(r, value, &left, &right) || strlen(left) + strlen(right) > INFC_BPE_MOST_BYTES)
        return bad(r, path_of(r, "model.merges", i), "it is no pair of tokens");
    if (!infc_map_find(&r->parts->ids, left, &a) || !infc_map_find(&r->parts->ids, right, &b) ||
        !infc_map_find(&r->parts->ids, infc_arena_printf(r->cx->arena, "%s%s", left, right), &both))
        return bad(r, path_of(r, "model.merges", i), "a part of it, or what it makes, is not in the vocabulary");
    *out = (infc_bpe_merge){(uint32_t)a, (uint32_t)b, (uint32_t)i, (uint32_t)both};
    return INFC_OK;
}

static infc_status read_merges(const reader *r) {
    const json_t *merges = json_object_get(r->model, "merges");
    const size_t n = json_array_size(merges);
    if (!json_is_array(merges) || n > INFC_BPE_MOST_MERGES)
        return bad(r, "model.merges", "it is missing, no list or too long");
    r->parts->merges = INFC_NEW(r->cx->arena, infc_bpe_merge, n + 1);
    r->parts->n_merges = n;
    for (size_t i = 0; i < n; i++)
        INFC_TRY(read_merge(r, json_array_get(merges, i), i, &r->parts->merges[i]));
    return INFC_OK;
}

/* Single bytes: all of them, or none. */
static infc_status read_fallback(const reader *r) {
    const bool wanted = json_is_true(json_object_get(r->model, "byte_fallback"));
    int n = 0;
    for (size_t i = 0; wanted && i < r->parts->n_tokens; i++) {
        infc_bpe_token *token = &r->parts->tokens[i];
        if (!token->stored || infc_byte_token(token->stored) < 0) continue;
        token->flags |= INFRT_TOKEN_BYTE;
        n++;
    }
    if (wanted && n != 256)
        return bad(r, "model.byte_fallback", "the vocabulary must have all of <0x00> to <0xFF>");
    return INFC_OK;
}

static infc_status read_unknown(const reader *r) {
    const json_t *text = json_object_get(r->model, "unk_token");
    size_t id;
    if (!text || json_is_null(text)) return INFC_OK;
    if (!json_is_string(text) || !infc_map_find(&r->parts->ids, json_string_value(text), &id))
        return bad(r, "model.unk_token", "it is not in the vocabulary");
    r->parts->t.unknown = (int32_t)id;
    r->parts->t.fuse_unknown = json_is_true(json_object_get(r->model, "fuse_unk"));
    return INFC_OK;
}

infc_status infc_tokenizer_json(infc_cx *cx, const char *path, infc_bytes text, infc_tokenizer *out) {
    json_t *root;
    infc_bpe_parts parts;
    size_t n = 0;
    *out = (infc_tokenizer){.bos = -1};
    INFC_TRY(infc_json_object_read(cx, path, text, &root));
    const reader r = {.cx = cx,
                      .loc = {.file = path},
                      .root = root,
                      .parts = &parts,
                      .model = json_object_get(root, "model"),
                      .added = json_object_get(root, "added_tokens")};
    INFC_TRY(check_model(&r));
    INFC_TRY(count_tokens(&r, &n));
    infc_bpe_begin(cx->arena, &parts, n);
    INFC_TRY(read_vocab(&r));
    for (size_t i = 0; i < json_array_size(r.added); i++) INFC_TRY(read_added(&r, i));
    INFC_TRY(read_merges(&r));
    INFC_TRY(read_fallback(&r));
    INFC_TRY(read_unknown(&r));
    parts.t.whole_words = json_is_true(json_object_get(r.model, "ignore_merges"));
    INFC_TRY(infc_bpe_steps(cx, path, root, &parts));
    infc_bpe_fill(cx->arena, &parts);
    infc_bpe_tables(cx->arena, &parts, &out->tables);
    out->kind = parts.t.byte_level ? "byte-level BPE" : "BPE over characters";
    return INFC_OK;
}
