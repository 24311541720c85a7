/* http_parse.c - see http_parse.h. Lines are collected in `head` as they come and looked at when they end; a body is
 * handed on where it lies. */
#include "http_parse.h"
#include <string.h>

enum {
    LINE,      /* of the head */
    LINE_LF,   /* its CR has come */
    BODY_NEXT, /* the head is told about; what follows has not been chosen */
    BODY,
    CHUNK_SIZE,
    CHUNK_SIZE_LF,
    CHUNK,
    CHUNK_CR,
    CHUNK_LF,
    LAST_CR, /* after the chunk of size 0 */
    LAST_LF,
    DONE,
    BAD
};
enum { CHUNK_DIGITS = 8, LENGTH_DIGITS = 18 };

void infrt_http_begin(infrt_http *h, uint64_t body_most) {
    memset(h, 0, offsetof(infrt_http, fields)); /* the rest is counted */
    h->body_most = body_most;
    h->state = LINE;
}

bool infrt_http_began(const infrt_http *h) { return h->n_read > 0; }

static infrt_http_event bad(infrt_http *h, int status, const char *wrong) {
    h->state = BAD;
    h->status = status;
    h->wrong = wrong;
    return INFRT_HTTP_BAD;
}

/* ---- text --------------------------------------------------------------------------------------- */

static bool is_name(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same(const char *text, size_t n, const char *word) {
    size_t i = 0;
    while (i < n && word[i] && lower(text[i]) == lower(word[i])) i++;
    return i == n && !word[i];
}

const char *infrt_http_find(const infrt_http *h, const char *name, size_t *bytes) {
    for (uint32_t i = 0; i < h->n_fields; i++) {
        const infrt_http_field *f = &h->fields[i];
        *bytes = f->value_bytes;
        if (same(h->head + f->name, f->name_bytes, name)) return h->head + f->value;
    }
    *bytes = 0;
    return NULL;
}

bool infrt_http_is_method(const infrt_http *h, const char *method) {
    return h->method_bytes == strlen(method) && memcmp(h->head, method, h->method_bytes) == 0;
}

static uint32_t field_count(const infrt_http *h, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n_fields; i++)
        n += same(h->head + h->fields[i].name, h->fields[i].name_bytes, name);
    return n;
}

/* Whether a list such as "close, te" has the word. */
static bool list_has(const char *text, size_t n, const char *word) {
    for (size_t i = 0; i < n;) {
        size_t from = i, to;
        while (i < n && text[i] != ',') i++;
        to = i++;
        while (from < to && (text[from] == ' ' || text[from] == '\t')) from++;
        while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t')) to--;
        if (same(text + from, to - from, word)) return true;
    }
    return false;
}

/* ---- head --------------------------------------------------------------------------------------- */

/* "POST /v1/completions HTTP/1.1" */
static infrt_http_event request_line(infrt_http *h, const char *line, size_t n) {
    size_t at = 0;
    while (at < n && is_name((unsigned char)line[at])) at++;
    if (at == 0 || at > 16 || at == n || line[at] != ' ')
        return bad(h, 400, "the request line has no method");
    h->method_bytes = (uint32_t)at++;
    h->target = (uint32_t)at;
    while (at < n && line[at] > 0x20 && line[at] < 0x7f)
        at++; /* chars beyond 7 bits are negative, or above */
    h->target_bytes = (uint32_t)at - h->target;
    if (h->target_bytes > INFRT_HTTP_TARGET) return bad(h, 414, "the target is too long");
    if (!h->target_bytes || line[h->target] != '/')
        return bad(h, 400, "the target has to begin with a slash and be of visible ASCII");
    if (n - at != 9 || memcmp(line + at, " HTTP/", 6) != 0 || line[at + 7] != '.')
        return bad(h, 400, "the request line does not end in one space and the version of HTTP");
    if (line[at + 6] != '1' || (line[at + 8] != '0' && line[at + 8] != '1'))
        return bad(h, 505, "the version of HTTP has to be 1.1 or 1.0");
    h->old = line[at + 8] == '0';
    return INFRT_HTTP_MORE;
}

