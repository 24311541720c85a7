/* app_dump.c - keeps intermediates before later steps overwrite them. */
#include "app_dump.h"
#include <stdlib.h>
#include <string.h>

/* The bytes of `info` as it lies in the arena; false when that layout cannot be unpacked. */
static bool bytes_in_arena(const infc_tensor_info *info, uint64_t *out) {
    infc_tensor_info blocked = *info;
    if (info->layout == INFC_LAYOUT_c16 && info->rank >= 2 && info->dims[1] <= INT64_MAX - 15)
        blocked.dims[1] = (info->dims[1] + 15) / 16 * 16;
    else if (info->layout != INFC_LAYOUT_plain) return false;
    return infrt_shape_bytes(info->dtype, info->rank, blocked.dims, out);
}

static infrt_status tensor_add(infrt_app *app, infrt_dump *dump, const infc_tensor_info *info) {
    uint64_t bytes, logical, arena = infrt_session_arena_bytes(app->session);
    if (!bytes_in_arena(info, &bytes) || !infrt_shape_bytes(info->dtype, info->rank, info->dims, &logical))
        return infrt_fail(&app->error, INFRT_ERR_DATA,
                          "--dump-tensor %s: its layout (%u) cannot be dumped", info->name, info->layout);
    if (info->offset > arena || bytes > arena - info->offset)
        return infrt_fail(&app->error, INFRT_ERR_INTERNAL, "tensor \"%s\" lies outside of the arena", info->name);
    dump->infos[dump->n] = info;
    dump->data[dump->n] = calloc(1, logical ? (size_t)logical : 1);
    if (!dump->data[dump->n])
        return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "--dump-tensor %s: no memory", info->name);
    dump->n++;
    return INFRT_OK;
}

static infrt_status name_unknown(infrt_app *app, const char *name) {
    const infc_model *model = app->model;
    const char *near = NULL;
    for (uint32_t i = 0; i < model->n_outputs; i++)
        if (strcmp(model->outputs[i].name, name) == 0)
            return infrt_fail(&app->error, INFRT_ERR_USAGE,
                              "--dump-tensor %s: this is an output; --output or --outputs write it", name);
    const char **names = calloc(model->n_tensors + (size_t)1, sizeof *names);
    if (names) {
        for (uint32_t i = 0; i < model->n_tensors; i++) names[i] = model->tensors[i].name;
        near = infrt_nearest(name, names, model->n_tensors);
        free(names);
    }
    if (near)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "--dump-tensor %s: no such intermediate; did you mean \"%s\"?", name, near);
    return infrt_fail(&app->error, INFRT_ERR_USAGE,
                      "--dump-tensor %s: no such intermediate; info --json lists them", name);
}

static infrt_status name_add(infrt_app *app, infrt_dump *dump, const char *name) {
    const infc_model *model = app->model;
    bool all = strcmp(name, "all") == 0, found = all;
    for (uint32_t i = 0; i < model->n_tensors; i++) {
        if (!all && strcmp(model->tensors[i].name, name) != 0) continue;
        found = true;
        bool already = false;
        for (uint32_t k = 0; k < dump->n; k++)
            already = already || dump->infos[k] == &model->tensors[i];
        infrt_status status = already ? INFRT_OK : tensor_add(app, dump, &model->tensors[i]);
        if (status != INFRT_OK) return status;
    }
    return found ? INFRT_OK : name_unknown(app, name);
}

infrt_status infrt_dump_create(infrt_app *app, infrt_dump *out) {
    size_t n = app->model->n_tensors + (size_t)1;
    *out = (infrt_dump){.infos = calloc(n, sizeof *out->infos),
                        .data = calloc(n, sizeof *out->data),
                        .arena = infrt_session_arena(app->session)};
    if (!out->infos || !out->data)
        return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for dumps");
    infrt_status status = INFRT_OK;
    for (uint32_t i = 0; i < app->options.dump.n && status == INFRT_OK; i++)
        status = name_add(app, out, app->options.dump.at[i]);
    return status;
}

void infrt_dump_step(const infrt_dump *dump, uint32_t step) {
    for (uint32_t i = 0; i < dump->n; i++) {
        const infc_tensor_info *info = dump->infos[i];
        uint64_t bytes;
        if (info->step != step) continue;
        if (info->layout == INFC_LAYOUT_c16)
            infrt_unblock_c16(dump->arena + info->offset, dump->data[i], info->rank, info->dims,
                              infrt_dtype_bytes(info->dtype));
        else if (infrt_shape_bytes(info->dtype, info->rank, info->dims, &bytes))
            memcpy(dump->data[i], dump->arena + info->offset, (size_t)bytes);
    }
}

infrt_status infrt_dump_write(const infrt_dump *dump, const char *path, infrt_error *error) {
    size_t n = strlen(path);
    bool archive = n > 4 && strcmp(path + n - 4, ".npz") == 0;
    return (archive ? infrt_npz_write : infrt_npy_write_all)(
        path, dump->infos, (const void *const *)dump->data, dump->n, error);
}

void infrt_dump_destroy(infrt_dump *dump) {
    for (uint32_t i = 0; i < dump->n; i++) free(dump->data[i]);
    free(dump->data);
    free(dump->infos);
    *dump = (infrt_dump){0};
}
