/* archive.h - static libraries as `ar rcsD` writes them: no times, no owners. Made here so that the weights, which can
 * be most of it, are written once and never held. */
#ifndef INFC_ARCHIVE_H
#define INFC_ARCHIVE_H
#include "../base/pieces.h"

typedef struct infc_archive_member {
    const char *name;           /* "digits.o" */
    infc_bytes head;            /* what comes before the file; may be empty */
    const char *path;           /* the file */
    uint64_t bytes;             /* head and file */
    const char *const *symbols; /* that it defines for others */
    size_t n_symbols;
} infc_archive_member;

typedef struct infc_archive {
    infc_cx *cx;
    infc_archive_member *members;
    size_t n, cap;
} infc_archive;

/* An object that a compiler wrote. */
infc_status infc_archive_add_object(infc_archive *archive, const char *path);
/* A file, made an object by `head`, that defines one symbol. */
infc_status infc_archive_add_data(infc_archive *archive, const char *name, infc_bytes head,
                                  const char *path, const char *symbol);
/* What the archive consists of. */
infc_status infc_archive_pieces(const infc_archive *archive, infc_pieces *out);

#endif
