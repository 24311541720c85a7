/* file.h - mapped files, atomic writes, and the staged output folder. */
#ifndef INFC_FILE_H
#define INFC_FILE_H
#include "cx.h"

struct stat; /* of <sys/stat.h> */

/* Maps a regular file read-only; the bytes are borrowed until the arena of cx goes. A Git LFS pointer is refused. */
infc_status infc_file_map(infc_cx *cx, const char *path, infc_bytes *out);
/* These bytes are not needed soon: where they are of a file that infc_file_map mapped, the memory that holds them is
 * given back, and they are read again when touched. Others stay as they are. */
void infc_file_forget(const infc_cx *cx, const void *bytes, size_t n);
/* Unmaps all that infc_file_map mapped below `dir`, before what is there is removed: a mapped file keeps its room. */
void infc_file_let_go(infc_cx *cx, const char *dir);
/* The whole file that infc_file_map mapped and these bytes are of; false where there is none. */
typedef struct infc_mapped_file {
    infc_bytes bytes;
    const char *path;
    const struct infc_stamp *stamp; /* when it was mapped */
} infc_mapped_file;
bool infc_file_mapped(const infc_cx *cx, const void *bytes, size_t n, infc_mapped_file *out);
/* Of a part of any mapping of a file: its memory is given back, as far as it is whole pages. */
void infc_file_drop(infc_bytes part);
/* Writes beside, then renames: `path` holds all of it or what it held before, but for a power cut: what infc writes
 * can be made again, so nothing waits for the disk. mode e.g. 0644. */
infc_status infc_file_write(infc_cx *cx, const char *path, infc_bytes bytes, unsigned mode);
/* For a file that the user names: refuses one that infc_file_map has read for cx, or infc_file_note has told of,
 * under whatever name. */
infc_status infc_file_spare(infc_cx *cx, const char *path);
/* The same, and refuses a folder, and one that cannot be written where it is to be: for before long work. */
infc_status infc_file_check_named(infc_cx *cx, const char *path);
/* Checks infc_file_spare and writes, like infc_file_write; of a link the file that it leads to, into devices and pipes
 * as they are: a file in the place of /dev/stdout would take it from everybody. */
infc_status infc_file_write_named(infc_cx *cx, const char *path, infc_bytes bytes);
/* `path` has been read some other way. */
void infc_file_note(infc_cx *cx, const char *path);
/* The two steps above without diagnostics, for whoever can do without the file: 0 or an errno. The
 * pieces are written one after another. A mapping lasts until infc_file_unmap. */
int infc_file_try_map(const char *path, infc_bytes *out);
/* The same for a path that others chose: it must lead to a regular file beneath `dir` without `..` (EXDEV, as
 * for an absolute one) and without a symbolic link in any component (ELOOP). `sole`: nor may the file have other names,
 * which may lie anywhere (EMLINK). out_info may be null. */
int infc_file_try_map_beneath(const char *dir, const char *path, bool sole, infc_bytes *out, struct stat *out_info);
void infc_file_unmap(infc_bytes bytes);
int infc_file_try_write(const char *path, const infc_bytes *pieces, size_t n, unsigned mode);
/* A file made piece by piece, for what is too large to hold; not atomic: for use inside a stage. The first error is
 * kept and told by close, which must be called. `patch` overwrites what was put before, `skip` leaves bytes for it.
 * `like`: null, or a path where the same content may stand: nothing is written as long as the pieces agree with it, and
 * if all did, close makes `path` another name of that file, which must then not be written to. */
typedef struct infc_file_writer {
    infc_cx *cx;
    const char *path, *like_path;
    unsigned mode;
    int fd, like, error;
    uint64_t bytes; /* put so far */
    bool shared;    /* after close: it is the file of `like` */
} infc_file_writer;
infc_status infc_file_writer_open(infc_cx *cx, const char *path, const char *like, unsigned mode,
                                  infc_file_writer *out);
void infc_file_writer_put(infc_file_writer *writer, const void *bytes, size_t n);
void infc_file_writer_skip(infc_file_writer *writer, size_t n);
void infc_file_writer_copy(infc_file_writer *writer, const char *path); /* all of another file */
void infc_file_writer_patch(infc_file_writer *writer, uint64_t offset, const void *bytes, size_t n);
infc_status infc_file_writer_close(infc_file_writer *writer);
/* Makes `path` another name of `like` where that is a file of ours of this size that would get this mode; it must then
 * not be written to. */
bool infc_file_share(const char *like, uint64_t bytes, const char *path, unsigned mode);
bool infc_file_exists(const char *path);
/* "a folder", "a device", "a pipe", "a socket"; null for a regular file, and for what cannot be found. */
const char *infc_file_what_else(const char *path);
/* Why nobody can tell what is there: "Permission denied"; null when it can be told, or is nothing. */
const char *infc_file_hidden(const char *path);
/* Whether `path` itself, no link followed, is the file that `info` tells of. */
bool infc_file_is(const char *path, const struct stat *info);
bool infc_dir_exists(const char *path);
infc_status infc_dir_create(infc_cx *cx, const char *path); /* with parents */
void infc_dir_remove(const char *path);                     /* recursively, best effort */

char *infc_path_join(infc_arena *arena, const char *dir, const char *name); /* an absolute name wins */
char *infc_path_dir(infc_arena *arena, const char *path); /* "." when there is none */
bool infc_path_ends(const char *path, const char *ending); /* in ".onnx", of whatever case, and is more than that */
const char *infc_path_base(const char *path);

/* A stage is DIR/.infc-stage-XXXXXX: artefacts are made there and moved to DIR at the end, so that a compile
 * that fails or is killed leaves nothing half-written under a final name. Opening it removes stages
 * whose process is gone. Discarded with the arena. */
typedef struct infc_stage {
    infc_cx *cx;
    const char *final_dir, *dir;
    bool committed;
    bool touched;  /* final_dir may have other files than before */
    int lock_fd;   /* held while the stage is in use; how others tell it from a stale one */
    bool made_dir; /* final_dir was made for this stage: it goes with it unless committed */
} infc_stage;
infc_status infc_stage_open(infc_cx *cx, const char *final_dir, infc_stage **out);
/* Every file of the stage, no folders, replaces that of its name in final_dir; all or none. */
infc_status infc_stage_commit(infc_stage *stage);
void infc_stage_end(infc_stage *stage); /* committed otherwise: what is still in it goes */

#endif
