/* emit_weights.c - NAME.weights: a header, then each packed weight at its offset, zeros between. One weight at a time
 * is evaluated from its recipe, so that memory holds a few tensors, never the model. */
#include "../base/file.h"
#include "../base/hash.h"
#include "../base/interrupt.h"
#include "emit_unit.h"
#include <string.h>

/* What a payload must agree on to be used by this code: names, types and places of the weights, and the version of what
 * packed them. */
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
    infc_xxh64_put(&hash, INFC_PACKED_VERSION, sizeof INFC_PACKED_VERSION - 1);
    infc_xxh64_put(&hash, infc_buf_str(&table), table.len);
    u->layout_hash = infc_xxh64_end(&hash);
    u->weights_bytes = table.len ? sizeof(infc_weights_header) + plan->weights_bytes : 0;
    u->embeds = table.len && !(u->spec && u->spec->weights_file);
    return INFC_OK;
}

void infc_emit_put(infc_emit_payload *p, const void *bytes, size_t n) {
    infc_file_writer_put(&p->file, bytes, n);
    infc_xxh64_put(&p->hash, bytes, n);
}

/* Numbers of `bytes` bytes, turned over for a target of the other byte order. */
static void put_turned(infc_emit_payload *p, const uint8_t *data, size_t n, size_t bytes) {
    uint8_t part[4096];
    for (size_t from = 0; from < n; from += sizeof part) {
        const size_t here = n - from < sizeof part ? n - from : sizeof part;
        for (size_t i = 0; i < here; i++)
            part[i] = data[from + i / bytes * bytes + (bytes - 1 - i % bytes)];
        infc_emit_put(p, part, here);
    }
}

/* The panels of sums begin with int32. */
static void put_panels(infc_emit_payload *p, const infc_type *type, const uint8_t *data) {
    const size_t bytes = infc_dtype_bytes(type->dtype), head = type->layout == INFC_LAYOUT_qpanel ? 128 : 64;
    const size_t panel = (size_t)infc_ipanel_elements(type) * bytes, all = (size_t)infc_type_bytes(type);
    for (size_t at = 0; at < all; at += panel) {
        put_turned(p, data + at, head, sizeof(int32_t));
        put_turned(p, data + at + head, panel - head, bytes);
    }
}

static void put_tensor(infc_emit_unit *u, infc_emit_payload *p, const infc_tensor *tensor) {
    const infc_type *type = &tensor->type;
    const size_t n = (size_t)infc_type_bytes(type);
    if (!u->plan->target.platform->big_endian) infc_emit_put(p, tensor->data, n);
    else if (type->layout == INFC_LAYOUT_ipanel || type->layout == INFC_LAYOUT_qpanel)
        put_panels(p, type, tensor->data);
    else put_turned(p, tensor->data, n, infc_dtype_bytes(type->dtype));
}

void infc_emit_put_zeros_to(infc_emit_payload *p, uint64_t position) {
    static const char zeros[4096];
    while (p->file.bytes < position) {
        const uint64_t left = position - p->file.bytes;
        infc_emit_put(p, zeros, left < sizeof zeros ? (size_t)left : sizeof zeros);
    }
}

static const infc_plan_recipe *recipe_of(const infc_plan *plan, int buffer) {
    for (int i = 0; i < plan->n_recipes; i++) {
        const int id = (plan->buffers[buffer].index + i) % plan->n_recipes; /* by index, wherever the plan put it */
        if (plan->recipes[id].buffer == buffer) return &plan->recipes[id];
    }
    return NULL;
}

infc_status infc_emit_put_weight(infc_emit_unit *u, infc_emit_payload *p, const infc_plan_recipe *recipe) {
    int64_t step;
    const int64_t rows = infc_emit_recipe_rows(u->plan, recipe, &step);
    infc_status status = INFC_OK;
    if (recipe->packed.ptr) {
        const infc_plan_buffer *buffer = &u->plan->buffers[recipe->buffer];
        const infc_tensor made = {.type = buffer->type, .data = (void *)(uintptr_t)recipe->packed.ptr}; /* only read */
        put_tensor(u, p, &made);
        infc_file_forget(u->cx, recipe->packed.ptr, recipe->packed.len);
        return INFC_OK;
    }
    for (int64_t row = 0; (row < rows || row == 0) && status == INFC_OK; row += step) {
        infc_emit_made made = {0};
        status = infc_emit_recipe(u, recipe, row, rows - row < step ? rows - row : step, &made);
        if (status == INFC_OK) put_tensor(u, p, &made.tensor);
        infc_emit_made_free(u, &made);
    }
    return status;
}

