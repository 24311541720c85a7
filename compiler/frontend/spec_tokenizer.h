/* spec_tokenizer.h - tokenizer.json of a model that takes word pieces. */
#ifndef INFC_SPEC_TOKENIZER_H
#define INFC_SPEC_TOKENIZER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct infc_token {
    const char *text; /* UTF-8, not empty */
    uint32_t id;
} infc_token;

typedef struct infc_wordpiece {
    infc_token *tokens, *added; /* ascending by their bytes, each once; added: found in the raw text */
    size_t n_tokens, n_added;
    const char *prefix;                             /* of pieces that words do not begin with */
    uint32_t unknown, pad, most_chars, most_tokens; /* most_tokens 0: any number */
    uint32_t before[8], after[8];                   /* around each text */
    size_t n_before, n_after;
    bool clean, han, strip_accents, lowercase;
} infc_wordpiece;

#endif
