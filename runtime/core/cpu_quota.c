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

/* The group of this process: of the hierarchy with the cpu controller (v1), or of the unified one (v2). */
static bool group_find(const char *root, bool v2, char *out) {
    FILE *file = open_under(root, "/proc/self/cgroup");
    if (!file) return false;
    char line[LINE_BYTES];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) { /* "4:cpu,cpuacct:/path" or "0::/path" */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *controllers++ = 0;
        *path++ = 0;
        found = v2 ? strcmp(line, "0") == 0 && *controllers == 0 : list_has(controllers, "cpu");
        if (found) snprintf(out, PATH_BYTES, "%.*s", PATH_BYTES - 1, path);
    }
    fclose(file);
    return found;
}

/* Where the hierarchy is mounted, and the group that is its root there. */
static bool mount_find(const char *root, bool v2, char *mount_point, char *mount_root) {
    FILE *file = open_under(root, "/proc/self/mountinfo");
    if (!file) return false;
    char line[LINE_BYTES];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) { /* id parent dev ROOT POINT options... - TYPE source SUPER */
        line[strcspn(line, "\n")] = 0;
        char type[64], super[1024];
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %63s %*s %1023s", type, super) != 2) continue;
        if (v2 ? strcmp(type, "cgroup2") != 0 : strcmp(type, "cgroup") != 0 || !list_has(super, "cpu"))
            continue;
        found = sscanf(line, "%*s %*s %*s %4095s %4095s", mount_root, mount_point) == 2;
    }
    fclose(file);
    return found;
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

static uint32_t hierarchy_quota(const char *root, bool v2) {
    char group[PATH_BYTES], point[PATH_BYTES], mount_root[PATH_BYTES], directory[2 * PATH_BYTES];
    if (!group_find(root, v2, group) || !mount_find(root, v2, point, mount_root)) return UINT32_MAX;
    const char *below = group;
    size_t n = strlen(mount_root);
    if (n > 1 && strncmp(group, mount_root, n) == 0 && (group[n] == 0 || group[n] == '/'))
        below = group + n;
    snprintf(directory, sizeof directory, "%s%s", point, below);
    uint32_t least = UINT32_MAX;
    for (size_t stop = strlen(point);;) {
        uint32_t cpus = level_quota(root, v2, directory);
        if (cpus < least) least = cpus;
        char *slash = strrchr(directory, '/');
        if (!slash || (size_t)(slash - directory) < stop) break;
        *slash = 0;
    }
    return least;
}

uint32_t infrt_os_cpu_quota(const char *root) {
    uint32_t v1 = hierarchy_quota(root, false), v2 = hierarchy_quota(root, true);
    return v1 < v2 ? v1 : v2;
}
