/* object_sizes.h - section sizes of an ELF or WebAssembly object. */
#ifndef INFC_OBJECT_SIZES_H
#define INFC_OBJECT_SIZES_H
#include "../base/cx.h"

typedef struct infc_object_sizes { /* bytes; sections that are loaded */
    uint64_t text;                 /* executable */
    uint64_t rodata;               /* read only: constants, unwind tables */
    uint64_t data;                 /* writable with contents, pointers to relocate included */
    uint64_t bss;
} infc_object_sizes;

/* Adds the sections of `path` to *sizes. Fails when it is not such an object: only compilers write what it reads. */
infc_status infc_object_sizes_add(infc_cx *cx, const char *path, infc_object_sizes *sizes);

#endif
