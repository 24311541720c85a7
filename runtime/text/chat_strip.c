/* chat_strip.c - texts without their ends, and in pieces.
 * SPDX-License-Identifier: MIT */
#include "chat_state.h"
#include "token_tables.h"
#include "utf8.h"

/* What Python's str.strip takes away. */
static int is_space(uint32_t c) { return infrt_is_space(c) || (c >= 0x1c && c <= 0x1f); }

static int goes(uint32_t c, const infrt_value *set) {
    size_t length;
    if (!set) return is_space(c);
    for (size_t at = 0; at < set->n; at += length)
        if (infrt_utf8_next(set->text + at, set->n - at, &length) == c) return 1;
    return 0;
}

/* Where the character begins that ends at `end`. */
static size_t last_begin(const infrt_value *text, size_t begin, size_t end) {
    size_t at = end - 1, length;
    while (at > begin && end - at < 4 && ((unsigned char)text->text[at] & 0xc0) == 0x80) at--;
    (void)infrt_utf8_next(text->text + at, end - at, &length);
    return at + length == end ? at : end - 1;
}

infrt_value infrt_value_strip(const infrt_value *text, const infrt_value *set, unsigned sides) {
    size_t begin = 0, end = text->n, length;
    for (; sides & 1 && begin < end; begin += length)
        if (!goes(infrt_utf8_next(text->text + begin, end - begin, &length), set)) break;
    while (sides & 2 && end > begin) {
        const size_t at = last_begin(text, begin, end);
        if (!goes(infrt_utf8_next(text->text + at, end - at, &length), set)) break;
        end = at;
    }
    return infrt_value_part(text, begin, end);
}

/* The next piece from *at on, and where the one after it begins; 0: there is none. Without a separator words of other
 * characters than white space are the pieces. */
static int next_piece(const infrt_value *text, const infrt_value *separator, int last, size_t *at,
                      infrt_value *out) {
    size_t length = 0, end;
    if (*at > text->n) return 0;
    if (separator) {
        end = last ? text->n : infrt_value_find(text, *at, separator);
        *out = infrt_value_part(text, *at, end);
        *at = end == text->n ? text->n + 1 : end + separator->n;
        return 1;
    }
    const infrt_value rest = infrt_value_part(text, *at, text->n);
    const infrt_value word = infrt_value_strip(&rest, NULL, 1);
    *at = text->n - word.n;
    if (word.n == 0) return 0;
    for (end = 0; end < word.n && !last; end += length)
        if (is_space(infrt_utf8_next(word.text + end, word.n - end, &length))) break;
    *out = infrt_value_part(&word, 0, last ? word.n : end);
    *at = last ? text->n + 1 : *at + end;
    return 1;
}

infrt_value infrt_value_split(infrt_chat_state *s, const infrt_value *text,
                              const infrt_value *separator, int64_t most) {
    infrt_value piece;
    size_t n = 0;
    if (separator && separator->n == 0) return infrt_chat_wrong(s, "split by an empty text");
    for (size_t at = 0; next_piece(text, separator, most >= 0 && (uint64_t)most == n, &at, &piece);)
        n++;
    infrt_value list = infrt_value_list(s, n);
    size_t at = 0;
    for (size_t i = 0; i < list.n; i++)
        (void)next_piece(text, separator, most >= 0 && (uint64_t)most == i, &at, &list.items[i]);
    return list;
}
