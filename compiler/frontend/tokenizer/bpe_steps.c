/* bpe_steps.c - what tokenizer.json does to a text before and after the model, as far as the runtime can: a step that
 * is not known is refused with its path and its type. */
#include <jansson.h>
#include <string.h>
#include "bpe_parts.h"

static const char joiner[] = "\xe2\x96\x81"; /* U+2581 */

typedef struct reader {
    infc_cx *cx;
    infc_loc loc;
    infc_bpe_parts *parts;
    bool decodes_bytes; /* what the decoder says */
} reader;

/* One step; false: not known. */
typedef bool step_reader(reader *r, const char *type, const json_t *step);

static const char *text_of(const json_t *map, const char *key) {
    const char *text = json_string_value(json_object_get(map, key));
    return text ? text : "";
}

static bool is_true(const json_t *map, const char *key) {
    return json_is_true(json_object_get(map, key));
}

static const char *string_pattern(const json_t *step) {
    return text_of(json_object_get(step, "pattern"), "String");
}

/* " " becomes U+2581, or back. */
static bool replaces(const json_t *step, const char *from, const char *to) {
    return strcmp(string_pattern(step), from) == 0 && strcmp(text_of(step, "content"), to) == 0;
}

static bool normalizer(reader *r, const char *type, const json_t *step) {
    if (strcmp(type, "Prepend") == 0 && strcmp(text_of(step, "prepend"), joiner) == 0) {
        r->parts->t.prefix = INFRT_PREFIX_ALWAYS;
        return true;
    }
    if (strcmp(type, "Replace") != 0 || !replaces(step, " ", joiner)) return false;
    r->parts->t.joiners = 1;
    return true;
}

/* The first of its kind: no words have been made yet. */
static bool words_open(const reader *r) { return r->parts->t.words == INFRT_WORDS_NONE; }

static bool split(reader *r, const json_t *step) {
    const char *regex = text_of(json_object_get(step, "pattern"), "Regex"),
               *behaviour = text_of(step, "behavior");
    const bool invert = is_true(step, "invert");
    if (r->parts->t.joiners && strcmp(string_pattern(step), " ") == 0)
        return true; /* there is none left */
    const bool keeps = strcmp(behaviour, invert ? "Removed" : "Isolated") == 0;
    return keeps && words_open(r) && infc_bpe_words_by_pattern(regex, &r->parts->t);
}

static bool metaspace(reader *r, const json_t *step) {
    const char *scheme = text_of(step, "prepend_scheme");
    const json_t *add = json_object_get(step, "add_prefix_space");
    infrt_tokenizer *t = &r->parts->t;
    if (strcmp(text_of(step, "replacement"), joiner) != 0 || !words_open(r)) return false;
    t->joiners = 1;
    if (!json_is_false(json_object_get(step, "split"))) t->words = INFRT_WORDS_SPACES;
    if (json_is_false(add) || strcmp(scheme, "never") == 0) return true;
    if (t->prefix != INFRT_PREFIX_NONE) return false;
    t->prefix = strcmp(scheme, "first") == 0 ? INFRT_PREFIX_FIRST : INFRT_PREFIX_UNLESS;
    return !*scheme || strcmp(scheme, "first") == 0 || strcmp(scheme, "always") == 0;
}

static bool pre_tokenizer(reader *r, const char *type, const json_t *step) {
    infrt_tokenizer *t = &r->parts->t;
    if (t->byte_level) return false; /* nothing may follow it */
    if (strcmp(type, "Metaspace") == 0) return metaspace(r, step);
    if (strcmp(type, "Split") == 0) return split(r, step);
    if (strcmp(type, "Digits") == 0) {
        t->digits_alone = 1;
        return is_true(step, "individual_digits") && words_open(r);
    }
    if (strcmp(type, "ByteLevel") != 0 || t->joiners) return false;
    t->byte_level = 1;
    if (is_true(step, "add_prefix_space")) t->prefix = INFRT_PREFIX_UNLESS;
    if (json_is_false(json_object_get(step, "use_regex"))) return true;
    if (!words_open(r)) return false;
    t->words = INFRT_WORDS_GPT2;
    return true;
}

