/* check_main.h - one run of CHECK_MODEL on inputs from a file, its tensors to another: how `infc compare` and `infc
 * verify` run a library where there is no operating system. Included by NAME_check.c.
 *
 * Both files hold tensors, in the machine's byte order: uint32 bytes of its name, the name, uint32 1 for an output,
 * uint32 dtype, uint32 rank, int64 dims, elements, row-major. After the last: uint32 0xffffffff. In: the inputs. Out:
 * intermediates as they are made, then the outputs.
 * SPDX-License-Identifier: MIT */
#include "check_os.h"

enum { CHECK_BAD_INPUT = 20, CHECK_NO_MEMORY, CHECK_NO_WEIGHTS, CHECK_BAD_RUN };

typedef struct check {
    const infc_model *model;
    const int64_t *sizes;
    unsigned char *arena, *unpacked;
    size_t used; /* of the heap */
} check;

static _Alignas(INFC_ALIGN) unsigned char check_heap[CHECK_HEAP_BYTES];

static void *check_take(check *c, size_t bytes) {
    const size_t padded = (bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN, at = c->used;
    if (padded > sizeof check_heap - at) return 0;
    c->used += padded;
    return check_heap + at;
}

static size_t check_element(uint32_t dtype) {
    switch (dtype) {
#define INFC_X(name, id, bytes, ctype) \
    case id: return bytes;
        INFC_DTYPES(INFC_X)
#undef INFC_X
    default: return 0;
    }
}

static void check_put(uint32_t value) { check_os_write(&value, sizeof value); }

/* Dims at the sizes of this run; the elements that they make. */
static size_t check_dims(const check *c, uint32_t table, uint32_t index,
                         const infc_tensor_info *info, int64_t *dims) {
    size_t n = 1;
    for (uint32_t i = 0; i < info->rank; i++) dims[i] = info->dims[i];
    if (c->model->dims) c->model->dims(c->sizes, table, index, dims);
    for (uint32_t i = 0; i < info->rank; i++) n *= (size_t)dims[i];
    return n;
}

/* [N][ceil(C/16)][spatial][16] as [N][C][spatial], into c->unpacked. */
static const unsigned char *check_unpack(const check *c, const infc_tensor_info *info,
                                         const int64_t *dims, const unsigned char *from) {
    const size_t bytes = check_element(info->dtype), channels = (size_t)dims[1];
    size_t inner = 1, at = 0;
    for (uint32_t i = 2; i < info->rank; i++) inner *= (size_t)dims[i];
    for (size_t n = 0; n < (size_t)dims[0]; n++)
        for (size_t k = 0; k < channels; k++)
            for (size_t s = 0; s < inner; s++) {
                const size_t block = n * ((channels + 15) / 16) + k / 16;
                const unsigned char *element = from + ((block * inner + s) * 16 + k % 16) * bytes;
                for (size_t b = 0; b < bytes; b++) c->unpacked[at++] = element[b];
            }
    return c->unpacked;
}

static void check_tensor(const check *c, uint32_t table, uint32_t index,
                         const infc_tensor_info *info, const unsigned char *data) {
    int64_t dims[INFC_MAX_RANK];
    const size_t n = check_dims(c, table, index, info, dims);
    uint32_t length = 0;
    while (info->name[length]) length++;
    check_put(length);
    check_os_write(info->name, length);
    check_put(table == INFC_TABLE_OUTPUTS);
    check_put(info->dtype);
    check_put(info->rank);
    check_os_write(dims, info->rank * sizeof *dims);
    if (info->layout == INFC_LAYOUT_c16) data = check_unpack(c, info, dims, data);
    check_os_write(data, n * check_element(info->dtype));
}

static void check_step(void *self, uint32_t step, uint32_t worker) {
    const check *c = self;
    (void)worker;
    for (uint32_t i = 0; i < c->model->n_tensors; i++) {
        const infc_tensor_info *info = &c->model->tensors[i];
        if (info->step == step && info->layout <= INFC_LAYOUT_c16)
            check_tensor(c, INFC_TABLE_TENSORS, i, info, c->arena + info->offset);
    }
}

enum { CHECK_MOST = 64, CHECK_NAME = 256 }; /* inputs, outputs, sizes; bytes of a name */

static int check_get(void *to, size_t bytes) { return check_os_read(to, bytes) == bytes; }

static int check_same(const char *name, const char *read, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        if (name[i] != read[i] || !name[i]) return 0;
    return !name[length];
}

/* The next tensor of the file to inputs[its number], its dims to all_dims. */
static int check_input(check *c, uint32_t length, const void **inputs, int64_t (*all_dims)[INFC_MAX_RANK]) {
    char name[CHECK_NAME];
    uint32_t facts[3], at = 0; /* output, dtype, rank */
    const infc_model *m = c->model;
    if (length > sizeof name || !check_get(name, length) || !check_get(facts, sizeof facts))
        return CHECK_BAD_INPUT;
    while (at < m->n_inputs && !check_same(m->inputs[at].name, name, length)) at++;
    if (at == m->n_inputs || facts[1] != m->inputs[at].dtype || facts[2] != m->inputs[at].rank)
        return CHECK_BAD_INPUT;
    if (!check_get(all_dims[at], facts[2] * sizeof **all_dims)) return CHECK_BAD_INPUT;
    size_t bytes = check_element(facts[1]);
    for (uint32_t i = 0; i < facts[2]; i++) bytes *= (size_t)all_dims[at][i];
    void *to = check_take(c, bytes);
    inputs[at] = to;
    return !to ? CHECK_NO_MEMORY : check_get(to, bytes) ? 0 : CHECK_BAD_INPUT;
}

static int check_model(check *c) {
    static const void *inputs[CHECK_MOST];
    static void *outputs[CHECK_MOST];
    static int64_t sizes[CHECK_MOST], dims[CHECK_MOST][INFC_MAX_RANK];
    const infc_model *m = c->model;
    const infc_probe probe = {check_step, c};
    if (m->n_inputs > CHECK_MOST || m->n_outputs > CHECK_MOST || m->n_sizes > CHECK_MOST)
        return CHECK_NO_MEMORY;
    if (m->weights_bytes && !m->weights_embedded) return CHECK_NO_WEIGHTS;
    c->sizes = sizes;
    c->arena = check_take(c, (size_t)(m->arena_bytes + m->arena_bytes_per_worker));
    for (uint32_t length; check_get(&length, sizeof length) && length != 0xffffffffu;) {
        const int failed = check_input(c, length, inputs, dims);
        if (failed) return failed;
    }
    for (uint32_t i = 0; i < m->n_inputs; i++)
        if (!inputs[i]) return CHECK_BAD_INPUT;
    for (uint32_t i = 0; i < m->n_sizes; i++) sizes[i] = dims[m->sizes[i].input][m->sizes[i].axis];
    for (uint32_t i = 0; i < m->n_outputs; i++)
        if (!(outputs[i] = check_take(c, (size_t)m->outputs[i].bytes))) return CHECK_NO_MEMORY;
    c->unpacked = check_heap + c->used; /* the heap has room for the largest tensor */
    const void *weights = m->weights_bytes ? m->weights_embedded() : 0;
    const infc_call call = {
        weights, c->arena, inputs, outputs, 0, 1, 0, &probe, m->n_sizes ? sizes : 0};
    if (m->run(&call) != INFC_RUN_OK) return CHECK_BAD_RUN;
    for (uint32_t i = 0; i < m->n_outputs; i++)
        check_tensor(c, INFC_TABLE_OUTPUTS, i, &m->outputs[i], outputs[i]);
    check_put(0xffffffffu);
    return 0;
}

int check_run(void) {
    check c = {CHECK_MODEL(), 0, 0, 0, 0};
    return check_model(&c);
}
