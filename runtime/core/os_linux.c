/* os_linux.c - infrt_os.h on Linux, but for the CPU quota. */
#define _GNU_SOURCE 1
#include "infrt_os.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t infrt_os_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double infrt_os_date(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void infrt_os_time_text(char out[INFRT_OS_TIME]) {
    struct timespec now;
    struct tm day;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &day);
    const size_t n = strftime(out, INFRT_OS_TIME, "%Y-%m-%dT%H:%M:%S", &day);
    snprintf(out + n, INFRT_OS_TIME - n, ".%03ldZ", now.tv_nsec / 1000000);
}

uint64_t infrt_os_stack_bytes(void) {
    struct rlimit most;
    return getrlimit(RLIMIT_STACK, &most) == 0 ? (uint64_t)most.rlim_cur : UINT64_MAX;
}

void infrt_os_sleep(_Atomic uint32_t *word, uint32_t old) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
}

void infrt_os_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *infrt_os_block_reserve(size_t bytes, bool huge) {
    if (bytes == 0) bytes = 1;
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return NULL;
    if (huge) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
}

void *infrt_os_block_create(size_t bytes) {
    void *block = infrt_os_block_reserve(bytes, bytes >= INFRT_OS_HUGE_FROM);
    if (block) infrt_os_block_touch(block, bytes);
    return block;
}

void infrt_os_block_touch(void *block, size_t bytes) {
    for (size_t i = 0; i < bytes; i += page_bytes()) ((volatile char *)block)[i] = 0;
}

void infrt_os_block_destroy(void *block, size_t bytes) {
    if (block) munmap(block, bytes ? bytes : 1);
}

bool infrt_os_program_path(char *out, size_t room) {
    ssize_t n = readlink("/proc/self/exe", out, room);
    if (n <= 0 || (size_t)n >= room) return false;
    out[n] = 0;
    return true;
}

