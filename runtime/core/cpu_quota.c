/* cpu_quota.c - how much CPU time the cgroups of this process grant (Linux).
 *
 * /proc/self/cgroup names the group in each hierarchy, /proc/self/mountinfo where that hierarchy is mounted
 * and which group is its root there (not "/" in some containers). From our group up to the mount, every
 * level may have a limit: v2 `cpu.max` = "quota|max period", v1 `cpu.cfs_quota_us` (-1: none) and
 * `cpu.cfs_period_us`. The smallest counts. */
#include "infrt_os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 8192 };

static FILE *open_under(const char *root, const char *path) {
    char full[2 * PATH_BYTES];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    return n > 0 && (size_t)n < sizeof full ? fopen(full, "re") : NULL;
}

/* Whether the comma-separated `list` has `word`. */
static bool list_has(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return true;
    return false;
}

typedef struct hierarchy {
    bool v2, grouped, mounted;
    char group[PATH_BYTES]; /* of this process */
    char point[PATH_BYTES]; /* where it is mounted, */
    char root[PATH_BYTES];  /* and the group that is its root there */
} hierarchy;
enum { V1, V2, HIERARCHIES }; /* the one with the cpu controller, and the unified one */

static void take_group(hierarchy *h, const char *id, const char *controllers, const char *path) {
    if (h->grouped || !(h->v2 ? strcmp(id, "0") == 0 && *controllers == 0 : list_has(controllers, "cpu")))
        return;
    snprintf(h->group, sizeof h->group, "%.*s", PATH_BYTES - 1, path);
    h->grouped = true;
}

static void find_groups(const char *root, hierarchy *all) {
    FILE *file = open_under(root, "/proc/self/cgroup");
    char line[LINE_BYTES];
    while (file && fgets(line, sizeof line, file)) { /* "4:cpu,cpuacct:/path" or "0::/path" */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *controllers++ = 0;
        *path++ = 0;
        for (int i = 0; i < HIERARCHIES; i++) take_group(&all[i], line, controllers, path);
    }
    if (file) fclose(file);
}

static void take_mount(hierarchy *h, const char *line, const char *type, const char *super) {
    if (h->mounted ||
        !(h->v2 ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && list_has(super, "cpu")))
        return;
    h->mounted = sscanf(line, "%*s %*s %*s %4095s %4095s", h->root, h->point) == 2;
}

static void find_mounts(const char *root, hierarchy *all) {
    FILE *file = open_under(root, "/proc/self/mountinfo");
    char line[LINE_BYTES];
    while (file && fgets(line, sizeof line, file)) { /* id parent dev ROOT POINT options... - TYPE source SUPER */
        line[strcspn(line, "\n")] = 0;
        char type[64], super[1024];
        const char *tail = strstr(line, " - cgroup");
        if (!tail || sscanf(tail, " - %63s %*s %1023s", type, super) != 2) continue;
        for (int i = 0; i < HIERARCHIES; i++) take_mount(&all[i], line, type, super);
    }
    if (file) fclose(file);
}

/* The first two words of a small file as numbers; "max" and negatives are -1. */
static bool read_numbers(const char *root, const char *directory, const char *name,
                         long long *first, long long *second) {
    char path[PATH_BYTES + 64], text[128] = "";
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = open_under(root, path);
    if (!file) return false;
    bool got = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    if (!got) return false;
    char *end;
    *first = strtoll(text, &end, 10);
    if (strncmp(text, "max", 3) == 0) *first = -1, end = text + 3;
    if (second) *second = strtoll(end, NULL, 10);
    return true;
}

static uint32_t level_quota(const char *root, bool v2, const char *directory) {
    long long quota = -1, period = 0;
    bool known = v2 ? read_numbers(root, directory, "cpu.max", &quota, &period)
                    : read_numbers(root, directory, "cpu.cfs_quota_us", &quota, NULL) &&
                          read_numbers(root, directory, "cpu.cfs_period_us", &period, NULL);
    if (!known || quota <= 0 || period <= 0) return UINT32_MAX;
    long long cpus = quota / period;
    return cpus < 1 ? 1 : cpus < UINT32_MAX ? (uint32_t)cpus : UINT32_MAX;
}

static uint32_t hierarchy_quota(const char *root, const hierarchy *h) {
    char directory[2 * PATH_BYTES];
    if (!h->grouped || !h->mounted) return UINT32_MAX;
    const char *below = h->group;
    size_t n = strlen(h->root);
    if (n > 1 && strncmp(h->group, h->root, n) == 0 && (h->group[n] == 0 || h->group[n] == '/'))
        below = h->group + n;
    snprintf(directory, sizeof directory, "%s%s", h->point, below);
    uint32_t least = UINT32_MAX;
    for (size_t stop = strlen(h->point);;) {
        char *slash = strrchr(directory, '/');
        const bool twice = slash && slash > directory && slash[1] == 0;
        const uint32_t cpus = twice ? UINT32_MAX : level_quota(root, h->v2, directory);
        if (cpus < least) least = cpus;
        if (!slash || (size_t)(slash - directory) < stop) break;
        *slash = 0;
    }
    return least;
}

/* On the way to a first run: each file is read once. */
uint32_t infrt_os_cpu_quota(const char *root) {
    hierarchy all[HIERARCHIES];
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < HIERARCHIES; i++) {
        all[i].v2 = i == V2;
        all[i].grouped = all[i].mounted = false;
    }
    find_groups(root, all);
    find_mounts(root, all);
    for (int i = 0; i < HIERARCHIES; i++) {
        const uint32_t cpus = hierarchy_quota(root, &all[i]);
        if (cpus < least) least = cpus;
    }
    return least;
}
