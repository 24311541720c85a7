/* tensor_check.c - whether the rows of a run are independent of each other: only then requests may share one. */
#include "tensor_runner.h"
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 2, OTHER_SIZE = 16 };

/* Outputs of the run of each row alone are those of the run of all. `alone`: room for the outputs of all rows. */
static infrt_status rows_compare(infrt_runner *runner, int64_t rows, void **inputs, char *alone,
                                 bool *apart, infrt_error *error) {
    const infc_model *m = runner->team->model;
    int64_t *count = &runner->sizes[runner->team->batch_size];
    infrt_status status = INFRT_OK;
    *count = 1;
    for (int64_t row = 0; row < rows && status == INFRT_OK; row++) {
        char *to = alone;
        for (uint32_t i = 0; i < m->n_inputs; i++)
            inputs[i] = (char *)runner->buffers.inputs[i] +
                        (uint64_t)row * infrt_bytes_at(m, runner->sizes, INFC_TABLE_INPUTS, i);
        status = infrt_runner_run(runner, inputs, error);
        for (uint32_t i = 0; i < m->n_outputs && status == INFRT_OK; i++) {
            const uint64_t bytes = infrt_bytes_at(m, runner->sizes, INFC_TABLE_OUTPUTS, i);
            memcpy(to + (uint64_t)row * bytes, runner->buffers.outputs[i], bytes);
            to += bytes * (uint64_t)rows;
        }
    }
    *count = rows;
    if (status == INFRT_OK) status = infrt_runner_run(runner, runner->buffers.inputs, error);
    for (uint32_t i = 0; i < m->n_outputs && status == INFRT_OK; i++) {
        const uint64_t bytes = infrt_bytes_at(m, runner->sizes, INFC_TABLE_OUTPUTS, i);
        *apart = *apart && memcmp(alone, runner->buffers.outputs[i], bytes) == 0;
        alone += bytes;
    }
    return status;
}

infrt_status infrt_rows_check(infrt_runner *runner, bool *apart, infrt_error *error) {
    const infc_model *m = runner->team->model;
    const int64_t most = m->sizes[runner->team->batch_size].max, rows = most < 3 ? most : 3;
    uint64_t bytes = 1;
    *apart = true;
    for (uint32_t i = 0; i < m->n_sizes; i++) {
        const infc_size_info *size = &m->sizes[i];
        const int64_t some = OTHER_SIZE / size->step * size->step;
        runner->sizes[i] = some < size->min ? size->min : some > size->max ? size->max : some;
    }
    runner->sizes[runner->team->batch_size] = rows;
    for (uint32_t i = 0; i < m->n_outputs; i++)
        bytes += infrt_bytes_at(m, runner->sizes, INFC_TABLE_OUTPUTS, i);
    char *alone = malloc(bytes);
    void **inputs = calloc(m->n_inputs + (size_t)1, sizeof *inputs);
    infrt_status status = INFRT_OK;
    if (!alone || !inputs)
        status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory to try rows of requests");
    for (uint64_t seed = 1; seed <= SEEDS && status == INFRT_OK && *apart; seed++) {
        infrt_buffers_synthesize(&runner->buffers, seed);
        status = rows_compare(runner, rows, inputs, alone, apart, error);
    }
    free(inputs);
    free(alone);
    return status;
}