static bool decoder(reader *r, const char *type, const json_t *step) {
    if (strcmp(type, "ByteLevel") == 0) return r->decodes_bytes = true;
    if (strcmp(type, "Replace") == 0) return replaces(step, joiner, " ");
    if (strcmp(type, "ByteFallback") == 0 || strcmp(type, "Fuse") == 0) return true;
    if (strcmp(type, "Metaspace") == 0) {
        r->parts->t.strip = r->parts->t.prefix != INFRT_PREFIX_NONE;
        return strcmp(text_of(step, "replacement"), joiner) == 0;
    }
    const json_int_t start = json_integer_value(json_object_get(step, "start"));
    if (strcmp(type, "Strip") != 0 || strcmp(text_of(step, "content"), " ") != 0 || start < 0 ||
        start > 8 || json_integer_value(json_object_get(step, "stop")) != 0)
        return false;
    r->parts->t.strip = (uint8_t)start;
    return true;
}

/* "<s> A </s>": the ids before and after. */
static bool template(reader *r, const json_t *step) {
    const json_t *single = json_object_get(step, "single"),
                 *specials = json_object_get(step, "special_tokens");
    infrt_tokenizer *t = &r->parts->t;
    bool seen = false;
    for (size_t i = 0; i < json_array_size(single); i++) {
        const json_t *piece = json_array_get(single, i),
                     *special = json_object_get(piece, "SpecialToken");
        const json_t *ids =
            json_object_get(json_object_get(specials, text_of(special, "id")), "ids");
        if (json_object_get(piece, "Sequence")) {
            if (seen) return false;
            seen = true;
            continue;
        }
        const json_int_t id = json_integer_value(json_array_get(ids, 0));
        uint32_t *n = seen ? &t->n_after : &t->n_before;
        if (json_array_size(ids) != 1 || id < 0 || (size_t)id >= r->parts->n_tokens || *n == 4)
            return false;
        (seen ? t->after : t->before)[(*n)++] = (int32_t)id;
    }
    return seen;
}

static bool post_processor(reader *r, const char *type, const json_t *step) {
    if (strcmp(type, "ByteLevel") == 0) return true; /* it moves offsets only */
    return strcmp(type, "TemplateProcessing") == 0 && template(r, step);
}

/* A step, or a Sequence of them. */
static infc_status walk(reader *r, const char *path, const char *list, const json_t *step,
                        step_reader *read, int depth) {
    if (!step || json_is_null(step)) return INFC_OK;
    const char *type = text_of(step, "type");
    if (strcmp(type, "Sequence") == 0 && depth < 4) {
        const json_t *steps = json_object_get(step, list);
        for (size_t i = 0; i < json_array_size(steps); i++)
            INFC_TRY(walk(r, infc_arena_printf(r->cx->arena, "%s.%s[%zu]", path, list, i), list,
                          json_array_get(steps, i), read, depth + 1));
        return INFC_OK;
    }
    if (read(r, type, step)) return INFC_OK;
    char text[400];
    const size_t n = json_dumpb(step, text, sizeof text, JSON_COMPACT | JSON_ENCODE_ANY);
    return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc, "%s: %.100s is not supported as it is here: %.*s",
                     path, *type ? type : "a step without a type", (int)(n < sizeof text ? n : 0), text);
}

infc_status infc_bpe_steps(infc_cx *cx, const char *path, const json_t *root, infc_bpe_parts *parts) {
    reader r = {.cx = cx, .loc = {.file = path}, .parts = parts};
    INFC_TRY(walk(&r, "normalizer", "normalizers", json_object_get(root, "normalizer"), normalizer, 0));
    INFC_TRY(walk(&r, "pre_tokenizer", "pretokenizers", json_object_get(root, "pre_tokenizer"), pre_tokenizer, 0));
    INFC_TRY(walk(&r, "post_processor", "processors", json_object_get(root, "post_processor"), post_processor, 0));
    INFC_TRY(walk(&r, "decoder", "decoders", json_object_get(root, "decoder"), decoder, 0));
    if (parts->t.digits_alone && parts->t.words != INFRT_WORDS_GPT2)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc, "pre_tokenizer: Digits is supported before ByteLevel only");
    if (r.decodes_bytes == parts->t.byte_level) return INFC_OK;
    return infc_fail(cx, INFC_ERR_UNSUPPORTED, r.loc,
                     "decoder: it and pre_tokenizer must both be ByteLevel, or neither");
}
