/* token_encode.c - a text to ids: added tokens are cut out of it first, what lies between is normalised, divided into
 * words, and each word merged.
 * SPDX-License-Identifier: MIT */
#include "token_tables.h"
#include "utf8.h"
#include <string.h>

/* Where control tokens may be; asked in ascending order. */
typedef struct allowed {
    const infrt_text_part *parts;
    size_t n, i, begin; /* part i begins there */
    size_t end;         /* of the parts from i on that allow them; no more than begin: not known */
} allowed;

/* Up to where control tokens may reach from `at` on; `at` when none may begin there. */
static size_t allowed_end(allowed *a, size_t at) {
    while (a->i < a->n && a->begin + a->parts[a->i].bytes <= at) a->begin += a->parts[a->i++].bytes;
    if (a->i == a->n || !a->parts[a->i].control) return at;
    if (a->end <= at) {
        a->end = a->begin;
        for (size_t i = a->i; i < a->n && a->parts[i].control; i++) a->end += a->parts[i].bytes;
    }
    return a->end;
}

typedef struct encoder {
    const infrt_tokenizer *t;
    const char *text;
    size_t n;
    allowed raw, normal; /* for the one search and the other */
    char *canonical;     /* room for a section; one byte before it is ours too */
    void *scratch;
    infrt_token_sink *sink;
} encoder;

/* A character as it counts: what is not UTF-8 is U+FFFD, U+2581 may be a space. Returns bytes written, at most 4. */
static unsigned canonical_put(const infrt_tokenizer *t, const char *text, size_t n, size_t *length, char *out) {
    uint32_t c = infrt_utf8_next(text, n, length);
    if (t->joiners && c == INFRT_JOINER) c = ' ';
    return infrt_utf8_put(c, out);
}

static void words(const encoder *e, const char *text, size_t n) {
    for (size_t at = 0, length; at < n; at += length) {
        length = infrt_word_next(e->t, text + at, n - at);
        const uint32_t id = e->t->whole_words ? infrt_word_token_find(e->t, text + at, length) : INFRT_NO_ID;
        if (id != INFRT_NO_ID) infrt_token_put(e->sink, id);
        else infrt_word_merge(e->t, text + at, length, e->scratch, e->sink);
    }
}

/* Canonical text without added tokens; `first`: the text begins with it. The byte before it is not needed any more. */
static void plain(const encoder *e, char *text, size_t n, int first) {
    const unsigned prefix = e->t->prefix;
    if (n == 0) return;
    if (text[0] != ' ' && (prefix == INFRT_PREFIX_UNLESS || (prefix == INFRT_PREFIX_FIRST && first))) {
        *--text = ' ';
        n++;
    }
    words(e, text, n);
}

/* A place in a section, in both forms. */
typedef struct place {
    size_t raw, canonical;
} place;

static place place_at(const encoder *e, place p, size_t canonical) {
    char out[4];
    if (p.canonical == 0 && canonical > 0 && e->t->prefix == INFRT_PREFIX_ALWAYS) p.canonical = 1;
    while (p.canonical < canonical) {
        size_t length;
        p.canonical += canonical_put(e->t, e->text + p.raw, e->n - p.raw, &length, out);
        p.raw += length;
    }
    return p;
}

typedef struct search {
    encoder *e;
    place place;    /* of the candidate */
    int normalized; /* in canonical text */
} search;

static int refuse(const void *self, uint32_t id, size_t n) {
    const search *s = self;
    if (!(s->e->t->flags[id] & INFRT_TOKEN_CONTROL)) return 0;
    if (!s->normalized) return s->place.raw + n > allowed_end(&s->e->raw, s->place.raw);
    return place_at(s->e, s->place, s->place.canonical + n).raw >
           allowed_end(&s->e->normal, s->place.raw);
}

/* White space before and after; in normalised text U+2581 stands where spaces were, which is none. */
static int is_stripped(uint32_t c, int joined) {
    return infrt_is_space(c) && !(joined && c == ' ');
}

static size_t spaces_before(const char *text, size_t begin, size_t at, int joined) {
    while (at > begin) {
        size_t from = at - 1, length;
        while (from > begin && at - from < 4 && ((unsigned char)text[from] & 0xc0) == 0x80) from--;
        if (!is_stripped(infrt_utf8_next(text + from, at - from, &length), joined) || from + length != at)
            break;
        at = from;
    }
    return at;
}

