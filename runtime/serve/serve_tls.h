/* serve_tls.h - connections that nobody else reads: TLS 1.2 and 1.3 of OpenSSL. Compiled in where the spec says
 * serve.tls; elsewhere infrt_tls_open says how to. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_TLS_H
#define INFRT_SERVE_TLS_H
#include "infrt.h"

struct bufferevent;
struct event_base;
typedef struct infrt_tls infrt_tls;

/* Reads certificates (the server's first, then those that signed it) and the private key, both PEM. INFRT_ERR_USAGE:
 * there is no TLS in this program, or one file without the other; INFRT_ERR_IO: a file cannot be read; INFRT_ERR_DATA:
 * it is no such file, the key is another certificate's, or the certificate has expired. `out` is given. */
infrt_status infrt_tls_open(const char *cert, const char *key, infrt_tls **out, infrt_error *error);
void infrt_tls_close(infrt_tls **tls); /* null is fine; leaves null */
/* A connection that begins with its handshake; `fd` is given when it is not null: no memory. BEV_EVENT_CONNECTED comes
 * when it is done. */
struct bufferevent *infrt_tls_accept(infrt_tls *tls, struct event_base *base, int fd);
void infrt_tls_end(struct bufferevent *bev); /* tells the client that all was sent */

#endif
