/* http_parse.h - the requests of one connection, HTTP/1.0 and 1.1 (RFC 9112), read strictly and piece by piece: what
 * two readers could understand differently is refused. Knows no sockets and allocates nothing.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_HTTP_PARSE_H
#define INFRT_HTTP_PARSE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    INFRT_HTTP_HEAD = 16384, /* most bytes of request line and fields */
    INFRT_HTTP_FIELDS = 64,
    INFRT_HTTP_TARGET = 2048,
};

typedef enum infrt_http_event {
    INFRT_HTTP_MORE,      /* all was read; the request goes on */
    INFRT_HTTP_HEAD_DONE, /* request line and fields are there; a body may follow */
    INFRT_HTTP_BODY,      /* some bytes of the body */
    INFRT_HTTP_END,       /* of the request */
    INFRT_HTTP_BAD,       /* status and wrong say why; the connection cannot be read on */
} infrt_http_event;

typedef struct infrt_http_field {
    uint16_t name, name_bytes, value, value_bytes; /* in `head` */
} infrt_http_field;

typedef struct infrt_http {
    int state; /* private */
    int status;
    const char *wrong;
    uint32_t method_bytes, target, target_bytes; /* in `head`; the method begins it */
    uint32_t n_fields;
    bool old;        /* HTTP/1.0 */
    bool keep_alive; /* the client wants to send more requests */
    bool expects;    /* it waits for "100 Continue" */
    bool has_body;
    bool chunked;
    uint64_t body_most; /* longer bodies are refused, before they are there if their length is told */
    uint64_t body_bytes;           /* so far */
    uint64_t left;                 /* private: of the body or of a chunk */
    uint32_t digits;               /* private: of a chunk's size */
    uint32_t n_head, line, n_read; /* private */
    infrt_http_field fields[INFRT_HTTP_FIELDS];
    char head[INFRT_HTTP_HEAD];
} infrt_http;

/* Before each request. */
void infrt_http_begin(infrt_http *h, uint64_t body_most);
/* Reads from `bytes` up to the next event; *used is how many it took. Of INFRT_HTTP_BODY: *body is the piece, which
 * lies in `bytes`. */
typedef struct infrt_http_piece {
    const char *at;
    size_t bytes;
} infrt_http_piece;
infrt_http_event infrt_http_feed(infrt_http *h, const char *bytes, size_t n, size_t *used,
                                 infrt_http_piece *body);
/* Whether some of a request has come. */
bool infrt_http_began(const infrt_http *h);
/* A field by its name, in any case; null: it is not there. Borrowed, without a NUL. */
const char *infrt_http_find(const infrt_http *h, const char *name, size_t *bytes);
bool infrt_http_is_method(const infrt_http *h, const char *method);

#endif
