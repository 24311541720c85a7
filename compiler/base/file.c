#include "file.h"
#include "stamp.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maps what fd is and closes it; what it is, in *info. */
static int map_and_close(int fd, bool sole, infc_bytes *out, struct stat *info) {
    int error = fstat(fd, info) < 0 ? errno : 0;
    if (!error && S_ISDIR(info->st_mode)) error = EISDIR;
    if (!error && !S_ISREG(info->st_mode)) error = ENOTSUP;
    if (!error && sole && info->st_nlink > 1) error = EMLINK;
    if (!error && info->st_size > 0) {
        void *at = mmap(NULL, (size_t)info->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) error = errno;
        else *out = (infc_bytes){at, (size_t)info->st_size};
    }
    close(fd);
    return error;
}

static int try_map(const char *path, infc_bytes *out, struct stat *info) {
    *out = (infc_bytes){(const uint8_t *)"", 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */
    return fd < 0 ? errno : map_and_close(fd, false, out, info);
}

int infc_file_try_map(const char *path, infc_bytes *out) {
    struct stat info;
    return try_map(path, out, &info);
}

/* Opens the first component of *path below the folder `at`, and moves *path behind it. */
static int open_component(int at, const char **path, int *out_fd) {
    size_t n = strcspn(*path, "/");
    char name[NAME_MAX + 1];
    if (n > NAME_MAX) return ENAMETOOLONG;
    memcpy(name, *path, n);
    name[n] = '\0';
    *path += n;
    while (**path == '/') ++*path;
    if (n == 0 || strcmp(name, "..") == 0) return EXDEV;
    *out_fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (**path ? O_DIRECTORY : 0));
    if (*out_fd >= 0) return 0;
    int error = errno;
    struct stat info;
    bool link = fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
    return link ? ELOOP : error;
}

int infc_file_try_map_beneath(const char *dir, const char *path, bool sole, infc_bytes *out, struct stat *out_info) {
    struct stat info;
    *out = (infc_bytes){(const uint8_t *)"", 0};
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return errno;
    do {
        int fd = -1, error = open_component(at, &path, &fd);
        close(at);
        if (error) return error;
        at = fd;
    } while (*path);
    return map_and_close(at, sole, out, out_info ? out_info : &info);
}

void infc_file_unmap(infc_bytes bytes) {
    if (bytes.len) munmap((void *)(uintptr_t)bytes.ptr, bytes.len);
}

typedef struct infc_mapping {
    infc_bytes bytes;
    struct infc_mapping *next;
    const char *path;
    infc_stamp stamp;
} infc_mapping;

static void unmap_deferred(void *handle) { infc_file_unmap(((infc_mapping *)handle)->bytes); }

