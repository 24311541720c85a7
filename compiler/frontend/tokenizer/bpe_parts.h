/* bpe_parts.h - a tokenizer while it is read: tokens, merges and switches, from which the tables are made. */
#ifndef INFC_BPE_PARTS_H
#define INFC_BPE_PARTS_H
#include "bpe_tokenizer.h"

enum {
    INFC_BPE_MOST_TOKENS = 1 << 20,
    INFC_BPE_MOST_MERGES = 1 << 22,
    INFC_BPE_MOST_BYTES = 1000, /* of a token */
    INFC_BPE_WORD = 0x100,      /* flag of a token: words can become it */
    INFC_BPE_NORMALIZED = 0x200 /* flag of an added one: looked for in the normalised text */
};

typedef struct infc_bpe_token {
    infc_bytes text;    /* what it stands for: bytes of the text */
    const char *stored; /* as the file spells it; null: no token has this id */
    unsigned flags;     /* INFRT_TOKEN_ and those above */
} infc_bpe_token;

typedef struct infc_bpe_merge {
    uint32_t left, right, rank, id;
} infc_bpe_merge;

typedef struct infc_bpe_parts {
    infrt_tokenizer t; /* the switches */
    infc_bpe_token *tokens;
    size_t n_tokens;
    infc_map ids; /* of the stored spelling */
    infc_bpe_merge *merges;
    size_t n_merges, cap_merges;
    uint32_t byte_ids[256]; /* UINT32_MAX: none */
} infc_bpe_parts;

/* Room for ids below n, no tokens yet. */
void infc_bpe_begin(infc_arena *arena, infc_bpe_parts *parts, size_t n);
/* Texts of `stored` spellings. Byte-level: false when it is not written in that alphabet. */
bool infc_byte_level_text(infc_arena *arena, const char *stored, infc_bytes *out);
infc_bytes infc_joined_text(infc_arena *arena, const char *stored); /* U+2581 becomes a space */
/* "<0x0A>": the byte, else -1. */
int infc_byte_token(const char *stored);

/* Texts, flags and byte_ids of all tokens from their spellings: which are words' and which are bytes. */
void infc_bpe_fill(infc_arena *arena, infc_bpe_parts *parts);
/* The tables; merges into control tokens are left out. */
void infc_bpe_tables(infc_arena *arena, infc_bpe_parts *parts, infrt_tokenizer *out);

/* bpe_classes.c: classes of code points by the version of Unicode that utf8proc holds. */
void infc_bpe_classes(infc_arena *arena, infrt_tokenizer *t);

/* bpe_steps.c: normalizer, pre_tokenizer, decoder, post_processor of tokenizer.json. */
struct json_t;
infc_status infc_bpe_steps(infc_cx *cx, const char *path, const struct json_t *root, infc_bpe_parts *parts);

/* bpe_names.c: switches by the name of a pre-tokenizer of GGUF, or by its regular expression; false: not known. */
bool infc_bpe_words_by_name(const char *name, infrt_tokenizer *t);
bool infc_bpe_words_by_pattern(const char *pattern, infrt_tokenizer *t);

#endif
