/* wasm_object.h - what compilers write for WebAssembly: a module with a section "linking". */
#ifndef INFC_WASM_OBJECT_H
#define INFC_WASM_OBJECT_H
#include "object_sizes.h"

bool infc_wasm_is_object(infc_bytes file);
/* Adds its code and data segments to *sizes. */
infc_status infc_wasm_sizes(infc_cx *cx, const char *path, infc_bytes file, infc_object_sizes *sizes);
/* Names of the symbols that others can link to, on the arena of cx. */
infc_status infc_wasm_symbols(infc_cx *cx, const char *path, infc_bytes file, const char ***out, size_t *out_n);
/* Calls `take` with the instructions of each function, in order. */
infc_status infc_wasm_bodies(infc_cx *cx, const char *path, infc_bytes file,
                             void (*take)(void *user, infc_bytes code), void *user);

#endif
