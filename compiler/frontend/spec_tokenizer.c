/* spec_tokenizer.c - reads tokenizer.json (Hugging Face) as far as it says WordPiece; the rest is refused by name. */
#include "spec_tokenizer.h"
#include "../base/file.h"
#include "../base/sort.h"
#include "spec_fill.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 64 << 20,
    MOST_TOKENS = 1 << 20,
    MOST_ADDED = 1000,
    MOST_CHARS = 256,
    MOST_LENGTH = 1000
};

typedef struct reading {
    infc_arena *arena;
    infc_wordpiece *out;
    const char *why; /* the first fault; null: none */
} reading;

static bool wrong(reading *r, const char *format, const char *what) {
    if (!r->why) r->why = infc_arena_printf(r->arena, format, what);
    return false;
}

static bool is_true(const json_t *map, const char *key) {
    return json_is_true(json_object_get(map, key));
}

static const char *type_of(const json_t *map) {
    const char *type = json_string_value(json_object_get(map, "type"));
    return type && strlen(type) < 100 ? type : map && !json_is_null(map) ? "unknown" : "none";
}

static bool id_of(const json_t *value, uint32_t *out) {
    const json_int_t id = json_integer_value(value);
    *out = (uint32_t)id;
    return json_is_integer(value) && id >= 0 && id <= INT32_MAX;
}

static int by_text(const void *a, const void *b) {
    return strcmp(((const infc_token *)a)->text, ((const infc_token *)b)->text);
}

static const infc_token *find(const infc_token *tokens, size_t n, const char *text) {
    const infc_token key = {.text = text};
    return text ? bsearch(&key, tokens, n, sizeof *tokens, by_text) : NULL;
}

static bool read_vocabulary(reading *r, const json_t *model) {
    json_t *vocabulary = json_object_get(model, "vocab"), *value;
    const json_t *chars = json_object_get(model, "max_input_chars_per_word");
    const char *prefix = json_string_value(json_object_get(model, "continuing_subword_prefix")), *key;
    if (strcmp(type_of(model), "WordPiece") != 0)
        return wrong(r, "its model is %s; WordPiece is what is implemented", type_of(model));
    if (!json_is_object(vocabulary) || json_object_size(vocabulary) > MOST_TOKENS)
        return wrong(r, "%s", "there is no vocabulary, or too large a one");
    r->out->tokens = INFC_NEW(r->arena, infc_token, json_object_size(vocabulary));
    json_object_foreach(vocabulary, key, value) {
        infc_token *token = &r->out->tokens[r->out->n_tokens];
        if (!id_of(value, &token->id) || strlen(key) > MOST_LENGTH)
            return wrong(r, "%s", "a token is too long or has no id that fits");
        token->text = infc_arena_copy_string(r->arena, key, strlen(key));
        if (*key) r->out->n_tokens++;
    }
    infc_sort(r->out->tokens, r->out->n_tokens, sizeof *r->out->tokens, by_text);
    if (!prefix) prefix = "##";
    r->out->prefix = infc_arena_copy_string(r->arena, prefix, strlen(prefix));
    if (!*r->out->prefix || strlen(r->out->prefix) > 32)
        return wrong(r, "%s", "continuing_subword_prefix is empty or long");
    const infc_token *unknown =
        find(r->out->tokens, r->out->n_tokens, json_string_value(json_object_get(model, "unk_token")));
    if (!unknown) return wrong(r, "%s", "unk_token is not in the vocabulary");
    r->out->unknown = unknown->id;
    const json_int_t most = chars ? json_integer_value(chars) : 100;
    if (most < 1 || most > MOST_CHARS)
        return wrong(r, "%s", "max_input_chars_per_word is not 1 to 256");
    r->out->most_chars = (uint32_t)most;
    return true;
}

static bool read_added(reading *r, const json_t *added) {
    static const char *const flags[] = {"single_word", "lstrip", "rstrip", "normalized"};
    const size_t n = json_array_size(added);
    if (n > MOST_ADDED) return wrong(r, "%s", "too many added tokens");
    r->out->added = INFC_NEW(r->arena, infc_token, n + 1);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(added, i);
        const char *text = json_string_value(json_object_get(item, "content"));
        infc_token *token = &r->out->added[r->out->n_added++];
        if (!text || !*text || strlen(text) > MOST_LENGTH ||
            !id_of(json_object_get(item, "id"), &token->id))
            return wrong(r, "%s", "an added token is empty, too long, or has no id that fits");
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            if (is_true(item, flags[k]))
                return wrong(r, "added tokens with %s are not implemented", flags[k]);
        token->text = infc_arena_copy_string(r->arena, text, strlen(text));
    }
    infc_sort(r->out->added, r->out->n_added, sizeof *r->out->added, by_text);
    for (size_t i = 1; i < r->out->n_added; i++)
        if (by_text(&r->out->added[i - 1], &r->out->added[i]) == 0)
            return wrong(r, "%s", "an added token is there twice");
    return true;
}