static infrt_http_event field_line(infrt_http *h, const char *line, size_t n) {
    size_t name = 0, from, to = n;
    if (line[0] == ' ' || line[0] == '\t') return bad(h, 400, "a field goes on in the next line");
    while (name < n && is_name((unsigned char)line[name])) name++;
    if (name == 0 || name == n || line[name] != ':')
        return bad(h, 400, "a field without a name, or a space after it");
    if (h->n_fields == INFRT_HTTP_FIELDS) return bad(h, 431, "too many fields");
    from = name + 1;
    while (from < n && (line[from] == ' ' || line[from] == '\t')) from++;
    while (to > from && (line[to - 1] == ' ' || line[to - 1] == '\t')) to--;
    const size_t at = (size_t)(line - h->head);
    h->fields[h->n_fields++] =
        (infrt_http_field){(uint16_t)at, (uint16_t)name, (uint16_t)(at + from), (uint16_t)(to - from)};
    return INFRT_HTTP_MORE;
}

static infrt_http_event body_length(infrt_http *h) {
    size_t n;
    const char *text = infrt_http_find(h, "content-length", &n);
    if (!text) return INFRT_HTTP_MORE;
    if (n == 0 || n > LENGTH_DIGITS) return bad(h, 400, "Content-Length is no number");
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return bad(h, 400, "Content-Length is no number");
        h->left = h->left * 10 + (uint64_t)(text[i] - '0');
    }
    if (h->left > h->body_most) return bad(h, 413, "the body is too long");
    h->has_body = h->left > 0;
    return INFRT_HTTP_MORE;
}

static infrt_http_event body_coding(infrt_http *h) {
    size_t n;
    const char *text = infrt_http_find(h, "transfer-encoding", &n);
    if (text && field_count(h, "content-length"))
        return bad(h, 400, "Content-Length and Transfer-Encoding at a time");
    if (text && h->old) return bad(h, 400, "Transfer-Encoding in HTTP/1.0");
    if (text && !same(text, n, "chunked"))
        return bad(h, 501, "Transfer-Encoding: only chunked is known");
    h->chunked = text != NULL;
    h->has_body = h->has_body || h->chunked;
    text = infrt_http_find(h, "content-encoding", &n);
    if (text && !same(text, n, "identity"))
        return bad(h, 415, "Content-Encoding: bodies have to come as they are");
    return INFRT_HTTP_MORE;
}

/* uri-host [ ":" port ], as RFC 9112 3.2 has it; what is between is left to whoever has names. */
static bool host_is_good(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!is_name((unsigned char)text[i]) && !strchr(":[]()=;,%", text[i])) return false;
    return true;
}

/* All fields are there: what they say about the rest. */
static infrt_http_event head_end(infrt_http *h) {
#define ONCE(name) {name, name " may come once, and is there twice"}
    static const struct {
        const char *name, *twice;
    } once[] = {ONCE("content-length"), ONCE("transfer-encoding"), ONCE("host"),
                ONCE("authorization"),  ONCE("content-type"),      ONCE("content-encoding"),
                ONCE("expect")};
#undef ONCE
    size_t n;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (field_count(h, once[i].name) > 1) return bad(h, 400, once[i].twice);
    const char *text = infrt_http_find(h, "host", &n);
    if (!h->old && !text) return bad(h, 400, "there is no Host field");
    if (text && !host_is_good(text, n)) return bad(h, 400, "Host is no name or address");
    if (body_length(h) == INFRT_HTTP_BAD || body_coding(h) == INFRT_HTTP_BAD) return INFRT_HTTP_BAD;
    text = infrt_http_find(h, "expect", &n);
    if (text && !same(text, n, "100-continue"))
        return bad(h, 417, "Expect: only 100-continue is known");
    h->expects = text && !h->old && h->has_body;
    text = infrt_http_find(h, "connection", &n);
    h->keep_alive =
        text && list_has(text, n, "close") ? false : !h->old || (text && list_has(text, n, "keep-alive"));
    h->state = BODY_NEXT;
    return INFRT_HTTP_HEAD_DONE;
}

