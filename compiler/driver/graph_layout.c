/* Boxes in layers, each below what it reads; the order in a layer that of what is above and below, so that few arrows
 * cross; and places as near to that as the boxes' widths allow. Arrows over several layers pass through bends, which
 * those of one node share. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

#define GAP_X 26.0
#define GAP_Y 34.0
#define BEND_GAP 12.0
#define MARGIN 24.0
enum { N_SWEEPS = 12, N_SETTLES = 40 };
#define NONE SIZE_MAX

typedef struct vertex { /* a node, or a bend of one */
    size_t node;
    bool bend;
    size_t layer, above; /* above: vertex that a bend continues */
    size_t *up, *down;   /* vertices */
    size_t n_up, n_down, cap_up, cap_down;
    double x, width, key;
} vertex;

typedef struct layer {
    size_t *of; /* vertices, from the left */
    size_t n, cap;
    double height;
} layer;

typedef struct drawing {
    const infc_graph *graph;
    infc_graph_layout *out;
    infc_arena *arena;
    vertex *vertices; /* the nodes first */
    size_t n, cap;
    layer *layers;
    size_t n_layers;
} drawing;

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static void choose_layers(drawing *d) {
    const infc_graph *g = d->graph;
    for (size_t i = 0; i < g->n; i++) {
        size_t least = 0;
        for (size_t k = 0; k < g->nodes[i].n_from; k++) {
            size_t above = d->vertices[g->nodes[i].from[k]].layer + 1;
            least = above > least ? above : least;
        }
        d->vertices[i].layer = least;
        d->n_layers = least + 1 > d->n_layers ? least + 1 : d->n_layers;
    }
    size_t *lowest = INFC_NEW(d->arena, size_t, g->n + 1); /* what reads nothing stands close to its readers */
    memset(lowest, 0xff, (g->n + 1) * sizeof *lowest);
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->nodes[i].n_from; k++)
            if (d->vertices[i].layer < lowest[g->nodes[i].from[k]])
                lowest[g->nodes[i].from[k]] = d->vertices[i].layer;
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i].n_from == 0 && lowest[i] != NONE && lowest[i] > 0)
            d->vertices[i].layer = lowest[i] - 1;
}

static size_t add_vertex(drawing *d, vertex v) {
    INFC_GROW(d->arena, d->vertices, d->n, d->cap);
    d->vertices[d->n] = v;
    return d->n++;
}

static void connect(drawing *d, size_t above, size_t below) {
    vertex *a = &d->vertices[above], *b = &d->vertices[below];
    INFC_GROW(d->arena, a->down, a->n_down, a->cap_down);
    a->down[a->n_down++] = below;
    INFC_GROW(d->arena, b->up, b->n_up, b->cap_up);
    b->up[b->n_up++] = above;
}

/* The vertex of `node` right above `to_layer`; `last` is the lowest bend of the node so far, or the node. */
static size_t reach(drawing *d, size_t *last, size_t node, size_t to_layer) {
    size_t at = *last;
    while (d->vertices[at].layer + 1 > to_layer) at = d->vertices[at].above;
    while (d->vertices[at].layer + 1 < to_layer) {
        size_t next = add_vertex(
            d, (vertex){.node = node, .bend = true, .layer = d->vertices[at].layer + 1, .above = at});
        connect(d, at, next);
        *last = at = next;
    }
    return at;
}

static void connect_all(drawing *d) {
    const infc_graph *g = d->graph;
    size_t *last = INFC_NEW(d->arena, size_t, g->n + 1);
    for (size_t i = 0; i < g->n; i++) last[i] = i;
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->nodes[i].n_from; k++) {
            size_t from = g->nodes[i].from[k];
            connect(d, reach(d, &last[from], from, d->vertices[i].layer), i);
        }
    }
    d->layers = INFC_NEW(d->arena, layer, d->n_layers + 1);
    for (size_t v = 0; v < d->n; v++) {
        layer *l = &d->layers[d->vertices[v].layer];
        INFC_GROW(d->arena, l->of, l->n, l->cap);
        l->of[l->n++] = v;
    }
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

