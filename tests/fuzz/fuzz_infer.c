/* Requests for runs and for vectors on any bytes: what is taken has all of its inputs within its own memory, what is
 * not says why. The first two bytes say how much of the rest is JSON. */
#include "../unit/infrt_fake_shapes.h"
#include "embed_read.h"
#include "infer_read.h"
#include "tensor_values.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void infer_try(const char *body, size_t bytes, size_t json) {
    infrt_infer infer;
    infrt_refusal refusal = {0};
    const bool good = infrt_infer_read(&shapes_model, body, bytes, json, &infer, &refusal);
    if (good != (refusal.status == 0) || (!good && !refusal.text[0])) abort();
    for (uint32_t i = 0; good && i < shapes_model.n_inputs; i++) {
        infrt_out out = {0};
        const uint64_t n = infrt_elements_at(&shapes_model, infer.sizes, INFC_TABLE_INPUTS, i);
        if (n > SHAPES_ROWS * SHAPES_STEPS * 3) abort();
        infrt_values_put(shapes_inputs[i].dtype, infer.inputs[i], n, &out);
        infrt_out_free(&out);
    }
    if (good && (infer.n_outputs < 1 || infer.n_outputs > shapes_model.n_outputs)) abort();
    if (strlen(infer.id) > bytes) abort();
    infrt_infer_free(&infer);
}

static void embed_try(const char *body, size_t bytes) {
    infrt_embed embed;
    infrt_refusal refusal = {0};
    size_t sum = 0;
    const bool good = infrt_embed_read(body, bytes, 4, 16, &embed, &refusal);
    if (good != (refusal.status == 0) || (!good && !refusal.text[0])) abort();
    for (uint32_t i = 0; i < embed.n_inputs && good; i++) {
        const infrt_embed_text *t = &embed.inputs[i];
        sum += t->text ? strlen(t->text) : t->n_ids;
        for (uint32_t k = 0; k < t->n_ids; k++)
            if (embed.ids[t->first + k] < 0) abort();
    }
    if (sum > bytes || (good && !embed.n_inputs)) abort();
    infrt_embed_free(&embed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const size_t n = size - 2, said = (size_t)data[0] << 8 | data[1];
    char *body = malloc(n + 1); /* of its own length, so that what reads on is found out */
    if (!body) return 0;
    memcpy(body, data + 2, n);
    infer_try(body, n, said < n ? said : n);
    embed_try(body, n);
    free(body);
    return 0;
}
