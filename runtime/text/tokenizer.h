/* tokenizer.h - text to token ids and back: byte-level BPE (GPT-2, Llama 3, SmolLM2, Qwen) and BPE over characters with
 * byte fallback (SentencePiece as of Llama 2, Mistral, TinyLlama, Gemma).
 *
 * The tables are made at compile time and never written. Nothing is allocated: callers bring the memory. No libc but
 * mem*. Bytes that are not UTF-8 count as U+FFFD, one for each maximal part of a character, as Python's
 * errors="replace" does. Ids are those of the `tokenizers` package.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_TOKENIZER_H
#define INFRT_TOKENIZER_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of a token. */
enum {
    INFRT_TOKEN_CONTROL = 1, /* special: text never becomes it unless asked, and answers leave it out */
    INFRT_TOKEN_ADDED = 2,  /* found in the text as a whole, before words are made */
    INFRT_TOKEN_LSTRIP = 4, /* and takes the white space before it with it */
    INFRT_TOKEN_RSTRIP = 8, /* that after it */
    INFRT_TOKEN_BYTE = 16   /* stands for one byte that no other token covers */
};

/* How a text becomes words, in which merges then happen. */
enum {
    INFRT_WORDS_NONE = 0,   /* one word */
    INFRT_WORDS_GPT2 = 1,   /* "don't 123" is |don|'t| 123| */
    INFRT_WORDS_LLAMA3 = 2, /* a run of letters may begin with any one sign; digits are counted */
    INFRT_WORDS_SPACES = 3, /* each space begins one */
    INFRT_WORDS_RUNS = 4    /* each run of spaces begins one */
};

/* Whether a text gets a space before it, where it begins and after each added token. */
enum {
    INFRT_PREFIX_NONE = 0,
    INFRT_PREFIX_ALWAYS = 1, /* added tokens that are looked for in the normalised text see it */
    INFRT_PREFIX_UNLESS = 2, /* unless there is one */
    INFRT_PREFIX_FIRST = 3   /* the same, only at the very beginning */
};

enum {
    INFRT_CLASS_OTHER,
    INFRT_CLASS_LETTER,
    INFRT_CLASS_NUMBER,
    INFRT_CLASS_SPACE
}; /* of a code point */

/* Strings that are looked for in texts, ascending by their bytes: texts[at[i]] to texts[at[i + 1]] is ids[i]. */
typedef struct infrt_token_list {
    uint32_t n;
    const unsigned char *ids, *at, *texts;
} infrt_token_list;

/* Tables hold little-endian numbers of 32 bits, but for bytes: u8. Null when they have no elements. Texts are as they
 * are when decoded: spaces are spaces. */
typedef struct infrt_tokenizer {
    uint32_t n_tokens;   /* ids are below; a model may have more, which mean nothing */
    uint32_t most_bytes; /* of a piece */
    int32_t unknown;     /* for what no token covers; -1: it is left out */
    uint32_t n_before, n_after;
    int32_t before[4], after[4];   /* around a text, where asked */
    uint8_t byte_level;            /* words are made of bytes, else of characters */
    uint8_t words;                 /* INFRT_WORDS_ */
    uint8_t most_digits;           /* LLAMA3: of a word of digits; 0: any */
    uint8_t digits_alone;          /* GPT2: each digit is a word, and the text ends before it */
    uint8_t ignore_case;           /* of 's 't 're 've 'm 'll 'd */
    uint8_t whole_words;           /* a word that is a token is taken as it is */
    uint8_t fuse_unknown;          /* neighbouring unknown characters are one token */
    uint8_t prefix;                /* INFRT_PREFIX_ */
    uint8_t joiners;               /* U+2581 is a space too */
    uint8_t strip;                 /* decoding leaves out so many spaces at the beginning */
    const unsigned char *piece_at; /* [n_tokens + 1]: in pieces */
    const unsigned char *pieces;   /* u8: what ids stand for, as bytes of the text */
    const unsigned char *flags;    /* u8 [n_tokens]: INFRT_TOKEN_ */
    uint32_t n_sorted;             /* tokens that words can become */
    const unsigned char *sorted;   /* their ids, ascending by their bytes */
    const unsigned char *byte_ids; /* [256]: of single bytes; UINT32_MAX: none */
    const unsigned char *merge_at; /* [n_tokens + 1]: in merges, of a left part */
    const unsigned char *merges;   /* [][3]: right part, ascending; rank; id of both together */
    infrt_token_list added, added_normalized; /* looked for in the text as it is; then in what is left, normalised */
    const unsigned char *pages; /* u8 [0x1100]: of 256 code points, where in classes; null: all OTHER */
    const unsigned char *classes; /* u8 [][64]: two bits a code point, the lowest first: INFRT_CLASS_ */
} infrt_tokenizer;

/* The bytes that an id stands for, not always whole characters: borrowed, without a NUL. Null: there is no such id. */
const char *infrt_token_piece(const infrt_tokenizer *t, int32_t id, size_t *n);
unsigned infrt_token_flags(const infrt_tokenizer *t, int32_t id); /* 0 when there is no such id */
/* The token that is exactly these bytes, control tokens included; -1: none. */
int32_t infrt_token_find(const infrt_tokenizer *t, const char *text, size_t n);

/* A text in parts, one after another: `control` says whether control tokens may be found there. One is found only when
 * all of it lies in such parts, so what a user writes never becomes one, nor completes one. */
typedef struct infrt_text_part {
    size_t bytes;
    uint32_t control;
} infrt_text_part;

/* Bytes of scratch that encoding this text needs, some 30 per byte of valid text; 8 aligned. */
size_t infrt_encode_scratch(const infrt_tokenizer *t, const char *text, size_t n);
/* Returns how many ids the text becomes; the first `most` of them are written. `parts` cover the text; null: all of it
 * without control tokens. `around`: with the ids before and after a text (such as bos). Time is n log n for any. */
size_t infrt_encode(const infrt_tokenizer *t, const char *text, size_t n, const infrt_text_part *parts,
                    size_t n_parts, int around, void *scratch, int32_t *ids, size_t most);

/* Ids to text, one at a time: what comes out is always whole characters. Bytes that turn out not to be UTF-8 become
 * U+FFFD, as above; those that may still become a character are held back. */
typedef struct infrt_detokenizer {
    const infrt_tokenizer *tokenizer;
    int control; /* control tokens are shown, else left out */
    uint8_t n_held, n_strip;
    unsigned char held[4];
} infrt_detokenizer;

/* `middle`: what follows other text, so that no space is left out at the beginning. */
void infrt_detokenizer_init(infrt_detokenizer *d, const infrt_tokenizer *t, int control, int middle);
size_t infrt_detokenizer_room(const infrt_tokenizer *t); /* bytes that `out` below must have, for one call */
/* Returns how many bytes of text were written, without a NUL. Ids that do not exist give none. */
size_t infrt_detokenizer_put(infrt_detokenizer *d, int32_t id, char *out);
/* What was held back, as one U+FFFD; the text has ended. */
size_t infrt_detokenizer_end(infrt_detokenizer *d, char *out);

/* All ids at once. Returns the bytes of the text; at most `room` of them are written. */
size_t infrt_decode(const infrt_tokenizer *t, const int32_t *ids, size_t n_ids, int control,
                    char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
