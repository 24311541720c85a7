/* tensor_npz.c - NumPy's .npz: a ZIP archive with one NAME.npy per array. */
#include "output_file.h"
#include "zip_archive.h"
#include <stdlib.h>
#include <string.h>

/* The array's name without ".npy"; its length. */
static size_t array_name_bytes(const infrt_zip_entry *entry) {
    size_t n = entry->name_bytes;
    return n >= 4 && memcmp(entry->name + n - 4, ".npy", 4) == 0 ? n - 4 : n;
}

typedef struct lookup {
    const char *name;
    infrt_zip_entry found;
    uint32_t n_found;
} lookup;

static infrt_status lookup_visit(void *self, const infrt_zip_entry *entry) {
    lookup *l = self;
    size_t n = array_name_bytes(entry);
    if (l->name && (strlen(l->name) != n || memcmp(l->name, entry->name, n) != 0)) return INFRT_OK;
    if (l->n_found++ == 0) l->found = *entry;
    return INFRT_OK;
}

static void list_visit(void *self, const char *name, size_t n) {
    char *list = self; /* 400 bytes */
    size_t used = strlen(list);
    if (used + n + 3 < 400) {
        if (used) memcpy(list + used, ", ", 3), used += 2;
        memcpy(list + used, name, n);
        list[used + n] = 0;
    } else if (used + 6 < 400) {
        memcpy(list + used, ", ...", 6);
    }
}

static infrt_status entry_find(infrt_bytes file, const char *where, const char *name,
                               infrt_zip_entry *out, infrt_error *error) {
    lookup l = {.name = name};
    infrt_status status = infrt_zip_each(file, where, lookup_visit, &l, error);
    if (status != INFRT_OK) return status;
    *out = l.found;
    if (l.n_found == 1) return INFRT_OK;
    char list[400] = "";
    infrt_npz_names(file, where, list_visit, list, NULL);
    if (name)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %s array \"%s\"; it has: %s", where,
                          l.n_found ? "more than one" : "no", name, list);
    return infrt_fail(error, INFRT_ERR_DATA, "%s: has %u arrays, not one: %s", where, l.n_found, list);
}

static infrt_status entry_look(const infrt_zip_entry *entry, const char *where, infrt_tensor *out,
                               infrt_error *error) {
    infrt_bytes start;
    void *owned;
    infrt_status status = infrt_zip_peek(entry, where, &start, &owned, error);
    if (status == INFRT_OK) status = infrt_npy_look(start, entry->bytes, where, out, error);
    free(owned);
    return status;
}

infrt_status infrt_npz_look(infrt_bytes file, const char *where, const char *name,
                            infrt_tensor *out, infrt_error *error) {
    infrt_zip_entry entry;
    infrt_status status = entry_find(file, where, name, &entry, error);
    return status == INFRT_OK ? entry_look(&entry, where, out, error) : status;
}

const char *infrt_npz_pick(infrt_bytes file, const char *where, const char *name) {
    infrt_zip_entry entry;
    return entry_find(file, where, name, &entry, NULL) != INFRT_OK &&
                   entry_find(file, where, NULL, &entry, NULL) == INFRT_OK
               ? NULL
               : name;
}

infrt_status infrt_npz_read_as(infrt_bytes file, const char *where, const char *name,
                               const infc_tensor_info *info, infrt_tensor *out, infrt_error *error) {
    infrt_zip_entry entry;
    infrt_tensor seen = {0};
    infrt_bytes bytes;
    void *owned = NULL;
    infrt_status status = entry_find(file, where, name, &entry, error);
    if (status == INFRT_OK) status = entry_look(&entry, where, &seen, error);
    if (status == INFRT_OK && info) status = infrt_tensor_match(&seen, info, where, error);
    if (status == INFRT_OK) status = infrt_zip_unpack(&entry, where, &bytes, &owned, error);
    if (status != INFRT_OK) return status;
    status = infrt_npy_read(bytes, where, &seen, error);
    seen.owned = owned;
    if (status == INFRT_OK && info) /* again: `file` may be mapped, and have changed */
        status = infrt_tensor_match(&seen, info, where, error);
    if (status == INFRT_OK) *out = seen;
    else infrt_tensor_free(&seen);
    return status;
}

infrt_status infrt_npz_read(infrt_bytes file, const char *where, const char *name,
                            infrt_tensor *out, infrt_error *error) {
    return infrt_npz_read_as(file, where, name, NULL, out, error);
}

typedef struct names {
    void (*visit)(void *self, const char *name, size_t name_bytes);
    void *self;
} names;

static infrt_status names_visit(void *self, const infrt_zip_entry *entry) {
    const names *n = self;
    n->visit(n->self, entry->name, array_name_bytes(entry));
    return INFRT_OK;
}

infrt_status infrt_npz_names(infrt_bytes file, const char *where,
                             void (*visit)(void *self, const char *name, size_t name_bytes),
                             void *self, infrt_error *error) {
    names n = {visit, self};
    return infrt_zip_each(file, where, names_visit, &n, error);
}

static infrt_status array_add(infrt_zip_writer *zip, const infc_tensor_info *info, const void *data,
                              infrt_error *error) {
    char header[INFRT_NPY_HEADER];
    uint64_t bytes;
    if (!infrt_shape_bytes(info->dtype, info->rank, info->dims, &bytes))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "tensor \"%s\" has no size", info->name);
    char *name = malloc(strlen(info->name) + 5);
    if (!name) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a name");
    strcpy(name, info->name);
    strcat(name, ".npy");
    infrt_bytes head = {(const unsigned char *)header,
                        infrt_npy_header(info->dtype, info->rank, info->dims, header)};
    infrt_status status = infrt_zip_add(zip, name, head, (infrt_bytes){data, (size_t)bytes}, error);
    free(name);
    return status;
}

infrt_status infrt_npz_write(const char *path, const infc_tensor_info *const *infos,
                             const void *const *data, size_t n, infrt_error *error) {
    infrt_output_file file;
    infrt_zip_writer *zip = NULL;
    infrt_status status = infrt_output_open(path, &file, error);
    if (status != INFRT_OK) return status;
    status = infrt_zip_begin(file.stream, &zip, error);
    for (size_t i = 0; i < n && status == INFRT_OK; i++)
        status = array_add(zip, infos[i], data[i], error);
    infrt_status ended = infrt_zip_end(&zip, status != INFRT_OK, error);
    if (status == INFRT_OK) status = ended;
    if (status == INFRT_ERR_IO && error) { /* the archive does not know its name */
        const infrt_error said = *error;
        *error = (infrt_error){0};
        infrt_fail(error, status, "%s: %s", path, said.text);
    }
    return infrt_output_close(&file, status, error);
}
