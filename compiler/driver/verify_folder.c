#include "../base/file.h"
#include "../base/hash.h"
#include "built_folder.h"
#include "verify.h"
#include <string.h>

static void check_file(infc_cx *cx, const char *dir, const char *path, const json_t *file) {
    const char *stated = json_string_value(json_object_get(file, "sha256"));
    infc_loc loc = {.file = infc_path_join(cx->arena, dir, path)};
    infc_bytes bytes;
    int error = infc_file_try_map_beneath(dir, path, &bytes);
    if (error) {
        infc_fail(cx, INFC_ERR_CHECK, loc, "in the manifest, but cannot be read: %s", strerror(error));
        return;
    }
    const char *found = infc_sha256_hex(cx->arena, bytes);
    if (!stated || strcmp(found, stated) != 0) {
        infc_fail(cx, INFC_ERR_CHECK, loc, "not what was compiled: its SHA-256 is %s, the manifest says %s",
                  found, stated ? stated : "nothing");
    }
    infc_file_unmap(bytes);
}

infc_status infc_verify_manifest(infc_cx *cx, const char *dir, size_t *out_n_files) {
    const char *path = infc_path_join(cx->arena, dir, "manifest.json");
    size_t mark = cx->n_diags, i;
    json_t *manifest, *file;
    INFC_TRY(infc_json_file_read(cx, path, &manifest));
    json_t *files = json_object_get(manifest, "files");
    json_array_foreach(files, i, file) {
        const char *name = json_string_value(json_object_get(file, "path"));
        if (name) check_file(cx, dir, name, file);
    }
    *out_n_files = json_array_size(files);
    if (*out_n_files == 0)
        infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = path}, "lists no files; compile again");
    return infc_diags_status(cx, mark);
}
