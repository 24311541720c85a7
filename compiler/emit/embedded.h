/* embedded.h - templates and runtime sources inside the executable, made by cmake/embed.cmake. */
#ifndef INFC_EMBEDDED_H
#define INFC_EMBEDDED_H
#include "../base/buf.h"

typedef struct infc_embedded_file {
    const char *path; /* below the repository root */
    infc_bytes bytes;
} infc_embedded_file;
extern const infc_embedded_file infc_embedded_files[];
extern const size_t infc_embedded_n;

/* By path, e.g. "templates/simd/scalar.h". Null when absent. */
const infc_bytes *infc_embedded(const char *path);

#endif
