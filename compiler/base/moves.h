/* moves.h - renames that can be taken back: what puts staged files under their final names. */
#ifndef INFC_MOVES_H
#define INFC_MOVES_H
#include "arena.h"
#include <stdbool.h>

typedef struct infc_move { /* one step that was done */
    enum { INFC_MOVED, INFC_EXCHANGED, INFC_MADE_FOLDER, INFC_REMOVED_FOLDER } what;
    const char *from, *to;
    const char *kept; /* of INFC_MOVED: where the file is that `to` was before; null: there was none */
    bool final;       /* the file system keeps no second name: it cannot be taken back */
} infc_move;

typedef struct infc_moves { /* initialise with the arena and a folder of the same file system for what is replaced */
    infc_arena *arena;
    const char *kept_dir;
    infc_move *done;
    size_t n, cap;
} infc_moves;

/* Each returns 0 or an errno, and has done nothing then. */
/* `to` is the new file or, until then, the old one, at every moment. A folder there is EISDIR. Two names of one file
 * stay, and it gets the time of now. */
int infc_moves_replace(infc_moves *moves, const char *from, const char *to);
/* Takes the file `from` out of the way, into kept_dir. */
int infc_moves_take(infc_moves *moves, const char *from);
/* The folders of the relative `path`, its last component left out, below `dir`. */
int infc_moves_make_folders(infc_moves *moves, const char *dir, const char *path);
/* Removes the folders of the relative `path` below `dir`, the deepest first, as long as they are empty. */
void infc_moves_prune(infc_moves *moves, const char *dir, const char *path);
/* Takes back all that was done, the last first. False when not all could be. */
bool infc_moves_undo(infc_moves *moves);

#endif
