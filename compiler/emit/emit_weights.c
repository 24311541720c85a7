/* emit_weights.c - NAME.weights: a header, then each packed weight at its offset, zeros between. One weight at a time
 * is evaluated from its recipe, so that memory holds a few tensors, never the model. */
#include "../base/file.h"
#include "../base/hash.h"
#include "../base/interrupt.h"
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

/* What the recipe makes of `value`. Each value is on the arena that the one before is not on, so that at most two are
 * held; the source is forgotten as soon as it has been read. */
static infc_status evaluate(infc_emit_unit *u, infc_arena *const scratch[2],
                            const infc_plan_recipe *recipe, infc_tensor value, infc_tensor *out) {
    const void *source = value.data;
    const size_t bytes = (size_t)infc_type_bytes(&value.type);
    if (recipe->n_ops > 0) value = infc_tensor_aligned(scratch[1], &value);
    if (value.data != source) infc_file_forget(u->cx, source, bytes);
    for (int i = 0; i < recipe->n_ops; i++) {
        infc_tensor next;
        infc_op_desc op = u->plan->recipe_ops[recipe->first_op + i];
        op.in[0] = value.type;
        INFC_TRY(infc_eval_op(u->cx, scratch[i % 2], &op, &value, &next));
        if (i == 0) infc_file_forget(u->cx, source, bytes);
        infc_arena_reset(scratch[1 - i % 2]);
        value = next;
    }
    *out = value;
    return INFC_OK;
}

/* How many rows of the weight (first axis) make a part of the result that can be made alone, the parts standing one
 * after another: whole panels of 16 outputs, about a mebibyte of them; else all rows. */
static int64_t rows_at_once(const infc_plan *plan, const infc_plan_recipe *recipe, const infc_type *from) {
    enum { PANEL = 16, PART = 1 << 20 };
    const infc_op_desc *ops = &plan->recipe_ops[recipe->first_op];
    const int last = recipe->n_ops - 1;
    const bool packed = last >= 0 && ops[last].kind == INFC_OP_relayout && from->layout == INFC_LAYOUT_plain &&
                        infc_desc_attr(&ops[last], "layout")->layout == INFC_LAYOUT_panel;
    const bool conv = packed && last == 0 && from->rank == 4;
    const bool turned = packed && last == 1 && from->rank == 2 && ops[0].kind == INFC_OP_transpose &&
                        infc_desc_attr(&ops[0], "perm")->ints[0] == 1;
    const int64_t rows = from->dims[0] > 0 ? from->dims[0] : 1;
    if (!conv && !turned) return rows;
    const int64_t panel_bytes = (int64_t)infc_type_bytes(from) / rows * PANEL;
    return PANEL * (panel_bytes > 0 && panel_bytes < PART ? PART / panel_bytes : 1);
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

static const infc_plan_recipe *recipe_of(const infc_plan *plan, int buffer) {
    for (int i = 0; i < plan->n_recipes; i++) {
        const int id = (plan->buffers[buffer].index + i) % plan->n_recipes; /* by index, wherever the plan put it */
        if (plan->recipes[id].buffer == buffer) return &plan->recipes[id];
    }
    return NULL;
}

/* The weight, part by part. */
static infc_status put_weight(infc_emit_unit *u, infc_arena *const scratch[2], payload *p,
                              const infc_plan_recipe *recipe, const infc_weight *weight) {
    infc_tensor part = {.type = weight->type, .data = (void *)(uintptr_t)weight->bytes}; /* only read */
    const int64_t all = part.type.rank ? part.type.dims[0] : 1,
                  step = part.type.rank ? rows_at_once(u->plan, recipe, &part.type) : 1;
    for (int64_t row = 0; row < all || row == 0; row += step) {
        infc_tensor value;
        if (part.type.rank) part.type.dims[0] = all - row < step ? all - row : step;
        INFC_TRY(evaluate(u, scratch, recipe, part, &value));
        put(p, value.data, (size_t)infc_type_bytes(&value.type));
        infc_file_forget(u->cx, part.data, (size_t)infc_type_bytes(&part.type));
        part.data = (char *)part.data + infc_type_bytes(&part.type);
        for (int k = 0; k < 2; k++) infc_arena_reset(scratch[k]);
    }
    return INFC_OK;
}

static infc_status write_weight(infc_emit_unit *u, infc_arena *const scratch[2], payload *p, int buffer) {
    const infc_plan_buffer *to = &u->plan->buffers[buffer];
    const uint64_t position = sizeof(infc_weights_header) + to->offset;
    const infc_plan_recipe *recipe = recipe_of(u->plan, buffer);
    const infc_weight *weight = recipe ? infc_weights_get(u->plan->weights, recipe->weight) : NULL;
    if (!weight || position < p->file.bytes)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "weight %s %s", to->name,
                         weight   ? "overlaps the one before"
                         : recipe ? "starts from nothing"
                                  : "has no recipe");
    put_zeros_to(p, position);
    INFC_TRY(put_weight(u, scratch, p, recipe, weight));
    if (p->file.bytes == position + to->bytes) return INFC_OK;
    return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC,
                     "weight %s: its recipe makes %llu bytes, the plan has %llu of %s", to->name,
                     (unsigned long long)(p->file.bytes - position), (unsigned long long)to->bytes,
                     infc_type_text(u->cx->arena, &to->type));
}

static infc_status write_all(infc_emit_unit *u, payload *p) {
    const infc_plan *plan = u->plan;
    infc_arena *scratch[2] = {infc_arena_create_scratch(u->cx->arena),
                              infc_arena_create_scratch(u->cx->arena)};
    infc_status status = INFC_OK;
    for (int i = 0; i < plan->n_buffers && status == INFC_OK; i++) {
        if (plan->buffers[i].place != INFC_PLACE_WEIGHT || plan->buffers[i].alias_of >= 0) continue;
        infc_progress(u->cx, "packing weight %s", plan->buffers[i].name);
        status = infc_interrupt_check(u->cx);
        if (status == INFC_OK) status = write_weight(u, scratch, p, i);
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
    INFC_TRY(infc_file_writer_open(u->cx, infc_path_join(u->cx->arena, u->dir, name), 0644, &p.file));
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
