/* app_outputs.c - the files that a run writes: named for what is in them, and none that the run reads. */
#define _GNU_SOURCE 1
#include "app_prepare.h"
#include "app_outputs.h"
#include "infrt_os.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

/* A pipe, a device or a folder: what is there already, whatever its name says. */
static bool is_no_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static infrt_status folder_check(infrt_app *app, const char *option, const char *path, const char *instead) {
    if (!infrt_tensor_ending(path) || is_no_file(path)) return INFRT_OK;
    return infrt_fail(&app->error, INFRT_ERR_USAGE,
                      "%s %s: this would be a folder of .npy files; %s", option, path, instead);
}

infrt_status infrt_outputs_check_endings(infrt_app *app) {
    const infrt_options *o = &app->options;
    infrt_status status = INFRT_OK;
    if (o->outputs && !ends_in(o->outputs, ".npz") && !is_no_file(o->outputs) &&
        !(ends_in(o->outputs, ".npy") && app->model->n_outputs == 1))
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "--outputs %s: give F.npz%s; --output DIR writes an .npy for each", o->outputs,
                          app->model->n_outputs == 1 ? " or F.npy" : ", the model has several outputs");
    if (o->profile && !ends_in(o->profile, ".json") && !is_no_file(o->profile))
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--profile %s: this writes JSON; give F.json", o->profile);
    if (o->output)
        status = folder_check(app, "--output", o->output, "--outputs F.npz writes one file");
    if (status == INFRT_OK && o->dump_to && !ends_in(o->dump_to, ".npz"))
        status = folder_check(app, "--dump-to", o->dump_to, "give F.npz or a folder");
    return status;
}

/* Which file a path means: one that is there, or a name in a folder. */
typedef struct file_use {
    const char *option; /* what reads or writes it */
    char *path;         /* owned */
    bool there;
    dev_t device;
    ino_t inode;      /* of the file, or of its folder */
    const char *name; /* in `path`; of a file that is not there */
} file_use;

typedef struct file_uses {
    file_use *items;
    size_t n, cap, n_read; /* the first n_read are read, the others written */
} file_uses;

/* False: it can be no file that matters (a device; a folder that is not there, which opening it will say). */
static bool identify(file_use *use) {
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

static bool same_file(const file_use *a, const file_use *b) {
    return a->there == b->there && a->device == b->device && a->inode == b->inode &&
           (a->there || strcmp(a->name, b->name) == 0);
}

/* Takes `path` over, null for no memory. */
static infrt_status use_add(infrt_app *app, file_uses *uses, const char *option, char *path) {
    file_use use = {.option = option, .path = path};
    file_use *grown = uses->items;
    if (path && uses->n == uses->cap) {
        grown = realloc(grown, (2 * uses->cap + 16) * sizeof *grown);
        if (grown) uses->cap = 2 * uses->cap + 16;
    }
    if (!path || !grown) {
        free(path);
        return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for file names");
    }
    uses->items = grown;
    if (identify(&use)) uses->items[uses->n++] = use;
    else free(path);
    return INFRT_OK;
}

static infrt_status reads_add(infrt_app *app, file_uses *uses) {
    const infrt_options *o = &app->options;
    char program[4096];
    infrt_status status = INFRT_OK;
    if (infrt_os_program_path(program, sizeof program))
        status = use_add(app, uses, "this program", strdup(program));
    if (status == INFRT_OK && o->inputs) status = use_add(app, uses, "--inputs", strdup(o->inputs));
    if (status == INFRT_OK && o->weights)
        status = use_add(app, uses, "--weights", strdup(o->weights));
    for (uint32_t i = 0; i < o->input.n && status == INFRT_OK; i++) {
        uint32_t input;
        const char *path;
        const infc_text_info *text = infrt_text_argument(app->model, o->input.at[i], &path);
        if (text && *path++ != '@') continue;
        if (!text) status = infrt_input_argument(app, o->input.at[i], &input, &path);
        if (status == INFRT_OK) status = use_add(app, uses, "--input", strdup(path));
    }
    uses->n_read = uses->n;
    return status;
}

static infrt_status folder_add(infrt_app *app, file_uses *uses, const char *option,
                               const char *path, const infc_tensor_info *const *infos, size_t n) {
    infrt_status status = INFRT_OK;
    for (size_t i = 0; i < n && status == INFRT_OK; i++)
        status = use_add(app, uses, option, infrt_npy_path(path, infos, i));
    return status;
}

static infrt_status overlap_find(infrt_app *app, const file_uses *uses) {
    for (size_t i = uses->n_read; i < uses->n; i++)
        for (size_t k = 0; k < i; k++) {
            const file_use *mine = &uses->items[i], *other = &uses->items[k];
            if (!same_file(mine, other)) continue;
            if (k < uses->n_read)
                return infrt_fail(&app->error, INFRT_ERR_USAGE,
                                  "%s %s: this is the file of %s, which is read; give another name",
                                  mine->option, mine->path, other->option);
            return infrt_fail(&app->error, INFRT_ERR_USAGE, "%s %s: %s writes this file too; give another name",
                              mine->option, mine->path, other->option);
        }
    return INFRT_OK;
}

/* outputs[i] of the model as a list of pointers, which the caller frees; null for no memory. */
static const infc_tensor_info **infos_create(const infc_model *model) {
    const infc_tensor_info **infos = calloc(model->n_outputs + (size_t)1, sizeof *infos);
    for (uint32_t i = 0; infos && i < model->n_outputs; i++) infos[i] = &model->outputs[i];
    return infos;
}

infrt_status infrt_outputs_check_files(infrt_app *app, const infc_tensor_info *const *dumped, size_t n_dumped) {
    const infrt_options *o = &app->options;
    file_uses uses = {0};
    const infc_tensor_info **infos = infos_create(app->model);
    infrt_status status = reads_add(app, &uses);
    if (!infos) status = infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for outputs");
    if (status == INFRT_OK && o->outputs)
        status = use_add(app, &uses, "--outputs", strdup(o->outputs));
    if (status == INFRT_OK && o->output)
        status = folder_add(app, &uses, "--output", o->output, infos, app->model->n_outputs);
    if (status == INFRT_OK && o->dump_to && ends_in(o->dump_to, ".npz"))
        status = use_add(app, &uses, "--dump-to", strdup(o->dump_to));
    else if (status == INFRT_OK && o->dump_to)
        status = folder_add(app, &uses, "--dump-to", o->dump_to, dumped, n_dumped);
    if (status == INFRT_OK && o->profile)
        status = use_add(app, &uses, "--profile", strdup(o->profile));
    if (status == INFRT_OK) status = overlap_find(app, &uses);
    for (size_t i = 0; i < uses.n; i++) free(uses.items[i].path);
    free(uses.items);
    free(infos);
    return status;
}

infrt_status infrt_outputs_write(infrt_app *app) {
    const infc_model *model = app->model;
    const infrt_options *o = &app->options;
    const infc_tensor_info **infos = infos_create(model);
    if (!infos) return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for outputs");
    const void *const *data = (const void *const *)app->buffers.outputs;
    infrt_status status = INFRT_OK;
    if (o->output)
        status = infrt_npy_write_all(o->output, infos, data, model->n_outputs, &app->error);
    if (status == INFRT_OK && o->outputs && ends_in(o->outputs, ".npy"))
        status = infrt_npy_write(o->outputs, infos[0], data[0], &app->error);
    else if (status == INFRT_OK && o->outputs)
        status = infrt_npz_write(o->outputs, infos, data, model->n_outputs, &app->error);
    free(infos);
    return status;
}
