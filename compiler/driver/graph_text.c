/* The graph as lines, like the history of a version control: values that are alive are vertical lines. */
#include "graph.h"
#include "table.h"
#include <string.h>

enum { MAX_RAILS = 40 }; /* further ones are not drawn */
#define NOBODY SIZE_MAX

typedef struct rails {
    size_t of[MAX_RAILS]; /* the node whose value it is */
    int n;                /* up to the last in use */
    size_t *left;         /* per node: readers that are still to come */
} rails;

static bool reads(const infc_graph_node *node, size_t value) {
    for (size_t i = 0; i < node->n_from; i++)
        if (node->from[i] == value) return true;
    return false;
}

/* Where a node stands: on the first line that ends in it, else on the first free one. */
static int place(const rails *r, const infc_graph_node *node) {
    for (int i = 0; i < r->n; i++)
        if (r->of[i] != NOBODY && reads(node, r->of[i]) && r->left[r->of[i]] == 1) return i;
    for (int i = 0; i < r->n; i++)
        if (r->of[i] == NOBODY) return i;
    return r->n < MAX_RAILS ? r->n : MAX_RAILS - 1;
}

/* One character for each line and one between two. */
static const char *draw(infc_arena *arena, const rails *r, const infc_graph_node *node, int at, int *width) {
    infc_buf text = {.arena = arena};
    int low = at, high = at, n = at + 1 > r->n ? at + 1 : r->n;
    for (int i = 0; i < r->n; i++) {
        if (r->of[i] == NOBODY || !reads(node, r->of[i])) continue;
        low = i < low ? i : low;
        high = i > high ? i : high;
    }
    for (int i = 0; i < n; i++) {
        size_t value = i < r->n ? r->of[i] : NOBODY;
        bool crossed = i > low && i < high, input = value != NOBODY && reads(node, value),
             ends = input && r->left[value] == 1;
        const char *cell = i == at           ? "●"
                           : input && i < at ? (i == low ? "├" : "┼")
                           : input ? (ends ? (i == high ? "╯" : "┴") : (i == high ? "┤" : "┼"))
                           : value != NOBODY ? (crossed ? "┼" : "│")
                                             : (crossed ? "─" : " ");
        infc_buf_puts(&text, cell);
        infc_buf_puts(&text, i >= low && i < high ? "─" : " ");
    }
    *width = 2 * n;
    return infc_buf_str(&text);
}

static void go_on(rails *r, const infc_graph_node *node, size_t index, int at) {
    for (size_t i = 0; i < node->n_from; i++) r->left[node->from[i]]--;
    for (int i = 0; i < r->n; i++)
        if (r->of[i] != NOBODY && r->left[r->of[i]] == 0) r->of[i] = NOBODY;
    while (r->n <= at) r->of[r->n++] = NOBODY;
    r->of[at] = r->left[index] ? index : NOBODY;
    while (r->n > 0 && r->of[r->n - 1] == NOBODY) r->n--;
}

/* A bracket in front of a block. */
static const char *bracket(infc_arena *arena, const infc_graph *graph, size_t node) {
    const infc_graph_block *block = infc_graph_block_of(graph, node);
    if (!graph->n_blocks) return "";
    if (!block) return "         ";
    if (node == block->first) return infc_arena_printf(arena, "%4zu x ╭ ", block->times);
    return node + 1 == block->first + block->n ? "       ╰ " : "       │ ";
}

const char *infc_graph_flops(infc_arena *arena, uint64_t flops) {
    static const char *const units[] = {"", " k", " M", " G", " T"};
    double value = (double)flops;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) value /= 1000, unit++;
    if (flops == 0) return "";
    return infc_arena_printf(arena, unit && value < 10 ? "%.1f%s" : "%.0f%s", value, units[unit]);
}

void infc_graph_text(const infc_graph *graph, infc_buf *out) {
    infc_arena *arena = graph->arena;
    rails r = {.left = INFC_NEW(arena, size_t, graph->n + 1)};
    const char **drawn = INFC_NEW(arena, const char *, graph->n + 1);
    int *widths = INFC_NEW(arena, int, graph->n + 1), widest = 0;
    infc_table table = {.arena = arena, .n_columns = 5, .right = 4};
    infc_buf lines = {.arena = arena};
    for (size_t i = 0; i < graph->n; i++)
        for (size_t k = 0; k < graph->nodes[i].n_from; k++) r.left[graph->nodes[i].from[k]]++;
    INFC_TABLE_ROW(&table, "operator", "makes", "flops", "weights", "name");
    for (size_t i = 0; i < graph->n; i++) {
        const infc_graph_node *node = &graph->nodes[i];
        int at = place(&r, node);
        drawn[i] = draw(arena, &r, node, at, &widths[i]);
        widest = widths[i] > widest ? widths[i] : widest;
        go_on(&r, node, i, at);
        INFC_TABLE_ROW(&table, node->op, node->type, infc_graph_flops(arena, node->flops),
                       node->weights ? node->weights : "", node->name);
    }
    infc_table_print(&table, 0, &lines);
    const char *line = infc_buf_str(&lines);
    for (size_t i = 0; i <= graph->n; i++) { /* the first is the heading */
        size_t length = strcspn(line, "\n");
        infc_buf_puts(out, i ? bracket(arena, graph, i - 1) : graph->n_blocks ? "         " : "");
        infc_buf_puts(out, i ? drawn[i - 1] : "");
        infc_buf_printf(out, "%*s%.*s\n", widest + 1 - (i ? widths[i - 1] : 0), "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}
