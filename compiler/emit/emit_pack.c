/* emit_pack.c - a safetensors file, written in one go: sizes are known from the plan, so the directory comes first, and
 * each weight is made, put and forgotten. Every entry begins at a multiple of 64 bytes of the file. */
#include "emit_pack.h"
#include "../base/interrupt.h"
#include "emit_unit.h"
#include <stdio.h>

typedef struct entry {
    const char *name;
    uint64_t bytes;
    const infc_plan_recipe *recipe; /* or null: */
    const uint8_t *data;            /* null: zeros */
} entry;

typedef struct packer {
    infc_cx *cx;
    entry *entries;
    size_t n, cap, n_pads;
} packer;

static void add_entry(packer *p, entry e) {
    INFC_GROW(p->cx->arena, p->entries, p->n, p->cap);
    p->entries[p->n++] = e;
}

/* ... and zeros up to where the next may begin. */
static void add(packer *p, entry e) {
    const uint64_t over = e.bytes % INFC_ALIGN;
    add_entry(p, e);
    if (over == 0) return;
    const char *pad = infc_arena_printf(p->cx->arena, "pad/%zu", p->n_pads++);
    add_entry(p, (entry){.name = pad, .bytes = INFC_ALIGN - over});
}

static void list(packer *p, const infc_plan *plan, const infc_pack_entry *pieces, size_t n_pieces,
                 infc_emit_packed *out) {
    infc_arena *arena = p->cx->arena;
    infc_map seen = {.arena = arena};
    for (int i = 0; i < plan->n_recipes; i++) {
        const infc_plan_recipe *recipe = &plan->recipes[i];
        const char *key =
            infc_plan_recipe_key(arena, plan->weights, &plan->recipe_ops[recipe->first_op], recipe->n_ops);
        if (!key || infc_map_find(&seen, key, NULL)) continue;
        infc_map_put(&seen, key, 0);
        const uint64_t bytes = plan->buffers[recipe->buffer].bytes;
        out->n_packed++;
        out->packed_bytes += bytes;
        add(p, (entry){infc_arena_printf(arena, "packed/%s", key), bytes, recipe, NULL});
    }
    for (size_t i = 0; i < n_pieces; i++)
        add(p, (entry){pieces[i].name, pieces[i].bytes.len, NULL, pieces[i].bytes.ptr});
}

/* Where the 16 digits of the checksum begin. */
static size_t put_directory(const packer *p, const char *version, const char *metadata, infc_buf *out) {
    uint64_t at = 0;
    infc_buf_printf(out, "{\"__metadata__\":{\"infw\":\"%s\",\"xxh64\":\"", version);
    const size_t digits = out->len;
    infc_buf_printf(out, "0000000000000000\",%s}", metadata);
    for (size_t i = 0; i < p->n; i++) {
        const entry *e = &p->entries[i];
        infc_buf_puts(out, ",\n");
        infc_buf_json_string(out, e->name);
        infc_buf_printf(out, ":{\"dtype\":\"U8\",\"shape\":[%llu],\"data_offsets\":[%llu,%llu]}",
                        (unsigned long long)e->bytes, (unsigned long long)at,
                        (unsigned long long)(at + e->bytes));
        at += e->bytes;
    }
    infc_buf_puts(out, "}");
    while ((8 + out->len) % INFC_ALIGN) infc_buf_puts(out, " ");
    return digits;
}

static infc_status put_entries(const packer *p, infc_emit_unit *u, infc_emit_payload *to) {
    for (size_t i = 0; i < p->n; i++) {
        const entry *e = &p->entries[i];
        const uint64_t end = to->file.bytes + e->bytes;
        infc_progress(p->cx, "packing %s", e->name);
        INFC_TRY(infc_interrupt_check(p->cx));
        if (e->recipe) INFC_TRY(infc_emit_put_weight(u, to, e->recipe));
        else if (e->data) infc_emit_put(to, e->data, (size_t)e->bytes);
        else infc_emit_put_zeros_to(to, end);
        if (to->file.bytes != end)
            return infc_fail(p->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s has not the size of the plan", e->name);
    }
    return INFC_OK;
}

infc_status infc_emit_pack(infc_cx *cx, const infc_plan *plan, const char *version,
                           const char *metadata, const infc_pack_entry *pieces, size_t n_pieces,
                           const char *path, infc_emit_packed *out) {
    packer p = {.cx = cx};
    infc_emit_unit u = {.cx = cx, .plan = plan};
    infc_buf directory = {.arena = cx->arena};
    infc_emit_payload to;
    char hash[17];
    *out = (infc_emit_packed){0};
    list(&p, plan, pieces, n_pieces, out);
    const size_t digits = put_directory(&p, version, metadata, &directory);
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)((uint64_t)directory.len >> 8 * i);
    INFC_TRY(infc_file_writer_open(cx, path, NULL, 0644, &to.file));
    infc_xxh64_begin(&to.hash);
    infc_emit_put(&to, length, sizeof length);
    infc_emit_put(&to, infc_buf_str(&directory), directory.len);
    const infc_status status = put_entries(&p, &u, &to);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)infc_xxh64_end(&to.hash));
    infc_file_writer_patch(&to.file, sizeof length + digits, hash, 16);
    out->file_bytes = to.file.bytes;
    const infc_status closed = infc_file_writer_close(&to.file);
    return status != INFC_OK ? status : closed;
}
