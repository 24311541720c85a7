/* app_files.c - the files that a command reads and writes, told apart by device and inode. */
#define _GNU_SOURCE 1
#include "app_files.h"
#include "infrt_os.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool infrt_path_ends(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

bool infrt_path_no_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

infrt_status infrt_profile_check(const char *path, infrt_error *error) {
    if (!path || infrt_path_ends(path, ".json") || infrt_path_no_file(path)) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_USAGE, "--profile %s: this writes JSON; give F.json", path);
}

/* False: it can be no file that matters (a device; a folder that is not there, which opening it will say). */
static bool identify(infrt_file_use *use) {
    struct stat info;
    char *slash = strrchr(use->path, '/');
    use->there = stat(use->path, &info) == 0;
    if (use->there && !S_ISREG(info.st_mode)) return false;
    use->name = slash ? slash + 1 : use->path;
    if (!use->there) {
        char kept = 0;
        if (slash) kept = slash[1], slash[1] = 0;
        bool found = stat(slash ? use->path : ".", &info) == 0;
        if (slash) slash[1] = kept;
        if (!found) return false;
    }
    use->device = info.st_dev;
    use->inode = info.st_ino;
    return true;
}

static bool same_file(const infrt_file_use *a, const infrt_file_use *b) {
    return a->there == b->there && a->device == b->device && a->inode == b->inode &&
           (a->there || strcmp(a->name, b->name) == 0);
}

infrt_status infrt_files_add(infrt_files *uses, const char *option, char *path, infrt_error *error) {
    infrt_file_use use = {.option = option, .path = path};
    infrt_file_use *grown = uses->items;
    if (path && uses->n == uses->cap) {
        grown = realloc(grown, (2 * uses->cap + 16) * sizeof *grown);
        if (grown) uses->cap = 2 * uses->cap + 16;
    }
    if (!path || !grown) {
        free(path);
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for file names");
    }
    uses->items = grown;
    if (identify(&use)) uses->items[uses->n++] = use;
    else free(path);
    return INFRT_OK;
}

infrt_status infrt_files_add_program(infrt_files *uses, infrt_error *error) {
    char program[4096];
    if (!infrt_os_program_path(program, sizeof program)) return INFRT_OK;
    return infrt_files_add(uses, "this program", strdup(program), error);
}

infrt_status infrt_files_check(const infrt_files *uses, infrt_error *error) {
    for (size_t i = uses->n_read; i < uses->n; i++)
        for (size_t k = 0; k < i; k++) {
            const infrt_file_use *mine = &uses->items[i], *other = &uses->items[k];
            if (!same_file(mine, other)) continue;
            if (k < uses->n_read)
                return infrt_fail(error, INFRT_ERR_USAGE,
                                  "%s %s: this is the file of %s, which is read; give another name",
                                  mine->option, mine->path, other->option);
            return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: %s writes this file too; give another name",
                              mine->option, mine->path, other->option);
        }
    return INFRT_OK;
}

void infrt_files_free(infrt_files *uses) {
    for (size_t i = 0; i < uses->n; i++) free(uses->items[i].path);
    free(uses->items);
    *uses = (infrt_files){0};
}
