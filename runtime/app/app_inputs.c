/* app_inputs.c - fills the inputs of a run from files. */
#include "app.h"
#include "app_prepare.h"
#include "input_file.h"
#include "wav_read.h"
#include <stdlib.h>
#include <string.h>

static const infc_image_info *image_of(const infc_model *model, uint32_t input) {
    for (uint32_t i = 0; i < model->n_images; i++)
        if (model->images[i].input == input) return &model->images[i];
    return NULL;
}

/* Booleans become 0 or 1, which is all that kernels expect. */
static void input_store(const infrt_app *app, uint32_t input, const infrt_tensor *tensor) {
    unsigned char *to = app->buffers.inputs[input];
    memcpy(to, tensor->data, (size_t)tensor->bytes);
    if (tensor->dtype == INFC_DTYPE_bool)
        for (uint64_t i = 0; i < tensor->bytes; i++) to[i] = to[i] != 0;
}

static infrt_status file_load(infrt_app *app, uint32_t input, const char *path) {
    infrt_input_file file;
    infrt_tensor tensor = {0};
    char note[256];
    infrt_status status = infrt_input_open(path, &file, &app->error);
    if (status != INFRT_OK) return status;
    if (infrt_is_wav(file.bytes, path))
        status = infrt_audio_read(app->model, input, file.bytes, path, app->buffers.inputs[input],
                                  note, &app->error);
    else {
        status = infrt_tensor_read(file.bytes, path, &app->model->inputs[input],
                                   image_of(app->model, input), &tensor, note, &app->error);
        if (status == INFRT_OK) input_store(app, input, &tensor);
    }
    if (status == INFRT_OK && note[0]) infrt_shell_note(&app->shell, "%s: %s", path, note);
    infrt_tensor_free(&tensor);
    infrt_input_close(&file);
    return status;
}

infrt_status infrt_input_argument(infrt_app *app, const char *text, uint32_t *input, const char **path) {
    const infc_model *model = app->model;
    const char *equals = strchr(text, '='), *names[64];
    for (uint32_t i = 0; i < model->n_inputs; i++) {
        size_t n = strlen(model->inputs[i].name);
        if (strncmp(text, model->inputs[i].name, n) == 0 && text[n] == '=') {
            *input = i;
            *path = text + n + 1;
            return INFRT_OK;
        }
    }
    *input = 0;
    *path = text;
    if (model->n_inputs == 1 && !equals) return INFRT_OK;
    uint32_t n_names = model->n_inputs < 64 ? model->n_inputs : 64;
    for (uint32_t i = 0; i < n_names; i++) names[i] = model->inputs[i].name;
    if (!equals)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--input %s: the model has %u inputs; give --input NAME=%s",
                          text, model->n_inputs, text);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text < 127 ? equals - text : 127), text);
    const char *near = infrt_nearest(name, names, n_names);
    if (!near && n_names == 1) near = names[0];
    return infrt_fail(&app->error, INFRT_ERR_USAGE, "--input %s: no input is named \"%s\"%s%s%s", text, name,
                      near ? "; did you mean \"" : "; see info", near ? near : "", near ? "\"?" : "");
}

typedef struct extras {
    infrt_app *app;
    const char *path;
} extras;

/* Says which arrays of an archive are not inputs; those of expected outputs are common and not worth a word. */
static void extra_visit(void *self, const char *name, size_t n) {
    const extras *e = self;
    const infc_model *model = e->app->model;
    for (uint32_t i = 0; i < model->n_inputs + model->n_outputs; i++) {
        const char *known =
            i < model->n_inputs ? model->inputs[i].name : model->outputs[i - model->n_inputs].name;
        if (strlen(known) == n && memcmp(known, name, n) == 0) return;
    }
    infrt_shell_note(&e->app->shell, "%s: array \"%.*s\" is not an input and was not used", e->path,
                     n > 200 ? 200 : (int)n, name);
}

