#include "graph.h"
#include <string.h>

#define HEAD 44.0 /* above the graph, for the title */
#define LEGEND 720.0
#define LINE 16.0
#define CHARACTER 7.2 /* width, at most */
#define SMALL 6.3

static const struct {
    const char *name, *fill, *edge;
} looks[INFC_GRAPH_N_CLASSES] = {
    [INFC_GRAPH_PORT] = {"input, output", "#33415c", "#33415c"},
    [INFC_GRAPH_PRODUCT] = {"product, convolution, attention", "#dbe9ff", "#4a7fd0"},
    [INFC_GRAPH_NORM] = {"norm, softmax, reduction, pool", "#f0e2fa", "#9a5fc4"},
    [INFC_GRAPH_MAP] = {"element by element", "#fdf3d8", "#c79a2b"},
    [INFC_GRAPH_MOVE] = {"moves values", "#eceeed", "#8b938f"},
};

/* Without what XML would take for its own; bytes that are no text are left out. */
static void put_text(infc_buf *out, const char *text, size_t most) {
    size_t n = 0;
    for (; *text && n < most; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<') infc_buf_puts(out, "&lt;");
        else if (c == '>') infc_buf_puts(out, "&gt;");
        else if (c == '&') infc_buf_puts(out, "&amp;");
        else if (c == '"') infc_buf_puts(out, "&quot;");
        else if (c >= 0x20 && c < 0x7f) infc_buf_printf(out, "%c", c);
        else infc_buf_puts(out, c >= 0xc0 || c < 0x20 ? "?" : "");
        n++;
    }
    if (*text) infc_buf_puts(out, "...");
}

/* The end of a long name is what tells it from others. */
static void put_name(infc_buf *out, const char *name, size_t most) {
    size_t n = strlen(name);
    if (n > most) infc_buf_puts(out, "...");
    put_text(out, n > most ? name + (n - most) : name, most);
}

enum { MOST_OP = 44, MOST_NAME = 34 };

static double longer(double width, const char *text, size_t most, double each) {
    size_t n = text ? strlen(text) : 0;
    double needed = (double)(n > most ? most + 3 : n) * each;
    return needed > width ? needed : width;
}

static const char *third_line(infc_arena *arena, const infc_graph_node *node) {
    const char *flops = infc_graph_flops(arena, node->flops);
    return *flops ? infc_arena_printf(arena, "%s, %s flops", node->type, flops) : node->type;
}

static void measure(const infc_graph *graph, infc_graph_place *places) {
    for (size_t i = 0; i < graph->n; i++) {
        const infc_graph_node *node = &graph->nodes[i];
        double width = longer(60, node->op, MOST_OP, CHARACTER + 0.6);
        width = longer(width, node->name, MOST_NAME, SMALL);
        width = longer(width, third_line(graph->arena, node), 80, SMALL);
        if (node->weights) width = longer(width, node->weights, 40, SMALL);
        places[i].width = width + 20;
        places[i].height =
            10 + LINE + (*node->name ? LINE - 2 : 0) + LINE - 2 + (node->weights ? LINE - 2 : 0);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------- */

static void put_arrow(const infc_graph_layout *l, const infc_graph_arrow *arrow, infc_buf *out) {
    const infc_graph_place *from = &l->places[arrow->from], *to = &l->places[arrow->to];
    double x = from->x, y = from->y + from->height / 2;
    infc_buf_printf(out, "<path d=\"M%.1f %.1f", x, y);
    for (size_t i = 0; i <= arrow->n_bends; i++) {
        bool last = i == arrow->n_bends;
        double to_x = last ? to->x : arrow->bends[i].x;
        double to_y = last ? to->y - to->height / 2 - 5 : arrow->bends[i].y - arrow->bends[i].height / 2;
        double middle = (y + to_y) / 2;
        infc_buf_printf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, to_x, middle, to_x, to_y);
        x = to_x;
        y = to_y;
        if (last) break;
        y = arrow->bends[i].y + arrow->bends[i].height / 2;
        infc_buf_printf(out, "V%.1f", y);
    }
    infc_buf_puts(out, "\" class=\"e\"/>\n");
}

static void put_line(infc_buf *out, double x, double *y, const char *class, const char *text, bool name) {
    infc_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, *y, class);
    if (name) put_name(out, text, MOST_NAME);
    else put_text(out, text, 80);
    infc_buf_puts(out, "</text>\n");
    *y += LINE - 2;
}

/* In the corner: how many such boxes there are. */
static void put_times(const infc_graph *graph, const infc_graph_place *p, size_t i, infc_buf *out) {
    const infc_graph_block *block = infc_graph_block_of(graph, i);
    if (block)
        infc_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"x\">%zux</text>\n",
                        p->x + p->width / 2 - 4, p->y - p->height / 2 + 11, block->times);
}

