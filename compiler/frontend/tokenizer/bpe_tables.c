#include "../../base/sort.h"
#include "bpe_parts.h"
#include <string.h>

void infc_bpe_begin(infc_arena *arena, infc_bpe_parts *parts, size_t n) {
    *parts = (infc_bpe_parts){
        .tokens = INFC_NEW(arena, infc_bpe_token, n + 1), .n_tokens = n, .ids = {.arena = arena}};
    parts->t.unknown = -1;
    memset(parts->byte_ids, 0xff, sizeof parts->byte_ids);
}

/* The characters by which GPT-2 spells bytes: printable ones of Latin-1 are themselves, the others U+0100 and on. */
static int byte_of(uint32_t c) {
    int next = 0x100;
    if ((c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff))
        return (int)c;
    for (int byte = 0; byte < 256; byte++) {
        if ((byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae)
            continue;
        if ((uint32_t)next++ == c) return byte;
    }
    return -1;
}

bool infc_byte_level_text(infc_arena *arena, const char *stored, infc_bytes *out) {
    const unsigned char *p = (const unsigned char *)stored;
    infc_buf text = {.arena = arena};
    while (*p) { /* all of them are below U+0800 */
        const bool two = p[0] >= 0xc2 && p[0] < 0xe0 && (p[1] & 0xc0) == 0x80;
        const uint32_t c = two           ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                           : p[0] < 0x80 ? p[0]
                                         : UINT32_MAX;
        const int byte = byte_of(c);
        if (byte < 0) return false;
        const char as_char = (char)byte;
        infc_buf_put(&text, &as_char, 1);
        p += two ? 2 : 1;
    }
    *out = infc_buf_bytes(&text);
    return true;
}

infc_bytes infc_joined_text(infc_arena *arena, const char *stored) {
    infc_buf text = {.arena = arena};
    while (*stored) {
        const bool joiner = strncmp(stored, "\xe2\x96\x81", 3) == 0;
        infc_buf_put(&text, joiner ? " " : stored, 1);
        stored += joiner ? 3 : 1;
    }
    return infc_buf_bytes(&text);
}

int infc_byte_token(const char *stored) {
    static const char digits[] = "0123456789ABCDEF";
    if (strlen(stored) != 6 || strncmp(stored, "<0x", 3) != 0 || stored[5] != '>') return -1;
    const char *high = strchr(digits, stored[3]), *low = strchr(digits, stored[4]);
    return high && low ? (int)(16 * (high - digits) + (low - digits)) : -1;
}

static void fill_token(infc_arena *arena, infc_bpe_parts *parts, infc_bpe_token *token) {
    const uint32_t id = (uint32_t)(token - parts->tokens);
    const int byte = infc_byte_token(token->stored);
    const infc_bytes as_is = {(const uint8_t *)token->stored, strlen(token->stored)};
    if (token->flags & INFRT_TOKEN_ADDED)
        token->text = parts->t.joiners ? infc_joined_text(arena, token->stored) : as_is;
    else if (parts->t.byte_level) {
        if (infc_byte_level_text(arena, token->stored, &token->text)) token->flags |= INFC_BPE_WORD;
        else token->text = as_is;
        if (token->flags & INFC_BPE_WORD && token->text.len == 1)
            parts->byte_ids[token->text.ptr[0]] = id;
    } else if (token->flags & INFRT_TOKEN_BYTE && byte >= 0) {
        char *text = infc_arena_copy_string(arena, "", 1);
        *text = (char)byte;
        token->text = (infc_bytes){(const uint8_t *)text, 1};
        parts->byte_ids[byte] = id;
    } else {
        token->text = parts->t.joiners ? infc_joined_text(arena, token->stored) : as_is;
        if (!parts->t.joiners || !strchr(token->stored, ' ')) token->flags |= INFC_BPE_WORD;
    }
}

void infc_bpe_fill(infc_arena *arena, infc_bpe_parts *parts) {
    for (size_t i = 0; i < parts->n_tokens; i++)
        if (parts->tokens[i].stored) fill_token(arena, parts, &parts->tokens[i]);
}

static void put_u32(infc_buf *out, uint32_t value) {
    const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                             (uint8_t)(value >> 24)};
    infc_buf_put(out, bytes, sizeof bytes);
}

