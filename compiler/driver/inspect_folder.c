#include "inspect_folder.h"
#include "../base/file.h"
#include "built_folder.h"
#include "stayed_float.h"
#include "table.h"

static uint64_t number_of(const json_t *object, const char *key) {
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static void put_ports(infc_arena *arena, const char *what, const json_t *ports, infc_table *table) {
    size_t i, d;
    json_t *port, *dim;
    json_array_foreach(ports, i, port) {
        infc_buf type = {.arena = arena};
        infc_buf_printf(&type, "%s[", infc_json_text_of(port, "type"));
        json_array_foreach(json_object_get(port, "shape"), d, dim) {
            infc_buf_printf(&type, "%s%lld", d ? "," : "", (long long)json_integer_value(dim));
        }
        infc_buf_puts(&type, "]");
        INFC_TABLE_ROW(table, i ? "" : what, infc_json_text_of(port, "name"), infc_buf_str(&type));
    }
}

static void put_facts(infc_arena *arena, const infc_built_folder *built, infc_buf *out) {
    const json_t *r = built->report, *code = json_object_get(r, "code"), *memory = json_object_get(r, "memory");
    infc_table table = {.arena = arena, .n_columns = 3};
    size_t i;
    json_t *artefact;
    put_ports(arena, "inputs", json_object_get(r, "inputs"), &table);
    put_ports(arena, "outputs", json_object_get(r, "outputs"), &table);
    json_array_foreach(json_object_get(r, "artefacts"), i, artefact) {
        INFC_TABLE_ROW(&table, i ? "" : "files", infc_json_text_of(artefact, "file"),
                       infc_bytes_text(arena, number_of(artefact, "bytes")));
    }
    INFC_TABLE_ROW(&table, "weights", infc_json_text_of(json_object_get(r, "weights"), "kept"),
                   infc_bytes_text(arena, number_of(json_object_get(r, "weights"), "bytes")));
    INFC_TABLE_ROW(&table, "code", "text and rodata",
                   infc_bytes_text(arena, number_of(code, "text_and_rodata")));
    INFC_TABLE_ROW(&table, "memory", "activations", infc_bytes_text(arena, number_of(memory, "activations")));
    INFC_TABLE_ROW(&table, "", "lower bound", infc_bytes_text(arena, number_of(memory, "lower_bound")));
    INFC_TABLE_ROW(&table, "work", "flops a run", infc_count_text(arena, number_of(r, "flops")));
    infc_table_print(&table, 0, out);
}

static void put_steps(infc_arena *arena, const json_t *steps, infc_buf *out) {
    infc_table table = {.arena = arena, .n_columns = 5, .right = 4};
    size_t i;
    json_t *step;
    INFC_TABLE_ROW(&table, "step", "kernel", "flops", "", "what");
    json_array_foreach(steps, i, step) {
        const char *kernel = infc_json_text_of(step, "kernel");
        INFC_TABLE_ROW(&table, infc_json_text_of(step, "function"), *kernel ? kernel : "loop nest",
                       infc_count_text(arena, number_of(step, "flops")),
                       json_is_true(json_object_get(step, "barrier")) ? "after a barrier" : "",
                       infc_json_text_of(step, "what"));
    }
    infc_table_print(&table, 0, out);
}

static void put_stayed_float(infc_arena *arena, const json_t *rows, infc_buf *out) {
    infc_ir_notes notes = {.items = INFC_NEW(arena, infc_ir_note_row, json_array_size(rows) + 1)};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        notes.items[notes.n++] =
            (infc_ir_note_row){infc_json_text_of(row, "node"), infc_json_text_of(row, "why")};
    }
    infc_stayed_float_text(arena, &notes, out);
}

infc_status infc_inspect_folder(infc_call_cx *call, const char *dir) {
    infc_arena *arena = call->cx->arena;
    infc_built_folder built;
    infc_bytes text;
    INFC_TRY(infc_built_folder_open(call->cx, dir, &built));
    if (call->json) { /* it is JSON made to be read */
        INFC_TRY(infc_file_map(call->cx, infc_path_join(arena, dir, "report.json"), &text));
        infc_buf_put(call->out, text.ptr, text.len);
        return INFC_OK;
    }
    infc_buf_printf(call->out, "%s for %s, from %s, by infc %s and %s\n",
                    infc_json_text_of(built.report, "model"), built.target.name,
                    infc_json_text_of(built.report, "source"), infc_json_text_of(built.report, "infc"),
                    infc_json_text_of(json_object_get(built.report, "target"), "compiler"));
    put_facts(arena, &built, call->out);
    infc_buf_puts(call->out, "\n");
    put_steps(arena, json_object_get(built.report, "steps"), call->out);
    put_stayed_float(arena, json_object_get(built.report, "stayed_float"), call->out);
    return INFC_OK;
}