static void put_box(const infc_graph *graph, const infc_graph_place *p, size_t i, infc_buf *out) {
    const infc_graph_node *node = &graph->nodes[i];
    bool port = node->class == INFC_GRAPH_PORT;
    double y = p->y - p->height / 2 + LINE;
    infc_buf_puts(out, "<g><title>");
    put_text(out, node->op, SIZE_MAX);
    infc_buf_puts(out, " ");
    put_text(out, node->name, SIZE_MAX);
    infc_buf_puts(out, "</title>\n");
    infc_buf_printf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
                    "fill=\"%s\" stroke=\"%s\"/>\n",
                    p->x - p->width / 2, p->y - p->height / 2, p->width, p->height, port ? 14 : 4,
                    looks[node->class].fill, looks[node->class].edge);
    infc_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", p->x, y, port ? "o w" : "o");
    put_text(out, node->op, MOST_OP);
    infc_buf_puts(out, "</text>\n");
    y += LINE - 1;
    if (*node->name) put_line(out, p->x, &y, port ? "s w" : "s", node->name, true);
    put_line(out, p->x, &y, port ? "s w" : "s", third_line(graph->arena, node), false);
    if (node->weights) put_line(out, p->x, &y, "s i", node->weights, false);
    put_times(graph, p, i, out);
    infc_buf_puts(out, "</g>\n");
}

/* A dashed frame around nodes that stand for several runs. */
static void put_block(const infc_graph_layout *l, const infc_graph_block *block, infc_buf *out) {
    double left = 1e30, top = 1e30, right = 0, bottom = 0;
    for (size_t i = block->first; i < block->first + block->n; i++) {
        const infc_graph_place *p = &l->places[i];
        left = p->x - p->width / 2 < left ? p->x - p->width / 2 : left;
        right = p->x + p->width / 2 > right ? p->x + p->width / 2 : right;
        top = p->y - p->height / 2 < top ? p->y - p->height / 2 : top;
        bottom = p->y + p->height / 2 > bottom ? p->y + p->height / 2 : bottom;
    }
    for (size_t i = 0; i < l->n_arrows; i++) {
        const infc_graph_arrow *arrow = &l->arrows[i];
        if (arrow->to < block->first || arrow->to >= block->first + block->n) continue;
        for (size_t k = 0; k < arrow->n_bends; k++) {
            if (arrow->bends[k].y < top) continue;
            left = arrow->bends[k].x < left ? arrow->bends[k].x : left;
            right = arrow->bends[k].x > right ? arrow->bends[k].x : right;
        }
    }
    infc_buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"b\"/>\n",
                    left - 12, top - 12, right - left + 24, bottom - top + 24);
    infc_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"t\">%zu times</text>\n", left - 6,
                    top - 16, block->times);
}

static void put_legend(infc_buf *out) {
    double x = 24;
    for (int i = 1; i < INFC_GRAPH_N_CLASSES; i++) {
        infc_buf_printf(out, "<rect x=\"%.1f\" y=\"32\" width=\"10\" height=\"10\" fill=\"%s\" stroke=\"%s\"/>",
                        x, looks[i].fill, looks[i].edge);
        infc_buf_printf(out, "<text x=\"%.1f\" y=\"41\" class=\"l\">%s</text>\n", x + 15, looks[i].name);
        x += 30 + (double)strlen(looks[i].name) * SMALL;
    }
}

void infc_graph_svg(const infc_graph *graph, const char *title, infc_buf *out) {
    infc_graph_layout l = {.places = INFC_NEW(graph->arena, infc_graph_place, graph->n + 1)};
    measure(graph, l.places);
    infc_graph_lay_out(graph, &l);
    double width = l.width < LEGEND ? LEGEND : l.width, shift = (width - l.width) / 2;
    infc_buf_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                    "viewBox=\"0 0 %.0f %.0f\">\n",
                    width, l.height + HEAD, width, l.height + HEAD);
    infc_buf_puts(
        out,
        "<style>text{font-family:Helvetica,Arial,sans-serif;text-anchor:middle;fill:#1d2733}"
        ".o{font-size:13px;font-weight:bold}.s{font-size:11px;fill:#4a5563}.i{font-style:italic}"
        ".w{fill:#fff}.h{font-size:15px;font-weight:bold;text-anchor:start}"
        ".l{font-size:11px;text-anchor:start}.t{font-size:12px;font-weight:bold;text-anchor:start}"
        ".x{font-size:10px;text-anchor:end;fill:#4a5563}"
        ".e{fill:none;stroke:#7b8794;stroke-width:1.3;marker-end:url(#a)}"
        ".b{fill:none;stroke:#7b8794;stroke-dasharray:6 4}</style>\n"
        "<defs><marker id=\"a\" viewBox=\"0 0 10 10\" refX=\"4\" refY=\"5\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" "
        "fill=\"#7b8794\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"24\" y=\"24\" "
        "class=\"h\">");
    put_text(out, title, 200);
    infc_buf_puts(out, "</text>\n");
    put_legend(out);
    infc_buf_printf(out, "<g transform=\"translate(%.1f %.1f)\">\n", shift, HEAD);
    for (size_t i = 0; i < graph->n_blocks; i++) put_block(&l, &graph->blocks[i], out);
    for (size_t i = 0; i < l.n_arrows; i++) put_arrow(&l, &l.arrows[i], out);
    for (size_t i = 0; i < graph->n; i++) put_box(graph, &l.places[i], i, out);
    infc_buf_puts(out, "</g>\n</svg>\n");
}
