/* infrt_fake_llm.h - a language model written by hand for the engine's tests. A cell of its cache is a function of the
 * token at a position and of the cell before it, as it is found through `tables`; logits are one of all cells up to a
 * row. So a wrong table, position, slot or block gives other tokens. It keeps count of what a caller does wrong. */
#ifndef INFRT_FAKE_LLM_H
#define INFRT_FAKE_LLM_H
#include "infrt_llm.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAKE_VOCAB = 50,
    FAKE_CONTEXT = 200,
    FAKE_CHUNK = 64,
    FAKE_SEQUENCES = 4,
    FAKE_PER_BLOCK = 32,
    FAKE_MAX_BLOCKS = (FAKE_CONTEXT + FAKE_PER_BLOCK - 1) / FAKE_PER_BLOCK,
    FAKE_BLOCK_BYTES = FAKE_PER_BLOCK * (int)sizeof(int32_t),
    FAKE_EOS = 7,
    FAKE_ANYTHING_BLOCKS = 1 << 20
};

static _Atomic int fake_wrongs;                                    /* counted by all workers */
static int fake_fails_at = -1, fake_interrupted_at = -1, fake_nan; /* how many steps until then */

static uint64_t fake_hash_start(void) { return 0x243f6a8885a308d3u; }
static uint64_t fake_hash_add(uint64_t hash, int32_t cell) {
    return infc_check_random(hash, (uint64_t)(uint32_t)cell, 1);
}
static int32_t fake_cell_of(int32_t before, int32_t token) {
    return (int32_t)(infc_check_random((uint64_t)(uint32_t)before, (uint64_t)(uint32_t)token, 3) >> 33);
}
static float fake_logit(uint64_t hash, uint32_t id) {
    return (float)(infc_check_random(hash, id, 2) >> 40) * (8.0f / (1 << 24));
}

/* What the engine must answer to a prompt, greedily. */
static inline int32_t fake_next(const int32_t *tokens, uint32_t n) {
    uint64_t hash = fake_hash_start();
    int32_t best = 0, cell = 0;
    for (uint32_t i = 0; i < n; i++)
        hash = fake_hash_add(hash, cell = fake_cell_of(cell, tokens[i]));
    for (uint32_t id = 1; id < FAKE_VOCAB; id++)
        if (fake_logit(hash, id) > fake_logit(hash, (uint32_t)best)) best = (int32_t)id;
    return best;
}

static inline void fake_check(bool right) {
    if (!right) fake_wrongs++;
}

/* Where in the cache a position of a sequence lies. */
static inline int32_t *fake_cell(const infc_call *call, int32_t slot, int32_t position) {
    const int32_t *tables = call->inputs[4];
    int32_t block = tables[slot * FAKE_MAX_BLOCKS + position / FAKE_PER_BLOCK];
    bool right = slot >= 0 && slot < FAKE_SEQUENCES && position >= 0 && position < FAKE_CONTEXT &&
                 block >= 0 && block < call->sizes[2];
    static int32_t nowhere;
    fake_check(right);
    if (!right) return &nowhere;
    union {
        const void *from;
        int32_t *to;
    } kv = {.from = call->inputs[5]}; /* the one input that a step writes */
    return kv.to + (size_t)block * FAKE_PER_BLOCK + position % FAKE_PER_BLOCK;
}

static inline void fake_logits(const infc_call *call, int32_t row, float *out) {
    const int32_t *positions = call->inputs[1], *slots = call->inputs[2];
    uint64_t hash = fake_hash_start();
    for (int32_t p = 0; p <= positions[row]; p++)
        hash = fake_hash_add(hash, *fake_cell(call, slots[row], p));
    for (uint32_t id = 0; id < FAKE_VOCAB; id++)
        out[id] = fake_nan ? (float)(0.0 / 0.0) : fake_logit(hash, id);
}

