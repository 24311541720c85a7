/* lm_files.c - the files that a command writes are none that it reads. */
#define _GNU_SOURCE 1
#include "app_files.h"
#include "lm_app.h"
#include <string.h>

/* A null path or one of a standard stream is none. */
static infrt_status path_add(infrt_lm_app *app, infrt_files *files, const char *option, const char *path) {
    if (!path || strcmp(path, "-") == 0) return INFRT_OK;
    return infrt_files_add(files, option, strdup(path), &app->error);
}

infrt_status infrt_lm_files_check(infrt_lm_app *app) {
    const infrt_lm_options *o = &app->options;
    const struct {
        const char *option, *path;
    } read[] = {{"--prompt-file", o->prompt_file},
                {"--weights", o->weights},
                {"--data", o->data},
                {"--against", o->against}},
      written[] = {{"--logits", o->logits}, {"--profile", o->profile}, {"--session", o->session}};
    infrt_files files = {0};
    infrt_status status = infrt_profile_check(o->profile, &app->error);
    if (status == INFRT_OK) status = infrt_files_add_program(&files, &app->error);
    for (size_t i = 0; i < sizeof read / sizeof *read && status == INFRT_OK; i++)
        status = path_add(app, &files, read[i].option, read[i].path);
    files.n_read = files.n;
    for (size_t i = 0; i < sizeof written / sizeof *written && status == INFRT_OK; i++)
        status = path_add(app, &files, written[i].option, written[i].path);
    if (status == INFRT_OK) status = infrt_files_check(&files, &app->error);
    infrt_files_free(&files);
    return status;
}
