/* bpe_gguf.c - the keys tokenizer.ggml.* of GGUF. Of kind "gpt2" the file has merges and the name of a pre-tokenizer;
 * of kind "llama" scores: two neighbours merge when what they make is a token, those of the highest score first. */
#include "../../base/sort.h"
#include <math.h>
#include <string.h>
#include "bpe_parts.h"

typedef struct reader {
    infc_cx *cx;
    const infc_gguf *gguf;
    infc_loc loc;
    infc_bpe_parts *parts;
    bool scores;
} reader;

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE }; /* token_type */

static const infc_gguf_value *find(const reader *r, const char *key) {
    return infc_gguf_find(r->gguf, infc_arena_printf(r->cx->arena, "tokenizer.ggml.%s", key));
}

static infc_status bad(const reader *r, const char *key, const char *what) {
    return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tokenizer.ggml.%s: %s", key, what);
}

/* An array of `n` elements of that type; n 0: of any number. */
static infc_status array(const reader *r, const char *key, infc_gguf_type type, uint64_t n,
                         const infc_gguf_value **out) {
    const infc_gguf_value *value = *out = find(r, key);
    if (!value || value->type != INFC_GGUF_array || value->element != type)
        return bad(r, key, "it is missing or no array of the right type");
    if (n && value->count != n) return bad(r, key, "it must have one element for each token");
    return INFC_OK;
}

static bool flag(const reader *r, const char *key, bool fallback) {
    uint64_t number;
    return infc_gguf_u64(find(r, key), &number) ? number != 0 : fallback;
}

static int32_t id_key(const reader *r, const char *key) {
    uint64_t id;
    if (!infc_gguf_u64(find(r, key), &id)) return -1;
    if (id < r->parts->n_tokens) return (int32_t)id;
    infc_warn(r->cx, r->loc, "key \"tokenizer.ggml.%s\": %llu is none of the %u ids of the tokenizer; it is left out",
              key, (unsigned long long)id, (unsigned)r->parts->n_tokens);
    return -1;
}

static infc_status token_text(const reader *r, infc_bytes text, const char **out) {
    if (text.len == 0 || text.len > INFC_BPE_MOST_BYTES || memchr(text.ptr, 0, text.len) ||
        !infc_text_is_utf8((const char *)text.ptr, text.len))
        return bad(r, "tokens", "one is empty, too long, or no text");
    *out = infc_arena_copy_string(r->cx->arena, (const char *)text.ptr, text.len);
    return INFC_OK;
}

static unsigned flags_of(const reader *r, uint64_t type) {
    switch (type) {
    case UNKNOWN:
    case CONTROL: return INFRT_TOKEN_ADDED | INFRT_TOKEN_CONTROL;
    case USER_DEFINED: return INFRT_TOKEN_ADDED;
    case BYTE: return r->scores ? INFRT_TOKEN_BYTE : 0;
    default: return 0;
    }
}

static infc_status read_tokens(const reader *r) {
    const infc_gguf_value *tokens, *types;
    INFC_TRY(array(r, "tokens", INFC_GGUF_string, 0, &tokens));
    if (tokens->count == 0 || tokens->count > INFC_BPE_MOST_TOKENS)
        return bad(r, "tokens", "there are none, or too many");
    infc_bpe_begin(r->cx->arena, r->parts, (size_t)tokens->count);
    INFC_TRY(array(r, "token_type", INFC_GGUF_i32, tokens->count, &types));
    infc_bytes rest = tokens->bytes;
    for (size_t i = 0; i < r->parts->n_tokens; i++) {
        infc_bpe_token *token = &r->parts->tokens[i];
        const infc_bytes text = infc_gguf_next_string(&rest);
        const uint64_t type = infc_little_endian(types->bytes.ptr + 4 * i, 4);
        if (text.len == 0 && type != CONTROL) continue; /* no text becomes it */
        INFC_TRY(token_text(r, text, &token->stored));
        token->flags = flags_of(r, type);
        if (type == UNKNOWN && r->parts->t.unknown < 0) r->parts->t.unknown = (int32_t)i;
        if (!infc_map_find(&r->parts->ids, token->stored, NULL))
            infc_map_put(&r->parts->ids, token->stored, i);
    }
    return INFC_OK;
}

