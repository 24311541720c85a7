/* emit_text.c - inputs of kind text: that they fit the model, and the tables of NAME_prepare.c. */
#include "emit_prepare.h"
#include "unicode_tables.h"
#include <string.h>

/* The inputs that one text feeds: ids, mask, types; -1: none. */
typedef struct words {
    const infc_spec_text *text;
    int inputs[3], axis;
    int64_t min, max, step;
    infc_dtype dtype;
} words;

static infc_status input_fits(const infc_emit_unit *u, words *w, int i, const char *name) {
    const infc_type *type = &u->plan->buffers[u->plan->inputs[w->inputs[i]]].type;
    int64_t min, max, step;
    int axis = type->rank - 1;
    bool fits = axis >= 0 && (type->dtype == INFC_DTYPE_i64 || type->dtype == INFC_DTYPE_i32);
    for (int d = 0; d < axis && fits; d++) /* one text, or a range of them from 1 */
        fits = type->dims[d] == 1 ||
               (d == 0 && infc_emit_axis_sizes(u, w->inputs[i], 0, &min, &max, &step) && min == 1);
    fits = fits && infc_emit_axis_sizes(u, w->inputs[i], axis, &min, &max, &step);
    if (fits && i == 0)
        w->axis = axis, w->min = min, w->max = max, w->step = step, w->dtype = type->dtype;
    if (fits && axis == w->axis && min == w->min && max == w->max && step == w->step && type->dtype == w->dtype)
        return INFC_OK;
    return infc_fail(
        u->cx, INFC_ERR_SPEC, w->text->loc,
        "input \"%s\" is %s; text needs i64 or i32 [1,tokens], or a range from 1 instead of 1, the "
        "same for all it feeds",
        name, infc_type_text(u->cx->arena, type));
}

static infc_status words_find(const infc_emit_unit *u, const infc_spec_text *text, words *w) {
    static const char *const usual[] = {"input_ids", "attention_mask", "token_type_ids"};
    const char *const names[] = {text->ids, text->mask, text->types};
    *w = (words){.text = text};
    for (int i = 0; i < 3; i++) {
        const char *name = names[i] ? names[i] : usual[i];
        const char *fix = names[i] ? "" : "; say under `ids` which takes the token ids";
        if (names[i] || i == 0) INFC_TRY(infc_emit_input(u, text->loc, name, fix, &w->inputs[i]));
        else w->inputs[i] = infc_emit_port(u, u->plan->inputs, u->plan->n_inputs, name);
        if (w->inputs[i] >= 0) INFC_TRY(input_fits(u, w, i, name));
    }
    const size_t around = text->tokenizer->n_before + text->tokenizer->n_after;
    if (w->max > (int64_t)around) return INFC_OK;
    return infc_fail(u->cx, INFC_ERR_SPEC, text->loc,
                     "%lld tokens leave no room for text beside %zu special ones", (long long)w->max, around);
}

static void put_numbers(infc_buf *out, const char *name, const char *what, const char *type,
                        const uint32_t *values, size_t n) {
    infc_buf_printf(out, "static const %s %s_%s[] = {", type, name, what);
    for (size_t i = 0; i < n; i++)
        infc_buf_printf(out, "%s%u,", i % 12 ? " " : "\n    ", values[i]);
    infc_buf_puts(out, n ? "\n};\n" : "0};\n");
}

/* Those of `tokens` that begin with `prefix` and go on, without it; null: all. Returns the field that names them. */
static const char *put_list(const infc_emit_unit *u, const char *name, const char *what,
                            const infc_token *tokens, size_t n, const char *prefix, infc_buf *out) {
    infc_arena *arena = u->cx->arena;
    const size_t skip = prefix ? strlen(prefix) : 0;
    uint32_t *at = INFC_NEW(arena, uint32_t, n + 1), *ids = INFC_NEW(arena, uint32_t, n + 1), bytes = 0;
    size_t kept = 0;
    infc_buf line = {.arena = arena};
    infc_buf_printf(out, "static const char %s_%s_text[] =\n", name, what);
    for (size_t i = 0; i < n; i++) {
        if (skip && (strncmp(tokens[i].text, prefix, skip) != 0 || !tokens[i].text[skip])) continue;
        at[kept] = bytes, ids[kept++] = tokens[i].id;
        bytes += (uint32_t)strlen(tokens[i].text + skip);
        infc_buf_puts(&line, tokens[i].text + skip);
        if (line.len < 60) continue;
        infc_buf_printf(out, "    %s\n", infc_emit_literal(arena, infc_buf_str(&line)));
        line.len = 0;
    }
    at[kept] = bytes;
    infc_buf_printf(out, "    %s;\n", infc_emit_literal(arena, infc_buf_str(&line)));
    put_numbers(out, name, infc_arena_printf(arena, "%s_at", what), "uint32_t", at, kept + 1);
    put_numbers(out, name, infc_arena_printf(arena, "%s_ids", what), "uint32_t", ids, kept);
    return infc_arena_printf(arena, "    .%s = {%zu, %s_%s_text, %s_%s_at, %s_%s_ids},\n", what,
                             kept, name, what, name, what, name, what);
}

