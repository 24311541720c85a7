#include "../../base/sort.h"
#include "checkpoint.h"
#include <string.h>

const infc_stored_facts infc_stored_types[INFC_N_STORED_TYPES] = {
#define INFC_STORED(name, gguf, safetensors, per_block, block_bytes) \
    [INFC_STORED_##name] = {#name, safetensors, gguf, per_block, block_bytes},
#include "stored_types.def"
#undef INFC_STORED
};

bool infc_stored_bytes(infc_stored_type type, int rank, const uint64_t *dims, uint64_t *out) {
    const infc_stored_facts *facts = &infc_stored_types[type];
    uint64_t count = 1;
    uint64_t inner = rank ? dims[rank - 1] : 1;
    if (inner % facts->per_block) return false;
    for (int i = 0; i < rank; i++) {
        if (__builtin_mul_overflow(count, dims[i], &count)) return false;
    }
    return !__builtin_mul_overflow(count / facts->per_block, (uint64_t)facts->block_bytes, out);
}

uint64_t infc_stored_count(const infc_stored_tensor *tensor) {
    uint64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

const char *infc_stored_type_text(infc_arena *arena, const infc_stored_tensor *tensor) {
    infc_buf text = {.arena = arena};
    infc_buf_printf(&text, "%s[", infc_stored_types[tensor->type].name);
    for (int i = 0; i < tensor->rank; i++)
        infc_buf_printf(&text, "%s%llu", i ? "," : "", (unsigned long long)tensor->dims[i]);
    infc_buf_puts(&text, "]");
    return infc_buf_str(&text);
}

infc_checkpoint infc_checkpoint_empty(infc_arena *arena) {
    return (infc_checkpoint){.index = {.arena = arena}};
}

static bool name_valid(const char *name) {
    size_t n = strlen(name);
    if (n == 0 || n > INFC_STORED_MAX_NAME || !infc_text_is_utf8(name, n)) return false;
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) return false;
    }
    return true;
}

infc_status infc_checkpoint_add(infc_cx *cx, infc_checkpoint *checkpoint, infc_stored_tensor tensor) {
    infc_loc loc = {.file = tensor.file};
    uint64_t bytes;
    if (!name_valid(tensor.name)) {
        return infc_fail(cx, INFC_ERR_MODEL, loc, "the name of tensor %zu is empty, longer than %d bytes or not text",
                         checkpoint->n, INFC_STORED_MAX_NAME);
    }
    if (infc_map_find(&checkpoint->index, tensor.name, NULL))
        return infc_fail(cx, INFC_ERR_MODEL, loc, "tensor \"%s\" is there twice", tensor.name);
    if (!infc_stored_bytes(tensor.type, tensor.rank, tensor.dims, &bytes)) {
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "tensor \"%s\" cannot be %s: its innermost dimension must be a multiple "
                         "of %u and its bytes "
                         "must fit 64 bits",
                         tensor.name, infc_stored_type_text(cx->arena, &tensor),
                         infc_stored_types[tensor.type].per_block);
    }
    if (bytes != tensor.bytes.len) {
        return infc_fail(cx, INFC_ERR_MODEL, loc, "tensor \"%s\" is %s, which takes %llu bytes, but %zu are given",
                         tensor.name, infc_stored_type_text(cx->arena, &tensor),
                         (unsigned long long)bytes, tensor.bytes.len);
    }
    infc_map_put(&checkpoint->index, tensor.name, checkpoint->n);
    INFC_GROW(checkpoint->index.arena, checkpoint->tensors, checkpoint->n, checkpoint->cap);
    tensor.name = infc_arena_copy_string(checkpoint->index.arena, tensor.name, strlen(tensor.name));
    checkpoint->tensors[checkpoint->n++] = tensor;
    return INFC_OK;
}

static int by_place(const void *a, const void *b) {
    const uint8_t *x = (*(const infc_stored_tensor *const *)a)->bytes.ptr;
    const uint8_t *y = (*(const infc_stored_tensor *const *)b)->bytes.ptr;
    return x < y ? -1 : x > y;
}

infc_status infc_checkpoint_check_overlaps(infc_cx *cx, const infc_checkpoint *checkpoint, const char *file) {
    const infc_stored_tensor **sorted = INFC_NEW(cx->arena, const infc_stored_tensor *, checkpoint->n);
    size_t n = 0;
    for (size_t i = 0; i < checkpoint->n; i++) {
        const infc_stored_tensor *tensor = &checkpoint->tensors[i];
        if (tensor->bytes.len && strcmp(tensor->file, file) == 0) sorted[n++] = tensor;
    }
    infc_sort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 1; i < n; i++) {
        const infc_bytes *before = &sorted[i - 1]->bytes;
        if (before->ptr + before->len > sorted[i]->bytes.ptr) {
            return infc_fail(cx, INFC_ERR_MODEL, (infc_loc){.file = file},
                             "tensors \"%s\" and \"%s\" overlap", sorted[i - 1]->name, sorted[i]->name);
        }
    }
    return INFC_OK;
}

const infc_stored_tensor *infc_checkpoint_find(const infc_checkpoint *checkpoint, const char *name) {
    size_t i;
    return infc_map_find(&checkpoint->index, name, &i) ? &checkpoint->tensors[i] : NULL;
}
