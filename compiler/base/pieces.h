/* pieces.h - a large file that consists of other files and bytes between them: written, and digested meanwhile. */
#ifndef INFC_PIECES_H
#define INFC_PIECES_H
#include "cx.h"

typedef struct infc_piece {
    const char *path; /* all of this file; null: `bytes` */
    infc_bytes bytes;
} infc_piece;

typedef struct infc_pieces { /* initialise with the arena; what is added stays as it is until infc_digesting_end */
    infc_arena *arena;
    infc_piece *items;
    size_t n, cap;
} infc_pieces;
void infc_pieces_add_bytes(infc_pieces *pieces, infc_bytes bytes);
void infc_pieces_add_file(infc_pieces *pieces, const char *path);

/* A thread that digests what was written, for infc_digests to find in the cache. */
typedef struct infc_digesting infc_digesting;
/* One piece after another to `path`; `like` and `mode` as in infc_file_writer_open. *out_digesting is null where there
 * is nothing to do: without a cache, or when it is the file of `like`. */
infc_status infc_pieces_write(infc_cx *cx, const infc_pieces *pieces, const char *path,
                              const char *like, unsigned mode, infc_digesting **out_digesting);
/* Waits for it; null is nothing. */
void infc_digesting_end(infc_cx *cx, infc_digesting *digesting);

#endif
