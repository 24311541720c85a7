#include "table.h"
#include <inttypes.h>
#include <string.h>

void infc_table_row(infc_table *table, const char *const *cells) {
    for (int c = 0; c < table->n_columns; c++) {
        INFC_GROW(table->arena, table->cells, table->n, table->cap);
        table->cells[table->n++] = cells[c] ? cells[c] : "";
    }
}

/* Columns, not bytes: UTF-8 continuation bytes take no room. */
static int text_width(const char *text) {
    int width = 0;
    for (; *text; text++) width += (*text & 0xc0) != 0x80;
    return width;
}

void infc_table_print(const infc_table *table, int indent, infc_buf *out) {
    int widths[INFC_TABLE_COLUMNS] = {0};
    size_t n_columns = (size_t)table->n_columns;
    for (size_t i = 0; i < table->n; i++) {
        int width = text_width(table->cells[i]);
        if (width > widths[i % n_columns]) widths[i % n_columns] = width;
    }
    for (size_t i = 0; i < table->n; i++) {
        size_t c = i % n_columns;
        int pad = widths[c] - text_width(table->cells[i]);
        bool right = table->right >> c & 1, last = c + 1 == n_columns;
        infc_buf_indent(out, c == 0 ? indent : 2);
        if (right) infc_buf_indent(out, pad);
        infc_buf_puts(out, table->cells[i]);
        if (!right && !last) infc_buf_indent(out, pad);
        if (last) infc_buf_puts(out, "\n");
    }
}

const char *infc_bytes_text(infc_arena *arena, uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return infc_arena_printf(arena, "%" PRIu64 " B", bytes);
    double value = (double)bytes / 1024;
    int unit = 0;
    while (value >= 1024 && unit < 3) {
        value /= 1024;
        unit++;
    }
    return infc_arena_printf(arena, "%.1f %s", value, units[unit]);
}

const char *infc_count_text(infc_arena *arena, uint64_t count) {
    char digits[24];
    int n = 0;
    infc_buf text = {.arena = arena};
    for (infc_buf_printf(&text, "%" PRIu64, count); n < (int)text.len; n++)
        digits[n] = text.data[n];
    infc_buf grouped = {.arena = arena};
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) infc_buf_puts(&grouped, ",");
        infc_buf_put(&grouped, &digits[i], 1);
    }
    return infc_buf_str(&grouped);
}
