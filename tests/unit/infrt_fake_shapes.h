/* infrt_fake_shapes.h - the tables of a model with an input of each type and sizes known only at run time; it does not
 * run. For tests of what requests say.
 *   i_T [rows,2] for each type T, pair f32[rows,steps,3] -> i_T [rows,2], last f32[rows,2*steps] */
#ifndef INFRT_FAKE_SHAPES_H
#define INFRT_FAKE_SHAPES_H
#include "infc_abi.h"

enum { SHAPES_ROWS = 4, SHAPES_STEPS = 6, SHAPES_TYPES = 13, SHAPES_PAIR = SHAPES_TYPES };

#define SHAPES_PORT(type, id, size, ctype) \
    {.name = "i_" #type, .dtype = id, .rank = 2, .dims = {SHAPES_ROWS, 2}, .bytes = SHAPES_ROWS * 2 * size},
static const infc_tensor_info shapes_inputs[] = {
    INFC_DTYPES(SHAPES_PORT){.name = "pair",
                             .dtype = INFC_DTYPE_f32,
                             .rank = 3,
                             .dims = {SHAPES_ROWS, SHAPES_STEPS, 3},
                             .bytes = SHAPES_ROWS * SHAPES_STEPS * 3 * 4}};
static const infc_tensor_info shapes_outputs[] = {
    INFC_DTYPES(SHAPES_PORT){.name = "last",
                             .dtype = INFC_DTYPE_f32,
                             .rank = 2,
                             .dims = {SHAPES_ROWS, 2 * SHAPES_STEPS},
                             .bytes = SHAPES_ROWS * SHAPES_STEPS * 2 * 4}};
static const infc_size_info shapes_sizes[] = {{"rows", 1, SHAPES_ROWS, 1, 0, 0},
                                              {"steps", 2, SHAPES_STEPS, 2, SHAPES_PAIR, 1}};

static void shapes_dims(const int64_t *sizes, uint32_t table, uint32_t index, int64_t *dims) {
    dims[0] = sizes[0];
    if (index == SHAPES_PAIR) dims[1] = table == INFC_TABLE_INPUTS ? sizes[1] : 2 * sizes[1];
}

static const infc_model shapes_model = {
    .abi = INFC_ABI_VERSION,
    .struct_bytes = sizeof(infc_model),
    .name = "shapes",
    .n_inputs = SHAPES_TYPES + 1,
    .inputs = shapes_inputs,
    .n_outputs = SHAPES_TYPES + 1,
    .outputs = shapes_outputs,
    .n_sizes = 2,
    .sizes = shapes_sizes,
    .dims = shapes_dims,
};

#endif