static infc_status write_weight(infc_emit_unit *u, infc_emit_payload *p, int buffer) {
    const infc_plan_buffer *to = &u->plan->buffers[buffer];
    const uint64_t position = sizeof(infc_weights_header) + to->offset;
    const infc_plan_recipe *recipe = recipe_of(u->plan, buffer);
    if (!recipe || position < p->file.bytes)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "weight %s %s", to->name,
                         recipe ? "overlaps the one before" : "has no recipe");
    infc_emit_put_zeros_to(p, position);
    INFC_TRY(infc_emit_put_weight(u, p, recipe));
    if (p->file.bytes == position + to->bytes) return INFC_OK;
    return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC,
                     "weight %s: its recipe makes %llu bytes, the plan has %llu of %s", to->name,
                     (unsigned long long)(p->file.bytes - position), (unsigned long long)to->bytes,
                     infc_type_text(u->cx->arena, &to->type));
}

static infc_status write_all(infc_emit_unit *u, infc_emit_payload *p) {
    const infc_plan *plan = u->plan;
    for (int i = 0; i < plan->n_buffers; i++) {
        if (plan->buffers[i].place != INFC_PLACE_WEIGHT || plan->buffers[i].alias_of >= 0) continue;
        infc_progress(u->cx, "packing weight %s", plan->buffers[i].name);
        INFC_TRY(infc_interrupt_check(u->cx));
        INFC_TRY(write_weight(u, p, i));
    }
    infc_emit_put_zeros_to(p, u->weights_bytes);
    return INFC_OK;
}

/* The header in the target's byte order. */
static infc_weights_header turned(const infc_emit_unit *u, infc_weights_header header) {
    if (!u->plan->target.platform->big_endian) return header;
    header.layout_hash = __builtin_bswap64(header.layout_hash);
    header.bytes = __builtin_bswap64(header.bytes);
    header.hash = __builtin_bswap64(header.hash);
    return header;
}

infc_status infc_emit_weights(infc_emit_unit *u) {
    if (u->weights_bytes == 0) return INFC_OK;
    if (u->plan->llm && u->plan->target.platform->big_endian)
        return infc_fail(u->cx, INFC_ERR_UNSUPPORTED,
                         INFC_NO_LOC, "target %s: panels of language models are little-endian; choose another target",
                         u->plan->target.name);
    const char *name = infc_arena_printf(u->cx->arena, "src/%s.weights", u->name);
    infc_emit_payload p;
    infc_weights_header header = {.layout_hash = u->layout_hash, .bytes = u->weights_bytes};
    memcpy(header.magic, INFC_WEIGHTS_MAGIC, sizeof header.magic);
    const char *path = infc_path_join(u->cx->arena, u->dir, name);
    const char *before = u->before ? infc_path_join(u->cx->arena, u->before, name) : NULL;
    infc_emit_known known;
    infc_emit_add_file(u, name);
    u->out->weights_file = name;
    infc_emit_known_begin(u, &known);
    if (infc_emit_known_take(u, &known, before, path)) return INFC_OK;
    INFC_TRY(infc_file_writer_open(u->cx, path, before, 0644, &p.file));
    infc_file_writer_skip(&p.file, sizeof header);
    infc_xxh64_begin(&p.hash);
    infc_status status = write_all(u, &p);
    header.hash = u->weights_hash = infc_xxh64_end(&p.hash);
    header = turned(u, header);
    infc_file_writer_patch(&p.file, 0, &header, sizeof header);
    const infc_status closed = infc_file_writer_close(&p.file);
    if (status != INFC_OK || closed != INFC_OK) return status != INFC_OK ? status : closed;
    infc_emit_known_keep(u, &known, path);
    return INFC_OK;
}