static void put_tables(const infc_emit_unit *u, const infc_wordpiece *w, const char *name, infc_buf *out) {
    const infc_unicode_tables t = infc_unicode_tables_make(u->cx->arena, w);
    const char *begin = put_list(u, name, "begin", w->tokens, w->n_tokens, NULL, out);
    const char *inside = put_list(u, name, "inside", w->tokens, w->n_tokens, w->prefix, out);
    const char *added = put_list(u, name, "added", w->added, w->n_added, NULL, out);
    put_numbers(out, name, "before", "uint32_t", w->before, w->n_before);
    put_numbers(out, name, "after", "uint32_t", w->after, w->n_after);
    put_numbers(out, name, "first", "uint32_t", t.first, t.n_ranges);
    put_numbers(out, name, "last", "uint32_t", t.last, t.n_ranges);
    put_numbers(out, name, "classes", "uint8_t", t.classes, t.n_ranges);
    put_numbers(out, name, "from", "uint32_t", t.from, t.n_maps);
    put_numbers(out, name, "maps", "uint32_t", t.maps, t.n_maps + 1);
    put_numbers(out, name, "to", "uint32_t", t.to, t.n_to);
    infc_buf_printf(out, "static const infrt_wordpiece %s_words = {\n%s%s%s", name, begin, inside, added);
    infc_buf_printf(
        out,
        "    .unknown = %u,\n    .pad = %u,\n    .most_chars = %u,\n    .most_tokens = %u,\n"
        "    .n_before = %zu,\n    .n_after = %zu,\n    .before = %s_before,\n    .after = "
        "%s_after,\n"
        "    .clean = %d,\n    .han = %d,\n    .decompose = %d,\n    .n_ranges = %zu,\n",
        w->unknown, w->pad, w->most_chars, w->most_tokens, w->n_before, w->n_after, name, name,
        w->clean, w->han, w->strip_accents, t.n_ranges);
    infc_buf_printf(out,
                    "    .first = %s_first,\n    .last = %s_last,\n    .classes = %s_classes,\n    "
                    ".n_maps = %zu,\n"
                    "    .from = %s_from,\n    .maps = %s_maps,\n    .to = %s_to,\n};\n\n",
                    name, name, name, t.n_maps, name, name, name);
}

static void put_functions(const infc_emit_unit *u, const words *w, infc_buf *out) {
    const char *name = w->text->name;
    const int width = w->dtype == INFC_DTYPE_i64 ? 8 : 4;
    infc_buf_printf(
        out,
        "int64_t %s_tokens_%s(const char *text, size_t n) {\n"
        "    const int64_t step = %lld, most = %lld;\n"
        "    int64_t tokens = infrt_wordpiece_ids(&%s_words, text, text ? n : 0, most, %d, 0);\n"
        "    if (tokens < %lld) tokens = %lld;\n"
        "    return (tokens + step - 1) / step * step;\n}\n\n"
        "int64_t %s_whole_%s(const char *text, size_t n) {\n"
        "    return infrt_wordpiece_upto(&%s_words, text, text ? n : 0, INT64_MAX, %d, 0);\n}\n\n",
        u->name, name, (long long)w->step, (long long)w->max, name, width, (long long)w->min,
        (long long)w->min, u->name, name, name, width);
    infc_buf_printf(
        out,
        "int %s_prepare_%s(const char *text, size_t n, int64_t steps, void *ids, void *mask, void "
        "*types) {\n"
        "    if ((!text && n) || !ids) return INFC_RUN_BAD_ARGUMENT;\n"
        "    if (steps < %lld || steps > %lld || steps %% %lld) return INFC_RUN_BAD_SIZE;\n"
        "    infrt_wordpiece_prepare(&%s_words, text, n, steps, %d, ids, mask, types);\n"
        "    return INFC_RUN_OK;\n}\n\n",
        u->name, name, (long long)w->min, (long long)w->max, (long long)w->step, name, width);
}

static void put_header(const infc_emit_unit *u, const words *w, infc_buf *out) {
    const char *name = w->text->name, *type = w->dtype == INFC_DTYPE_i64 ? "int64_t" : "int32_t";
    infc_buf_printf(
        out,
        "#define %s_PREPARE_%s_STEPS %lld\n"
        "/* Inputs from n bytes of UTF-8: ids, mask and types of `steps` tokens, %s each; mask and "
        "types may be\n"
        " * null. _tokens_: how many steps a text needs, at most %lld; what is longer is cut. "
        "_whole_: how\n"
        " * many tokens it is uncut. */\n"
        "int64_t %s_tokens_%s(const char *text, size_t n);\n"
        "int64_t %s_whole_%s(const char *text, size_t n);\n"
        "int %s_prepare_%s(const char *text, size_t n, int64_t steps, void *ids, void *mask, void "
        "*types);\n",
        u->upper, name, (long long)w->max, type, (long long)w->max, u->name, name, u->name, name,
        u->name, name);
}

static const char *index_text(infc_arena *arena, int input) {
    return input < 0 ? "UINT32_MAX" : infc_arena_printf(arena, "%d", input);
}

infc_status infc_emit_text(infc_emit_unit *u, infc_emit_prepare *out) {
    infc_arena *arena = u->cx->arena;
    for (size_t i = 0; u->spec && i < u->spec->n_texts; i++) {
        const infc_spec_text *text = &u->spec->texts[i];
        words w;
        INFC_TRY(words_find(u, text, &w));
        put_tables(u, text->tokenizer, text->name, &out->code);
        put_functions(u, &w, &out->code);
        put_header(u, &w, &out->header);
        infc_buf_printf(&out->text_infos, "    {\"%s\", %s, %s, %s, %d, %s_tokens_%s, %s_prepare_%s},\n",
                        text->name, index_text(arena, w.inputs[0]), index_text(arena, w.inputs[1]),
                        index_text(arena, w.inputs[2]), w.axis, u->name, text->name, u->name, text->name);
    }
    return INFC_OK;
}