static const unsigned char *table(infc_buf *buf) {
    return buf->len ? (const unsigned char *)buf->data : NULL;
}

static void pieces(infc_arena *arena, const infc_bpe_parts *parts, infrt_tokenizer *out) {
    infc_buf at = {.arena = arena}, text = {.arena = arena}, flags = {.arena = arena};
    for (size_t i = 0; i < parts->n_tokens; i++) {
        const infc_bpe_token *token = &parts->tokens[i];
        const uint8_t kept = (uint8_t)token->flags;
        put_u32(&at, (uint32_t)text.len);
        infc_buf_put(&text, token->text.ptr, token->text.len);
        infc_buf_put(&flags, &kept, 1);
        if (token->text.len > out->most_bytes) out->most_bytes = (uint32_t)token->text.len;
    }
    put_u32(&at, (uint32_t)text.len);
    out->n_tokens = (uint32_t)parts->n_tokens;
    out->piece_at = table(&at), out->pieces = table(&text), out->flags = table(&flags);
}

/* A string to sort, and which token it is. */
typedef struct entry {
    infc_bytes text;
    uint32_t id;
} entry;

static int by_bytes(const void *a, const void *b) {
    const entry *x = a, *y = b;
    const size_t n = x->text.len < y->text.len ? x->text.len : y->text.len;
    const int order = n ? memcmp(x->text.ptr, y->text.ptr, n) : 0;
    if (order) return order;
    if (x->text.len != y->text.len) return x->text.len < y->text.len ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* Tokens with all of `flags` and none of `without`, ascending by their bytes, each string once: the text of words, the
 * stored spelling of added tokens. */
static size_t sorted(infc_arena *arena, const infc_bpe_parts *parts, unsigned flags,
                     unsigned without, entry **out) {
    entry *entries = *out = INFC_NEW(arena, entry, parts->n_tokens + 1);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < parts->n_tokens; i++) {
        const infc_bpe_token *token = &parts->tokens[i];
        const bool added = flags & INFRT_TOKEN_ADDED;
        if ((token->flags & flags) != flags || token->flags & without || !token->text.len) continue;
        const infc_bytes stored = {(const uint8_t *)token->stored, strlen(token->stored)};
        entries[n++] = (entry){added ? stored : token->text, (uint32_t)i};
    }
    infc_sort(entries, n, sizeof *entries, by_bytes);
    for (size_t i = 0; i < n; i++) {
        const entry *last = kept ? &entries[kept - 1] : NULL;
        if (last && last->text.len == entries[i].text.len &&
            memcmp(last->text.ptr, entries[i].text.ptr, last->text.len) == 0)
            continue;
        entries[kept++] = entries[i];
    }
    return kept;
}

static infrt_token_list list(infc_arena *arena, const entry *entries, size_t n) {
    infc_buf ids = {.arena = arena}, at = {.arena = arena}, texts = {.arena = arena};
    for (size_t i = 0; i < n; i++) {
        put_u32(&ids, entries[i].id);
        put_u32(&at, (uint32_t)texts.len);
        infc_buf_put(&texts, entries[i].text.ptr, entries[i].text.len);
    }
    if (n) put_u32(&at, (uint32_t)texts.len);
    return (infrt_token_list){(uint32_t)n, table(&ids), table(&at), table(&texts)};
}

