/* bpe_names.c - the pre-tokenizers that runtime/text/token_words.c knows. A regular expression is known when its text
 * is here: whoever adds one shows that the code finds the same words. */
#include "bpe_parts.h"
#include <string.h>

typedef struct known_words {
    const char *name;
    uint8_t words, most_digits, digits_alone, ignore_case, whole_words;
} known_words;

static const known_words by_name[] = {
    {"gpt-2", INFRT_WORDS_GPT2, 0, 0, 0, 0},       {"smollm", INFRT_WORDS_GPT2, 0, 1, 0, 0},
    {"llama-bpe", INFRT_WORDS_LLAMA3, 3, 0, 1, 1}, {"llama3", INFRT_WORDS_LLAMA3, 3, 0, 1, 1},
    {"llama-v3", INFRT_WORDS_LLAMA3, 3, 0, 1, 1},  {"qwen2", INFRT_WORDS_LLAMA3, 1, 0, 1, 0},
};

#define LLAMA3_LIKE(digits)                                              \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"                                   \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const known_words by_pattern[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     INFRT_WORDS_GPT2, 0, 0, 0, 0},
    {LLAMA3_LIKE("\\p{N}{1,3}"), INFRT_WORDS_LLAMA3, 3, 0, 1, 0},
    {LLAMA3_LIKE("\\p{N}"), INFRT_WORDS_LLAMA3, 1, 0, 1, 0},
};

static bool find(const known_words *known, size_t n, const char *name, infrt_tokenizer *t) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        t->words = known[i].words, t->most_digits = known[i].most_digits;
        t->digits_alone |= known[i].digits_alone;
        t->ignore_case = known[i].ignore_case;
        t->whole_words |= known[i].whole_words;
        return true;
    }
    return false;
}

bool infc_bpe_words_by_name(const char *name, infrt_tokenizer *t) {
    return find(by_name, sizeof by_name / sizeof *by_name, name, t);
}

bool infc_bpe_words_by_pattern(const char *pattern, infrt_tokenizer *t) {
    return find(by_pattern, sizeof by_pattern / sizeof *by_pattern, pattern, t);
}