static int fake_llm_run(const infc_call *call) {
    const int32_t *tokens = call->inputs[0], *positions = call->inputs[1], *slots = call->inputs[2],
                  *last = call->inputs[3];
    int64_t n = call->sizes[0], n_rows = call->sizes[1];
    if (call->worker == 0) {
        fake_check(n >= 1 && n <= FAKE_CHUNK && n_rows >= 1 && n_rows <= FAKE_SEQUENCES);
        for (int64_t i = 0; i < n; i++) {
            fake_check(tokens[i] >= 0 && tokens[i] < FAKE_VOCAB);
            for (int64_t k = 0; k < i; k++)
                fake_check(slots[k] != slots[i] || positions[k] < positions[i]);
            int32_t before = positions[i] ? *fake_cell(call, slots[i], positions[i] - 1) : 0;
            *fake_cell(call, slots[i], positions[i]) = fake_cell_of(before, tokens[i]);
        }
    }
    if (call->barrier) call->barrier->wait(call->barrier->self, call->worker);
    for (int64_t r = call->worker; r < n_rows; r += call->n_workers)
        fake_logits(call, last[r], (float *)call->outputs[0] + r * FAKE_VOCAB);
    if (call->worker == 0 && fake_interrupted_at >= 0 && fake_interrupted_at-- == 0) raise(SIGINT);
    if (call->worker == 0 && fake_fails_at >= 0 && fake_fails_at-- == 0) return INFC_RUN_BAD_INDEX;
    return INFC_RUN_OK;
}

static const infc_tensor_info fake_llm_inputs[] = {
    {.name = "tokens", .dtype = INFC_DTYPE_i32, .rank = 1, .dims = {FAKE_CHUNK}},
    {.name = "positions", .dtype = INFC_DTYPE_i32, .rank = 1, .dims = {FAKE_CHUNK}},
    {.name = "slots", .dtype = INFC_DTYPE_i32, .rank = 1, .dims = {FAKE_CHUNK}},
    {.name = "last_rows", .dtype = INFC_DTYPE_i32, .rank = 1, .dims = {FAKE_SEQUENCES}},
    {.name = "tables", .dtype = INFC_DTYPE_i32, .rank = 2, .dims = {FAKE_SEQUENCES, FAKE_MAX_BLOCKS}},
    {.name = "kv", .dtype = INFC_DTYPE_i8, .rank = 2, .dims = {FAKE_ANYTHING_BLOCKS, FAKE_BLOCK_BYTES}}};
static const infc_tensor_info fake_llm_outputs[] = {
    {.name = "logits", .dtype = INFC_DTYPE_f32, .rank = 2, .dims = {FAKE_SEQUENCES, FAKE_VOCAB}}};
static const infc_size_info fake_llm_sizes[] = {
    {.name = "tokens", .min = 1, .max = FAKE_CHUNK, .step = 1, .input = 0, .axis = 0},
    {.name = "rows", .min = 1, .max = FAKE_SEQUENCES, .step = 1, .input = 3, .axis = 0},
    {.name = "blocks", .min = 1, .max = FAKE_ANYTHING_BLOCKS, .step = 1, .input = 5, .axis = 0}};
static const int32_t fake_llm_eos[] = {FAKE_EOS};
static const infc_llm_info fake_llm_info = {.struct_bytes = sizeof(infc_llm_info),
                                            .vocab = FAKE_VOCAB,
                                            .context = FAKE_CONTEXT,
                                            .chunk = FAKE_CHUNK,
                                            .max_sequences = FAKE_SEQUENCES,
                                            .max_blocks = FAKE_MAX_BLOCKS,
                                            .block_positions = FAKE_PER_BLOCK,
                                            .block_bytes = FAKE_BLOCK_BYTES,
                                            .bos = 1,
                                            .n_eos = 1,
                                            .eos = fake_llm_eos,
                                            .format = "hash",
                                            .kv_format = "i32",
                                            .parameters = 1};

static const infc_model fake_llm = {.abi = INFC_ABI_VERSION,
                                    .struct_bytes = sizeof(infc_model),
                                    .name = "fake_lm",
                                    .target = "x86-64",
                                    .isa = "generic",
                                    .infc_version = "0.0.1",
                                    .source = "fake.gguf",
                                    .source_sha256 = "00",
                                    .license = "MIT",
                                    .n_inputs = 6,
                                    .n_outputs = 1,
                                    .inputs = fake_llm_inputs,
                                    .outputs = fake_llm_outputs,
                                    .n_sizes = 3,
                                    .sizes = fake_llm_sizes,
                                    .run = fake_llm_run,
                                    .llm = &fake_llm_info};

#endif
