#include "onnx_graph.h"
#include <string.h>

enum { MAX_REPORTS = 50, MAX_CYCLE_NAMES = 8 };

typedef struct builder {
    infc_cx *cx;
    const char *path;
    const infc_onnx_graph *graph;
    const infc_onnx_net *outside;
    infc_onnx_net *net;
    size_t n_reports;
    bool cyclic;
} builder;

infc_loc infc_onnx_node_loc(infc_cx *cx, const char *path, const infc_onnx_graph *graph, size_t node) {
    const infc_onnx_node *n = &graph->nodes[node];
    return (infc_loc){.file = path, .node = infc_arena_printf(cx->arena, "node \"%s\" (%s)", n->name, n->op)};
}

/* False once there are so many reports that one more helps nobody. */
static bool may_report(builder *b, infc_loc loc) {
    if (++b->n_reports == MAX_REPORTS)
        infc_fail(b->cx, INFC_ERR_MODEL, loc,
                  "more problems of the graph than %d; the rest is not listed", MAX_REPORTS);
    return b->n_reports < MAX_REPORTS;
}

static const char *describe(builder *b, const infc_onnx_value *value) {
    if (value->origin == INFC_ONNX_FROM_INPUT) return "a graph input";
    if (value->origin == INFC_ONNX_FROM_INITIALIZER) return "an initializer";
    if (value->origin == INFC_ONNX_FROM_OUTSIDE) return "a value from outside";
    return infc_onnx_node_loc(b->cx, b->path, b->graph, value->index).node;
}

static size_t define(builder *b, const char *name, infc_onnx_origin origin, size_t index, infc_loc loc) {
    infc_onnx_net *net = b->net;
    size_t known;
    if (infc_map_find(&net->names, name, &known)) {
        if (may_report(b, loc))
            infc_fail(b->cx, INFC_ERR_MODEL, loc, "\"%s\" is defined twice; it is also %s%s", name,
                      origin == INFC_ONNX_FROM_NODE ? "the result of " : "",
                      describe(b, &net->values[known]));
        return known;
    }
    INFC_GROW(b->cx->arena, net->values, net->n_values, net->cap_values);
    net->values[net->n_values] = (infc_onnx_value){.name = name, .origin = origin, .index = index};
    infc_map_put(&net->names, name, net->n_values);
    return net->n_values++;
}

/* Initializers first: an input of the same name is then only a declaration with a default value. */
static void define_sources(builder *b) {
    const infc_onnx_graph *graph = b->graph;
    infc_loc loc = {.file = b->path};
    size_t known;
    for (size_t i = 0; i < graph->n_initializers; i++) {
        if (*graph->initializers[i].name)
            define(b, graph->initializers[i].name, INFC_ONNX_FROM_INITIALIZER, i, loc);
        else if (may_report(b, loc))
            infc_fail(b->cx, INFC_ERR_MODEL, loc, "initializer %zu has no name", i);
    }
    size_t n_initializers = b->net->n_values;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const infc_onnx_value_info *input = &graph->inputs[i];
        if (!*input->name) {
            if (may_report(b, loc))
                infc_fail(b->cx, INFC_ERR_MODEL, loc, "graph input %zu has no name", i);
            continue;
        }
        if (!infc_map_find(&b->net->names, input->name, &known) || known >= n_initializers)
            known = define(b, input->name, INFC_ONNX_FROM_INPUT, i, loc);
        b->net->values[known].declared = input;
    }
}

static void define_results(builder *b) {
    const infc_onnx_graph *graph = b->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const infc_onnx_node *node = &graph->nodes[n];
        infc_loc loc = {.file = b->path};
        size_t *ids = INFC_NEW(b->cx->arena, size_t, node->n_outputs + 1);
        for (size_t i = 0; i < node->n_outputs; i++) {
            size_t known;
            bool taken = infc_map_find(&b->net->names, node->outputs[i], &known);
            if (taken) loc = infc_onnx_node_loc(b->cx, b->path, graph, n);
            ids[i] = *node->outputs[i] ? define(b, node->outputs[i], INFC_ONNX_FROM_NODE, n, loc) : INFC_ONNX_ABSENT;
        }
        b->net->node_outputs[n] = ids;
    }
    for (size_t i = 0; i < graph->n_infos; i++) {
        size_t known;
        if (infc_map_find(&b->net->names, graph->infos[i].name, &known) && !b->net->values[known].declared)
            b->net->values[known].declared = &graph->infos[i];
    }
}

