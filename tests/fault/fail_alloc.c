/* Preloaded into a program: lets one allocation fail. $FAIL_ALLOC is a file of two 64-bit numbers, which whoever tests
 * has mapped too: how many allocations until then (0: none fails), and how many have failed. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    _Atomic long until, failed;
} *shared;

/* glibc's own, so that no lookup allocates. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *at, size_t n);

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAIL_ALLOC");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (at != MAP_FAILED) shared = at;
}

static bool fails(void) {
    if (!shared || atomic_load(&shared->until) <= 0 || atomic_fetch_sub(&shared->until, 1) != 1)
        return false;
    atomic_fetch_add(&shared->failed, 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return fails() ? NULL : __libc_calloc(n, each); }
void *realloc(void *at, size_t n) { return fails() ? NULL : __libc_realloc(at, n); }