static void sort_layer(drawing *d, layer *l) { /* by insertion: nearly sorted, and equal ones stay */
    for (size_t i = 1; i < l->n; i++) {
        size_t v = l->of[i], k = i;
        for (; k > 0 && d->vertices[l->of[k - 1]].key > d->vertices[v].key; k--)
            l->of[k] = l->of[k - 1];
        l->of[k] = v;
    }
}

static void order_layer(drawing *d, layer *l, bool by_above) {
    for (size_t i = 0; i < l->n; i++) {
        vertex *v = &d->vertices[l->of[i]];
        const size_t *near = by_above ? v->up : v->down, n = by_above ? v->n_up : v->n_down;
        v->key = v->x;
        if (n) v->key = 0;
        for (size_t k = 0; k < n; k++) v->key += d->vertices[near[k]].x / (double)n;
    }
    sort_layer(d, l);
    for (size_t i = 0; i < l->n; i++) d->vertices[l->of[i]].x = (double)i - (double)(l->n - 1) / 2;
}

static void choose_order(drawing *d) {
    for (size_t i = 0; i < d->n_layers; i++)
        for (size_t k = 0; k < d->layers[i].n; k++)
            d->vertices[d->layers[i].of[k]].x = (double)k - (double)(d->layers[i].n - 1) / 2;
    for (int sweep = 0; sweep < N_SWEEPS; sweep++) {
        for (size_t i = 1; i < d->n_layers; i++) order_layer(d, &d->layers[i], true);
        for (size_t i = d->n_layers - 1; i-- > 0;) order_layer(d, &d->layers[i], false);
    }
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

typedef struct pool { /* neighbours that touch move as one */
    double sum, weight;
    size_t n;
} pool;

static double distance(const vertex *a, const vertex *b) {
    return (a->width + b->width) / 2 + (a->bend && b->bend ? BEND_GAP : GAP_X);
}

/* The places nearest to the keys, by squares, that keep order and distances: those that would overlap are pooled. */
static void settle(drawing *d, const layer *l, pool *pools) {
    size_t n = 0, next = 0;
    double offset = 0;
    for (size_t i = 0; i < l->n; i++) {
        const vertex *v = &d->vertices[l->of[i]];
        if (i) offset += distance(&d->vertices[l->of[i - 1]], v);
        double weight = v->bend ? 8 : 1;
        pools[n++] = (pool){(v->key - offset) * weight, weight, 1};
        while (n > 1 && pools[n - 2].sum / pools[n - 2].weight > pools[n - 1].sum / pools[n - 1].weight) {
            pools[n - 2].sum += pools[n - 1].sum;
            pools[n - 2].weight += pools[n - 1].weight;
            pools[n - 2].n += pools[n - 1].n;
            n--;
        }
    }
    offset = 0;
    for (size_t p = 0; p < n; p++) {
        for (size_t k = 0; k < pools[p].n; k++, next++) {
            vertex *v = &d->vertices[l->of[next]];
            if (next) offset += distance(&d->vertices[l->of[next - 1]], v);
            v->x = pools[p].sum / pools[p].weight + offset;
        }
    }
}

static void settle_towards(drawing *d, const layer *l, bool above, bool below, pool *pools) {
    for (size_t i = 0; i < l->n; i++) {
        vertex *v = &d->vertices[l->of[i]];
        double sum = 0, n = 0;
        for (size_t k = 0; above && k < v->n_up; k++) sum += d->vertices[v->up[k]].x, n++;
        for (size_t k = 0; below && k < v->n_down; k++) sum += d->vertices[v->down[k]].x, n++;
        v->key = n > 0 ? sum / n : v->x;
    }
    settle(d, l, pools);
}

static void choose_places(drawing *d) {
    pool *pools = INFC_NEW(d->arena, pool, d->n + 1);
    for (size_t i = 0; i < d->n_layers; i++) settle_towards(d, &d->layers[i], true, false, pools);
    for (int round = 0; round < N_SETTLES; round++) {
        bool last = round + 12 >= N_SETTLES;
        for (size_t i = d->n_layers; i-- > 0;) settle_towards(d, &d->layers[i], last, true, pools);
        for (size_t i = 0; i < d->n_layers; i++)
            settle_towards(d, &d->layers[i], true, last, pools);
    }
}

static void place_nodes(drawing *d) {
    infc_graph_layout *out = d->out;
    double left = 0, right = 0, y = MARGIN;
    for (size_t v = 0; v < d->n; v++) {
        double low = d->vertices[v].x - d->vertices[v].width / 2, high = low + d->vertices[v].width;
        left = v == 0 || low < left ? low : left;
        right = v == 0 || high > right ? high : right;
    }
    for (size_t i = 0; i < d->graph->n; i++) {
        layer *l = &d->layers[d->vertices[i].layer];
        l->height = out->places[i].height > l->height ? out->places[i].height : l->height;
    }
    double *tops = INFC_NEW(d->arena, double, d->n_layers + 1);
    for (size_t i = 0; i < d->n_layers; i++) {
        tops[i] = y;
        y += d->layers[i].height + GAP_Y;
    }
    for (size_t v = 0; v < d->n; v++) d->vertices[v].x += MARGIN - left;
    for (size_t i = 0; i < d->graph->n; i++) {
        out->places[i].x = d->vertices[i].x;
        out->places[i].y = tops[d->vertices[i].layer] + d->layers[d->vertices[i].layer].height / 2;
    }
    out->width = right - left + 2 * MARGIN;
    out->height = y - GAP_Y + MARGIN;
    for (size_t v = 0; v < d->n; v++)
        d->vertices[v].key = tops[d->vertices[v].layer]; /* tops, for the bends */
}

/* ---- arrows ---------------------------------------------------------------------------------------------------- */

/* An arrow that ends in the node `to`, back up to where it begins. */
static infc_graph_arrow trace(const drawing *d, size_t above, size_t to) {
    size_t n = 0, at = above;
    for (; d->vertices[at].bend; at = d->vertices[at].above) n++;
    infc_graph_place *bends = INFC_NEW(d->arena, infc_graph_place, n + 1);
    size_t i = n;
    for (size_t v = above; d->vertices[v].bend; v = d->vertices[v].above) {
        double height = d->layers[d->vertices[v].layer].height;
        bends[--i] =
            (infc_graph_place){.x = d->vertices[v].x, .y = d->vertices[v].key + height / 2, .height = height};
    }
    return (infc_graph_arrow){at, to, bends, n};
}

static void draw_arrows(drawing *d) {
    infc_graph_layout *out = d->out;
    size_t n = 0;
    for (size_t i = 0; i < d->graph->n; i++) n += d->vertices[i].n_up;
    out->arrows = INFC_NEW(d->arena, infc_graph_arrow, n + 1);
    for (size_t i = 0; i < d->graph->n; i++)
        for (size_t k = 0; k < d->vertices[i].n_up; k++)
            out->arrows[out->n_arrows++] = trace(d, d->vertices[i].up[k], i);
}

void infc_graph_lay_out(const infc_graph *graph, infc_graph_layout *layout) {
    drawing d = {.graph = graph, .out = layout, .arena = graph->arena};
    for (size_t i = 0; i < graph->n; i++)
        add_vertex(&d, (vertex){.node = i, .above = NONE, .width = layout->places[i].width});
    choose_layers(&d);
    connect_all(&d);
    choose_order(&d);
    choose_places(&d);
    place_nodes(&d);
    draw_arrows(&d);
}
