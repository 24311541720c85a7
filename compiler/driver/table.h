/* table.h - text in columns, for people. */
#ifndef INFC_TABLE_H
#define INFC_TABLE_H
#include "../base/buf.h"
#include <stdbool.h>

enum { INFC_TABLE_COLUMNS = 12 };

typedef struct infc_table {
    infc_arena *arena;
    int n_columns;
    uint32_t right; /* bit c: column c is aligned right */
    const char **cells;
    size_t n, cap;
} infc_table;

/* Initialise with {.arena, .n_columns, .right}. One call per row, n_columns texts; they are kept, not copied. */
void infc_table_row(infc_table *table, const char *const *cells);
#define INFC_TABLE_ROW(table, ...) infc_table_row((table), (const char *const[]){__VA_ARGS__})
/* Two spaces between columns, `indent` before the first; the first row is the heading. */
void infc_table_print(const infc_table *table, int indent, infc_buf *out);

/* "12.3 KiB", "640 B". */
const char *infc_bytes_text(infc_arena *arena, uint64_t bytes);
/* 1,234,567 */
const char *infc_count_text(infc_arena *arena, uint64_t count);

#endif
