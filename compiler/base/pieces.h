/* pieces.h - large files that consist of other files and bytes between them: written, and digested meanwhile. */
#ifndef INFC_PIECES_H
#define INFC_PIECES_H
#include "cx.h"

typedef struct infc_piece {
    const char *path; /* all of this file; null: `bytes` */
    infc_bytes bytes;
} infc_piece;

typedef struct infc_pieces { /* initialise with the arena; what is added stays as it is until they are written */
    infc_arena *arena;
    infc_piece *items;
    size_t n, cap;
} infc_pieces;
void infc_pieces_add_bytes(infc_pieces *pieces, infc_bytes bytes);
void infc_pieces_add_file(infc_pieces *pieces, const char *path);

typedef struct infc_pieces_file {
    infc_pieces pieces;
    const char *path, *like; /* like: as in infc_file_writer_open */
    unsigned mode;
} infc_pieces_file;
/* Each file, one piece after another, while a thread digests them: what is not a file of `like` has its digest noted,
 * and kept for infc_digests to find in the cache. */
infc_status infc_pieces_write(infc_cx *cx, const infc_pieces_file *files, size_t n);

#endif
