/* utf8.h - characters of UTF-8, one byte at a time or one character at a time.
 * What is not UTF-8 is divided as Unicode advises: each maximal part of a well-formed character, else each byte, is one
 * U+FFFD (The Unicode Standard, chapter 3, "U+FFFD Substitution of Maximal Subparts").
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_UTF8_H
#define INFRT_UTF8_H
#include <stddef.h>
#include <stdint.h>

enum { INFRT_UTF8_BAD = 0xfffd };

/* Bytes of the character that begins with this one; 0: none does. */
static inline unsigned infrt_utf8_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Whether `next` may be byte number `at` >= 1 of a character that begins with `lead`. */
static inline int infrt_utf8_goes_on(unsigned char lead, unsigned at, unsigned char next) {
    unsigned low = 0x80, high = 0xbf;
    if (at == 1) {
        if (lead == 0xe0) low = 0xa0;
        if (lead == 0xed) high = 0x9f;
        if (lead == 0xf0) low = 0x90;
        if (lead == 0xf4) high = 0x8f;
    }
    return next >= low && next <= high;
}

/* The character that n > 0 bytes begin with, and its length; INFRT_UTF8_BAD and how many bytes that stands for. */
static inline uint32_t infrt_utf8_next(const char *text, size_t n, size_t *length) {
    const unsigned char *p = (const unsigned char *)text;
    const unsigned all = infrt_utf8_length(p[0]);
    uint32_t c = all > 1 ? p[0] & (0x7fu >> all) : p[0];
    *length = 1;
    if (all == 0) return INFRT_UTF8_BAD;
    for (; *length < all; ++*length) {
        if (*length == n || !infrt_utf8_goes_on(p[0], (unsigned)*length, p[*length]))
            return INFRT_UTF8_BAD;
        c = c << 6 | (p[*length] & 0x3fu);
    }
    return c;
}

/* Writes at most 4 bytes; returns how many. */
static inline unsigned infrt_utf8_put(uint32_t c, char *out) {
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    const unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    out[0] = (char)(leads[more] | c >> (6 * more));
    for (unsigned i = 1; i <= more; i++) out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

#endif
