/* serve_flags.c - see serve_flags.h. */
#include "serve_flags.h"
#include <errno.h>
#include <stdlib.h>

static infrt_status port_read(const char *text, uint32_t *out, infrt_error *error) {
    char *end;
    if (!text) return INFRT_OK;
    errno = 0;
    const unsigned long port = strtoul(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || port > 65535)
        return infrt_fail(error, INFRT_ERR_USAGE, "--port %s: give one number from 0 to 65535", text);
    *out = (uint32_t)port;
    return INFRT_OK;
}

/* Of what was given, what was compiled in, and the default the first that says something. */
#define FIRST(given, said, or_else) ((given) ? (given) : (said) ? (said) : (or_else))

infrt_status infrt_serve_options_make(const infrt_serve_flags *flags, const infc_serve_info *said,
                                      infrt_serve_options *out, infrt_error *error) {
    static const infc_serve_info nothing;
    if (!said) said = &nothing;
    *out = (infrt_serve_options){
        .host = FIRST(flags->host, said->host, "127.0.0.1"),
        .port = said->port ? said->port : 8000,
        .api_keys = FIRST(flags->api_keys, said->api_keys, NULL),
        .tls_cert = FIRST(flags->tls_cert, said->tls_cert, NULL),
        .tls_key = FIRST(flags->tls_key, said->tls_key, NULL),
        .queue = FIRST(flags->queue, said->queue, 128),
        .connections = FIRST(flags->connections, said->connections, 1024),
        .max_body = FIRST(flags->max_body, said->max_body, 8 << 20),
        .requests_per_minute = FIRST(flags->requests_per_minute, said->requests_per_minute, 0),
        .timeout_ns = FIRST(flags->timeout, said->timeout_ns, 0),
        .watchdog_ns = FIRST(flags->watchdog, said->watchdog_ns, 0),
        .drain_ns = FIRST(flags->drain, said->drain_ns, 0),
    };
    return port_read(flags->port, &out->port, error);
}