static infrt_status archive_load(infrt_app *app, const char *path) {
    infrt_input_file file;
    infrt_status status = infrt_input_open(path, &file, &app->error);
    if (status != INFRT_OK) return status;
    for (uint32_t i = 0; i < app->model->n_inputs && status == INFRT_OK; i++) {
        infrt_tensor tensor = {0};
        const infc_tensor_info *info = &app->model->inputs[i];
        status = infrt_npz_read_as(file.bytes, path, info->name, info, &tensor, &app->error);
        if (status == INFRT_OK) input_store(app, i, &tensor);
        infrt_tensor_free(&tensor);
    }
    extras e = {app, path};
    if (status == INFRT_OK)
        status = infrt_npz_names(file.bytes, path, extra_visit, &e, &app->error);
    infrt_input_close(&file);
    return status;
}

static infrt_status archive_look(infrt_app *app, const char *path, infrt_input_seen *seen, void *self) {
    infrt_input_file file;
    infrt_status status = infrt_input_open(path, &file, &app->error);
    for (uint32_t i = 0; i < app->model->n_inputs && status == INFRT_OK; i++) {
        infrt_tensor tensor = {0};
        status = infrt_npz_look(file.bytes, path, app->model->inputs[i].name, &tensor, &app->error);
        if (status == INFRT_OK) seen(self, i, &tensor);
    }
    infrt_input_close(&file);
    return status;
}

static infrt_status file_look(infrt_app *app, uint32_t input, const char *path,
                              infrt_input_seen *seen, void *self) {
    infrt_input_file file;
    infrt_tensor tensor = {0};
    infrt_status status = infrt_input_open(path, &file, &app->error);
    if (status != INFRT_OK) return status;
    if (infrt_is_wav(file.bytes, path))
        status = infrt_audio_steps(app->model, input, file.bytes, path, &tensor, &app->error);
    else
        status = infrt_tensor_look(file.bytes, path, &app->model->inputs[input], &tensor, &app->error);
    if (status == INFRT_OK) seen(self, input, &tensor);
    infrt_input_close(&file);
    return status;
}

infrt_status infrt_inputs_look(infrt_app *app, infrt_input_seen *seen, void *self) {
    const infrt_options *options = &app->options;
    infrt_status status = INFRT_OK;
    if (options->inputs) return archive_look(app, options->inputs, seen, self);
    for (uint32_t i = 0; i < options->input.n && status == INFRT_OK; i++) {
        uint32_t input;
        const char *path;
        const infc_text_info *text = infrt_text_argument(app->model, options->input.at[i], &path);
        if (text) {
            status = infrt_text_look(app, text, path, seen, self);
            continue;
        }
        status = infrt_input_argument(app, options->input.at[i], &input, &path);
        if (status == INFRT_OK) status = file_look(app, input, path, seen, self);
    }
    return status;
}

infrt_status infrt_inputs_read(infrt_app *app) {
    const infc_model *model = app->model;
    const infrt_options *options = &app->options;
    if (options->inputs && options->input.n)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "give either --inputs or --input, not both");
    if (options->inputs) return archive_load(app, options->inputs);

    bool *given = calloc(model->n_inputs + (size_t)1, sizeof *given);
    if (!given) return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for inputs");
    infrt_status status = INFRT_OK;
    for (uint32_t i = 0; i < options->input.n && status == INFRT_OK; i++) {
        uint32_t input;
        const char *path;
        const infc_text_info *text = infrt_text_argument(model, options->input.at[i], &path);
        if (text) {
            status = infrt_text_read(app, text, path, given);
            continue;
        }
        status = infrt_input_argument(app, options->input.at[i], &input, &path);
        if (status == INFRT_OK && !*path)
            status = infrt_fail(&app->error, INFRT_ERR_USAGE,
                                "--input %s: the file's name is empty", options->input.at[i]);
        if (status == INFRT_OK && given[input])
            status = infrt_fail(&app->error, INFRT_ERR_USAGE, "--input %s: \"%s\" is given twice",
                                options->input.at[i], model->inputs[input].name);
        if (status == INFRT_OK) status = file_load(app, input, path);
        if (status == INFRT_OK) given[input] = true;
    }
    for (uint32_t i = 0; i < model->n_inputs && status == INFRT_OK; i++) {
        char shape[INFRT_SHAPE_TEXT];
        const infc_tensor_info *info = &model->inputs[i];
        if (!given[i])
            status = infrt_fail(&app->error, INFRT_ERR_USAGE,
                                "input \"%s\" %s is not given; add --input %s=FILE", info->name,
                                infrt_shape_text(info->dtype, info->rank, info->dims, shape), info->name);
    }
    free(given);
    return status;
}
