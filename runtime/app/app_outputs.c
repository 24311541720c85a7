/* app_outputs.c - the files that a run writes: named for what is in them, and none that the run reads. */
#define _GNU_SOURCE 1
#include "app_prepare.h"
#include "app_files.h"
#include "app_outputs.h"
#include <stdlib.h>
#include <string.h>

static infrt_status folder_check(infrt_app *app, const char *option, const char *path, const char *instead) {
    if (!infrt_tensor_ending(path) || infrt_path_no_file(path)) return INFRT_OK;
    return infrt_fail(&app->error, INFRT_ERR_USAGE,
                      "%s %s: this would be a folder of .npy files; %s", option, path, instead);
}

infrt_status infrt_outputs_check_endings(infrt_app *app) {
    const infrt_options *o = &app->options;
    infrt_status status = INFRT_OK;
    if (o->outputs && !infrt_path_ends(o->outputs, ".npz") && !infrt_path_no_file(o->outputs) &&
        !(infrt_path_ends(o->outputs, ".npy") && app->model->n_outputs == 1))
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "--outputs %s: give F.npz%s; --output DIR writes an .npy for each", o->outputs,
                          app->model->n_outputs == 1 ? " or F.npy" : ", the model has several outputs");
    status = infrt_profile_check(o->profile, &app->error);
    if (status != INFRT_OK) return status;
    if (o->output)
        status = folder_check(app, "--output", o->output, "--outputs F.npz writes one file");
    if (status == INFRT_OK && o->dump_to && !infrt_path_ends(o->dump_to, ".npz"))
        status = folder_check(app, "--dump-to", o->dump_to, "give F.npz or a folder");
    return status;
}

static infrt_status reads_add(infrt_app *app, infrt_files *uses) {
    const infrt_options *o = &app->options;
    infrt_status status = infrt_files_add_program(uses, &app->error);
    if (status == INFRT_OK && o->inputs)
        status = infrt_files_add(uses, "--inputs", strdup(o->inputs), &app->error);
    if (status == INFRT_OK && o->weights)
        status = infrt_files_add(uses, "--weights", strdup(o->weights), &app->error);
    for (uint32_t i = 0; i < o->input.n && status == INFRT_OK; i++) {
        uint32_t input;
        const char *path;
        const infc_text_info *text = infrt_text_argument(app->model, o->input.at[i], &path);
        if (text && *path++ != '@') continue;
        if (!text) status = infrt_input_argument(app, o->input.at[i], &input, &path);
        if (status == INFRT_OK)
            status = infrt_files_add(uses, "--input", strdup(path), &app->error);
    }
    uses->n_read = uses->n;
    return status;
}

static infrt_status folder_add(infrt_app *app, infrt_files *uses, const char *option,
                               const char *path, const infc_tensor_info *const *infos, size_t n) {
    infrt_status status = INFRT_OK;
    for (size_t i = 0; i < n && status == INFRT_OK; i++)
        status = infrt_files_add(uses, option, infrt_npy_path(path, infos, i), &app->error);
    return status;
}

/* outputs[i] of the model as a list of pointers, which the caller frees; null for no memory. */
static const infc_tensor_info **infos_create(const infc_model *model) {
    const infc_tensor_info **infos = calloc(model->n_outputs + (size_t)1, sizeof *infos);
    for (uint32_t i = 0; infos && i < model->n_outputs; i++) infos[i] = &model->outputs[i];
    return infos;
}

infrt_status infrt_outputs_check_files(infrt_app *app, const infc_tensor_info *const *dumped, size_t n_dumped) {
    const infrt_options *o = &app->options;
    infrt_files uses = {0};
    const infc_tensor_info **infos = infos_create(app->model);
    infrt_status status = reads_add(app, &uses);
    if (!infos) status = infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for outputs");
    if (status == INFRT_OK && o->outputs)
        status = infrt_files_add(&uses, "--outputs", strdup(o->outputs), &app->error);
    if (status == INFRT_OK && o->output)
        status = folder_add(app, &uses, "--output", o->output, infos, app->model->n_outputs);
    if (status == INFRT_OK && o->dump_to && infrt_path_ends(o->dump_to, ".npz"))
        status = infrt_files_add(&uses, "--dump-to", strdup(o->dump_to), &app->error);
    else if (status == INFRT_OK && o->dump_to)
        status = folder_add(app, &uses, "--dump-to", o->dump_to, dumped, n_dumped);
    if (status == INFRT_OK && o->profile)
        status = infrt_files_add(&uses, "--profile", strdup(o->profile), &app->error);
    if (status == INFRT_OK) status = infrt_files_check(&uses, &app->error);
    infrt_files_free(&uses);
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
    if (status == INFRT_OK && o->outputs && infrt_path_ends(o->outputs, ".npy"))
        status = infrt_npy_write(o->outputs, infos[0], data[0], &app->error);
    else if (status == INFRT_OK && o->outputs)
        status = infrt_npz_write(o->outputs, infos, data, model->n_outputs, &app->error);
    free(infos);
    return status;
}
