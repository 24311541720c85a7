/* For Graphviz and what else reads its language. */
#include "graph.h"

static void put_quoted(infc_buf *out, const char *text) {
    for (; *text; text++)
        infc_buf_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

void infc_graph_dot(const infc_graph *graph, const char *title, infc_buf *out) {
    size_t block = 0;
    infc_buf_puts(out, "digraph model {\n  label=\"");
    put_quoted(out, title);
    infc_buf_puts(out, "\"; labelloc=t; fontname=Helvetica\n  node [shape=box, style=rounded, "
                       "fontname=Helvetica]\n");
    for (size_t i = 0; i < graph->n; i++) {
        const infc_graph_node *node = &graph->nodes[i];
        const infc_graph_block *b = block < graph->n_blocks ? &graph->blocks[block] : NULL;
        if (b && i == b->first)
            infc_buf_printf(out, "  subgraph cluster_%zu {\n  label=\"%zu times\"; style=dashed\n",
                            block, b->times);
        infc_buf_printf(out, "  n%zu [label=\"", i);
        put_quoted(out, node->op);
        infc_buf_puts(out, "\\n");
        put_quoted(out, node->name);
        infc_buf_puts(out, "\\n");
        put_quoted(out, node->type);
        infc_buf_puts(out, "\"]\n");
        if (b && i + 1 == b->first + b->n) {
            infc_buf_puts(out, "  }\n");
            block++;
        }
    }
    for (size_t i = 0; i < graph->n; i++)
        for (size_t k = 0; k < graph->nodes[i].n_from; k++)
            infc_buf_printf(out, "  n%zu -> n%zu\n", graph->nodes[i].from[k], i);
    infc_buf_puts(out, "}\n");
}
