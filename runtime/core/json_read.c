/* json_read.c - see json_read.h. */
#include "json_read.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>

void infrt_json_reader_init(infrt_json_reader *r, const char *text, size_t bytes) {
    *r = (infrt_json_reader){.begin = text, .at = text, .end = text + bytes, .spare = UINT32_MAX};
}

bool infrt_json_refuse(infrt_json_reader *r, const char *wrong) {
    if (!r->wrong) r->wrong = wrong;
    return false;
}

static bool spare_take(infrt_json_reader *r) {
    if (r->spare == 0) return infrt_json_refuse(r, "too many keys, or values that nobody reads");
    r->spare--;
    return true;
}

static int peek(const infrt_json_reader *r) { return r->at < r->end ? (unsigned char)*r->at : -1; }

static void space_skip(infrt_json_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool sign_take(infrt_json_reader *r, char sign) {
    space_skip(r);
    if (peek(r) != (unsigned char)sign) return false;
    r->at++;
    return true;
}

char infrt_json_next(infrt_json_reader *r) {
    space_skip(r);
    const int c = peek(r);
    if (c == '-' || (c >= '0' && c <= '9')) return '0';
    return c > 0 && strchr("{[\"tfn", c) ? (char)c : 0;
}

/* ---- strings ------------------------------------------------------------------------------------ */

static bool hex4(infrt_json_reader *r, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const int c = peek(r), digit = c >= '0' && c <= '9'   ? c - '0'
                                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                              : -1;
        if (digit < 0) return infrt_json_refuse(r, "\\u without four hexadecimal digits");
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

/* After the backslash. */
static bool escape(infrt_json_reader *r, uint32_t *out) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const int c = peek(r);
    const char *known = c > 0 ? strchr(names, c) : NULL;
    uint32_t low;
    if (known) {
        r->at++;
        *out = (unsigned char)values[known - names];
        return true;
    }
    if (c != 'u') return infrt_json_refuse(r, "a backslash before another sign than JSON knows");
    r->at++;
    if (!hex4(r, out)) return false;
    if (*out >= 0xdc00 && *out < 0xe000) return infrt_json_refuse(r, "half a character");
    if (*out < 0xd800 || *out >= 0xdc00) return true;
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
        return infrt_json_refuse(r, "half a character");
    r->at += 2;
    if (!hex4(r, &low)) return false;
    if (low < 0xdc00 || low >= 0xe000) return infrt_json_refuse(r, "half a character");
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool character(infrt_json_reader *r, uint32_t *out) {
    const int c = peek(r);
    if (c < 0) return infrt_json_refuse(r, "a string without an end");
    if (c < 0x20) return infrt_json_refuse(r, "a control character in a string");
    if (c == '\\') {
        r->at++;
        return escape(r, out);
    }
    size_t n;
    *out = infrt_utf8_next(r->at, (size_t)(r->end - r->at), &n);
    if (*out == INFRT_UTF8_BAD && !(n == 3 && c == 0xef))
        return infrt_json_refuse(r, "bytes that are not UTF-8");
    r->at += n;
    return true;
}

/* How many of the bytes that come next are characters of ASCII that stand for themselves. */
static size_t plain_bytes(const infrt_json_reader *r) {
    const char *at = r->at;
    while (at < r->end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - r->at);
}

/* out null: checked only. */
bool infrt_json_string_read(infrt_json_reader *r, char *out, size_t room) {
    size_t n = 0;
    if (!sign_take(r, '"')) return infrt_json_refuse(r, "not a string");
    while (peek(r) != '"') {
        uint32_t code;
        char bytes[4];
        const size_t plain = plain_bytes(r);
        if (out && plain && n + plain >= room)
            return infrt_json_refuse(r, "a string that is too long");
        if (out && plain) memcpy(out + n, r->at, plain);
        n += plain;
        r->at += plain;
        if (plain) continue;
        if (!character(r, &code)) return false;
        if (!out) continue;
        if (code == 0) return infrt_json_refuse(r, "a NUL in a string");
        const size_t length = infrt_utf8_put(code, bytes);
        if (n + length >= room) return infrt_json_refuse(r, "a string that is too long");
        memcpy(out + n, bytes, length);
        n += length;
    }
    r->at++;
    if (out) out[n] = 0;
    return true;
}

/* ---- numbers, words ----------------------------------------------------------------------------- */

static size_t digits_skip(infrt_json_reader *r) {
    const char *from = r->at;
    while (peek(r) >= '0' && peek(r) <= '9') r->at++;
    return (size_t)(r->at - from);
}

bool infrt_json_number(infrt_json_reader *r, double *out) {
    char text[1024]; /* more digits than a double can tell apart */
    space_skip(r);
    const char *from = r->at;
    bool good;
    if (peek(r) == '-') r->at++;
    const int first = peek(r);
    const size_t whole = digits_skip(r);
    good = whole == 1 || (whole > 1 && first != '0');
    if (good && peek(r) == '.') {
        r->at++;
        good = digits_skip(r) > 0;
    }
    if (good && (peek(r) == 'e' || peek(r) == 'E')) {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-') r->at++;
        good = digits_skip(r) > 0;
    }
    const size_t n = (size_t)(r->at - from);
    if (!good) return infrt_json_refuse(r, "not a number");
    if (n >= sizeof text) return infrt_json_refuse(r, "a number of more than 1023 characters");
    memcpy(text, from, n);
    text[n] = 0;
    *out = strtod(text, NULL);
    return true;
}

bool infrt_json_count(infrt_json_reader *r, uint64_t *out) {
    space_skip(r);
    const char *from = r->at;
    const size_t n = digits_skip(r);
    const int next = peek(r);
    *out = 0;
    if (n == 0 || n > 18 || (n > 1 && *from == '0') || next == '.' || next == 'e' || next == 'E')
        return infrt_json_refuse(r, "not a whole number");
    for (size_t i = 0; i < n; i++) *out = *out * 10 + (uint64_t)(from[i] - '0');
    return true;
}

bool infrt_json_whole(infrt_json_reader *r, bool *negative, uint64_t *out) {
    space_skip(r);
    *negative = peek(r) == '-';
    if (*negative) r->at++;
    const char *from = r->at;
    const size_t n = digits_skip(r);
    const int next = peek(r);
    bool fits = n > 0 && (n == 1 || *from != '0') && next != '.' && next != 'e' && next != 'E';
    *out = 0;
    for (size_t i = 0; i < n && fits; i++)
        fits = !__builtin_mul_overflow(*out, 10, out) &&
               !__builtin_add_overflow(*out, (uint64_t)(from[i] - '0'), out);
    return fits || infrt_json_refuse(r, "not a whole number");
}

bool infrt_json_word(infrt_json_reader *r, const char *word) {
    const size_t n = strlen(word);
    space_skip(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return infrt_json_refuse(r, "another value than is supported");
    r->at += n;
    return true;
}

/* ---- objects, arrays ---------------------------------------------------------------------------- */

static bool enter(infrt_json_reader *r, char sign) {
    if (!sign_take(r, sign))
        return infrt_json_refuse(r, sign == '{' ? "not an object" : "not an array");
    if (r->depth == INFRT_JSON_DEPTH) return infrt_json_refuse(r, "values nested too deeply");
    r->depth++;
    return true;
}

static bool leave(infrt_json_reader *r) {
    r->depth--;
    return true;
}

bool infrt_json_object(infrt_json_reader *r, infrt_json_take *take, void *self) {
    char key[INFRT_JSON_KEY];
    if (!enter(r, '{')) return false;
    if (sign_take(r, '}')) return leave(r);
    do {
        space_skip(r);
        if (!spare_take(r) || !infrt_json_string_read(r, key, sizeof key)) return false;
        if (!sign_take(r, ':')) return infrt_json_refuse(r, "a key without a value");
        if (!take(self, r, key)) return infrt_json_refuse(r, "refused");
    } while (sign_take(r, ','));
    return sign_take(r, '}') ? leave(r) : infrt_json_refuse(r, "an object without an end");
}

bool infrt_json_array(infrt_json_reader *r, infrt_json_take *take, void *self) {
    if (!enter(r, '[')) return false;
    if (sign_take(r, ']')) return leave(r);
    do
        if (!take(self, r, NULL)) return infrt_json_refuse(r, "refused");
    while (sign_take(r, ','));
    return sign_take(r, ']') ? leave(r) : infrt_json_refuse(r, "an array without an end");
}

static bool skip_one(void *self, infrt_json_reader *r, const char *key) {
    (void)self;
    (void)key;
    return infrt_json_skip(r);
}

bool infrt_json_skip(infrt_json_reader *r) {
    double number;
    if (!spare_take(r)) return false;
    switch (infrt_json_next(r)) {
    case '{': return infrt_json_object(r, skip_one, NULL);
    case '[': return infrt_json_array(r, skip_one, NULL);
    case '"': return infrt_json_string_read(r, NULL, 0);
    case '0': return infrt_json_number(r, &number);
    case 't': return infrt_json_word(r, "true");
    case 'f': return infrt_json_word(r, "false");
    case 'n': return infrt_json_word(r, "null");
    default: return infrt_json_refuse(r, "no value");
    }
}

bool infrt_json_end(infrt_json_reader *r) {
    space_skip(r);
    return r->at == r->end || infrt_json_refuse(r, "something after the value");
}