infrt_status infrt_os_file_open(const char *path, infrt_os_file *out, infrt_error *error) {
    const char *shown = path ? path : "/proc/self/exe";
    out->fd = open(shown, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */
    if (out->fd < 0)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot open: %s", shown, strerror(errno));
    struct stat info;
    if (fstat(out->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        infrt_os_file_close(out);
        return infrt_fail(error, INFRT_ERR_IO, "%s: not a regular file", shown);
    }
    out->bytes = (uint64_t)info.st_size;
    return INFRT_OK;
}

void infrt_os_file_close(infrt_os_file *file) {
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

bool infrt_os_file_read(const infrt_os_file *file, uint64_t offset, void *out, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(file->fd, (char *)out + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = ENODATA; /* the file got shorter */
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        const ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        bytes -= (size_t)n;
    }
    return fsync(fd) == 0;
}

/* Where `path`, which is shorter than 4096, is. */
static void folder_of(const char *path, char folder[4096]) {
    const char *slash = strrchr(path, '/');
    snprintf(folder, 4096, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

/* A rename is on the disk when its folder is. `path` as of folder_of. Folders that may not be read, and those of
 * file systems that sync none, are left to the system. */
static bool folder_sync(const char *path) {
    char folder[4096];
    folder_of(path, folder);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd < 0 || fsync(fd) == 0 || errno == EINVAL;
    if (fd >= 0) close(fd);
    return good;
}

/* A file beside `path`, locked before anything is in it, which tells whoever finds it that it is being written: the
 * descriptor, or -1. Who takes it for left behind before that removes it under a lock of its own, which is waited for;
 * then another one is made. Names do not come again: other containers have processes of the same number. */
static int partial_create(const char *path, char partial[4096]) {
    struct flock being_written = {.l_type = F_WRLCK};
    const uint64_t first = infrt_os_now_ns();
    for (uint64_t i = first; i < first + 1000; i++) {
        struct stat info;
        snprintf(partial, 4096, "%s.part-%ld-%" PRIx64, path, (long)getpid(), i);
        const int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) return -1;
        if (fd < 0) continue;
        while (fcntl(fd, F_OFD_SETLKW, &being_written) != 0 && errno == EINTR) {
        } /* a file system without locks: goes on */
        if (fstat(fd, &info) == 0 && info.st_nlink > 0) return fd;
        close(fd);
    }
    return -1;
}

static infrt_status check_length(const char *path, infrt_error *error) {
    return strlen(path) <= 4096 - 64
               ? INFRT_OK
               : infrt_fail(error, INFRT_ERR_USAGE, "%.64s..: the path is too long", path);
}

infrt_status infrt_os_file_replaceable(const char *path, infrt_error *error) {
    char folder[4096];
    infrt_status status = check_length(path, error);
    if (status != INFRT_OK) return status;
    folder_of(path, folder);
    if (access(folder, W_OK | X_OK) == 0) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_IO, "%s: cannot write into its folder: %s", path, strerror(errno));
}

infrt_status infrt_os_file_replace(const char *path, const void *data, size_t bytes, infrt_error *error) {
    char partial[4096];
    infrt_status status = check_length(path, error);
    if (status != INFRT_OK) return status;
    const int fd = partial_create(path, partial);
    bool good = fd >= 0 && write_all(fd, data, bytes) && rename(partial, path) == 0;
    const int why = errno;
    if (fd >= 0 && !good) unlink(partial);
    if (fd >= 0) close(fd); /* all of it is on the disk: nothing is left that could fail */
    if (good && folder_sync(path)) return INFRT_OK;
    if (good)
        return infrt_fail(error, INFRT_ERR_IO, "%s: written, but its folder cannot be synced: %s",
                          path, strerror(errno));
    infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", path, strerror(why));
    errno = why;
    return INFRT_ERR_IO;
}

const void *infrt_os_file_map(const infrt_os_file *file, uint64_t offset, uint64_t bytes,
                              void **map, size_t *map_bytes) {
    size_t page = page_bytes(), before = (size_t)(offset % page);
    if (bytes > SIZE_MAX / 2) return errno = ENOMEM, NULL;
    size_t used = before + (size_t)bytes;
    *map_bytes = (used + INFC_OVER_READ + page - 1) / page * page;
    /* Anonymous pages first: the file then covers all but what lies past its last page. */
    *map = mmap(NULL, *map_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*map == MAP_FAILED) return *map = NULL, NULL;
    if (mmap(*map, used, PROT_READ, MAP_PRIVATE | MAP_FIXED, file->fd, (off_t)(offset - before)) == MAP_FAILED) {
        int saved = errno;
        infrt_os_file_unmap(*map, *map_bytes);
        *map = NULL;
        return errno = saved, NULL;
    }
    return (const char *)*map + before;
}

void infrt_os_file_unmap(void *map, size_t map_bytes) {
    if (map) munmap(map, map_bytes);
}

/* The calling thread's mask, to be freed, with room for `*cpus`; null when it is not known. */
static cpu_set_t *affinity_mask(int *cpus) {
    /* The kernel refuses a mask smaller than its own, whose size it does not tell. */
    for (*cpus = 1024; *cpus <= 1 << 20; *cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)*cpus);
        if (!set || sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)*cpus), set) == 0) return set;
        CPU_FREE(set);
        if (errno != EINVAL) break;
    }
    return NULL;
}

uint32_t infrt_os_affinity(void) {
    int cpus, n = 0;
    cpu_set_t *set = affinity_mask(&cpus);
    if (set) n = CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)cpus), set);
    CPU_FREE(set);
    return n > 0 ? (uint32_t)n : 1;
}

void infrt_os_pin(uint32_t worker) {
    int cpus;
    cpu_set_t *set = affinity_mask(&cpus);
    size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
    int n = set ? CPU_COUNT_S(bytes, set) : 0, left = n ? (int)(worker % (uint32_t)n) : 0;
    for (int cpu = 0; n && cpu < cpus; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, bytes, set) || left-- > 0) continue;
        CPU_ZERO_S(bytes, set);
        CPU_SET_S((size_t)cpu, bytes, set);
        sched_setaffinity(0, bytes, set);
        break;
    }
    CPU_FREE(set);
}

uint64_t infrt_os_peak_rss(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

void infrt_os_forget(const void *memory, size_t bytes) {
    uintptr_t page = page_bytes(), begin = ((uintptr_t)memory + page - 1) / page * page,
              end = ((uintptr_t)memory + bytes) / page * page;
    if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
}

bool infrt_os_lock(const void *memory, size_t bytes) {
    return !memory || mlock(memory, bytes) == 0;
}