static infc_status read_merges(const reader *r) {
    const infc_gguf_value *merges;
    infc_bpe_parts *parts = r->parts;
    INFC_TRY(array(r, "merges", INFC_GGUF_string, 0, &merges));
    if (merges->count > INFC_BPE_MOST_MERGES) return bad(r, "merges", "there are too many");
    parts->merges = INFC_NEW(r->cx->arena, infc_bpe_merge, (size_t)merges->count + 1);
    infc_bytes rest = merges->bytes;
    for (uint64_t i = 0; i < merges->count; i++) {
        const infc_bytes text = infc_gguf_next_string(&rest);
        const char *all = infc_arena_copy_string(r->cx->arena, (const char *)text.ptr, text.len);
        const char *space = text.len > 1 ? strchr(all + 1, ' ') : NULL;
        size_t left, right, both;
        if (!space || text.len > INFC_BPE_MOST_BYTES || strlen(all) != text.len)
            return bad(r, "merges", "one is no pair of tokens");
        const char *first = infc_arena_copy_string(r->cx->arena, all, (size_t)(space - all));
        const char *made = infc_arena_printf(r->cx->arena, "%s%s", first, space + 1);
        if (!infc_map_find(&parts->ids, first, &left) ||
            !infc_map_find(&parts->ids, space + 1, &right) || !infc_map_find(&parts->ids, made, &both))
            return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tokenizer.ggml.merges[%llu]: \"%.200s\" is not of tokens",
                             (unsigned long long)i, all);
        parts->merges[parts->n_merges++] =
            (infc_bpe_merge){(uint32_t)left, (uint32_t)right, (uint32_t)i, (uint32_t)both};
    }
    return INFC_OK;
}

typedef struct scored {
    float score;
    uint32_t id, rank;
} scored;

