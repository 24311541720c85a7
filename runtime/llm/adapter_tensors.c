/* adapter_tensors.c - the header of a safetensors file: eight bytes that say how long it is, then JSON. */
#include "adapter_file.h"
#include "json_read.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 16 << 20 };

typedef struct tensors_reader {
    infrt_adapter_tensor *list;
    uint32_t n, room;
    /* Of the one that is being read: */
    infrt_adapter_tensor tensor;
    uint64_t shape[2], offsets[2];
    uint32_t rank, n_offsets;
    bool type, shaped;
    char wrong_name[INFRT_ADAPTER_NAME];
} tensors_reader;

static bool shape_take(void *self, infrt_json_reader *r, const char *key) {
    tensors_reader *t = self;
    uint64_t dim;
    (void)key;
    if (!infrt_json_count(r, &dim)) return false;
    if (dim > INT32_MAX) return infrt_json_refuse(r, "a dimension that is too large");
    if (t->rank < 2) t->shape[t->rank] = dim;
    t->rank++;
    return t->rank <= 8 || infrt_json_refuse(r, "too many dimensions");
}

static bool offset_take(void *self, infrt_json_reader *r, const char *key) {
    tensors_reader *t = self;
    (void)key;
    if (t->n_offsets == 2) return infrt_json_refuse(r, "more than two offsets");
    return infrt_json_count(r, &t->offsets[t->n_offsets++]);
}

static bool type_take(tensors_reader *t, infrt_json_reader *r) {
    static const char *const names[] = {"F32", "BF16", "F16"};
    char text[16];
    if (!infrt_json_string_read(r, text, sizeof text)) return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            t->tensor.type = (infrt_adapter_type)i;
            t->type = true;
            return true;
        }
    return infrt_json_refuse(r, "adapters are of F32, F16 or BF16");
}

static bool field_take(void *self, infrt_json_reader *r, const char *key) {
    tensors_reader *t = self;
    if (strcmp(key, "dtype") == 0) return type_take(t, r);
    if (strcmp(key, "data_offsets") == 0) return infrt_json_array(r, offset_take, t);
    if (strcmp(key, "shape") != 0) return infrt_json_refuse(r, "an unknown key");
    t->shaped = !t->shaped;
    return t->shaped ? infrt_json_array(r, shape_take, t) : infrt_json_refuse(r, "two shapes");
}

static bool tensor_check(tensors_reader *t, infrt_json_reader *r) {
    infrt_adapter_tensor *one = &t->tensor;
    const uint64_t element = one->type == INFRT_ADAPTER_F32 ? 4 : 2;
    if (!t->type || !t->shaped || t->n_offsets != 2)
        return infrt_json_refuse(r, "a tensor without dtype, shape and data_offsets");
    one->begin = t->offsets[0];
    one->end = t->offsets[1];
    one->vector = t->rank == 1 && strstr(one->name, ".lora_magnitude_vector");
    if (t->rank != 2 && !one->vector)
        return infrt_json_refuse(
            r, "not a matrix; only LoRA's A and B of linear layers are supported, and DoRA's "
               "vectors of magnitudes");
    one->rows = t->shape[0];
    one->columns = one->vector ? 1 : t->shape[1];
    if (one->end < one->begin || one->end - one->begin != one->rows * one->columns * element)
        return infrt_json_refuse(r, "its bytes are not what type and shape take");
    return true;
}

static bool room_make(tensors_reader *t) {
    if (t->n < t->room) return true;
    const uint32_t room = t->room ? 2 * t->room : 64;
    infrt_adapter_tensor *list = realloc(t->list, room * sizeof *list);
    if (!list) return false;
    t->list = list;
    t->room = room;
    return true;
}

