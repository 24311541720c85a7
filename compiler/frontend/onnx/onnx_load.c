#include "onnx_load.h"
#include "../../base/file.h"
#include "../../base/hash.h"
#include <errno.h>
#include <string.h>
#include <strings.h>

infc_onnx_files infc_onnx_files_open(infc_cx *cx, const char *model_path) {
    return (infc_onnx_files){.cx = cx,
                             .dir = model_path ? infc_path_dir(cx->arena, model_path) : NULL,
                             .names = {.arena = cx->arena}};
}

static void unmap(void *handle) { infc_file_unmap(*(infc_bytes *)handle); }

static bool has_parent_component(const char *path) {
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0')) return true;
    }
    return false;
}

static const char *why_not(int error) {
    switch (error) {
    case EXDEV: return "it leads out of the model's folder";
    case ELOOP:
        return "a symbolic link is not followed there; put the file itself beside the model";
    case ENOENT: return "there is no such file beside the model";
    case ENOTSUP: return "it is not a regular file";
    case EMLINK:
        return "it has several hard links, so it may be a file from elsewhere; put a copy of its "
               "own there";
    default: return strerror(error);
    }
}

static infc_status open_file(infc_onnx_files *files, infc_loc loc, const char *location,
                             struct infc_onnx_file **out) {
    infc_cx *cx = files->cx;
    size_t known;
    if (infc_map_find(&files->names, location, &known)) {
        *out = &files->maps[known];
        return INFC_OK;
    }
    if (!files->dir)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "external data \"%s\": the model has no folder", location);
    if (!*location || *location == '/')
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "external data \"%s\": the location must be a path relative "
                         "to the model",
                         location);
    if (has_parent_component(location))
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "external data \"%s\": \"..\" is not allowed in a location", location);
    infc_bytes *kept = INFC_NEW(cx->arena, infc_bytes, 1);
    int error = infc_file_try_map_beneath(files->dir, location, true, kept, NULL);
    if (error) {
        bool damaged = error == EXDEV || error == ELOOP || error == EMLINK;
        return infc_fail(cx, damaged ? INFC_ERR_MODEL : INFC_ERR_IO, loc,
                         "external data \"%s\": %s", location, why_not(error));
    }
    infc_arena_defer(cx->arena, unmap, kept);
    infc_file_note(cx, infc_path_join(cx->arena, files->dir, location));
    INFC_GROW(cx->arena, files->maps, files->n, files->cap);
    files->maps[files->n] = (struct infc_onnx_file){.bytes = *kept};
    *out = &files->maps[files->n];
    infc_map_put(&files->names, location, files->n++);
    return INFC_OK;
}

/* A plain decimal number; strtoull would take signs, spaces and other bases. */
static bool parse_size(const char *text, uint64_t *out) {
    *out = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(*out, 10u, out) || __builtin_add_overflow(*out, (unsigned)(*text - '0'), out))
            return false;
    }
    return true;
}

/* "checksum" is the SHA-1 of the whole file. */
static infc_status check_sum(infc_cx *cx, infc_loc loc, const infc_onnx_tensor *tensor,
                             struct infc_onnx_file *file) {
    if (!tensor->checksum) return INFC_OK;
    if (!file->sha1) {
        infc_progress(cx, "checking %s", tensor->location);
        file->sha1 = infc_sha1_hex(cx->arena, file->bytes);
    }
    if (strcasecmp(file->sha1, tensor->checksum) == 0) return INFC_OK;
    return infc_fail(
        cx, INFC_ERR_MODEL, loc,
        "external data \"%s\": its SHA-1 is %s, the model says checksum \"%.100s\"; the file was "
        "changed or is not the model's",
        tensor->location, file->sha1, tensor->checksum);
}

infc_status infc_onnx_external(infc_onnx_files *files, infc_loc loc, const infc_onnx_tensor *tensor,
                               uint64_t bytes, infc_bytes *out) {
    infc_cx *cx = files->cx;
    uint64_t offset = 0, length = bytes;
    struct infc_onnx_file *file = NULL;
    if (!tensor->location)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "external data without a location");
    if (tensor->offset && !parse_size(tensor->offset, &offset))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "external data \"%s\": offset \"%s\" is not a size",
                         tensor->location, tensor->offset);
    if (tensor->length && !parse_size(tensor->length, &length))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "external data \"%s\": length \"%s\" is not a size",
                         tensor->location, tensor->length);
    INFC_TRY(open_file(files, loc, tensor->location, &file));
    if (length != bytes)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "external data \"%s\": length %llu, but the shape needs %llu bytes",
                         tensor->location, (unsigned long long)length, (unsigned long long)bytes);
    if (offset > file->bytes.len || bytes > file->bytes.len - offset)
        return infc_fail(
            cx, INFC_ERR_MODEL, loc,
            "external data \"%s\": bytes %llu to %llu of a file of %zu bytes; "
            "the file is cut off, not the model's, or a Git LFS pointer (git lfs pull)",
            tensor->location, (unsigned long long)offset, (unsigned long long)(offset + bytes),
            file->bytes.len);
    *out = (infc_bytes){file->bytes.ptr + offset, (size_t)bytes};
    return check_sum(cx, loc, tensor, file);
}
