/* app_files.h - the files that a command reads and writes: none that it writes is one that it reads. */
#ifndef INFRT_APP_FILES_H
#define INFRT_APP_FILES_H
#include "infrt.h"
#include <sys/types.h>

/* Which file a path means: one that is there, or a name in a folder. */
typedef struct infrt_file_use {
    const char *option; /* what reads or writes it */
    char *path;         /* owned */
    bool there;
    dev_t device;
    ino_t inode;      /* of the file, or of its folder */
    const char *name; /* in `path`; of a file that is not there */
} infrt_file_use;

/* Start from {0}, end with infrt_files_free. */
typedef struct infrt_files {
    infrt_file_use *items;
    size_t n, cap, n_read; /* the first n_read are read, the others written; set by who adds them */
} infrt_files;

/* Takes `path`, which was allocated, over; null: there was no memory for it. */
infrt_status infrt_files_add(infrt_files *uses, const char *option, char *path, infrt_error *error);
infrt_status infrt_files_add_program(infrt_files *uses, infrt_error *error); /* the one that runs */
/* INFRT_ERR_USAGE when a file to write is one that is read (under any name), or is to be written twice. */
infrt_status infrt_files_check(const infrt_files *uses, infrt_error *error);
void infrt_files_free(infrt_files *uses);

/* Whether the name ends so, in upper or lower case, and has something before. */
bool infrt_path_ends(const char *path, const char *ending);
/* A pipe, a device or a folder: what is there already, whatever its name says. */
bool infrt_path_no_file(const char *path);
/* INFRT_ERR_USAGE for a --profile whose name is not that of JSON; null is fine. */
infrt_status infrt_profile_check(const char *path, infrt_error *error);

#endif
