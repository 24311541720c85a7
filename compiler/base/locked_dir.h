/* locked_dir.h - temporary folders that are known to be stale when their process is gone. Each is locked with flock by
 * who uses it; the kernel drops the lock however that process ends, so one whose lock is free is stale. */
#ifndef INFC_LOCKED_DIR_H
#define INFC_LOCKED_DIR_H
#include "arena.h"

/* Makes and locks BELOW/PREFIXxxxxxx, for this user only. Returns the descriptor that holds the lock, or -1 (errno). */
int infc_locked_dir_make(infc_arena *arena, const char *below, const char *prefix, const char **out_dir);
/* Removes such folders in `dir` that belong to this user and whose lock is free. */
void infc_locked_dirs_sweep(infc_arena *arena, const char *dir, const char *prefix);

#endif
