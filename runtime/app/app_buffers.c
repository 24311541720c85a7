/* app_buffers.c - inputs and outputs of a run in one block. */
#include "app.h"
#include "infrt_os.h"
#include <string.h>

enum { GUARD_BYTES = INFC_ALIGN, GUARD = 0xa5 };

static size_t padded(uint64_t bytes) {
    return ((size_t)bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
}

static bool size_add(const infc_tensor_info *infos, uint32_t n, size_t *bytes) {
    for (uint32_t i = 0; i < n; i++)
        if (infos[i].bytes > SIZE_MAX / 4 ||
            __builtin_add_overflow(*bytes, padded(infos[i].bytes) + GUARD_BYTES, bytes))
            return false;
    return true;
}

static char *place(const infc_tensor_info *infos, uint32_t n, char *at, void **out) {
    for (uint32_t i = 0; i < n; i++) {
        out[i] = at;
        at += padded(infos[i].bytes);
        memset((char *)out[i] + infos[i].bytes, GUARD, (size_t)(at - (char *)out[i]) - infos[i].bytes + GUARD_BYTES);
        at += GUARD_BYTES;
    }
    return at;
}

infrt_status infrt_buffers_create(const infc_model *model, infrt_buffers *out, infrt_error *error) {
    size_t pointers = padded((model->n_inputs + (uint64_t)model->n_outputs) * sizeof(void *)), bytes = pointers;
    *out = (infrt_buffers){.model = model};
    if (size_add(model->inputs, model->n_inputs, &bytes) && size_add(model->outputs, model->n_outputs, &bytes))
        out->block = infrt_os_block_reserve(bytes, false);
    if (!out->block)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for inputs and outputs", model->name);
    out->block_bytes = bytes;
    out->inputs = out->block;
    out->outputs = out->inputs + model->n_inputs;
    char *at = place(model->inputs, model->n_inputs, (char *)out->block + pointers, out->inputs);
    place(model->outputs, model->n_outputs, at, out->outputs);
    return INFRT_OK;
}

void infrt_buffers_destroy(infrt_buffers *buffers) {
    infrt_os_block_destroy(buffers->block, buffers->block_bytes);
    *buffers = (infrt_buffers){0};
}

static bool guards_intact(const infc_tensor_info *infos, uint32_t n, void *const *data) {
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *guard = (const unsigned char *)data[i];
        for (size_t k = (size_t)infos[i].bytes; k < padded(infos[i].bytes) + GUARD_BYTES; k++)
            if (guard[k] != GUARD) return false;
    }
    return true;
}

bool infrt_buffers_intact(const infrt_buffers *buffers) {
    const infc_model *model = buffers->model;
    return guards_intact(model->inputs, model->n_inputs, buffers->inputs) &&
           guards_intact(model->outputs, model->n_outputs, buffers->outputs);
}

/* k / 8 as an IEEE half, |k| < 16. */
static uint16_t f16_eighths(int k) {
    unsigned magnitude = (unsigned)(k < 0 ? -k : k), top = 0;
    if (magnitude == 0) return 0;
    while (magnitude >> (top + 1)) top++;
    return (uint16_t)((k < 0 ? 0x8000u : 0) | (top + 12) << 10 | ((magnitude << (10 - top)) & 0x3ffu));
}

/* Element i of input t as the bits of its dtype. */
static uint64_t element_bits(const infc_tensor_info *info, uint64_t seed, uint64_t t, uint64_t i) {
    float value = infc_check_f32(seed, t, i);
    uint64_t random = infc_check_random(seed, t, i), bits = 0;
    uint32_t f32_bits;
    double wide = (double)value;
    memcpy(&f32_bits, &value, sizeof f32_bits);
    switch (info->dtype) {
    case INFC_DTYPE_f32: return f32_bits;
    case INFC_DTYPE_f64: memcpy(&bits, &wide, sizeof bits); return bits;
    case INFC_DTYPE_bf16: return f32_bits >> 16;
    case INFC_DTYPE_f16: return f16_eighths((int)(random >> 60) - 8);
    default: return info->offset + (random >> 61) % (info->step + 1u);
    }
}

void infrt_buffers_synthesize(const infrt_buffers *buffers, uint64_t seed) {
    for (uint32_t t = 0; t < buffers->model->n_inputs; t++) {
        const infc_tensor_info *info = &buffers->model->inputs[t];
        size_t size = infrt_dtype_bytes(info->dtype), n = size ? (size_t)info->bytes / size : 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = element_bits(info, seed, t, i);
            memcpy((char *)buffers->inputs[t] + i * size, &bits, size);
        }
    }
}
