/* onnx_embedding.c - outputs of kind `embedding` (spec key outputs): vectors of tokens, pooled to one per text and
 * brought to length 1, as the sentence-transformers package does it after the model. */
#include "onnx_import.h"
#include <string.h>

/* What both divisions stay away from 0 by: as in sentence-transformers and torch's normalize. */
static const float LEAST_COUNT = 1e-9f, LEAST_LENGTH = 1e-12f;

static infc_status sum_over(infc_onnx_at *at, int64_t axis, infc_onnx_operand x, infc_onnx_operand *out) {
    const infc_attr axes = infc_attr_ints("axes", &axis, 1);
    return infc_onnx_build(at, INFC_OP_reduce_sum, &x, 1, &axes, 1, out);
}

static infc_status find_mask(infc_onnx_at *at, const char *name, bool demanded, infc_onnx_operand *out) {
    size_t id;
    *out = (infc_onnx_operand){0};
    const infc_onnx_import *import = at->import;
    const bool known = infc_map_find(&import->net.names, name, &id) &&
                       import->net.values[id].origin == INFC_ONNX_FROM_INPUT && import->ready[id];
    if (known) *out = import->operands[id];
    else if (demanded)
        return infc_onnx_invalid(at, "the model has no input \"%s\" that masks tokens", name);
    return INFC_OK;
}

/* The mean of x [texts,tokens,size] over tokens, each as often as mask [texts,tokens] says. */
static infc_status masked_mean(infc_onnx_at *at, infc_onnx_operand x, infc_onnx_operand mask,
                               infc_onnx_operand *out) {
    infc_onnx_operand count, least = infc_onnx_scalar(at, "least", LEAST_COUNT);
    if (mask.type.rank != 2 || mask.type.dims[0] != x.type.dims[0] || mask.type.dims[1] != x.type.dims[1])
        return infc_onnx_invalid(at, "the mask is %s; it has to be one number per token of %s",
                                 infc_type_text(at->arena, &mask.type), infc_type_text(at->arena, &x.type));
    INFC_TRY(infc_onnx_convert(at, INFC_DTYPE_f32, &mask, &mask));
    INFC_TRY(infc_onnx_view(at, &mask, (const int64_t[]){mask.type.dims[0], mask.type.dims[1], 1}, 3, &mask));
    INFC_TRY(infc_onnx_map2(at, "mul", x, mask, &x));
    INFC_TRY(sum_over(at, 1, x, &x));
    INFC_TRY(sum_over(at, 1, mask, &count));
    INFC_TRY(infc_onnx_map2(at, "max", count, least, &count));
    return infc_onnx_map2(at, "div", x, count, out);
}

static infc_status plain_mean(infc_onnx_at *at, infc_onnx_operand x, infc_onnx_operand *out) {
    infc_onnx_operand count;
    INFC_TRY(infc_onnx_dim_float(at, "tokens", x.type.dims[1], &count));
    INFC_TRY(sum_over(at, 1, x, &x));
    return infc_onnx_map2(at, "div", x, count, out);
}

static infc_status first_token(infc_onnx_at *at, infc_onnx_operand x, infc_onnx_operand *out) {
    const infc_attr attrs[] = {
        infc_attr_ints("starts", (const int64_t[]){0, 0, 0}, 3),
        infc_attr_ints("steps", (const int64_t[]){1, 1, 1}, 3),
        infc_attr_ints("shape", (const int64_t[]){x.type.dims[0], 1, x.type.dims[2]}, 3),
    };
    return infc_onnx_build(at, INFC_OP_slice, &x, 1, attrs, 3, out);
}

static infc_status pool(infc_onnx_at *at, const infc_spec_embedding *spec, infc_onnx_operand *x) {
    infc_onnx_operand mask;
    if (x->type.rank != 3)
        return infc_onnx_invalid(at, "it is %s; pooling needs [texts,tokens,size]%s",
                                 infc_type_text(at->arena, &x->type),
                                 x->type.rank == 2 ? ", or say pooling: none" : "");
    if (spec->pooling == INFC_POOLING_first) INFC_TRY(first_token(at, *x, x));
    else {
        INFC_TRY(find_mask(at, spec->mask ? spec->mask : "attention_mask", spec->mask != NULL, &mask));
        INFC_TRY(mask.type.rank ? masked_mean(at, *x, mask, x) : plain_mean(at, *x, x));
    }
    return infc_onnx_view(at, x, (const int64_t[]){x->type.dims[0], x->type.dims[2]}, 2, x);
}

static infc_status normalize(infc_onnx_at *at, infc_onnx_operand *x) {
    infc_onnx_operand length, least = infc_onnx_scalar(at, "least", LEAST_LENGTH);
    INFC_TRY(infc_onnx_map2(at, "mul", *x, *x, &length));
    INFC_TRY(sum_over(at, x->type.rank - 1, length, &length));
    INFC_TRY(infc_onnx_map(at, "sqrt", &length, 1, &length));
    INFC_TRY(infc_onnx_map2(at, "max", length, least, &length));
    return infc_onnx_map2(at, "div", *x, length, x);
}

infc_status infc_onnx_embedding(infc_onnx_import *import, const char *name, infc_onnx_operand *output) {
    const infc_spec *spec = import->spec;
    for (size_t i = 0; i < spec->n_embeddings; i++) {
        infc_spec_embedding *embedding = &spec->embeddings[i];
        if (strcmp(embedding->output, name) != 0) continue;
        const char *node = infc_arena_printf(import->cx->arena, "embedding \"%s\"", name);
        infc_onnx_node made = {.name = node, .op = "embedding", .domain = ""};
        infc_onnx_at at = {.import = import,
                           .arena = import->cx->arena,
                           .node = &made,
                           .opset = import->opset,
                           .loc = embedding->loc,
                           .location = infc_ir_location(import->ir, node, 0)};
        embedding->used = true;
        if (output->type.dtype != INFC_DTYPE_f32)
            return infc_onnx_invalid(&at, "it is %s; an embedding is f32",
                                     infc_type_text(at.arena, &output->type));
        if (embedding->pooling != INFC_POOLING_none) INFC_TRY(pool(&at, embedding, output));
        return embedding->normalize ? normalize(&at, output) : INFC_OK;
    }
    return INFC_OK;
}

void infc_onnx_embeddings_check_unused(infc_onnx_import *import) {
    for (size_t i = 0; i < import->spec->n_embeddings; i++)
        if (!import->spec->embeddings[i].used)
            infc_fail(import->cx, INFC_ERR_SPEC, import->spec->embeddings[i].loc,
                      "the model has no output \"%s\"", import->spec->embeddings[i].output);
}
