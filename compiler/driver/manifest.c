#include "manifest.h"
#include "../base/digest.h"
#include "../base/file.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void release(void *handle) { json_decref(handle); }

/* Without its manifest a compile cannot tell its own files from a user's, and replaces none. */
#define AGAIN_REPORT "; compile again"
#define AGAIN_MANIFEST "; move this folder away and compile again, or compile into another one"

static infc_status read_object(infc_cx *cx, const char *path, const char *again, json_t **out) {
    infc_bytes text;
    json_error_t error;
    infc_loc loc = {.file = path};
    struct stat info;
    if (stat(path, &info) < 0 && errno == ENOENT)
        return infc_fail(cx, INFC_ERR_IO, loc, "is missing: a compile writes it%s", again);
    INFC_TRY(infc_file_map(cx, path, &text));
    *out = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
    if (!*out) {
        loc.line = error.line;
        loc.col = error.column;
        return infc_fail(cx, INFC_ERR_MODEL, loc, "not valid JSON: %s%s", error.text, again);
    }
    infc_arena_defer(cx->arena, release, *out);
    if (json_is_object(*out)) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, loc, "not what infc writes: no JSON object%s", again);
}

infc_status infc_report_read(infc_cx *cx, const char *path, json_t **out) {
    INFC_TRY(read_object(cx, path, AGAIN_REPORT, out));
    const char *target = infc_json_text_of(json_object_get(*out, "target"), "name");
    if (*target && json_is_array(json_object_get(*out, "artefacts"))) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                     "not what infc writes: no target or no artefacts" AGAIN_REPORT);
}

infc_status infc_comparison_read(infc_cx *cx, const char *path, json_t **out) {
    const char *again =
        "; name another file, or remove this one and write a baseline with --update-baseline";
    INFC_TRY(read_object(cx, path, again, out));
    if (strcmp(infc_json_text_of(*out, "kind"), "comparison") == 0 &&
        json_is_array(json_object_get(*out, "targets")))
        return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = path}, "no comparison that infc wrote%s", again);
}

/* a/b/c: it cannot lead out of the folder, and has no second spelling. */
static bool is_plain(const char *path) {
    for (;; path++) {
        size_t n = strcspn(path, "/");
        if (n == 0 || (n == 1 && *path == '.') || (n == 2 && strncmp(path, "..", 2) == 0))
            return false;
        path += n;
        if (!*path) return true;
    }
}

/* False when it is not what infc writes. */
static bool take(infc_cx *cx, const char *dir, const json_t *json, infc_manifest *out) {
    const json_t *files = json_object_get(json, "files"), *file;
    size_t i;
    *out = (infc_manifest){.dir = dir, .json = json, .index = {.arena = cx->arena}};
    out->path = infc_path_join(cx->arena, dir, "manifest.json");
    out->unfinished = json_is_true(json_object_get(json, "unfinished"));
    out->files = INFC_NEW(cx->arena, infc_manifest_file, json_array_size(files));
    if (!json_is_string(json_object_get(json, "infc_version")) || !json_array_size(files))
        return false;
    json_array_foreach(files, i, file) {
        infc_manifest_file *f = &out->files[out->n];
        f->path = json_string_value(json_object_get(file, "path"));
        f->sha256 = json_string_value(json_object_get(file, "sha256"));
        if (!f->path || !f->sha256 || !is_plain(f->path)) return false;
        infc_map_put(&out->index, f->path, out->n++);
    }
    return true;
}

infc_status infc_manifest_read(infc_cx *cx, const char *dir, infc_manifest *out) {
    const char *path = infc_path_join(cx->arena, dir, "manifest.json");
    infc_loc loc = {.file = path};
    json_t *json = NULL;
    INFC_TRY(read_object(cx, path, AGAIN_MANIFEST, &json));
    if (!take(cx, dir, json, out))
        return infc_fail(
            cx, INFC_ERR_MODEL, loc,
            "not what infc writes: infc_version and a list of files, each with a path inside this "
            "folder and a sha256, are expected" AGAIN_MANIFEST);
    if (!out->unfinished) return INFC_OK;
    return infc_fail(cx, INFC_ERR_MODEL,
                     loc, "a compile into this folder did not come to its end, or has not yet; compile again");
}

bool infc_manifest_try(infc_cx *cx, const char *dir, const char *path, infc_manifest *out) {
    infc_bytes text;
    if (infc_file_try_map_beneath(dir, path, false, &text, NULL)) return false;
    json_t *json = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    infc_file_unmap(text);
    if (!json) return false;
    infc_arena_defer(cx->arena, release, json);
    return take(cx, infc_path_join(cx->arena, dir, infc_path_dir(cx->arena, path)), json, out);
}

const char *infc_json_text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *infc_manifest_text(const infc_manifest *manifest, const char *key) {
    return infc_json_text_of(manifest->json, key);
}

const infc_manifest_file *infc_manifest_find(const infc_manifest *manifest, const char *path) {
    size_t i;
    return infc_map_find(&manifest->index, path, &i) ? &manifest->files[i] : NULL;
}

int infc_manifest_digest(infc_cx *cx, const char *dir, const char *path, const char **out_sha256) {
    infc_bytes bytes;
    int error = infc_file_try_map_beneath(dir, path, false, &bytes, NULL);
    if (error) return error;
    *out_sha256 = infc_digest(cx, bytes);
    infc_file_unmap(bytes);
    return 0;
}

infc_status infc_manifest_check(infc_cx *cx, const infc_manifest *manifest, const char *path) {
    const infc_manifest_file *file = infc_manifest_find(manifest, path);
    infc_loc loc = {.file = infc_path_join(cx->arena, manifest->dir, path)};
    const char *found;
    if (!file) {
        return infc_fail(cx, INFC_ERR_CHECK, loc,
                         "not in manifest.json: not of the compile that wrote it; "
                         "move it away and compile again");
    }
    int error = infc_manifest_digest(cx, manifest->dir, path, &found);
    if (error) {
        return infc_fail(cx, INFC_ERR_CHECK, loc,
                         "in the manifest, but cannot be read: %s; compile again", strerror(error));
    }
    if (strcmp(found, file->sha256) == 0) return INFC_OK;
    return infc_fail(cx, INFC_ERR_CHECK, loc,
                     "not what was compiled: its SHA-256 is %s, the manifest says %s; "
                     "compile again",
                     found, file->sha256);
}

static int put_part(const char *part, size_t n, void *out) {
    infc_buf_put(out, part, n);
    return 0;
}

void infc_json_put(const json_t *json, infc_buf *out) {
    json_dump_callback(json, put_part, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    infc_buf_puts(out, "\n");
}
