/* app_sizes.c - sizes known only at run time: which they are in this run, and the model's tables for them. */
#include "app.h"
#include <stdlib.h>
#include <string.h>

static uint64_t input_bytes(const infrt_app *app, uint32_t input) {
    infc_tensor_info info = app->model->inputs[input];
    app->model->dims(app->sizes, INFC_TABLE_INPUTS, input, info.dims);
    return infrt_shape_bytes(info.dtype, info.rank, info.dims, &info.bytes) ? info.bytes : 0;
}

/* Bare elements tell a size when it is the only one of the input. */
static void take_raw(infrt_app *app, uint32_t input, uint64_t bytes) {
    const infc_model *model = app->model;
    uint32_t n = 0, which = 0;
    for (uint32_t i = 0; i < model->n_sizes; i++)
        if (model->sizes[i].input == input) n++, which = i;
    const int64_t kept = n ? app->sizes[which] : 0;
    const uint64_t each = kept > 0 ? input_bytes(app, input) / (uint64_t)kept : 0;
    if (n != 1 || each == 0 || bytes % each || bytes / each > (uint64_t)model->sizes[which].max)
        return;
    app->sizes[which] = (int64_t)(bytes / each);
    if (input_bytes(app, input) != bytes) app->sizes[which] = kept;
}

static void take_sizes(void *self, uint32_t input, const infrt_tensor *tensor) {
    infrt_app *app = self;
    if (tensor->rank == 0 && tensor->bytes) take_raw(app, input, tensor->bytes);
    for (uint32_t i = 0; i < app->model->n_sizes; i++) {
        const infc_size_info *size = &app->model->sizes[i];
        if (size->input == input && size->axis < tensor->rank)
            app->sizes[i] = tensor->dims[size->axis];
    }
}

static infrt_status check(infrt_app *app) {
    for (uint32_t i = 0; i < app->model->n_sizes; i++) {
        const infc_size_info *size = &app->model->sizes[i];
        const int64_t value = app->sizes[i];
        if (value >= size->min && value <= size->max && value % size->step == 0) continue;
        char step[40] = "";
        if (size->step > 1)
            snprintf(step, sizeof step, ", in steps of %lld", (long long)size->step);
        return infrt_fail(&app->error, INFRT_ERR_DATA,
                          "input \"%s\": axis %u is %lld long; the model was compiled for %s "
                          "from %lld to %lld%s",
                          app->model->inputs[size->input].name, size->axis, (long long)value,
                          size->name, (long long)size->min, (long long)size->max, step);
    }
    return INFRT_OK;
}

/* The table with dims and bytes for the sizes. */
static infrt_status table_at(infrt_app *app, uint32_t table, const infc_tensor_info **infos, uint32_t n) {
    infc_tensor_info *made = calloc(n + (size_t)1, sizeof *made);
    if (!made) return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for shapes");
    if (n) memcpy(made, *infos, n * sizeof *made);
    *infos = made;
    for (uint32_t i = 0; i < n; i++) {
        app->sized.dims(app->sizes, table, i, made[i].dims);
        infrt_shape_bytes(made[i].dtype, made[i].rank, made[i].dims, &made[i].bytes);
    }
    return INFRT_OK;
}

infrt_status infrt_app_sizes(infrt_app *app) {
    const infc_model *model = app->model;
    if (model->n_sizes == 0 || model == &app->sized) return INFRT_OK;
    if (model->n_sizes > INFRT_APP_SIZES || !model->sizes || !model->dims)
        return infrt_fail(&app->error, INFRT_ERR_INTERNAL, "%s: more than %d sizes", model->name, INFRT_APP_SIZES);
    for (uint32_t i = 0; i < model->n_sizes; i++)
        app->sizes[i] = app->options.parsed.command == INFRT_COMMAND_VERIFY && model->check_sizes
                            ? model->check_sizes[i]
                            : model->sizes[i].max;
    infrt_status status = INFRT_OK;
    if (app->options.parsed.command == INFRT_COMMAND_RUN)
        status = infrt_inputs_look(app, take_sizes, app);
    if (status == INFRT_OK) status = check(app);
    if (status != INFRT_OK) return status;
    app->sized = *model;
    app->model = &app->sized;
    status = table_at(app, INFC_TABLE_INPUTS, &app->sized.inputs, model->n_inputs);
    if (status == INFRT_OK)
        status = table_at(app, INFC_TABLE_OUTPUTS, &app->sized.outputs, model->n_outputs);
    if (status == INFRT_OK)
        status = table_at(app, INFC_TABLE_TENSORS, &app->sized.tensors, model->n_tensors);
    return status;
}
