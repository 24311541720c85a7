/* session_folder.h - the files of sessions that one key has: NAME.session in a folder of its own below the one that the
 * server was given. No link is followed. SPDX-License-Identifier: MIT */
#ifndef INFRT_SESSION_FOLDER_H
#define INFRT_SESSION_FOLDER_H
#include <stdbool.h>
#include <stdint.h>

enum {
    INFRT_SESSION_NAME = 65 /* bytes with the NUL */,
    INFRT_SESSIONS_MOST = 1000 /* of a folder */
};

typedef struct infrt_session_entry {
    char name[INFRT_SESSION_NAME];
    uint64_t bytes;
    int64_t modified; /* seconds since 1970 */
} infrt_session_entry;

/* 1 to 64 letters, digits and . _ -, the first none of these three. */
bool infrt_session_name_is_good(const char *name);
/* The folder `name` below `root`; `make`: it is made when it is not there. -1: errno says why. */
int infrt_session_folder_open(int root, const char *name, bool make);
/* Whether files can come and go in the folder `name` below `root`, or it can be made; made and removed is a folder of
 * another name. False: errno says why not. */
bool infrt_session_folder_check(int root, const char *name);
/* What is in it: *n entries, by name; the caller frees them. *bytes: of all files, also of those that are being
 * written; what a process left behind that was killed while it wrote is removed. False: errno says why. */
bool infrt_session_folder_read(int folder, infrt_session_entry **out, uint32_t *n, uint64_t *bytes);
/* The file of a session, to be read; -1: errno says why; of what is no plain file it is not ENOENT. */
int infrt_session_file_open(int folder, const char *name);
/* False: errno says why. */
bool infrt_session_file_remove(int folder, const char *name);
/* What infrt_os_file_replace takes for it. */
enum { INFRT_SESSION_PATH = 128 };
void infrt_session_file_path(int folder, const char *name, char out[INFRT_SESSION_PATH]);

#endif