size_t infc_onnx_n_reads(const infc_onnx_node *node) { return node->n_inputs + node->n_captured; }

/* A name of the graph, or of what is around it. */
static bool look_up(builder *b, const char *name, size_t *id) {
    size_t outer;
    if (infc_map_find(&b->net->names, name, id)) return true;
    if (!b->outside || !infc_map_find(&b->outside->names, name, &outer)) return false;
    *id = define(b, name, INFC_ONNX_FROM_OUTSIDE, outer, (infc_loc){.file = b->path});
    return true;
}

static void resolve_inputs(builder *b) {
    const infc_onnx_graph *graph = b->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const infc_onnx_node *node = &graph->nodes[n];
        size_t *ids = INFC_NEW(b->cx->arena, size_t, infc_onnx_n_reads(node) + 1);
        for (size_t i = 0; i < infc_onnx_n_reads(node); i++) {
            ids[i] = INFC_ONNX_ABSENT;
            if (!*node->inputs[i] || look_up(b, node->inputs[i], &ids[i])) continue;
            infc_loc loc = infc_onnx_node_loc(b->cx, b->path, graph, n);
            if (!may_report(b, loc)) continue;
            if (i >= node->n_inputs)
                infc_fail(b->cx, INFC_ERR_MODEL, loc,
                          "its sub-graphs read \"%s\", which is not defined anywhere", node->inputs[i]);
            else
                infc_fail(b->cx, INFC_ERR_MODEL, loc,
                          "input %zu, \"%s\", is not defined anywhere in the graph", i, node->inputs[i]);
        }
        b->net->node_inputs[n] = ids;
    }
}

static void resolve_outputs(builder *b) {
    const infc_onnx_graph *graph = b->graph;
    infc_loc loc = {.file = b->path};
    infc_map seen = {.arena = b->cx->arena};
    b->net->outputs = INFC_NEW(b->cx->arena, size_t, graph->n_outputs + 1);
    if (graph->n_outputs == 0) infc_fail(b->cx, INFC_ERR_MODEL, loc, "the graph has no outputs");
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const char *name = graph->outputs[i].name;
        b->net->outputs[i] = INFC_ONNX_ABSENT;
        if (!look_up(b, name, &b->net->outputs[i])) {
            if (may_report(b, loc))
                infc_fail(b->cx, INFC_ERR_MODEL, loc,
                          "graph output \"%s\" is not defined anywhere in the graph", name);
        } else if (infc_map_find(&seen, name, NULL) && may_report(b, loc)) {
            infc_fail(b->cx, INFC_ERR_MODEL, loc, "graph output \"%s\" is listed twice", name);
        }
        infc_map_put(&seen, name, i);
    }
}

/* The node whose result input i of `node` is, or INFC_ONNX_ABSENT. */
static size_t producer(const infc_onnx_net *net, size_t node, size_t i) {
    size_t id = net->node_inputs[node][i];
    if (id == INFC_ONNX_ABSENT || net->values[id].origin != INFC_ONNX_FROM_NODE)
        return INFC_ONNX_ABSENT;
    return net->values[id].index;
}

static void mark_live(builder *b) {
    infc_onnx_net *net = b->net;
    const infc_onnx_graph *graph = b->graph;
    size_t *work = INFC_NEW(b->cx->arena, size_t, graph->n_nodes + 1), n_work = 0, n_live = 0, dead = 0;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        if (net->outputs[i] == INFC_ONNX_ABSENT) continue;
        infc_onnx_value *value = &net->values[net->outputs[i]];
        value->used = true;
        if (value->origin != INFC_ONNX_FROM_NODE || net->live[value->index]) continue;
        net->live[value->index] = true;
        work[n_work++] = value->index;
    }
    for (; n_work > 0; n_live++) {
        size_t node = work[--n_work];
        for (size_t i = 0; i < infc_onnx_n_reads(&graph->nodes[node]); i++) {
            size_t id = net->node_inputs[node][i], from = producer(net, node, i);
            if (id != INFC_ONNX_ABSENT) net->values[id].used = true;
            if (from == INFC_ONNX_ABSENT || net->live[from]) continue;
            net->live[from] = true;
            work[n_work++] = from;
        }
    }
    for (size_t i = 0; i < graph->n_outputs; i++)
        if (net->outputs[i] == INFC_ONNX_ABSENT)
            return; /* an error of its own: what leads there is unknown */
    if (n_live == graph->n_nodes || b->outside) return;
    while (net->live[dead]) dead++;
    infc_loc loc = infc_onnx_node_loc(b->cx, b->path, graph, dead);
    if (graph->n_nodes - n_live == 1)
        infc_warn(b->cx, loc, "no output depends on this node; it is left out");
    else
        infc_warn(b->cx, loc, "no output depends on %zu of the %zu nodes, this the first; they are left out",
                  graph->n_nodes - n_live, graph->n_nodes);
}

