#include "safetensors.h"
#include "json_file.h"
#include <string.h>

enum { MAX_HEADER = 100 << 20 }; /* as the safetensors library has it */

typedef struct reader {
    infc_cx *cx;
    infc_loc loc;
    infc_bytes data; /* behind the directory; ptr null: of another file, which is not there */
} reader;

static bool type_named(const char *name, infc_stored_type *out) {
    for (int i = 0; i < INFC_N_STORED_TYPES; i++) {
        if (!*infc_stored_types[i].safetensors || strcmp(infc_stored_types[i].safetensors, name) != 0)
            continue;
        *out = (infc_stored_type)i;
        return true;
    }
    return false;
}

static bool natural(const json_t *value, uint64_t *out) {
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static infc_status read_shape(const reader *r, const json_t *entry, infc_stored_tensor *out) {
    const json_t *shape = json_object_get(entry, "shape");
    size_t rank = json_array_size(shape);
    if (!json_is_array(shape) || rank > INFC_STORED_MAX_RANK)
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tensor \"%s\": its shape is no list of at most %d sizes",
                         out->name, INFC_STORED_MAX_RANK);
    out->rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        if (!natural(json_array_get(shape, i), &out->dims[i]))
            return infc_fail(r->cx, INFC_ERR_MODEL, r->loc,
                             "tensor \"%s\": dimension %zu is no size", out->name, i);
    }
    return INFC_OK;
}

static infc_status read_entry(const reader *r, const char *name, const json_t *entry, infc_stored_tensor *out) {
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    const json_t *span = json_object_get(entry, "data_offsets");
    uint64_t begin, end;
    *out = (infc_stored_tensor){.name = name, .file = r->loc.file};
    if (!type) return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tensor \"%s\" has no dtype", name);
    if (!type_named(type, &out->type))
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc,
                         "tensor \"%s\" has dtype \"%s\", which infc does not know", name, type);
    INFC_TRY(read_shape(r, entry, out));
    if (json_array_size(span) != 2 || !natural(json_array_get(span, 0), &begin) ||
        !natural(json_array_get(span, 1), &end))
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc, "tensor \"%s\": data_offsets must be [begin, end]", name);
    if (begin > end || end > r->data.len)
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc,
                         "tensor \"%s\": bytes %llu to %llu of %zu; the file is cut off or damaged",
                         name, (unsigned long long)begin, (unsigned long long)end, r->data.len);
    out->bytes = (infc_bytes){r->data.ptr ? r->data.ptr + begin : NULL, (size_t)(end - begin)};
    return INFC_OK;
}

static infc_status read_entries(reader *r, const json_t *directory, infc_checkpoint *checkpoint) {
    const char *name;
    json_t *entry;
    uint64_t used = 0;
    if (json_object_size(directory) > INFC_STORED_MAX_TENSORS)
        return infc_fail(r->cx, INFC_ERR_UNSUPPORTED, r->loc, "more than %d tensors", INFC_STORED_MAX_TENSORS);
    json_object_foreach((json_t *)directory, name, entry) { /* it only reads */
        infc_stored_tensor tensor;
        if (strcmp(name, "__metadata__") == 0) continue;
        INFC_TRY(read_entry(r, name, entry, &tensor));
        INFC_TRY(infc_checkpoint_add(r->cx, checkpoint, tensor));
        used += tensor.bytes.len;
    }
    if (!r->data.ptr) return INFC_OK;
    INFC_TRY(infc_checkpoint_check_overlaps(r->cx, checkpoint, r->loc.file));
    if (used != r->data.len)
        return infc_fail(r->cx, INFC_ERR_MODEL, r->loc,
                         "%llu of its %zu bytes of data belong to no tensor; the file is damaged",
                         (unsigned long long)(r->data.len - used), r->data.len);
    return INFC_OK;
}

/* The directory; `data`: what comes behind it. */
static infc_status read_directory(infc_cx *cx, const char *path, infc_bytes file, json_t **out, infc_bytes *data) {
    const infc_loc loc = {.file = path};
    if (file.len < 8)
        return infc_fail(cx, INFC_ERR_MODEL, loc, "%zu bytes are too few for safetensors", file.len);
    const uint64_t n = infc_little_endian(file.ptr, 8);
    if (n > MAX_HEADER || n > file.len - 8)
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "its directory has %llu bytes, but the file has %zu and the limit is %d; "
                         "it is cut off, "
                         "damaged or not safetensors",
                         (unsigned long long)n, file.len, MAX_HEADER);
    *data = (infc_bytes){file.ptr + 8 + n, file.len - 8 - (size_t)n};
    return infc_json_object_read(cx, path, (infc_bytes){file.ptr + 8, (size_t)n}, out);
}

infc_status infc_safetensors_read(infc_cx *cx, const char *path, infc_bytes file, infc_checkpoint *checkpoint) {
    reader r = {.cx = cx, .loc = {.file = path}};
    json_t *directory;
    INFC_TRY(read_directory(cx, path, file, &directory, &r.data));
    return read_entries(&r, directory, checkpoint);
}

infc_status infc_safetensors_read_head(infc_cx *cx, const char *path, infc_bytes file, infc_checkpoint *checkpoint) {
    reader r = {.cx = cx, .loc = {.file = path}};
    json_t *directory;
    INFC_TRY(read_directory(cx, path, file, &directory, &r.data));
    r.data = (infc_bytes){NULL, SIZE_MAX};
    return read_entries(&r, directory, checkpoint);
}

infc_status infc_safetensors_metadata(infc_cx *cx, const char *path, infc_bytes file,
                                      const json_t **out, infc_bytes *data) {
    json_t *directory;
    INFC_TRY(read_directory(cx, path, file, &directory, data));
    *out = json_object_get(directory, "__metadata__");
    return INFC_OK;
}
