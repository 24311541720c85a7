/* token_decode.c - ids to text, whole characters at a time.
 * SPDX-License-Identifier: MIT */
#include "tokenizer.h"
#include "utf8.h"
#include <string.h>

void infrt_detokenizer_init(infrt_detokenizer *d, const infrt_tokenizer *t, int control, int middle) {
    *d = (infrt_detokenizer){.tokenizer = t, .control = control, .n_strip = middle ? 0 : t->strip};
}

/* Each byte may end what was held back and be wrong itself; U+FFFD takes three. */
size_t infrt_detokenizer_room(const infrt_tokenizer *t) { return 3 * ((size_t)t->most_bytes + 2); }

static size_t put_bad(char *out) { return infrt_utf8_put(INFRT_UTF8_BAD, out); }

/* Writes at most 6 bytes: what was held turns out wrong, and so does this. */
static size_t put_byte(infrt_detokenizer *d, unsigned char byte, char *out) {
    size_t n = 0;
    if (d->n_held > 0 && !infrt_utf8_goes_on(d->held[0], d->n_held, byte)) {
        n = put_bad(out);
        d->n_held = 0;
    }
    if (d->n_held == 0 && infrt_utf8_length(byte) == 0) return n + put_bad(out + n);
    d->held[d->n_held++] = byte;
    if (d->n_held < infrt_utf8_length(d->held[0])) return n;
    memcpy(out + n, d->held, d->n_held);
    n += d->n_held;
    d->n_held = 0;
    return n;
}

/* Of a piece, the beginning of the text included. */
static size_t put_of_piece(infrt_detokenizer *d, char byte, char *out) {
    if (d->n_strip > 0 && byte == ' ') {
        d->n_strip--;
        return 0;
    }
    d->n_strip = 0;
    return put_byte(d, (unsigned char)byte, out);
}

/* What the id adds to a text; null: nothing. */
static const char *shown(const infrt_detokenizer *d, int32_t id, size_t *n) {
    const char *piece = infrt_token_piece(d->tokenizer, id, n);
    if (!d->control && (infrt_token_flags(d->tokenizer, id) & INFRT_TOKEN_CONTROL)) *n = 0;
    return piece;
}

size_t infrt_detokenizer_put(infrt_detokenizer *d, int32_t id, char *out) {
    size_t bytes, n = 0;
    const char *piece = shown(d, id, &bytes);
    for (size_t i = 0; i < bytes; i++) n += put_of_piece(d, piece[i], out + n);
    return n;
}

size_t infrt_detokenizer_end(infrt_detokenizer *d, char *out) {
    const size_t n = d->n_held ? put_bad(out) : 0;
    d->n_held = 0;
    return n;
}

typedef struct output {
    char *to;
    size_t n, room; /* n: all so far */
} output;

static void append(output *out, const char *text, size_t n) {
    const size_t left = out->n < out->room ? out->room - out->n : 0, kept = n < left ? n : left;
    if (kept) memcpy(out->to + out->n, text, kept);
    out->n += n;
}

/* One byte of a piece at a time, so that no room for a whole one is needed. */
size_t infrt_decode(const infrt_tokenizer *t, const int32_t *ids, size_t n_ids, int control,
                    char *out, size_t room) {
    infrt_detokenizer d;
    output to = {out, 0, room};
    char some[6];
    infrt_detokenizer_init(&d, t, control, 0);
    for (size_t i = 0; i < n_ids; i++) {
        size_t bytes;
        const char *piece = shown(&d, ids[i], &bytes);
        for (size_t k = 0; k < bytes; k++) append(&to, some, put_of_piece(&d, piece[k], some));
    }
    append(&to, some, infrt_detokenizer_end(&d, some));
    return to.n;
}
