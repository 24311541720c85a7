#include "emit_tokenizer.h"
#include <string.h>

typedef struct table {
    const char *field;
    infc_bytes bytes;
} table;
enum { TABLES = 15 };

static infc_bytes numbers(const unsigned char *ptr, size_t n) {
    return (infc_bytes){ptr, ptr ? 4 * n : 0};
}

static uint32_t number(const unsigned char *ptr, size_t i) {
    return ptr ? (uint32_t)infc_little_endian(ptr + 4 * i, 4) : 0;
}

/* All tables and how large they are, in the order of their fields. */
static void tables_of(const infrt_tokenizer *t, table out[TABLES]) {
    const infrt_token_list *a = &t->added, *b = &t->added_normalized;
    size_t n_classes = 0;
    for (size_t i = 0; t->pages && i < 0x1100; i++)
        if (t->pages[i] + 1u > n_classes) n_classes = t->pages[i] + 1u;
    const table all[TABLES] = {
        {"piece_at", numbers(t->piece_at, (size_t)t->n_tokens + 1)},
        {"pieces", {t->pieces, number(t->piece_at, t->n_tokens)}},
        {"flags", {t->flags, t->flags ? t->n_tokens : 0}},
        {"sorted", numbers(t->sorted, t->n_sorted)},
        {"byte_ids", numbers(t->byte_ids, 256)},
        {"merge_at", numbers(t->merge_at, (size_t)t->n_tokens + 1)},
        {"merges", numbers(t->merges, 3 * (size_t)number(t->merge_at, t->n_tokens))},
        {"added.ids", numbers(a->ids, a->n)},
        {"added.at", numbers(a->at, (size_t)a->n + 1)},
        {"added.texts", {a->texts, number(a->at, a->n)}},
        {"added_normalized.ids", numbers(b->ids, b->n)},
        {"added_normalized.at", numbers(b->at, (size_t)b->n + 1)},
        {"added_normalized.texts", {b->texts, number(b->at, b->n)}},
        {"pages", {t->pages, t->pages ? 0x1100 : 0}},
        {"classes", {t->classes, 64 * n_classes}},
    };
    for (size_t i = 0; i < TABLES; i++) out[i] = all[i];
}

/* Lines of string literals. An octal escape has three digits where what follows could be read as more of it. */
static void put_literal(infc_buf *out, infc_bytes bytes) {
    enum { LINE = 100 };
    size_t line = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        const unsigned c = bytes.ptr[i], next = i + 1 < bytes.len ? bytes.ptr[i + 1] : 0;
        const size_t before = out->len;
        if (line == 0) infc_buf_puts(out, "\n    \"");
        if (c == '"' || c == '\\' || c == '?') infc_buf_printf(out, "\\%c", (int)c);
        else if (c >= ' ' && c < 0x7f) infc_buf_put(out, &bytes.ptr[i], 1);
        else infc_buf_printf(out, next >= '0' && next <= '9' ? "\\%03o" : "\\%o", c);
        line += out->len - before;
        if (line >= LINE || i + 1 == bytes.len) {
            infc_buf_puts(out, "\"");
            line = 0;
        }
    }
}

static const char *c_name(infc_arena *arena, const char *field) {
    char *name = infc_arena_printf(arena, "%s", field);
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    return name;
}

static void put_ids(infc_buf *out, const char *count, const char *field, const int32_t *ids, uint32_t n) {
    infc_buf_printf(out, "    .%s = %u,\n    .%s = {", count, n, field);
    for (uint32_t i = 0; i < n; i++) infc_buf_printf(out, "%s%d", i ? ", " : "", ids[i]);
    infc_buf_puts(out, n ? "},\n" : "0},\n");
}

static void put_switches(infc_buf *out, const infrt_tokenizer *t) {
    infc_buf_printf(
        out,
        "    .n_tokens = %u,\n    .most_bytes = %u,\n    .unknown = %d,\n    .byte_level = %u,\n"
        "    .words = %u,\n    .most_digits = %u,\n    .digits_alone = %u,\n    .ignore_case = "
        "%u,\n"
        "    .whole_words = %u,\n    .fuse_unknown = %u,\n    .prefix = %u,\n    .joiners = %u,\n"
        "    .strip = %u,\n    .n_sorted = %u,\n    .added.n = %u,\n    .added_normalized.n = "
        "%u,\n",
        t->n_tokens, t->most_bytes, t->unknown, t->byte_level, t->words, t->most_digits,
        t->digits_alone, t->ignore_case, t->whole_words, t->fuse_unknown, t->prefix, t->joiners,
        t->strip, t->n_sorted, t->added.n, t->added_normalized.n);
    put_ids(out, "n_before", "before", t->before, t->n_before);
    put_ids(out, "n_after", "after", t->after, t->n_after);
}

void infc_emit_tokenizer(infc_buf *out, const char *name, const infrt_tokenizer *t) {
    table tables[TABLES];
    tables_of(t, tables);
    for (size_t i = 0; i < TABLES; i++) {
        if (tables[i].bytes.len == 0) continue;
        infc_buf_printf(out, "static const unsigned char %s[] =", c_name(out->arena, tables[i].field));
        put_literal(out, tables[i].bytes);
        infc_buf_puts(out, ";\n\n");
    }
    infc_buf_printf(out, "const infrt_tokenizer %s = {\n", name);
    put_switches(out, t);
    for (size_t i = 0; i < TABLES; i++)
        if (tables[i].bytes.len)
            infc_buf_printf(out, "    .%s = %s,\n", tables[i].field, c_name(out->arena, tables[i].field));
    infc_buf_puts(out, "};\n");
}

void infc_emit_chat(infc_buf *out, const char *name, const infrt_chat *chat) {
    if (chat->why_not) {
        infc_buf_printf(out, "const infrt_chat %s = {.why_not =", name);
        put_literal(out, (infc_bytes){(const uint8_t *)chat->why_not, strlen(chat->why_not)});
        infc_buf_puts(out, "};\n");
        return;
    }
    infc_buf_printf(out, "static const uint32_t %s_code[] = {", name);
    for (uint32_t i = 0; i < chat->n_code; i++)
        infc_buf_printf(out, "%s%u,", i % 16 ? " " : "\n    ", chat->code[i]);
    infc_buf_printf(out, "\n};\n\nstatic const char %s_texts[] =", name);
    put_literal(out, (infc_bytes){(const uint8_t *)chat->texts, chat->n_texts});
    infc_buf_printf(out,
                    "%s;\n\nconst infrt_chat %s = {\n    .code = %s_code,\n    .n_code = %u,\n"
                    "    .texts = %s_texts,\n    .n_texts = %u,\n};\n",
                    chat->n_texts ? "" : " \"\"", name, name, chat->n_code, name, chat->n_texts);
}
