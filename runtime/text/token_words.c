/* token_words.c - where a text is divided into words: what the regular expressions of the known tokenizers find, as
 * code. Each word is looked at once, white space at most twice.
 * SPDX-License-Identifier: MIT */
#include "token_tables.h"
#include "utf8.h"

int infrt_is_space(uint32_t c) {
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

typedef struct reader {
    const infrt_tokenizer *t;
    const char *text;
    size_t n;
} reader;

/* The class of the character at `at`, and where it ends; at the end of the text: -1. */
static int class_at(const reader *r, size_t at, size_t *end) {
    size_t length = 0;
    *end = at;
    if (at >= r->n) return -1;
    const uint32_t c = infrt_utf8_next(r->text + at, r->n - at, &length);
    *end = at + length;
    return (int)infrt_class_of(r->t, c);
}

/* Where the run of `class` from `at` on ends, of at most `most` characters; 0: any number. */
static size_t run(const reader *r, int class, size_t at, unsigned most) {
    size_t end;
    for (unsigned n = 0; (most == 0 || n < most) && class_at(r, at, &end) == class; n++) at = end;
    return at;
}

static int is_line_end(const reader *r, size_t at) {
    return at < r->n && (r->text[at] == '\n' || r->text[at] == '\r');
}

static int same_letter(const reader *r, char c, char lower) {
    return c == lower || (r->t->ignore_case && c == lower - 'a' + 'A');
}

/* 's 't 're 've 'm 'll 'd: its length, else 0. */
static size_t contraction(const reader *r) {
    static const char two[][2] = {{'r', 'e'}, {'v', 'e'}, {'l', 'l'}};
    if (r->n < 2 || r->text[0] != '\'') return 0;
    for (const char *one = "stmd"; *one; one++)
        if (same_letter(r, r->text[1], *one)) return 2;
    if (r->n < 3) return 0;
    if (r->t->ignore_case && r->text[1] == '\xc5' && r->text[2] == '\xbf')
        return 3; /* U+017F is an s */
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (same_letter(r, r->text[1], two[i][0]) && same_letter(r, r->text[2], two[i][1]))
            return 3;
    return 0;
}

/* Of white space that nothing else takes: all of it at the end of a text, else all but the last character. */
static size_t space_word(const reader *r, int ends_at_numbers) {
    size_t at = 0, last = 0, end;
    while (class_at(r, at, &end) == INFRT_CLASS_SPACE) last = at, at = end;
    const int next = class_at(r, at, &end);
    if (next < 0 || (ends_at_numbers && next == INFRT_CLASS_NUMBER)) return at;
    return last > 0 ? last : at;
}

static size_t gpt2_word(const reader *r) {
    const size_t short_word = contraction(r);
    const int alone = r->t->digits_alone;
    size_t end;
    if (short_word) return short_word;
    if (alone && class_at(r, 0, &end) == INFRT_CLASS_NUMBER) return end;
    const size_t first = r->text[0] == ' ';
    const int class = class_at(r, first, &end);
    if (class >= 0 && class != INFRT_CLASS_SPACE && !(alone && class == INFRT_CLASS_NUMBER))
        return run(r, class, end, 0);
    return space_word(r, alone);
}

static size_t llama3_word(const reader *r) {
    const size_t short_word = contraction(r);
    size_t first, second, end;
    if (short_word) return short_word;
    const int class = class_at(r, 0, &first);
    if (class == INFRT_CLASS_LETTER) return run(r, class, first, 0);
    if (class == INFRT_CLASS_NUMBER) return run(r, class, 0, r->t->most_digits);
    if (!is_line_end(r, 0) && class_at(r, first, &second) == INFRT_CLASS_LETTER)
        return run(r, INFRT_CLASS_LETTER, second, 0);
    const size_t signs = r->text[0] == ' ';
    if (class_at(r, signs, &end) == INFRT_CLASS_OTHER) {
        end = run(r, INFRT_CLASS_OTHER, end, 0);
        while (is_line_end(r, end)) end++;
        return end;
    }
    size_t at = 0, lines = 0;
    while (class_at(r, at, &end) == INFRT_CLASS_SPACE) {
        if (is_line_end(r, at)) lines = end;
        at = end;
    }
    return lines ? lines : space_word(r, 0);
}

/* Up to the next space; `runs`: the next after something else. */
static size_t spaced_word(const char *text, size_t n, int runs) {
    size_t at = 1;
    while (at < n && (text[at] != ' ' || (runs && text[at - 1] == ' '))) at++;
    return at;
}

size_t infrt_word_next(const infrt_tokenizer *t, const char *text, size_t n) {
    const reader r = {t, text, n};
    switch (t->words) {
    case INFRT_WORDS_GPT2: return gpt2_word(&r);
    case INFRT_WORDS_LLAMA3: return llama3_word(&r);
    case INFRT_WORDS_SPACES: return spaced_word(text, n, 0);
    case INFRT_WORDS_RUNS: return spaced_word(text, n, 1);
    default: return n;
    }
}
