#include "stayed_float.h"
#include "table.h"

void infc_stayed_float_json(infc_json *json, const infc_ir_notes *notes) {
    infc_json_array(json, "stayed_float");
    for (size_t i = 0; notes && i < notes->n; i++) {
        infc_json_object(json, NULL);
        infc_json_text(json, "node", notes->items[i].node);
        infc_json_text(json, "why", notes->items[i].text);
        infc_json_end(json);
    }
    infc_json_end(json);
}

void infc_stayed_float_text(infc_arena *arena, const infc_ir_notes *notes, infc_buf *out) {
    infc_table table = {.arena = arena, .n_columns = 2};
    if (!notes || notes->n == 0) return;
    infc_buf_printf(out, "\n%zu between quantised tensors stay in f32:\n", notes->n);
    INFC_TABLE_ROW(&table, "node", "why");
    for (size_t i = 0; i < notes->n; i++)
        INFC_TABLE_ROW(&table, notes->items[i].node, notes->items[i].text);
    infc_table_print(&table, 2, out);
}