static bool read_normalizer(reading *r, const json_t *root) {
    const json_t *normalizer = json_object_get(root, "normalizer"),
                 *pre = json_object_get(root, "pre_tokenizer");
    if (strcmp(type_of(pre), "BertPreTokenizer") != 0)
        return wrong(r, "its pre_tokenizer is %s; BertPreTokenizer is what is implemented", type_of(pre));
    if (!normalizer || json_is_null(normalizer)) return true;
    if (strcmp(type_of(normalizer), "BertNormalizer") != 0)
        return wrong(r, "its normalizer is %s; BertNormalizer is what is implemented", type_of(normalizer));
    const json_t *strip = json_object_get(normalizer, "strip_accents");
    r->out->clean = is_true(normalizer, "clean_text");
    r->out->han = is_true(normalizer, "handle_chinese_chars");
    r->out->lowercase = is_true(normalizer, "lowercase");
    r->out->strip_accents = json_is_boolean(strip) ? json_is_true(strip) : r->out->lowercase;
    return true;
}

static bool add_around(reading *r, bool text_seen, const json_t *id) {
    size_t *n = text_seen ? &r->out->n_after : &r->out->n_before;
    if (*n == 8 || !id_of(id, text_seen ? &r->out->after[*n] : &r->out->before[*n]))
        return wrong(r, "%s", "a special token of its post_processor has no id that fits");
    ++*n;
    return true;
}

/* [CLS] A [SEP], with any special tokens. */
static bool read_template(reading *r, const json_t *post) {
    const json_t *single = json_object_get(post, "single"),
                 *specials = json_object_get(post, "special_tokens");
    bool seen = false;
    for (size_t i = 0; i < json_array_size(single); i++) {
        const json_t *piece = json_array_get(single, i), *special = json_object_get(piece, "SpecialToken"),
                     *sequence = json_object_get(piece, "Sequence");
        const json_t *what = special ? special : sequence;
        const char *name = json_string_value(json_object_get(what, "id"));
        if (!name || json_integer_value(json_object_get(what, "type_id")) != 0 || (sequence && seen))
            return wrong(r, "%s", "its post_processor has types other than 0, or the text twice");
        const json_t *ids = json_object_get(json_object_get(specials, name), "ids");
        if (special && json_array_size(ids) != 1)
            return wrong(r, "%s", "a special token of its post_processor is not one id");
        if (special && !add_around(r, seen, json_array_get(ids, 0))) return false;
        seen |= sequence != NULL;
    }
    return seen || wrong(r, "%s", "its post_processor leaves the text out");
}

static bool read_around(reading *r, const json_t *root) {
    const json_t *post = json_object_get(root, "post_processor");
    const char *type = type_of(post);
    if (strcmp(type, "TemplateProcessing") == 0) return read_template(r, post);
    if (strcmp(type, "BertProcessing") == 0)
        return add_around(r, false, json_array_get(json_object_get(post, "cls"), 1)) &&
               add_around(r, true, json_array_get(json_object_get(post, "sep"), 1));
    return strcmp(type, "none") == 0 ||
           wrong(r, "its post_processor is %s; TemplateProcessing and BertProcessing are implemented", type);
}

static bool is_left(const json_t *map) {
    const char *direction = json_string_value(json_object_get(map, "direction"));
    return direction && strcmp(direction, "Right") != 0;
}

static bool read_lengths(reading *r, const json_t *root) {
    const json_t *truncation = json_object_get(root, "truncation"), *padding = json_object_get(root, "padding");
    const infc_token *pad = find(r->out->tokens, r->out->n_tokens, "[PAD]");
    if (is_left(truncation) || is_left(padding))
        return wrong(r, "%s", "it cuts or pads at the left, which is not implemented");
    if (json_is_object(truncation) && !id_of(json_object_get(truncation, "max_length"), &r->out->most_tokens))
        return wrong(r, "%s", "its max_length is no number that fits");
    r->out->pad = pad ? pad->id : 0;
    if (json_is_object(padding) && !id_of(json_object_get(padding, "pad_id"), &r->out->pad))
        return wrong(r, "%s", "its pad_id is no number that fits");
    if (r->out->most_tokens && r->out->most_tokens <= r->out->n_before + r->out->n_after)
        return wrong(r, "%s", "its max_length leaves no room for text");
    return true;
}

const infc_wordpiece *infc_spec_tokenizer_parse(infc_arena *arena, infc_bytes text, const char **why) {
    json_error_t error;
    reading r = {.arena = arena, .out = INFC_NEW(arena, infc_wordpiece, 1)};
    json_t *root = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        wrong(&r, "not JSON: %s", infc_arena_printf(arena, "line %d: %.200s", error.line, error.text));
    else if (read_vocabulary(&r, json_object_get(root, "model")) &&
             read_added(&r, json_object_get(root, "added_tokens")) && read_normalizer(&r, root) &&
             read_around(&r, root))
        read_lengths(&r, root);
    json_decref(root);
    *why = r.why;
    return r.why ? NULL : r.out;
}

const infc_wordpiece *infc_spec_tokenizer(infc_spec_check *check, infc_yaml *node, const char *path) {
    infc_bytes text;
    const char *file = infc_spec_path(check, node), *quoted = infc_yaml_quote(check->cx, file), *why = NULL;
    const infc_wordpiece *out = NULL;
    if (!*node->text || infc_file_try_map(file, &text) != 0) {
        infc_spec_unreadable(check, node, path, "cannot read the file %s", quoted);
        return NULL;
    }
    infc_file_note(check->cx, file);
    if (text.len > MOST_BYTES) why = "larger than 64 MiB";
    else out = infc_spec_tokenizer_parse(check->cx->arena, text, &why);
    infc_file_unmap(text);
    if (why) infc_spec_problem(check, node, path, "%s: %s", quoted, why);
    return out;
}
