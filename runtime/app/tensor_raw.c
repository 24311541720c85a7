/* tensor_raw.c - nothing but the elements; and which reader a file is for. */
#include "tensor_io.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>

infrt_status infrt_raw_read(infrt_bytes file, const char *where, const infc_tensor_info *info,
                            infrt_tensor *out, infrt_error *error) {
    infrt_tensor tensor = {.dtype = info->dtype, .rank = info->rank, .data = file.data};
    char want[INFRT_SHAPE_TEXT];
    memcpy(tensor.dims, info->dims, sizeof tensor.dims);
    infrt_shape_text(info->dtype, info->rank, info->dims, want);
    if (!infrt_shape_bytes(info->dtype, info->rank, info->dims, &tensor.bytes))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "\"%s\" %s has no size", info->name, want);
    if (tensor.bytes != file.n)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %zu bytes, but \"%s\" is %s, %" PRIu64 " bytes",
                          where, file.n, info->name, want, tensor.bytes);
    *out = tensor;
    return INFRT_OK;
}

typedef enum format { UNKNOWN, NPY, NPZ, PB, RAW, IMAGE } format;

static format format_by_ending(const char *path) {
    static const struct {
        const char *ending;
        format format;
    } endings[] = {{".npy", NPY},    {".npz", NPZ},   {".pb", PB},
                   {".raw", RAW},    {".bin", RAW},   {".png", IMAGE},
                   {".jpeg", IMAGE}, {".jpg", IMAGE}, {".bmp", IMAGE}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t m = strlen(endings[i].ending);
        if (n > m && strcasecmp(path + n - m, endings[i].ending) == 0) return endings[i].format;
    }
    return UNKNOWN;
}

bool infrt_tensor_ending(const char *path) { return format_by_ending(path) != UNKNOWN; }

static format format_find(infrt_bytes file, const char *path) {
    static const struct {
        const char *magic;
        size_t n;
        format format;
    } magics[] = {{"\x93NUMPY", 6, NPY}, {"PK\3\4", 4, NPZ}, {"\x89PNG", 4, IMAGE}, {"\xff\xd8\xff", 3, IMAGE}};
    format known = format_by_ending(path);
    if (known != UNKNOWN) return known;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (file.n >= magics[i].n && memcmp(file.data, magics[i].magic, magics[i].n) == 0)
            return magics[i].format;
    return UNKNOWN;
}

infrt_status infrt_tensor_look(infrt_bytes file, const char *path, const infc_tensor_info *info,
                               infrt_tensor *out, infrt_error *error) {
    *out = (infrt_tensor){0};
    switch (format_find(file, path)) {
    case NPY: return infrt_npy_look(file, file.n, path, out, error);
    case NPZ: return infrt_npz_look(file, path, infrt_npz_pick(file, path, info->name), out, error);
    case PB: return infrt_pb_look(file, path, out, error);
    case RAW: out->bytes = file.n; break;
    case IMAGE:
    case UNKNOWN: break;
    }
    return INFRT_OK;
}

infrt_status infrt_tensor_read(infrt_bytes file, const char *path, const infc_tensor_info *info,
                               const infc_image_info *image, infrt_tensor *out, char note[256],
                               infrt_error *error) {
    infrt_tensor tensor = {0};
    infrt_status status = INFRT_OK;
    note[0] = 0;
    switch (format_find(file, path)) {
    case NPY: status = infrt_npy_read(file, path, &tensor, error); break;
    case NPZ:
        status = infrt_npz_read_as(file, path, infrt_npz_pick(file, path, info->name), info, &tensor, error);
        break;
    case PB: /* what does not fit is refused before it is unpacked */
        status = infrt_pb_look(file, path, &tensor, error);
        if (status == INFRT_OK) status = infrt_tensor_match(&tensor, info, path, error);
        if (status == INFRT_OK) status = infrt_pb_read(file, path, &tensor, error);
        break;
    case RAW: status = infrt_raw_read(file, path, info, &tensor, error); break;
    case IMAGE: status = infrt_image_read(file, path, info, image, &tensor, note, error); break;
    case UNKNOWN:
        status = infrt_fail(error, INFRT_ERR_DATA,
                            "%s: not a kind of file that is read: " INFRT_INPUT_FORMATS, path);
        break;
    }
    if (status == INFRT_OK) status = infrt_tensor_match(&tensor, info, path, error);
    if (status == INFRT_OK) *out = tensor;
    else infrt_tensor_free(&tensor);
    return status;
}