/* A depth-first walk that keeps its path on an explicit stack, since a model may be a million nodes deep. */
typedef struct step {
    size_t node, next_input;
} step;
typedef enum visited { UNSEEN, ON_PATH, DONE } visited;

static void report_cycle(builder *b, const step *path, size_t n_path, size_t back_to) {
    size_t first = n_path;
    while (path[first - 1].node != back_to) first--;
    infc_loc loc = infc_onnx_node_loc(b->cx, b->path, b->graph, back_to);
    if (!may_report(b, loc)) return;
    infc_buf names = {.arena = b->cx->arena};
    size_t n_others = n_path - first;
    for (size_t i = n_path; i > first && n_path - i < MAX_CYCLE_NAMES; i--)
        infc_buf_printf(&names, "\"%s\" -> ", b->graph->nodes[path[i - 1].node].name);
    if (n_others > MAX_CYCLE_NAMES)
        infc_buf_printf(&names, "%zu more -> ", n_others - MAX_CYCLE_NAMES);
    const char *name = b->graph->nodes[back_to].name;
    infc_fail(b->cx, INFC_ERR_MODEL, loc, "the graph has a cycle: \"%s\" -> %s\"%s\"", name,
              infc_buf_str(&names), name);
    b->cyclic = true;
}

static void visit(builder *b, size_t root, visited *marks, step *path) {
    infc_onnx_net *net = b->net;
    size_t n_path = 1;
    path[0] = (step){root, 0};
    marks[root] = ON_PATH;
    while (n_path > 0) {
        step *top = &path[n_path - 1];
        if (top->next_input == infc_onnx_n_reads(&b->graph->nodes[top->node])) {
            marks[top->node] = DONE;
            net->order[net->n_order++] = top->node;
            n_path--;
            continue;
        }
        size_t from = producer(net, top->node, top->next_input++);
        if (from == INFC_ONNX_ABSENT || marks[from] == DONE) continue;
        if (marks[from] == ON_PATH) {
            report_cycle(b, path, n_path, from);
            continue;
        }
        marks[from] = ON_PATH;
        path[n_path++] = (step){from, 0};
    }
}

static void order_nodes(builder *b) {
    size_t n = b->graph->n_nodes;
    visited *marks = INFC_NEW(b->cx->arena, visited, n + 1);
    step *path = INFC_NEW(b->cx->arena, step, n + 1);
    b->net->order = INFC_NEW(b->cx->arena, size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        if (b->net->live[i] && marks[i] == UNSEEN) visit(b, i, marks, path);
    for (size_t i = 1; i < b->net->n_order && !b->cyclic; i++) {
        if (b->net->order[i] > b->net->order[i - 1]) continue;
        infc_loc loc = infc_onnx_node_loc(b->cx, b->path, b->graph, b->net->order[i]);
        infc_warn(b->cx, loc,
                  "the nodes do not stand in the order in which they run, as ONNX demands; "
                  "they were sorted");
        return;
    }
}

infc_status infc_onnx_net_build(infc_cx *cx, const char *path, const infc_onnx_graph *graph,
                                const infc_onnx_net *outside, infc_onnx_net *out) {
    size_t mark = cx->n_diags;
    *out = (infc_onnx_net){.graph = graph, .names = {.arena = cx->arena}};
    out->node_inputs = INFC_NEW(cx->arena, size_t *, graph->n_nodes + 1);
    out->node_outputs = INFC_NEW(cx->arena, size_t *, graph->n_nodes + 1);
    out->live = INFC_NEW(cx->arena, bool, graph->n_nodes + 1);
    builder b = {.cx = cx, .path = path, .graph = graph, .outside = outside, .net = out};
    define_sources(&b);
    define_results(&b);
    resolve_inputs(&b);
    resolve_outputs(&b);
    mark_live(&b);
    order_nodes(&b);
    return infc_diags_status(cx, mark);
}
