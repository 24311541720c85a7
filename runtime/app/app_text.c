/* app_text.c - text as inputs: NAME=TEXT, or NAME=@FILE. */
#include "app.h"
#include "app_prepare.h"
#include "input_file.h"
#include <string.h>

const infc_text_info *infrt_text_argument(const infc_model *model, const char *argument, const char **text) {
    for (uint32_t i = 0; i < model->n_texts; i++) {
        const size_t n = strlen(model->texts[i].name);
        if (strncmp(argument, model->texts[i].name, n) != 0 || argument[n] != '=') continue;
        *text = argument + n + 1;
        return &model->texts[i];
    }
    return NULL;
}

/* The bytes of the text; `file` is to be closed. */
static infrt_status text_open(const char *text, infrt_input_file *file, infrt_error *error) {
    *file = (infrt_input_file){.bytes = {(const unsigned char *)text, strlen(text)}};
    return *text == '@' ? infrt_input_open(text + 1, file, error) : INFRT_OK;
}

infrt_status infrt_text_look(infrt_app *app, const infc_text_info *info, const char *text,
                             infrt_input_seen *seen, void *self) {
    const uint32_t inputs[] = {info->ids, info->mask, info->types};
    infrt_input_file file;
    infrt_status status = text_open(text, &file, &app->error);
    if (status != INFRT_OK) return status;
    const int64_t steps = info->tokens((const char *)file.bytes.data, file.bytes.n);
    infrt_input_close(&file);
    for (uint32_t i = 0; i < 3; i++) {
        if (inputs[i] == UINT32_MAX) continue;
        const infc_tensor_info *input = &app->model->inputs[inputs[i]];
        infrt_tensor tensor = {.dtype = input->dtype, .rank = input->rank};
        for (uint32_t d = 0; d < info->axis; d++) tensor.dims[d] = 1; /* one text */
        tensor.dims[info->axis] = steps;
        seen(self, inputs[i], &tensor);
    }
    return INFRT_OK;
}

infrt_status infrt_text_read(infrt_app *app, const infc_text_info *info, const char *text, bool *given) {
    const uint32_t inputs[] = {info->ids, info->mask, info->types};
    void *to[3] = {NULL};
    infrt_input_file file;
    for (uint32_t i = 0; i < 3; i++) {
        if (inputs[i] == UINT32_MAX) continue;
        if (given[inputs[i]])
            return infrt_fail(&app->error, INFRT_ERR_USAGE, "--input %s: \"%s\" is given twice",
                              info->name, app->model->inputs[inputs[i]].name);
        given[inputs[i]] = true;
        to[i] = app->buffers.inputs[inputs[i]];
    }
    infrt_status status = text_open(text, &file, &app->error);
    if (status != INFRT_OK) return status;
    const int64_t steps = app->model->inputs[info->ids].dims[info->axis];
    if (info->prepare((const char *)file.bytes.data, file.bytes.n, steps, to[0], to[1], to[2]) != INFC_RUN_OK)
        status = infrt_fail(&app->error, INFRT_ERR_INTERNAL, "%s: the model's own size is refused", info->name);
    infrt_input_close(&file);
    return status;
}
