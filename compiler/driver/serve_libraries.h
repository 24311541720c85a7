/* serve_libraries.h - the libraries that the server in a binary is linked with. */
#ifndef INFC_SERVE_LIBRARIES_H
#define INFC_SERVE_LIBRARIES_H
#include "../frontend/spec.h"
#include "toolchain.h"

enum { INFC_SERVE_LIBRARIES = 5 };
#define INFC_SERVE_PACKAGES "libevent-dev libmd-dev"
#define INFC_TLS_PACKAGES INFC_SERVE_PACKAGES " libssl-dev"

typedef struct infc_serve_libraries {
    const char *paths[INFC_SERVE_LIBRARIES]; /* of static libraries */
    size_t n;                                /* 0: there is no server */
} infc_serve_libraries;

/* Asks the compiler. Targets of other architectures have no server, nor has a machine without the libraries; with the
 * spec key `serve` that is an error, which says what to do. */
infc_status infc_serve_libraries_find(infc_cx *cx, const infc_spec *spec, const infc_target *target,
                                      const infc_toolchain *tools, infc_serve_libraries *out);

#endif