/* Those that are looked for after normalising are spelt as it leaves them. */
static infrt_token_list normalized(infc_arena *arena, const infc_bpe_parts *parts) {
    entry *entries;
    const size_t n = sorted(arena, parts, INFRT_TOKEN_ADDED | INFC_BPE_NORMALIZED, 0, &entries);
    for (size_t i = 0; i < n; i++) {
        const char *stored = parts->tokens[entries[i].id].stored;
        infc_bytes text = parts->t.joiners ? infc_joined_text(arena, stored) : entries[i].text;
        if (parts->t.prefix == INFRT_PREFIX_ALWAYS) {
            infc_buf spaced = {.arena = arena};
            infc_buf_puts(&spaced, " ");
            infc_buf_put(&spaced, text.ptr, text.len);
            text = infc_buf_bytes(&spaced);
        }
        entries[i].text = text;
    }
    infc_sort(entries, n, sizeof *entries, by_bytes);
    return list(arena, entries, n);
}

static int by_pair(const void *a, const void *b) {
    const infc_bpe_merge *x = a, *y = b;
    if (x->left != y->left) return x->left < y->left ? -1 : 1;
    if (x->right != y->right) return x->right < y->right ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of a pair that is there twice the last one counts, as it does in the `tokenizers` package. */
static void merges(infc_arena *arena, infc_bpe_parts *parts, infrt_tokenizer *out) {
    infc_buf at = {.arena = arena}, rows = {.arena = arena};
    uint32_t left = 0, n = 0;
    infc_sort(parts->merges, parts->n_merges, sizeof *parts->merges, by_pair);
    put_u32(&at, 0);
    for (size_t i = 0; i < parts->n_merges; i++) {
        const infc_bpe_merge *m = &parts->merges[i], *next = i + 1 < parts->n_merges ? m + 1 : NULL;
        if (next && next->left == m->left && next->right == m->right) continue;
        if (parts->tokens[m->id].flags & INFRT_TOKEN_CONTROL) continue;
        for (; left < m->left; left++) put_u32(&at, n);
        put_u32(&rows, m->right);
        put_u32(&rows, m->rank);
        put_u32(&rows, m->id);
        n++;
    }
    for (; left < parts->n_tokens; left++) put_u32(&at, n);
    out->merge_at = table(&at), out->merges = table(&rows);
}

/* Whether dividing a text where runs of spaces begin leaves every merge possible. */
static bool may_divide(const infc_bpe_parts *parts) {
    bool space = false;
    for (size_t i = 0; i < parts->n_tokens && !space; i++) {
        const infc_bpe_token *token = &parts->tokens[i];
        space = token->flags & INFC_BPE_WORD && token->text.len == 1 && token->text.ptr[0] == ' ';
    }
    for (size_t i = 0; i < parts->n_merges && space; i++) {
        const infc_bytes left = parts->tokens[parts->merges[i].left].text,
                         right = parts->tokens[parts->merges[i].right].text;
        if (left.len && right.len) space = left.ptr[left.len - 1] == ' ' || right.ptr[0] != ' ';
    }
    return space;
}

void infc_bpe_tables(infc_arena *arena, infc_bpe_parts *parts, infrt_tokenizer *out) {
    entry *entries;
    infc_buf ids = {.arena = arena}, bytes = {.arena = arena};
    *out = parts->t;
    pieces(arena, parts, out);
    out->n_sorted = (uint32_t)sorted(arena, parts, INFC_BPE_WORD, 0, &entries);
    for (uint32_t i = 0; i < out->n_sorted; i++) put_u32(&ids, entries[i].id);
    out->sorted = table(&ids);
    for (int i = 0; i < 256; i++) put_u32(&bytes, parts->byte_ids[i]);
    out->byte_ids = table(&bytes);
    merges(arena, parts, out);
    const size_t n = sorted(arena, parts, INFRT_TOKEN_ADDED, INFC_BPE_NORMALIZED, &entries);
    out->added = list(arena, entries, n);
    out->added_normalized = normalized(arena, parts);
    if (out->words == INFRT_WORDS_NONE && !out->byte_level && may_divide(parts))
        out->words = INFRT_WORDS_RUNS;
    if (out->words == INFRT_WORDS_GPT2 || out->words == INFRT_WORDS_LLAMA3)
        infc_bpe_classes(arena, out);
}