static int by_score(const void *a, const void *b) {
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Every division of a token into two tokens is a merge. */
static infc_status add_merges(const reader *r, const scored *token) {
    infc_bpe_parts *parts = r->parts;
    const char *text = parts->tokens[token->id].stored;
    for (size_t at = 1; text[at]; at++) {
        size_t left, right;
        if (((unsigned char)text[at] & 0xc0) == 0x80) continue;
        const char *first = infc_arena_copy_string(r->cx->arena, text, at);
        if (!infc_map_find(&parts->ids, first, &left) || !infc_map_find(&parts->ids, text + at, &right) ||
            parts->tokens[left].flags || parts->tokens[right].flags)
            continue;
        if (parts->n_merges == INFC_BPE_MOST_MERGES)
            return bad(r, "tokens", "they merge in too many ways");
        INFC_GROW(r->cx->arena, parts->merges, parts->n_merges, parts->cap_merges);
        parts->merges[parts->n_merges++] =
            (infc_bpe_merge){(uint32_t)left, (uint32_t)right, token->rank, token->id};
    }
    return INFC_OK;
}

static infc_status read_scores(const reader *r) {
    const infc_gguf_value *scores;
    infc_bpe_parts *parts = r->parts;
    size_t n = 0;
    INFC_TRY(array(r, "scores", INFC_GGUF_f32, parts->n_tokens, &scores));
    scored *tokens = INFC_NEW(r->cx->arena, scored, parts->n_tokens + 1);
    for (size_t i = 0; i < parts->n_tokens; i++) {
        const uint32_t bits = (uint32_t)infc_little_endian(scores->bytes.ptr + 4 * i, 4);
        scored *token = &tokens[n];
        memcpy(&token->score, &bits, sizeof bits);
        if (isnan(token->score)) return bad(r, "scores", "one is not a number");
        token->id = (uint32_t)i;
        n += parts->tokens[i].stored && parts->tokens[i].flags == 0;
    }
    infc_sort(tokens, n, sizeof *tokens, by_score);
    for (size_t i = 0; i < n; i++) {
        tokens[i].rank = i && tokens[i].score == tokens[i - 1].score ? tokens[i - 1].rank : (uint32_t)i;
        INFC_TRY(add_merges(r, &tokens[i]));
    }
    return INFC_OK;
}

static infc_status check_bytes(const reader *r) {
    int n = 0;
    for (size_t i = 0; i < r->parts->n_tokens; i++)
        n += (r->parts->tokens[i].flags & INFRT_TOKEN_BYTE) &&
             infc_byte_token(r->parts->tokens[i].stored) >= 0;
    return n == 0 || n == 256 ? INFC_OK : bad(r, "tokens", "those for single bytes must be <0x00> to <0xFF>");
}

static infc_status read_kind(reader *r) {
    const char *kind = infc_gguf_text(r->cx->arena, find(r, "model")),
               *pre = infc_gguf_text(r->cx->arena, find(r, "pre"));
    infrt_tokenizer *t = &r->parts->t;
    r->scores = kind && strcmp(kind, "llama") == 0;
    if (!r->scores && (!kind || strcmp(kind, "gpt2") != 0))
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         "tokenizer.ggml.model: \"%s\" is not supported, only gpt2 and llama",
                         kind ? kind : "");
    if (find(r, "precompiled_charsmap"))
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         "tokenizer.ggml.precompiled_charsmap: it is not supported");
    INFC_TRY(read_tokens(r));
    if (r->scores) {
        const bool prefix = flag(r, "add_space_prefix", true);
        t->joiners = 1, t->fuse_unknown = 1;
        t->prefix = prefix ? INFRT_PREFIX_ALWAYS : INFRT_PREFIX_NONE;
        t->strip = prefix;
        INFC_TRY(check_bytes(r));
        return read_scores(r);
    }
    t->byte_level = 1, t->unknown = -1;
    if (flag(r, "add_space_prefix", false)) t->prefix = INFRT_PREFIX_UNLESS;
    if (!pre || !infc_bpe_words_by_name(pre, t))
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         "tokenizer.ggml.pre: the pre-tokenizer \"%s\" is not supported", pre ? pre : "");
    return read_merges(r);
}

static void around(const reader *r, infc_tokenizer *out) {
    infrt_tokenizer *t = &out->tables;
    const bool llama3 = !r->scores && t->words == INFRT_WORDS_LLAMA3 && t->whole_words;
    if (flag(r, "add_bos_token", r->scores || llama3) && out->bos >= 0)
        t->before[t->n_before++] = out->bos;
    if (flag(r, "add_eos_token", false) && out->n_eos) t->after[t->n_after++] = out->eos[0];
}

infc_status infc_tokenizer_gguf(infc_cx *cx, const infc_gguf *gguf, infc_tokenizer *out) {
    static const char *const ends[] = {"eos_token_id", "eot_token_id", "eom_token_id"};
    infc_bpe_parts parts = {0};
    reader r = {.cx = cx, .gguf = gguf, .loc = {.file = gguf->path}, .parts = &parts};
    *out = (infc_tokenizer){.bos = -1};
    INFC_TRY(read_kind(&r));
    infc_bpe_fill(cx->arena, &parts);
    infc_bpe_tables(cx->arena, &parts, &out->tables);
    out->kind = r.scores ? "BPE over characters" : "byte-level BPE";
    out->bos = id_key(&r, "bos_token_id");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const int32_t id = id_key(&r, ends[i]);
        if (id >= 0) out->eos[out->n_eos++] = id;
    }
    around(&r, out);
    return INFC_OK;
}