static size_t spaces_after(const char *text, size_t at, size_t n, int joined) {
    for (size_t length; at < n; at += length)
        if (!is_stripped(infrt_utf8_next(text + at, n - at, &length), joined)) break;
    return at;
}

/* An added token and where it lies, what it strips included. Tokens of white space may lie in what another one strips:
 * they count too, so the search goes on at `next`. */
typedef struct found {
    uint32_t id;
    size_t begin, end, next;
} found;

/* The first at or after out->next; what it strips before it ends at out->end. */
static int find_added(search *s, const infrt_token_list *list, const char *text, size_t n, found *out) {
    const infrt_token_filter filter = {refuse, s};
    const int prefix = s->e->t->prefix, joined = s->normalized && s->e->t->joiners && prefix <= INFRT_PREFIX_ALWAYS;
    if (list->n == 0) return 0;
    for (size_t at = out->next; at < n; at++) {
        if (s->normalized) s->place = place_at(s->e, s->place, at);
        else s->place.raw = at;
        if (s->normalized && s->place.canonical != at) continue; /* inside a character */
        const size_t length = infrt_token_longest(list, text + at, n - at, &filter, &out->id);
        if (length == 0) continue;
        const unsigned flags = s->e->t->flags[out->id];
        const size_t last = out->end;
        out->begin = flags & INFRT_TOKEN_LSTRIP ? spaces_before(text, last < at ? last : at, at, joined) : at;
        out->next = at + length;
        out->end = flags & INFRT_TOKEN_RSTRIP ? spaces_after(text, out->next, n, joined) : out->next;
        return 1;
    }
    return 0;
}

/* Text between added tokens that are looked for as they are. */
static void section(encoder *e, size_t begin, size_t end) {
    char *text = e->canonical;
    size_t n = 0, at = 0;
    if (begin == end) return;
    search s = {e, {begin, 0}, 1};
    if (e->t->prefix == INFRT_PREFIX_ALWAYS) text[n++] = ' ';
    for (size_t raw = begin, length; raw < end; raw += length)
        n += canonical_put(e->t, e->text + raw, end - raw, &length, text + n);
    for (found f = {0}; find_added(&s, &e->t->added_normalized, text, n, &f); at = f.end) {
        if (f.begin > at) plain(e, text + at, f.begin - at, begin == 0 && at == 0);
        infrt_token_put(e->sink, f.id);
    }
    plain(e, text + at, n - at, begin == 0 && at == 0);
}

static size_t canonical_bytes(const infrt_tokenizer *t, const char *text, size_t n) {
    size_t bytes = 1; /* a prefix */
    char out[4];
    for (size_t at = 0, length; at < n; at += length)
        bytes += canonical_put(t, text + at, n - at, &length, out);
    return bytes;
}

static size_t canonical_room(size_t bytes) { return (bytes + 16) / 8 * 8; }

size_t infrt_encode_scratch(const infrt_tokenizer *t, const char *text, size_t n) {
    const size_t bytes = canonical_bytes(t, text, n);
    return canonical_room(bytes) + infrt_merge_scratch(bytes);
}

size_t infrt_encode(const infrt_tokenizer *t, const char *text, size_t n, const infrt_text_part *parts,
                    size_t n_parts, int around, void *scratch, int32_t *ids, size_t most) {
    infrt_token_sink sink = {ids, 0, most};
    const allowed where = {.parts = parts, .n = parts ? n_parts : 0};
    encoder e = {.t = t,
                 .text = text,
                 .n = n,
                 .raw = where,
                 .normal = where,
                 .canonical = (char *)scratch + 1,
                 .scratch = (char *)scratch + canonical_room(canonical_bytes(t, text, n)),
                 .sink = &sink};
    search s = {&e, {0, 0}, 0};
    size_t at = 0;
    for (uint32_t i = 0; around && i < t->n_before; i++)
        infrt_token_put(&sink, (uint32_t)t->before[i]);
    for (found f = {0}; find_added(&s, &t->added, text, n, &f); at = f.end) {
        if (f.begin > at) section(&e, at, f.begin);
        infrt_token_put(&sink, f.id);
    }
    section(&e, at, n);
    for (uint32_t i = 0; around && i < t->n_after; i++)
        infrt_token_put(&sink, (uint32_t)t->after[i]);
    return sink.n;
}