static bool tensor_take(void *self, infrt_json_reader *r, const char *key) {
    tensors_reader *t = self;
    if (strcmp(key, "__metadata__") == 0) return infrt_json_skip(r);
    strncpy(t->wrong_name, key, sizeof t->wrong_name - 1);
    if (strlen(key) >= sizeof t->tensor.name)
        return infrt_json_refuse(r, "a name that is too long");
    if (t->n == INFRT_ADAPTER_TENSORS) return infrt_json_refuse(r, "too many tensors");
    t->tensor = (infrt_adapter_tensor){0};
    t->rank = t->n_offsets = 0;
    t->type = t->shaped = false;
    strcpy(t->tensor.name, key);
    if (!infrt_json_object(r, field_take, t) || !tensor_check(t, r)) return false;
    if (!room_make(t)) return infrt_json_refuse(r, "no memory");
    t->list[t->n++] = t->tensor;
    memset(t->wrong_name, 0, sizeof t->wrong_name);
    return true;
}

static int by_place(const void *a, const void *b) {
    const infrt_adapter_tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Each byte of the data belongs to one tensor. */
static infrt_status places_check(const char *path, tensors_reader *t, const char *data,
                                 uint64_t bytes, infrt_error *error) {
    uint64_t at = 0;
    if (t->n) qsort(t->list, t->n, sizeof *t->list, by_place);
    for (uint32_t i = 0; i < t->n; i++) {
        infrt_adapter_tensor *one = &t->list[i];
        if (one->begin != at || one->end > bytes)
            return infrt_fail(error, INFRT_ERR_DATA,
                              "%s: tensor \"%s\" is at bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64
                              ", which is past the end, or beside or over others",
                              path, one->name, one->begin, one->end, bytes);
        one->data = data + at;
        at = one->end;
    }
    if (at == bytes) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_DATA, "%s: %" PRIu64 " bytes after the last tensor", path, bytes - at);
}

infrt_status infrt_adapter_tensors_read(const char *path, const char *file, size_t bytes,
                                        infrt_adapter_tensor **out, uint32_t *n, infrt_error *error) {
    uint64_t header = 0;
    infrt_json_reader r;
    tensors_reader t = {0};
    *out = NULL;
    *n = 0;
    for (int i = 7; bytes >= 8 && i >= 0; i--) header = header << 8 | (unsigned char)file[i];
    if (bytes < 8 || header > HEADER_MOST || header > bytes - 8)
        return infrt_fail(error, INFRT_ERR_DATA, "%s is not a safetensors file, or is cut off", path);
    infrt_json_reader_init(&r, file + 8, (size_t)header);
    infrt_status status = INFRT_OK;
    if (!infrt_json_object(&r, tensor_take, &t) || !infrt_json_end(&r))
        status = infrt_fail(error, INFRT_ERR_DATA, "%s: at byte %zu%s%s: %s", path,
                            (size_t)(r.at - r.begin) + 8, t.wrong_name[0] ? ", " : "", t.wrong_name, r.wrong);
    if (status == INFRT_OK)
        status = places_check(path, &t, file + 8 + header, bytes - 8 - header, error);
    if (status != INFRT_OK) {
        free(t.list);
        return status;
    }
    *out = t.list;
    *n = t.n;
    return INFRT_OK;
}

static float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* Of a number; 2^112 moves the exponent, exactly. */
static float of_f16(uint16_t half) {
    const float size = of_bits((uint32_t)(half & 0x7fffu) << 13) * 0x1p112f;
    return half & 0x8000u ? -size : size;
}

static uint16_t half_at(const char *data, uint64_t i) {
    uint16_t half;
    memcpy(&half, data + i * 2, 2);
    return half;
}

float infrt_adapter_element(const infrt_adapter_tensor *t, uint64_t i) {
    float value;
    infrt_adapter_elements(t, i, 1, &value);
    return value;
}

void infrt_adapter_elements(const infrt_adapter_tensor *t, uint64_t first, uint64_t n, float *out) {
    const char *at = t->data + first * (t->type == INFRT_ADAPTER_F32 ? 4 : 2);
    if (t->type == INFRT_ADAPTER_F32) memcpy(out, at, n * 4);
    else if (t->type == INFRT_ADAPTER_F16)
        for (uint64_t i = 0; i < n; i++) out[i] = of_f16(half_at(at, i));
    else
        for (uint64_t i = 0; i < n; i++) out[i] = of_bits((uint32_t)half_at(at, i) << 16);
}
