/* tensor_shapes.c - see tensor_shapes.h. */
#include "tensor_shapes.h"
#include "tensor_io.h"
#include <string.h>

static const infc_tensor_info *info_of(const infc_model *model, uint32_t table, uint32_t index) {
    return table == INFC_TABLE_INPUTS ? &model->inputs[index] : &model->outputs[index];
}

void infrt_shape_at(const infc_model *model, const int64_t *sizes, uint32_t table, uint32_t index,
                    int64_t dims[INFC_MAX_RANK]) {
    memcpy(dims, info_of(model, table, index)->dims, sizeof(int64_t[INFC_MAX_RANK]));
    if (model->n_sizes) model->dims(sizes, table, index, dims);
}

uint64_t infrt_bytes_at(const infc_model *model, const int64_t *sizes, uint32_t table, uint32_t index) {
    const infc_tensor_info *info = info_of(model, table, index);
    int64_t dims[INFC_MAX_RANK];
    uint64_t bytes = 0;
    infrt_shape_at(model, sizes, table, index, dims);
    return infrt_shape_bytes(info->dtype, info->rank, dims, &bytes) ? bytes : 0;
}

uint64_t infrt_elements_at(const infc_model *model, const int64_t *sizes, uint32_t table, uint32_t index) {
    return infrt_bytes_at(model, sizes, table, index) /
           infrt_dtype_bytes(info_of(model, table, index)->dtype);
}

/* Whether the tensor's first axis is `size` and no other depends on it, tried with two of its values. */
static bool is_batch_of(const infc_model *model, uint32_t size, uint32_t table, uint32_t index) {
    const infc_tensor_info *info = info_of(model, table, index);
    int64_t sizes[INFRT_TENSOR_SIZES], one[INFC_MAX_RANK], many[INFC_MAX_RANK];
    for (uint32_t i = 0; i < model->n_sizes; i++) sizes[i] = model->sizes[i].max;
    infrt_shape_at(model, sizes, table, index, many);
    sizes[size] = 1;
    infrt_shape_at(model, sizes, table, index, one);
    bool good = info->rank > 0 && one[0] == 1 && many[0] == model->sizes[size].max;
    for (uint32_t i = 1; i < info->rank; i++) good = good && one[i] == many[i];
    return good;
}

int infrt_batch_size_find(const infc_model *model) {
    for (uint32_t s = 0; s < model->n_sizes; s++) {
        const infc_size_info *size = &model->sizes[s];
        bool good = size->min == 1 && size->step == 1 && size->max > 1;
        for (uint32_t i = 0; i < model->n_inputs && good; i++)
            good = is_batch_of(model, s, INFC_TABLE_INPUTS, i);
        for (uint32_t i = 0; i < model->n_outputs && good; i++)
            good = is_batch_of(model, s, INFC_TABLE_OUTPUTS, i);
        if (good) return (int)s;
    }
    return -1;
}

const char *infrt_shape_open(const infc_model *model, uint32_t table, uint32_t index, char out[INFRT_SHAPE_ROOM]) {
    const infc_tensor_info *info = info_of(model, table, index);
    int64_t sizes[INFRT_TENSOR_SIZES], least[INFC_MAX_RANK], dims[INFC_MAX_RANK];
    for (uint32_t i = 0; i < model->n_sizes; i++) sizes[i] = model->sizes[i].min;
    infrt_shape_at(model, sizes, table, index, least);
    for (uint32_t i = 0; i < model->n_sizes; i++) sizes[i] = model->sizes[i].max;
    infrt_shape_at(model, sizes, table, index, dims);
    for (uint32_t i = 0; i < info->rank; i++)
        if (least[i] != dims[i]) dims[i] = -1;
    char text[INFRT_SHAPE_TEXT];
    const char *shape = strchr(infrt_shape_text(info->dtype, info->rank, dims, text), '[');
    memcpy(out, shape, strlen(shape) + 1);
    return out;
}
