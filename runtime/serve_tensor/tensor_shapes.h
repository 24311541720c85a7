/* tensor_shapes.h - shapes of one run of a model: its sizes known only at run time, what follows from them, and whether
 * rows of several requests can share it.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_TENSOR_SHAPES_H
#define INFRT_TENSOR_SHAPES_H
#include "infrt.h"

enum { INFRT_TENSOR_SIZES = 16 }; /* most sizes of a model that is served */

/* The shape of a tensor of INFC_TABLE_INPUTS or _OUTPUTS for `sizes`, which are within their bounds. */
void infrt_shape_at(const infc_model *model, const int64_t *sizes, uint32_t table, uint32_t index,
                    int64_t dims[INFC_MAX_RANK]);
uint64_t infrt_elements_at(const infc_model *model, const int64_t *sizes, uint32_t table, uint32_t index);
uint64_t infrt_bytes_at(const infc_model *model, const int64_t *sizes, uint32_t table, uint32_t index);

/* The size that is the first axis of all inputs and outputs, and of nothing else, and takes every number from 1; -1:
 * there is none. Whether rows do not mix is another question. */
int infrt_batch_size_find(const infc_model *model);

/* "[-1,3,224,224]": sizes known only at run time are -1. */
enum { INFRT_SHAPE_ROOM = 192 };
const char *infrt_shape_open(const infc_model *model, uint32_t table, uint32_t index, char out[INFRT_SHAPE_ROOM]);

#endif
