/* infrt_os.h - everything that the core asks of the operating system; one file per OS implements it. */
#ifndef INFRT_OS_H
#define INFRT_OS_H
#include "infrt.h"
#include <stdatomic.h>

/* Monotonic clock. */
uint64_t infrt_os_now_ns(void);
/* Seconds since 1970, as finely as the system tells: time() may be a tick behind, so in the second before. */
double infrt_os_date(void);
enum { INFRT_OS_TIME = 32 };
/* Now, in UTC, as "2026-11-30T23:59:59.999Z". */
void infrt_os_time_text(char out[INFRT_OS_TIME]);
/* How large a stack may become, of the first thread and by default of others. */
uint64_t infrt_os_stack_bytes(void);

/* Sleeps while *word == old, until woken; may return early. Wake: all who sleep on `word`. */
void infrt_os_sleep(_Atomic uint32_t *word, uint32_t old);
void infrt_os_wake(_Atomic uint32_t *word);

enum { INFRT_OS_HUGE_FROM = 4 << 20 }; /* bytes of a block that is worth pages of 2 MiB */

/* Zeroed, page-aligned memory, already backed by pages; null when there is not enough. */
void *infrt_os_block_create(size_t bytes);
/* The same, but backed only where it is used; `huge`: by pages of 2 MiB where the system has them. */
void *infrt_os_block_reserve(size_t bytes, bool huge);
/* All its pages are there afterwards, so that nothing waits for them later; not for one that holds anything. */
void infrt_os_block_touch(void *block, size_t bytes);
void infrt_os_block_destroy(void *block, size_t bytes); /* null is fine */

/* A file open for reading. fd is -1 when closed. */
typedef struct infrt_os_file {
    int fd;
    uint64_t bytes;
} infrt_os_file;
/* The path of the program that is running; false when it is not known or longer than `room`. */
bool infrt_os_program_path(char *out, size_t room);
/* path null: the program that is running. Refuses what is not a regular file. */
infrt_status infrt_os_file_open(const char *path, infrt_os_file *out, infrt_error *error);
void infrt_os_file_close(infrt_os_file *file);
/* Reads exactly `bytes` at `offset`; false at the end of the file or on an error. */
bool infrt_os_file_read(const infrt_os_file *file, uint64_t offset, void *out, size_t bytes);
/* Maps [offset, offset + bytes) read-only so that INFC_OVER_READ bytes after it can be read too. Returns the
 * address of `offset`, or null with errno set; *map and *map_bytes are what to unmap. */
const void *infrt_os_file_map(const infrt_os_file *file, uint64_t offset, uint64_t bytes,
                              void **map, size_t *map_bytes);
void infrt_os_file_unmap(void *map, size_t map_bytes);

/* The file at `path` is this afterwards, or as it was: written beside it, with a lock, to the disk, then renamed. A
 * link is replaced, not followed; INFRT_ERR_IO says what went wrong, and so does errno then. */
infrt_status infrt_os_file_replace(const char *path, const void *data, size_t bytes, infrt_error *error);
/* Whether that could be done now: its folder is there and can be written, or INFRT_ERR_IO. */
infrt_status infrt_os_file_replaceable(const char *path, infrt_error *error);

/* The most memory that this process has had resident; 0: not known. */
uint64_t infrt_os_peak_rss(void);
/* Whole pages of a mapped file in this range leave memory; they are read again when they are used. */
void infrt_os_forget(const void *memory, size_t bytes);
/* Keeps memory resident; false where the limit of locked memory is in the way. Null is fine. */
bool infrt_os_lock(const void *memory, size_t bytes);
/* The calling thread stays on one CPU of its mask: number `worker`, modulo how many there are. Best effort. */
void infrt_os_pin(uint32_t worker);

/* CPUs that the affinity mask allows, at least 1. */
uint32_t infrt_os_affinity(void);
/* Whole CPUs' worth of time that the cgroups of this process grant, at least 1; UINT32_MAX: no limit.
 * `root` is put before /proc and /sys: "" but in tests. */
uint32_t infrt_os_cpu_quota(const char *root);

#endif