static infrt_http_event line_end(infrt_http *h) {
    const char *line = h->head + h->line;
    const size_t n = h->n_head - h->line;
    const bool first = !h->method_bytes;
    h->state = LINE;
    if (n == 0 && first) { /* RFC 9112 2.2: one empty line before a request is nothing */
        return h->n_read > 2 ? bad(h, 400, "there is no request line") : INFRT_HTTP_MORE;
    }
    if (n == 0) return head_end(h);
    h->line = h->n_head;
    return first ? request_line(h, line, n) : field_line(h, line, n);
}

static infrt_http_event head_byte(infrt_http *h, unsigned char c) {
    if (++h->n_read > INFRT_HTTP_HEAD) return bad(h, 431, "request line and fields are too long");
    if (h->state == LINE_LF) return c == '\n' ? line_end(h) : bad(h, 400, "a CR without an LF");
    if (c == '\r') {
        h->state = LINE_LF;
        return INFRT_HTTP_MORE;
    }
    if ((c < 0x20 && c != '\t') || c == 0x7f)
        return bad(h, 400, "a control character, or an LF without a CR");
    h->head[h->n_head++] = (char)c;
    return INFRT_HTTP_MORE;
}

/* ---- body --------------------------------------------------------------------------------------- */

static infrt_http_event chunk_size_byte(infrt_http *h, unsigned char c) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (c == '\r' && h->digits) {
        h->state = CHUNK_SIZE_LF;
        return INFRT_HTTP_MORE;
    }
    if (digit < 0 || h->digits == CHUNK_DIGITS)
        return bad(h, 400, "the size of a chunk has to be 1 to 8 hexadecimal digits alone");
    h->digits++;
    h->left = h->left * 16 + (uint64_t)digit;
    return INFRT_HTTP_MORE;
}

static infrt_http_event chunk_begin(infrt_http *h) {
    if (h->left > h->body_most - h->body_bytes) return bad(h, 413, "the body is too long");
    h->state = h->left ? CHUNK : LAST_CR;
    h->digits = 0;
    return INFRT_HTTP_MORE;
}

/* What stands around the chunks. */
static infrt_http_event frame_byte(infrt_http *h, unsigned char c) {
    if (h->state == CHUNK_SIZE) return chunk_size_byte(h, c);
    const bool lf = h->state == CHUNK_SIZE_LF || h->state == CHUNK_LF || h->state == LAST_LF;
    const char *wrong = h->state == LAST_CR ? "fields after the body are not taken"
                                            : "a chunk is not as long as it says";
    if (c != (lf ? '\n' : '\r')) return bad(h, 400, wrong);
    switch (h->state) {
    case CHUNK_SIZE_LF: return chunk_begin(h);
    case CHUNK_CR: h->state = CHUNK_LF; break;
    case CHUNK_LF: h->state = CHUNK_SIZE; break;
    case LAST_CR: h->state = LAST_LF; break;
    default: h->state = DONE;
    }
    return INFRT_HTTP_MORE;
}

static infrt_http_event body_piece(infrt_http *h, const char *bytes, size_t n, size_t *used,
                                   infrt_http_piece *body) {
    const size_t taken = n < h->left ? n : (size_t)h->left;
    *body = (infrt_http_piece){bytes, taken};
    *used += taken;
    h->left -= taken;
    h->body_bytes += taken;
    if (!h->left) h->state = h->chunked ? CHUNK_CR : DONE;
    return INFRT_HTTP_BODY;
}

infrt_http_event infrt_http_feed(infrt_http *h, const char *bytes, size_t n, size_t *used,
                                 infrt_http_piece *body) {
    *used = 0;
    for (;;) {
        infrt_http_event event = INFRT_HTTP_MORE;
        if (h->state == BAD) return INFRT_HTTP_BAD;
        if (h->state == BODY_NEXT) h->state = !h->has_body ? DONE : h->chunked ? CHUNK_SIZE : BODY;
        if (h->state == DONE) return INFRT_HTTP_END;
        if (*used == n) return INFRT_HTTP_MORE;
        if (h->state == BODY || h->state == CHUNK)
            return body_piece(h, bytes + *used, n - *used, used, body);
        const unsigned char c = (unsigned char)bytes[(*used)++];
        event = h->state == LINE || h->state == LINE_LF ? head_byte(h, c) : frame_byte(h, c);
        if (event != INFRT_HTTP_MORE) return event;
    }
}
