/* file.h - mapped files, atomic writes, and the staged output folder. */
#ifndef INFC_FILE_H
#define INFC_FILE_H
#include "cx.h"

/* Maps a regular file read-only; the bytes are borrowed until the arena of cx goes. */
infc_status infc_file_map(infc_cx *cx, const char *path, infc_bytes *out);
/* Writes beside, then renames: `path` holds all of it or what it held before. mode e.g. 0644. */
infc_status infc_file_write(infc_cx *cx, const char *path, infc_bytes bytes, unsigned mode);
bool infc_file_exists(const char *path);
bool infc_dir_exists(const char *path);
infc_status infc_dir_create(infc_cx *cx, const char *path); /* with parents */
void infc_dir_remove(const char *path);                     /* recursively, best effort */

char *infc_path_join(infc_arena *arena, const char *dir, const char *name); /* an absolute name wins */
char *infc_path_dir(infc_arena *arena, const char *path);                   /* "." when there is none */
const char *infc_path_base(const char *path);

/* A stage is DIR/.infc-XXXXXX: artefacts are made there and moved to DIR by commit, so that a compile
 * that fails or is killed leaves nothing half-written under a final name. Opening it removes stages
 * whose process is gone. Discarded with the arena unless committed. */
typedef struct infc_stage {
    infc_cx *cx;
    const char *final_dir, *dir;
    bool committed;
} infc_stage;
infc_status infc_stage_open(infc_cx *cx, const char *final_dir, infc_stage **out);
infc_status infc_stage_commit(infc_stage *stage); /* renames every file and folder into final_dir */

#endif
