/* wordpiece.h - text as the token ids of BERT and its kin: normalised, split at spaces and punctuation, each word cut
 * greedily into the longest pieces of the vocabulary.
 *
 * Static functions: generated code and tests include it; the tables are made at compile time. No memory but a few
 * hundred bytes of stack, no libc. The same ids as the `tokenizers` package gives. Bytes that are not UTF-8 count as
 * U+FFFD.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_WORDPIECE_H
#define INFRT_WORDPIECE_H
#include <stddef.h>
#include <stdint.h>

enum {
    INFRT_WORD_CHARS = 256,
    INFRT_CHAR_DROPPED = 1,
    INFRT_CHAR_SPACE = 2,
    INFRT_CHAR_PUNCTUATION = 4
};

/* Strings in ascending order of their bytes: text[at[i]] to text[at[i + 1]], and what each stands for. */
typedef struct infrt_word_list {
    uint32_t n;
    const char *text;
    const uint32_t *at, *ids;
} infrt_word_list;

typedef struct infrt_wordpiece {
    infrt_word_list begin, inside; /* pieces that words begin with, and others without their prefix */
    infrt_word_list added;         /* looked for in the text as it was given */
    uint32_t unknown, pad, most_chars, most_tokens; /* most_tokens 0: any number */
    uint32_t n_before, n_after;
    const uint32_t *before, *after; /* around each text */
    uint8_t clean, han, decompose; /* drop control characters; CJK are words of their own; Hangul into its letters */
    uint32_t n_ranges;
    const uint32_t *first, *last; /* of code points of a class: INFRT_CHAR_ */
    const uint8_t *classes;
    uint32_t n_maps;
    const uint32_t *from, *maps; /* code points, ascending, and what they become: to[maps[i]] to to[maps[i + 1]] */
    const uint32_t *to;
} infrt_wordpiece;

/* One text on its way. */
typedef struct infrt_word_state {
    const infrt_wordpiece *w;
    uint32_t chars, bytes; /* of the word so far */
    int64_t n, most;       /* tokens */
    unsigned width;        /* of an id: 4 or 8 bytes */
    void *ids;             /* null: they are only counted */
    char word[4 * INFRT_WORD_CHARS];
} infrt_word_state;

static inline void infrt_word_store(void *to, unsigned width, int64_t at, int64_t value) {
    if (!to) return;
    if (width == 8) ((int64_t *)to)[at] = value;
    else ((int32_t *)to)[at] = (int32_t)value;
}

static inline void infrt_word_token(infrt_word_state *s, uint32_t id) {
    if (s->n < s->most) infrt_word_store(s->ids, s->width, s->n++, (int64_t)id);
}

static inline uint32_t infrt_code_point(const char *text, size_t n, size_t *length) {
    const unsigned char *p = (const unsigned char *)text;
    const uint32_t first = p[0], more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    *length = 1;
    if (more == 0) return first;
    if (first < 0xc2 || first > 0xf4 || n <= more) return 0xfffd;
    uint32_t c = first & (0x3fu >> more);
    for (uint32_t i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0xfffd;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0xfffd;
    *length = more + 1;
    return c;
}

/* The greatest i < n with values[i] <= c; n: there is none. */
static inline uint32_t infrt_code_find(const uint32_t *values, uint32_t n, uint32_t c) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (values[mid] <= c) low = mid + 1;
        else high = mid;
    }
    return low ? low - 1 : n;
}

static inline unsigned infrt_code_class(const infrt_wordpiece *w, uint32_t c) {
    const uint32_t i = infrt_code_find(w->first, w->n_ranges, c);
    return i < w->n_ranges && c <= w->last[i] ? w->classes[i] : 0;
}

