/* link.h - emitted C to a binary and a static library. */
#ifndef INFC_LINK_H
#define INFC_LINK_H
#include "../emit/emit.h"
#include "code_mix.h"
#include "object_sizes.h"

/* One level of code with what all share, or all there is. */
typedef struct infc_linked_level {
    infc_object_sizes model;
    infc_code_mix mix; /* of the level's own functions, when names were asked for */
    uint64_t stack; /* the most bytes of a run's thread, memcpy and memset left out; 0: not known */
} infc_linked_level;

typedef struct infc_linked {
    const char *named; /* the binary with the names of its functions, for tools that count: itself, or one beside it */
    const char *binary, *library; /* names in the folder; null when the spec does not ask for them */
    const char *weights;          /* the file beside them (output.weights: file), or null */
    uint64_t binary_bytes, library_bytes;
    infc_object_sizes model; /* the model's objects: what a program that links the library gets, without weights */
    infc_linked_level levels[INFC_MOST_LEVELS]; /* as many as the target runs in ways */
    uint64_t stack;                             /* the most of the levels; 0: not known of all */
    const char *compiler;                       /* "clang 22.1.8" */
    bool serves;                                /* the binary has a server */
    size_t n_objects, n_cached;
} infc_linked;

/* Compiles and links what infc_emit wrote to `dir`. Temporary files stay in `dir`/.obj, which is removed. The same
 * sources and compiler give the same bytes in any folder. `before`: as in infc_emit_options. `with_names`: `named` is
 * made as well. */
infc_status infc_link(infc_cx *cx, const infc_spec *spec, const infc_target *target, const infc_emitted *emitted,
                      const char *dir, const char *before, bool with_names, infc_linked *out);

#endif
