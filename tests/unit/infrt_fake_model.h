/* infrt_fake_model.h - a hand-written infc_model for the runtime's tests: two steps and a barrier.
 *   x f32[2,20,3] -> mid = 2 * x + 1, laid out in c16 -> y f32[2,3] = bias + sum over channels of mid */
#ifndef INFRT_FAKE_MODEL_H
#define INFRT_FAKE_MODEL_H
#include "infrt.h"
#include "infrt_hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    FAKE_N = 2,
    FAKE_C = 20,
    FAKE_S = 3,
    FAKE_X = FAKE_N * FAKE_C * FAKE_S,
    FAKE_Y = FAKE_N * FAKE_S
};
enum { FAKE_BLOCKS = 2, FAKE_MID = FAKE_N * FAKE_BLOCKS * FAKE_S * 16, FAKE_MID_OFFSET = 64 };
#define FAKE_LAYOUT 0x1234567890abcdefu

typedef struct fake_payload {
    infc_weights_header header;
    float bias[16];
} fake_payload;

/* The weights as a compiler would write them. */
static inline fake_payload fake_payload_make(float bias) {
    fake_payload p = {.header = {.layout_hash = FAKE_LAYOUT, .bytes = sizeof p}};
    memcpy(p.header.magic, "infcwts1", 8);
    p.bias[0] = bias;
    p.header.hash = infrt_hash64(&p.header + 1, sizeof p - sizeof p.header);
    return p;
}

static inline size_t fake_mid_at(int n, int c, int s) {
    return (size_t)(((n * FAKE_BLOCKS + c / 16) * FAKE_S + s) * 16 + c % 16);
}

static int fake_run(const infc_call *call) {
    if (!call->arena || (uintptr_t)call->arena % INFC_ALIGN || call->worker >= call->n_workers)
        return INFC_RUN_BAD_ARGUMENT;
    const float *x = call->inputs[0];
    float *mid = (float *)((char *)call->arena + FAKE_MID_OFFSET), *y = call->outputs[0];
    const fake_payload *weights = call->weights;
    for (uint32_t i = call->worker; i < FAKE_X; i += call->n_workers) {
        int n = (int)i / (FAKE_C * FAKE_S), c = (int)i / FAKE_S % FAKE_C, s = (int)i % FAKE_S;
        mid[fake_mid_at(n, c, s)] = 2 * x[i] + 1;
    }
    if (call->probe) call->probe->step(call->probe->self, 0, call->worker);
    if (call->barrier) call->barrier->wait(call->barrier->self, call->worker);
    for (uint32_t i = call->worker; i < FAKE_Y; i += call->n_workers) {
        float sum = weights->bias[0];
        for (int c = 0; c < FAKE_C; c++)
            sum += mid[fake_mid_at((int)i / FAKE_S, c, (int)i % FAKE_S)];
        y[i] = sum;
    }
    if (call->probe) call->probe->step(call->probe->self, 1, call->worker);
    return INFC_RUN_OK;
}

static const infc_tensor_info fake_inputs[] = {
    {.name = "x", .dtype = INFC_DTYPE_f32, .rank = 3, .dims = {FAKE_N, FAKE_C, FAKE_S}, .bytes = FAKE_X * 4}};
static const infc_tensor_info fake_outputs[] = {
    {.name = "y", .dtype = INFC_DTYPE_f32, .rank = 2, .dims = {FAKE_N, FAKE_S}, .bytes = FAKE_Y * 4}};
static const infc_tensor_info fake_tensors[] = {{.name = "/mid",
                                                 .dtype = INFC_DTYPE_f32,
                                                 .layout = INFC_LAYOUT_c16,
                                                 .rank = 3,
                                                 .step = 0,
                                                 .dims = {FAKE_N, FAKE_C, FAKE_S},
                                                 .bytes = FAKE_MID * 4,
                                                 .offset = FAKE_MID_OFFSET}};
static const infc_step_info fake_steps[] = {
    {.name = "affine", .node = "/affine", .kernel = "fake", .flops = 2 * FAKE_X, .units = FAKE_X},
    {.name = "sum", .node = "/sum", .kernel = "fake", .flops = FAKE_X, .barrier = 1, .units = FAKE_Y}};

static inline infc_model fake_model_make(void) {
    return (infc_model){.abi = INFC_ABI_VERSION,
                        .struct_bytes = sizeof(infc_model),
                        .name = "fake",
                        .target = "x86-64-v3",
                        .isa = "x86_64_avx2",
                        .infc_version = "0.0.1",
                        .source = "fake.onnx",
                        .source_sha256 = "00",
                        .license = "MIT",
                        .n_inputs = 1,
                        .n_outputs = 1,
                        .n_tensors = 1,
                        .n_steps = 2,
                        .inputs = fake_inputs,
                        .outputs = fake_outputs,
                        .tensors = fake_tensors,
                        .steps = fake_steps,
                        .arena_bytes = FAKE_MID_OFFSET + FAKE_MID * 4,
                        .arena_lower_bound = FAKE_MID * 4,
                        .weights_bytes = sizeof(fake_payload),
                        .layout_hash = FAKE_LAYOUT,
                        .run = fake_run};
}

/* y[n, s] for x[i] = i: sum over c of 2 * (60 n + 3 c + s) + 1, plus the bias; exact in f32. */
static inline float fake_expected(int n, int s, float bias) {
    int sum = FAKE_C * FAKE_C * FAKE_S * n + FAKE_S * FAKE_C * (FAKE_C - 1) / 2 + FAKE_C * s;
    return (float)(2 * sum + FAKE_C) + bias;
}

#endif
