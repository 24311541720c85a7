/* serve_flags.h - flags of the command serve that programs of all kinds have, and what they mean beside the spec. */
#ifndef INFRT_SERVE_FLAGS_H
#define INFRT_SERVE_FLAGS_H
#include "app_flags.h"
#include "infrt_serve.h"

typedef struct infrt_serve_flags { /* null and 0: not given */
    const char *host, *api_keys, *tls_cert, *tls_key;
    const char *port; /* so that 0 can be told from nothing */
    uint32_t queue, connections, requests_per_minute;
    uint64_t max_body, timeout, watchdog, drain; /* times: ns */
} infrt_serve_flags;

/* Flags, then what the model was compiled with (may be null), then defaults. INFRT_ERR_USAGE: the port. */
infrt_status infrt_serve_options_make(const infrt_serve_flags *flags, const infc_serve_info *said,
                                      infrt_serve_options *out, infrt_error *error);

/* Why a program has no server. */
#define INFRT_NO_SERVER                                                                            \
    "this program has no server: where it was compiled, libevent and libmd were not found, or it " \
    "was "                                                                                         \
    "compiled for another architecture; on a machine like this one: apt-get install -y "           \
    "libevent-dev "                                                                                \
    "libmd-dev, and compile it again"

#endif
