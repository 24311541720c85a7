/* Preloaded into infc: counts the steps by which a commit changes a folder, from the first one on, and lets something
 * happen before step $STEP_AT: $STEP_DOES is KILL or TERM (this process gets the signal), FULL (the step fails for
 * want of space) or FULL-ON (and so do all that follow). $STEP_COUNT: a file for the number of steps. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long steps;
static bool begun;

static void write_count(void) {
    const char *path = getenv("STEP_COUNT");
    FILE *file = path && begun ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", steps);
    fclose(file);
}

/* True when the step is to fail. */
static bool step(bool needs_space) {
    const char *at = getenv("STEP_AT"), *does = getenv("STEP_DOES");
    if (!begun) return false;
    steps++;
    write_count();
    if (!at || !does || steps < atol(at)) return false;
    bool exact = steps == atol(at);
    if (exact && strcmp(does, "KILL") == 0) raise(SIGKILL);
    if (exact && strcmp(does, "TERM") == 0) raise(SIGTERM);
    bool full = needs_space && (strcmp(does, "FULL-ON") == 0 || (exact && strcmp(does, "FULL") == 0));
    if (full) errno = ENOSPC;
    return full;
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

int rename(const char *from, const char *to) {
    const char *base = strrchr(from, '/');
    begun = begun || (base && strcmp(base, "/.unfinished.json") == 0);
    return step(true) ? -1 : REAL("rename", int (*)(const char *, const char *))(from, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
    const char *base = strrchr(from, '/');
    begun = begun || (base && strcmp(base, "/.unfinished.json") == 0);
    typedef int (*real)(int, const char *, int, const char *, unsigned);
    return step(true) ? -1 : REAL("renameat2", real)(from_dir, from, to_dir, to, flags);
}

int link(const char *from, const char *to) {
    begun = begun || (strstr(to, "/.kept-0") && strstr(from, "manifest.json"));
    return step(true) ? -1 : REAL("link", int (*)(const char *, const char *))(from, to);
}

int mkdir(const char *path, mode_t mode) {
    return step(true) ? -1 : REAL("mkdir", int (*)(const char *, mode_t))(path, mode);
}

int rmdir(const char *path) {
    return step(false) ? -1 : REAL("rmdir", int (*)(const char *))(path);
}

int remove(const char *path) {
    return step(false) ? -1 : REAL("remove", int (*)(const char *))(path);
}
