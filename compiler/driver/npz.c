#include "npz.h"
#include "../../runtime/app/tensor_io.h"
#include "../base/file.h"
#include <string.h>

/* Hands over what the runtime found wrong; its texts begin with the path, which the place says already. */
static infc_status hand_over(infc_cx *cx, infc_loc loc, const infrt_error *error) {
    size_t n = strlen(loc.file);
    bool doubled = strncmp(error->text, loc.file, n) == 0 && strncmp(error->text + n, ": ", 2) == 0;
    infc_status status = error->status == INFRT_ERR_IO          ? INFC_ERR_IO
                         : error->status == INFRT_ERR_NO_MEMORY ? INFC_ERR_NO_MEMORY
                         : error->status == INFRT_ERR_USAGE     ? INFC_ERR_UNSUPPORTED
                         : error->status == INFRT_ERR_INTERNAL  ? INFC_ERR_INTERNAL
                                                                : INFC_ERR_MODEL;
    return infc_fail(cx, status, loc, "%s", error->text + (doubled ? n + 2 : 0));
}

typedef struct listing {
    infc_arena *arena;
    infc_npz *npz;
} listing;

static void add_name(void *user, const char *name, size_t n) {
    const listing *l = user;
    infc_npz *npz = l->npz;
    INFC_GROW(l->arena, npz->names, npz->n, npz->cap);
    npz->names[npz->n++] = infc_arena_copy_string(l->arena, name, n);
}

infc_status infc_npz_open(infc_cx *cx, const char *path, infc_npz *out) {
    infrt_error error = {0};
    listing l = {cx->arena, out};
    *out = (infc_npz){.path = path};
    INFC_TRY(infc_file_map(cx, path, &out->file));
    const infrt_bytes file = {out->file.ptr, out->file.len};
    if (infrt_npz_names(file, path, add_name, &l, &error) == INFRT_OK) return INFC_OK;
    return hand_over(cx, (infc_loc){.file = path}, &error);
}

bool infc_npz_has(const infc_npz *npz, const char *name) {
    for (size_t i = 0; i < npz->n; i++) {
        if (strcmp(npz->names[i], name) == 0) return true;
    }
    return false;
}

static void release(void *handle) { infrt_tensor_free(handle); }

static void type_of(const infrt_tensor *tensor, infc_type *out) {
    *out = (infc_type){.dtype = (infc_dtype)tensor->dtype, .rank = (int)tensor->rank};
    memcpy(out->dims, tensor->dims, sizeof tensor->dims);
}

static infc_loc place_of(infc_cx *cx, const infc_npz *npz, const char *name) {
    return (infc_loc){.file = npz->path, .node = infc_arena_printf(cx->arena, "array \"%s\"", name)};
}

infc_status infc_npz_type(infc_cx *cx, const infc_npz *npz, const char *name, infc_type *out) {
    infrt_error error = {0};
    infrt_tensor tensor = {0};
    const infrt_bytes file = {npz->file.ptr, npz->file.len};
    if (infrt_npz_look(file, npz->path, name, &tensor, &error) != INFRT_OK)
        return hand_over(cx, place_of(cx, npz, name), &error);
    type_of(&tensor, out);
    return INFC_OK;
}

infc_status infc_npz_read(infc_cx *cx, const infc_npz *npz, const char *name, infc_npz_entry *out) {
    infrt_error error = {0};
    infrt_tensor *tensor = INFC_NEW(cx->arena, infrt_tensor, 1);
    *tensor = (infrt_tensor){0};
    infc_arena_defer(cx->arena, release, tensor); /* before there is something to lose */
    if (infrt_npz_read((infrt_bytes){npz->file.ptr, npz->file.len}, npz->path, name, tensor, &error) != INFRT_OK)
        return hand_over(cx, place_of(cx, npz, name), &error);
    *out = (infc_npz_entry){.name = name, .data = {tensor->data, (size_t)tensor->bytes}};
    type_of(tensor, &out->type);
    return INFC_OK;
}

infc_status infc_npz_write(infc_cx *cx, const char *path, const char *const *names,
                           const infc_tensor *tensors, size_t n) {
    infrt_error error = {0};
    infc_tensor_info *infos = INFC_NEW(cx->arena, infc_tensor_info, n);
    const infc_tensor_info **all = INFC_NEW(cx->arena, const infc_tensor_info *, n);
    const void **data = INFC_NEW(cx->arena, const void *, n);
    for (size_t i = 0; i < n; i++) {
        const infc_type *type = &tensors[i].type;
        infos[i] = (infc_tensor_info){.name = names[i], .dtype = type->dtype, .rank = (uint32_t)type->rank};
        memcpy(infos[i].dims, type->dims, sizeof type->dims);
        all[i] = &infos[i];
        data[i] = tensors[i].data;
    }
    if (infrt_npz_write(path, all, data, n, &error) == INFRT_OK) return INFC_OK;
    return hand_over(cx, (infc_loc){.file = path}, &error);
}