static inline int infrt_code_is_han(uint32_t c) {
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
           (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
           (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

/* The longest string of `list` that `text` begins with: its length, 0 when there is none. */
static inline uint32_t infrt_word_longest(const infrt_word_list *list, const char *text, size_t n, uint32_t *id) {
    uint32_t low = 0, high = list->n, best = 0;
    for (uint32_t depth = 0; low < high; depth++) {
        if (list->at[low + 1] - list->at[low] == depth) { /* all of [low, high) begin with what was read */
            *id = list->ids[low];
            best = depth;
            low++;
        }
        if (depth == n) break;
        const unsigned char c = (unsigned char)text[depth];
        for (uint32_t end = high; low < end;) { /* low: the first whose next byte is not below c */
            const uint32_t mid = low + (end - low) / 2;
            if ((unsigned char)list->text[list->at[mid] + depth] < c) low = mid + 1;
            else end = mid;
        }
        for (uint32_t begin = low; begin < high;) { /* high: the first above it */
            const uint32_t mid = begin + (high - begin) / 2;
            if ((unsigned char)list->text[list->at[mid] + depth] <= c) begin = mid + 1;
            else high = mid;
        }
    }
    return best;
}

static inline void infrt_word_end(infrt_word_state *s) {
    const infrt_wordpiece *w = s->w;
    uint32_t pieces[INFRT_WORD_CHARS], n = 0;
    const uint32_t chars = s->chars, bytes = s->bytes;
    s->chars = s->bytes = 0;
    if (chars == 0) return;
    for (uint32_t at = 0; at < bytes && chars <= w->most_chars;) {
        const uint32_t length =
            infrt_word_longest(at ? &w->inside : &w->begin, s->word + at, bytes - at, &pieces[n]);
        if (length == 0) {
            n = 0;
            break;
        }
        at += length;
        n++;
    }
    if (n == 0) infrt_word_token(s, w->unknown);
    for (uint32_t i = 0; i < n; i++) infrt_word_token(s, pieces[i]);
}

static inline void infrt_word_char(infrt_word_state *s, uint32_t c) {
    const unsigned class = infrt_code_class(s->w, c);
    if (class & INFRT_CHAR_SPACE) {
        infrt_word_end(s);
        return;
    }
    if (class & INFRT_CHAR_PUNCTUATION) infrt_word_end(s);
    if (s->chars < INFRT_WORD_CHARS) {
        char *to = s->word + s->bytes;
        const uint32_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
        to[0] = (char)(lead[more] | c >> (6 * more));
        for (uint32_t i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
        s->bytes += more + 1;
        s->chars++;
    } else s->chars = INFRT_WORD_CHARS + 1; /* longer than any that is cut into pieces */
    if (class & INFRT_CHAR_PUNCTUATION) infrt_word_end(s);
}

/* A code point of the text: normalised. */
static inline void infrt_word_normal(infrt_word_state *s, uint32_t c) {
    const infrt_wordpiece *w = s->w;
    const int han = w->han && infrt_code_is_han(c);
    if (infrt_code_class(w, c) & INFRT_CHAR_DROPPED) return;
    if (han) infrt_word_end(s);
    const uint32_t i = infrt_code_find(w->from, w->n_maps, c);
    if (w->decompose && c >= 0xac00 && c < 0xac00 + 11172) {
        const uint32_t t = c - 0xac00;
        infrt_word_char(s, 0x1100 + t / 588);
        infrt_word_char(s, 0x1161 + t % 588 / 28);
        if (t % 28) infrt_word_char(s, 0x11a7 + t % 28);
    } else if (i < w->n_maps && w->from[i] == c) {
        for (uint32_t k = w->maps[i]; k < w->maps[i + 1]; k++) infrt_word_char(s, w->to[k]);
    } else infrt_word_char(s, c);
    if (han) infrt_word_end(s);
}

/* Writes at most `most` ids, those around the text included; returns how many. */
static inline int64_t infrt_wordpiece_upto(const infrt_wordpiece *w, const char *text, size_t n,
                                           int64_t most, unsigned width, void *ids) {
    infrt_word_state s = {.w = w, .most = most, .width = width, .ids = ids};
    for (uint32_t i = 0; i < w->n_before; i++) infrt_word_token(&s, w->before[i]);
    s.most = most - (int64_t)w->n_after;
    for (size_t at = 0, length; at < n && s.n < s.most; at += length) {
        uint32_t id;
        length = infrt_word_longest(&w->added, text + at, n - at, &id);
        if (length > 0) {
            infrt_word_end(&s);
            infrt_word_token(&s, id);
        } else infrt_word_normal(&s, infrt_code_point(text + at, n - at, &length));
    }
    infrt_word_end(&s);
    s.most = most;
    for (uint32_t i = 0; i < w->n_after; i++) infrt_word_token(&s, w->after[i]);
    return s.n;
}

/* The same, and no more than the tokenizer's own limit. */
static inline int64_t infrt_wordpiece_ids(const infrt_wordpiece *w, const char *text, size_t n,
                                          int64_t most, unsigned width, void *ids) {
    if (w->most_tokens && most > (int64_t)w->most_tokens) most = (int64_t)w->most_tokens;
    return infrt_wordpiece_upto(w, text, n, most, width, ids);
}

/* Inputs of `steps` tokens: ids filled up with padding, mask 1 for tokens and 0 for padding, types 0. mask and types
 * may be null. */
static inline void infrt_wordpiece_prepare(const infrt_wordpiece *w, const char *text, size_t n, int64_t steps,
                                           unsigned width, void *ids, void *mask, void *types) {
    const int64_t tokens = infrt_wordpiece_ids(w, text, n, steps, width, ids);
    for (int64_t i = 0; i < steps; i++) {
        if (i >= tokens) infrt_word_store(ids, width, i, (int64_t)w->pad);
        infrt_word_store(mask, width, i, i < tokens);
        infrt_word_store(types, width, i, 0);
    }
}

#endif
