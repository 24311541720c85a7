/* session_folder.c - see session_folder.h. */
#define _GNU_SOURCE 1
#include "session_folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".session"

bool infrt_session_name_is_good(const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t n = strlen(name);
    return n > 0 && n < INFRT_SESSION_NAME && strspn(name, plain) == n && !strchr("._-", name[0]);
}

int infrt_session_folder_open(int root, const char *name, bool make) {
    if (make && mkdirat(root, name, 0700) != 0 && errno != EEXIST) return -1;
    return openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool infrt_session_folder_check(int root, const char *name) {
    char probe[40];
    uint64_t random = 0;
    const int own = infrt_session_folder_open(root, name, false);
    if (own < 0 && errno != ENOENT) return false;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = (uint64_t)getpid();
    snprintf(probe, sizeof probe, ".probe-%016" PRIx64, random);
    const int folder = own >= 0 ? own : root;
    const bool good = mkdirat(folder, probe, 0700) == 0 && unlinkat(folder, probe, AT_REMOVEDIR) == 0;
    const int why = errno;
    if (own >= 0) close(own);
    errno = why;
    return good;
}

void infrt_session_file_path(int folder, const char *name, char out[INFRT_SESSION_PATH]) {
    snprintf(out, INFRT_SESSION_PATH, "/proc/self/fd/%d/%s" ENDING, folder, name);
}

int infrt_session_file_open(int folder, const char *name) {
    char file[INFRT_SESSION_NAME + sizeof ENDING];
    snprintf(file, sizeof file, "%s" ENDING, name);
    const int fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))) return fd;
    close(fd);
    errno = EISDIR;
    return -1;
}

bool infrt_session_file_remove(int folder, const char *name) {
    char file[INFRT_SESSION_NAME + sizeof ENDING];
    snprintf(file, sizeof file, "%s" ENDING, name);
    return unlinkat(folder, file, 0) == 0;
}

/* Removes what infrt_os_file_replace writes first, where nobody writes it any more: who does has it locked. It goes
 * while the lock is ours, so that who has just made it, perhaps another server, sees that it has gone. */
static bool left_behind_remove(int folder, const char *file) {
    if (!strstr(file, ENDING ".part-")) return false;
    struct flock lock = {.l_type = F_WRLCK};
    const int fd = openat(folder, file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool gone = fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0 && unlinkat(folder, file, 0) == 0;
    if (fd >= 0) close(fd);
    return gone;
}

/* "NAME.session" is a session's. */
static bool name_take(const char *file, char out[INFRT_SESSION_NAME]) {
    const size_t n = strlen(file), ending = sizeof ENDING - 1;
    if (n <= ending || n - ending >= INFRT_SESSION_NAME || strcmp(file + n - ending, ENDING) != 0)
        return false;
    memcpy(out, file, n - ending);
    out[n - ending] = 0;
    return infrt_session_name_is_good(out);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const infrt_session_entry *)a)->name, ((const infrt_session_entry *)b)->name);
}

bool infrt_session_folder_read(int folder, infrt_session_entry **out, uint32_t *n, uint64_t *bytes) {
    infrt_session_entry *all = calloc(INFRT_SESSIONS_MOST, sizeof *all);
    const int again = all ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *dir = again >= 0 ? fdopendir(again) : NULL;
    *n = 0;
    *bytes = 0;
    if (!dir) {
        if (again >= 0) close(again);
        free(all);
        return false;
    }
    for (const struct dirent *file; (file = readdir(dir));) {
        struct stat info;
        if (fstatat(folder, file->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        if (left_behind_remove(folder, file->d_name)) continue;
        *bytes += (uint64_t)info.st_size;
        if (*n == INFRT_SESSIONS_MOST || !name_take(file->d_name, all[*n].name)) continue;
        all[*n].bytes = (uint64_t)info.st_size;
        all[(*n)++].modified = (int64_t)info.st_mtime;
    }
    closedir(dir);
    qsort(all, *n, sizeof *all, by_name);
    *out = all;
    return true;
}