void infc_file_drop(infc_bytes part) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)part.ptr, to = from + part.len;
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (from < to) (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

static const infc_mapping *find_mapping(const infc_cx *cx, const void *bytes, size_t n) {
    const uintptr_t from = (uintptr_t)bytes, to = from + n;
    for (const infc_mapping *m = cx->mappings; m; m = m->next) {
        const uintptr_t begin = (uintptr_t)m->bytes.ptr;
        if (from >= begin && to <= begin + m->bytes.len) return m;
    }
    return NULL;
}

void infc_file_forget(const infc_cx *cx, const void *bytes, size_t n) {
    if (find_mapping(cx, bytes, n)) infc_file_drop((infc_bytes){bytes, n});
}

void infc_file_let_go(infc_cx *cx, const char *dir) {
    const size_t n = strlen(dir);
    for (infc_mapping *m = cx->mappings; m; m = m->next) {
        if (strncmp(m->path, dir, n) != 0 || m->path[n] != '/') continue;
        infc_file_unmap(m->bytes);
        m->bytes = (infc_bytes){0};
    }
}

bool infc_file_mapped(const infc_cx *cx, const void *bytes, size_t n, infc_mapped_file *out) {
    const infc_mapping *m = find_mapping(cx, bytes, n);
    if (m) *out = (infc_mapped_file){m->bytes, m->path, &m->stamp};
    return m;
}

void infc_file_note(infc_cx *cx, const char *path) {
    struct stat info;
    if (stat(path, &info) < 0) return;
    infc_mapping *note = INFC_NEW(cx->arena, infc_mapping, 1);
    path = infc_arena_copy_string(cx->arena, path, strlen(path));
    *note = (infc_mapping){{NULL, 0}, cx->mappings, path, infc_stamp_of(&info)};
    cx->mappings = note;
}

infc_status infc_file_spare(infc_cx *cx, const char *path) {
    struct stat info;
    if (stat(path, &info) < 0) return INFC_OK;
    const infc_stamp stamp = infc_stamp_of(&info);
    for (const infc_mapping *m = cx->mappings; m; m = m->next)
        if (m->stamp.words[0] == stamp.words[0] && m->stamp.words[1] == stamp.words[1])
            return infc_fail(
                cx, INFC_ERR_SPEC, (infc_loc){.file = path},
                "is read by this command%s%s, and left as it is; choose another name to write to",
                strcmp(m->path, path) == 0 ? "" : " as ", strcmp(m->path, path) == 0 ? "" : m->path);
    return INFC_OK;
}

/* What a clone without Git LFS has in place of large files. */
static bool is_pointer(infc_bytes file) {
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    return file.len > sizeof begin && memcmp(file.ptr, begin, sizeof begin - 1) == 0;
}

infc_status infc_file_map(infc_cx *cx, const char *path, infc_bytes *out) {
    infc_mapping *kept = INFC_NEW(cx->arena, infc_mapping, 1);
    infc_arena_defer(cx->arena, unmap_deferred, kept); /* before there is something to lose */
    struct stat info;
    int error = try_map(path, out, &info);
    if (error) {
        const char *what = infc_file_what_else(path);
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path}, "cannot read this file: %s%s",
                         what ? what : strerror(error), what ? ", not a regular file" : "");
    }
    path = infc_arena_copy_string(cx->arena, path, strlen(path));
    *kept = (infc_mapping){*out, cx->mappings, path, infc_stamp_of(&info)};
    cx->mappings = kept;
    if (!is_pointer(*out)) return INFC_OK;
    return infc_fail(
        cx, INFC_ERR_MODEL, (infc_loc){.file = path},
        "this is a Git LFS pointer, not the file itself; in its repository, run: git lfs pull");
}

bool infc_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char *infc_file_what_else(const char *path) {
    struct stat info;
    if (stat(path, &info) < 0 || S_ISREG(info.st_mode)) return NULL;
    return S_ISDIR(info.st_mode)    ? "a folder"
           : S_ISFIFO(info.st_mode) ? "a pipe"
           : S_ISSOCK(info.st_mode) ? "a socket"
                                    : "a device";
}

const char *infc_file_hidden(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 || errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
}

bool infc_file_is(const char *path, const struct stat *info) {
    struct stat there;
    return lstat(path, &there) == 0 && there.st_dev == info->st_dev && there.st_ino == info->st_ino;
}

bool infc_dir_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

infc_status infc_dir_create(infc_cx *cx, const char *path) {
    char *part = infc_arena_copy_string(cx->arena, path, strlen(path));
    for (char *p = part + (*part == '/');; p++) {
        if (*p != '/' && *p != '\0') continue;
        char end = *p;
        *p = '\0';
        int error = *part && mkdir(part, 0777) < 0 ? errno : 0;
        if (error && !infc_dir_exists(part)) {
            return infc_fail(cx, error == EEXIST ? INFC_ERR_SPEC : INFC_ERR_IO,
                             (infc_loc){.file = part}, "cannot make this folder: %s",
                             error == EEXIST ? "a file of this name is in the way" : strerror(error));
        }
        *p = end;
        if (!end) return INFC_OK;
    }
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

void infc_dir_remove(const char *path) {
    enum { OPEN_FOLDERS = 16 };
    nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

char *infc_path_join(infc_arena *arena, const char *dir, const char *name) {
    size_t n = strlen(dir);
    if (*name == '/' || n == 0 || strcmp(dir, ".") == 0)
        return infc_arena_printf(arena, "%s", name);
    return infc_arena_printf(arena, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *infc_path_dir(infc_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return infc_arena_copy_string(arena, ".", 1);
    while (slash > path && slash[-1] == '/') slash--;
    return infc_arena_copy_string(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

bool infc_path_ends(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

const char *infc_path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
