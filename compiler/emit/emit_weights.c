/* emit_weights.c - NAME.weights: a header, then each packed weight at its offset, zeros between. One weight at a time
 * is evaluated from its recipe, so that memory holds a few tensors, never the model. */
#include "../base/file.h"
#include "../base/hash.h"
#include "../ir/eval.h"
#include "emit_unit.h"
#include <string.h>

/* What a payload must agree on to be used by this code: names, types and places of the weights. */
infc_status infc_emit_layout(infc_emit_unit *u) {
    const infc_plan *plan = u->plan;
    infc_buf table = {.arena = u->cx->arena};
    infc_xxh64 hash;
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->place != INFC_PLACE_WEIGHT || buffer->alias_of >= 0) continue;
        infc_buf_printf(&table, "%s %s %llu %llu\n", buffer->name,
                        infc_type_text(u->cx->arena, &buffer->type),
                        (unsigned long long)buffer->offset, (unsigned long long)buffer->bytes);
        if (buffer->offset % INFC_ALIGN || buffer->offset > plan->weights_bytes ||
            buffer->bytes > plan->weights_bytes - buffer->offset)
            return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC,
                             "weight %s lies outside the payload", buffer->name);
    }
    infc_xxh64_begin(&hash);
    infc_xxh64_put(&hash, infc_buf_str(&table), table.len);
    u->layout_hash = infc_xxh64_end(&hash);
    u->weights_bytes = table.len ? sizeof(infc_weights_header) + plan->weights_bytes : 0;
    u->embeds = table.len && !(u->spec && u->spec->weights_file);
    return INFC_OK;
}

/* Each value is on the arena that the one before is not on, so that at most two are held. */
static infc_status evaluate(infc_emit_unit *u, infc_arena *const scratch[2],
                            const infc_plan_recipe *recipe, infc_tensor *out) {
    const infc_plan *plan = u->plan;
    const infc_weight *weight = infc_weights_get(plan->weights, recipe->weight);
    if (!weight)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "weight %s starts from nothing",
                         plan->buffers[recipe->buffer].name);
    infc_tensor value = {.type = weight->type, .data = (void *)(uintptr_t)weight->bytes}; /* only read */
    const size_t bytes = (size_t)infc_type_bytes(&weight->type);
    if (recipe->n_ops > 0) value = infc_tensor_aligned(scratch[1], &value);
    if (value.data != weight->bytes) infc_file_forget(u->cx, weight->bytes, bytes);
    for (int i = 0; i < recipe->n_ops; i++) {
        infc_tensor next;
        INFC_TRY(infc_eval_op(u->cx, scratch[i % 2], &plan->recipe_ops[recipe->first_op + i], &value, &next));
        if (i == 0) infc_file_forget(u->cx, weight->bytes, bytes);
        infc_arena_reset(scratch[1 - i % 2]);
        value = next;
    }
    *out = value;
    return INFC_OK;
}

typedef struct payload { /* being written */
    infc_file_writer file;
    infc_xxh64 hash;
} payload;

static void put(payload *p, const void *bytes, size_t n) {
    infc_file_writer_put(&p->file, bytes, n);
    infc_xxh64_put(&p->hash, bytes, n);
}

static void put_zeros_to(payload *p, uint64_t position) {
    static const char zeros[4096];
    while (p->file.bytes < position) {
        const uint64_t left = position - p->file.bytes;
        put(p, zeros, left < sizeof zeros ? (size_t)left : sizeof zeros);
    }
}

static infc_status write_weight(infc_emit_unit *u, infc_arena *const scratch[2], payload *p, int buffer) {
    const infc_plan_buffer *to = &u->plan->buffers[buffer];
    const uint64_t position = sizeof(infc_weights_header) + to->offset;
    const infc_plan_recipe *recipe = NULL;
    infc_tensor value;
    for (int i = 0; i < u->plan->n_recipes && !recipe; i++) {
        const int id = (to->index + i) % u->plan->n_recipes; /* by index, wherever the plan put it */
        if (u->plan->recipes[id].buffer == buffer) recipe = &u->plan->recipes[id];
    }
    if (!recipe || position < p->file.bytes)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "weight %s %s", to->name,
                         recipe ? "overlaps the one before" : "has no recipe");
    INFC_TRY(evaluate(u, scratch, recipe, &value));
    if (infc_type_bytes(&value.type) != to->bytes)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "weight %s: its recipe makes %s, the plan has %s",
                         to->name, infc_type_text(u->cx->arena, &value.type),
                         infc_type_text(u->cx->arena, &to->type));
    put_zeros_to(p, position);
    put(p, value.data, (size_t)to->bytes);
    const infc_weight *weight = infc_weights_get(u->plan->weights, recipe->weight);
    infc_file_forget(u->cx, weight->bytes, (size_t)infc_type_bytes(&weight->type));
    return INFC_OK;
}

static infc_status write_all(infc_emit_unit *u, payload *p) {
    const infc_plan *plan = u->plan;
    infc_arena *scratch[2] = {infc_arena_create_scratch(u->cx->arena),
                              infc_arena_create_scratch(u->cx->arena)};
    infc_status status = INFC_OK;
    for (int i = 0; i < plan->n_buffers && status == INFC_OK; i++) {
        if (plan->buffers[i].place != INFC_PLACE_WEIGHT || plan->buffers[i].alias_of >= 0) continue;
        infc_progress(u->cx, "packing weight %s", plan->buffers[i].name);
        status = write_weight(u, scratch, p, i);
        for (int k = 0; k < 2; k++) infc_arena_reset(scratch[k]);
    }
    for (int k = 0; k < 2; k++) infc_arena_destroy(&scratch[k]);
    if (status == INFC_OK) put_zeros_to(p, u->weights_bytes);
    return status;
}

infc_status infc_emit_weights(infc_emit_unit *u) {
    if (u->weights_bytes == 0) return INFC_OK;
    const char *name = infc_arena_printf(u->cx->arena, "src/%s.weights", u->name);
    payload p;
    infc_weights_header header = {.layout_hash = u->layout_hash, .bytes = u->weights_bytes};
    memcpy(header.magic, INFC_WEIGHTS_MAGIC, sizeof header.magic);
    INFC_TRY(infc_file_writer_open(u->cx, infc_path_join(u->cx->arena, u->dir, name), &p.file));
    infc_file_writer_put(&p.file, &header, sizeof header);
    infc_xxh64_begin(&p.hash);
    infc_status status = write_all(u, &p);
    header.hash = u->weights_hash = infc_xxh64_end(&p.hash);
    infc_file_writer_patch(&p.file, 0, &header, sizeof header);
    const infc_status closed = infc_file_writer_close(&p.file);
    infc_emit_add_file(u, name);
    u->out->weights_file = name;
    return status != INFC_OK ? status : closed;
}
