/* onnx_function.c - a model's own functions: reading them, and putting their nodes where they are called. */
#include "onnx_function.h"
#include "../../base/map.h"
#include <string.h>

enum { MAX_DEPTH = 64 };
#define MAX_NAME_BYTES ((size_t)64 << 20) /* of names made for values inside of functions */

/* ---- reading -------------------------------------------------------------------------------------------- */

static infc_status function_field(infc_onnx_parse *parse, const infc_wire_field *field,
                                  const uint8_t *at, infc_onnx_function *out) {
    infc_bytes body = {0};
    switch (field->number) {
    case 1: return infc_onnx_text(parse, field, at, "FunctionProto.name", &out->name);
    case 4:
        return infc_onnx_text(parse, field, at, "FunctionProto.input", &out->inputs[out->n_inputs++]);
    case 5:
        return infc_onnx_text(parse, field, at, "FunctionProto.output", &out->outputs[out->n_outputs++]);
    case 7:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "FunctionProto.node", &body));
        return infc_onnx_parse_node(parse, body, &out->nodes[out->n_nodes++]);
    case 9:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "FunctionProto.opset_import", &body));
        return infc_onnx_parse_opset(parse, body, &out->opsets[out->n_opsets++]);
    case 10: return infc_onnx_text(parse, field, at, "FunctionProto.domain", &out->domain);
    case 11:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "FunctionProto.attribute_proto", &body));
        return infc_onnx_parse_attribute(parse, body, &out->defaults[out->n_defaults++]);
    case 13: return infc_onnx_text(parse, field, at, "FunctionProto.overload", &out->overload);
    default: return INFC_OK;
    }
}

infc_status infc_onnx_parse_function(infc_onnx_parse *parse, infc_bytes body, infc_onnx_function *out) {
    size_t counts[INFC_ONNX_MAX_FIELD] = {0};
    infc_arena *arena = parse->cx->arena;
    INFC_TRY(infc_onnx_count(parse, body, "FunctionProto", counts));
    if (counts[7] > INFC_ONNX_MAX_NODES || counts[11] > INFC_ONNX_MAX_ATTRIBUTES)
        return infc_onnx_bad(parse, body.ptr, "FunctionProto", "too many nodes or attributes");
    *out = (infc_onnx_function){.name = "", .domain = "", .overload = ""};
    out->inputs = INFC_NEW(arena, const char *, counts[4] + 1);
    out->outputs = INFC_NEW(arena, const char *, counts[5] + 1);
    out->nodes = INFC_NEW(arena, infc_onnx_node, counts[7] + 1);
    out->opsets = INFC_NEW(arena, infc_onnx_named, counts[9] + 1);
    out->defaults = INFC_NEW(arena, infc_onnx_attribute, counts[11] + 1);
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        INFC_TRY(function_field(parse, &field, at, out));
    if (strcmp(out->domain, "ai.onnx") == 0) out->domain = "";
    return INFC_OK;
}

/* ---- inlining ------------------------------------------------------------------------------------------- */

typedef struct inliner {
    infc_cx *cx;
    const char *path;
    const infc_onnx_model *model;
    infc_onnx_node *nodes;
    size_t n_nodes, cap_nodes, name_bytes;
    infc_map taken; /* names of values in the graph -> how often it was made longer */
} inliner;

static infc_status fail(inliner *in, const infc_onnx_node *call, const char *what) {
    infc_loc loc = {.file = in->path,
                    .node = infc_arena_printf(in->cx->arena, "node \"%s\" (%s)", call->name, call->op)};
    return infc_fail(in->cx, INFC_ERR_UNSUPPORTED, loc, "function %s%s%s %s", call->domain,
                     *call->domain ? "::" : "", call->op, what);
}

static const infc_onnx_function *find_function(const inliner *in, const infc_onnx_node *node) {
    for (size_t i = 0; i < in->model->n_functions; i++) {
        const infc_onnx_function *f = &in->model->functions[i];
        if (strcmp(f->name, node->op) == 0 && strcmp(f->domain, node->domain) == 0 &&
            strcmp(f->overload, node->overload) == 0)
            return f;
    }
    return NULL;
}

static int64_t opset_of(const infc_onnx_named *opsets, size_t n, int64_t otherwise) {
    for (size_t i = 0; i < n; i++)
        if (!*opsets[i].domain) return opsets[i].version;
    return otherwise;
}

static infc_status check_call(inliner *in, const infc_onnx_node *call, const infc_onnx_function *f, int depth) {
    const infc_onnx_model *model = in->model;
    int64_t opset = opset_of(model->opsets, model->n_opsets, 0);
    if (depth > MAX_DEPTH) return fail(in, call, "calls itself, or is nested too deeply");
    if (call->n_inputs > f->n_inputs || call->n_outputs > f->n_outputs)
        return fail(in, call, "is called with more inputs or outputs than it has");
    if (opset_of(f->opsets, f->n_opsets, opset) != opset)
        return fail(in, call, "uses another opset than the model, which is not supported");
    return INFC_OK;
}

/* A name inside of the call, made longer by the call's first result. */
static infc_status scoped(inliner *in, const infc_onnx_node *call, const char *name, const char **out) {
    const char *scope = call->name;
    for (size_t i = call->n_outputs; i-- > 0;)
        if (*call->outputs[i]) scope = call->outputs[i];
    in->name_bytes += strlen(scope) + strlen(name) + 3;
    if (in->name_bytes > MAX_NAME_BYTES)
        return fail(in, call, "makes too many names when it is inlined");
    *out = infc_arena_printf(in->cx->arena, "%s::%s", scope, name);
    return INFC_OK;
}

/* Like that, and of no other value. */
static infc_status scoped_value(inliner *in, const infc_onnx_node *call, const char *name, const char **out) {
    const char *base;
    size_t n = 0;
    INFC_TRY(scoped(in, call, name, &base));
    *out = base;
    (void)infc_map_find(&in->taken, base, &n);
    while (infc_map_find(&in->taken, *out, NULL)) {
        in->name_bytes += strlen(base) + 24;
        *out = infc_arena_printf(in->cx->arena, "%s.%zu", base, ++n);
    }
    infc_map_put(&in->taken, base, n);
    if (*out != base) infc_map_put(&in->taken, *out, 0);
    return INFC_OK;
}

typedef struct scope {
    const infc_onnx_node *call;
    const infc_onnx_function *function;
    infc_map names; /* name in the function -> index of outer */
    const char **outer;
    size_t n_outer, cap_outer;
} scope;

static void bind(inliner *in, scope *s, const char *name, const char *outer) {
    INFC_GROW(in->cx->arena, s->outer, s->n_outer, s->cap_outer);
    s->outer[s->n_outer] = outer;
    infc_map_put(&s->names, name, s->n_outer++);
}

static infc_status outer_name(inliner *in, scope *s, const char *name, const char **out) {
    size_t known;
    *out = "";
    if (!*name) return INFC_OK;
    if (infc_map_find(&s->names, name, &known)) {
        *out = s->outer[known];
        return INFC_OK;
    }
    INFC_TRY(scoped_value(in, s->call, name, out));
    bind(in, s, name, *out);
    return INFC_OK;
}

static const infc_onnx_attribute *find_attribute(const infc_onnx_attribute *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}

/* What refers to a parameter takes the call's attribute, or the default, or is left out. */
static void bind_attributes(const scope *s, infc_onnx_node *node) {
    size_t kept = 0;
    for (size_t i = 0; i < node->n_attributes; i++) {
        infc_onnx_attribute attribute = node->attributes[i];
        if (attribute.ref_name) {
            const infc_onnx_attribute *given =
                find_attribute(s->call->attributes, s->call->n_attributes, attribute.ref_name);
            if (!given)
                given = find_attribute(s->function->defaults, s->function->n_defaults, attribute.ref_name);
            if (!given) continue;
            const char *name = attribute.name;
            attribute = *given;
            attribute.name = name;
        }
        node->attributes[kept++] = attribute;
    }
    node->n_attributes = kept;
}

static infc_status copy_node(inliner *in, scope *s, const infc_onnx_node *from, infc_onnx_node *out) {
    infc_arena *arena = in->cx->arena;
    *out = *from;
    for (size_t i = 0; i < from->n_attributes; i++)
        if (from->attributes[i].graph)
            return fail(in, s->call, "holds a sub-graph, which is not supported");
    out->inputs = INFC_NEW(arena, const char *, from->n_inputs + 1);
    out->outputs = INFC_NEW(arena, const char *, from->n_outputs + 1);
    out->attributes = INFC_NEW(arena, infc_onnx_attribute, from->n_attributes + 1);
    if (from->n_attributes)
        memcpy(out->attributes, from->attributes, from->n_attributes * sizeof *from->attributes);
    for (size_t i = 0; i < from->n_inputs; i++)
        INFC_TRY(outer_name(in, s, from->inputs[i], &out->inputs[i]));
    for (size_t i = 0; i < from->n_outputs; i++)
        INFC_TRY(outer_name(in, s, from->outputs[i], &out->outputs[i]));
    bind_attributes(s, out);
    return scoped(in, s->call, from->name, &out->name);
}

static infc_status add_node(inliner *in, const infc_onnx_node *node) {
    if (in->n_nodes == INFC_ONNX_MAX_NODES)
        return fail(in, node, "makes the model larger than 1000000 nodes");
    INFC_GROW(in->cx->arena, in->nodes, in->n_nodes, in->cap_nodes);
    in->nodes[in->n_nodes++] = *node;
    return INFC_OK;
}

/* A result that is a parameter of the function gets an Identity of its own. */
static infc_status hand_on(inliner *in, const infc_onnx_node *call, size_t input, size_t output) {
    infc_onnx_node node = {
        .name = call->outputs[output], .op = "Identity", .domain = "", .overload = "", .n_inputs = 1, .n_outputs = 1};
    node.inputs = INFC_NEW(in->cx->arena, const char *, 1);
    node.outputs = INFC_NEW(in->cx->arena, const char *, 1);
    node.inputs[0] = input < call->n_inputs ? call->inputs[input] : "";
    node.outputs[0] = call->outputs[output];
    return add_node(in, &node);
}

static infc_status bind_ports(inliner *in, scope *s) {
    const infc_onnx_function *f = s->function;
    const infc_onnx_node *call = s->call;
    for (size_t i = 0; i < f->n_inputs; i++)
        bind(in, s, f->inputs[i], i < call->n_inputs ? call->inputs[i] : "");
    for (size_t i = 0; i < call->n_outputs; i++) {
        size_t input = f->n_inputs;
        if (!*call->outputs[i]) continue;
        for (size_t k = 0; k < f->n_inputs; k++)
            if (strcmp(f->inputs[k], f->outputs[i]) == 0) input = k;
        if (input < f->n_inputs) INFC_TRY(hand_on(in, call, input, i));
        else bind(in, s, f->outputs[i], call->outputs[i]);
    }
    return INFC_OK;
}

static infc_status add(inliner *in, const infc_onnx_node *node, int depth) {
    const infc_onnx_function *f = find_function(in, node);
    if (!f) return add_node(in, node);
    scope s = {.call = node, .function = f, .names = {.arena = in->cx->arena}};
    INFC_TRY(check_call(in, node, f, depth));
    INFC_TRY(bind_ports(in, &s));
    for (size_t i = 0; i < f->n_nodes; i++) {
        infc_onnx_node copy;
        INFC_TRY(copy_node(in, &s, &f->nodes[i], &copy));
        INFC_TRY(add(in, &copy, depth + 1));
    }
    return INFC_OK;
}

static void take_names(inliner *in) {
    const infc_onnx_graph *graph = &in->model->graph;
    for (size_t i = 0; i < graph->n_inputs; i++) infc_map_put(&in->taken, graph->inputs[i].name, 0);
    for (size_t i = 0; i < graph->n_initializers; i++)
        infc_map_put(&in->taken, graph->initializers[i].name, 0);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->nodes[i].n_outputs; k++)
            infc_map_put(&in->taken, graph->nodes[i].outputs[k], 0);
}

/* A call must mean one function: domain, name and overload are the key. */
static infc_status check_unique(infc_cx *cx, const char *path, const infc_onnx_model *model) {
    infc_map known = {.arena = cx->arena};
    for (size_t i = 0; i < model->n_functions; i++) {
        const infc_onnx_function *f = &model->functions[i];
        const char *key = infc_arena_printf(cx->arena, "%zu %zu %s%s%s", strlen(f->domain),
                                            strlen(f->name), f->domain, f->name, f->overload);
        size_t first;
        if (infc_map_find(&known, key, &first))
            return infc_fail(
                cx, INFC_ERR_MODEL, (infc_loc){.file = path},
                "function %s%s%s%s%s is defined twice, as functions %zu and %zu of the model", f->domain,
                *f->domain ? "::" : "", f->name, *f->overload ? ":" : "", f->overload, first, i);
        infc_map_put(&known, key, i);
    }
    return INFC_OK;
}

infc_status infc_onnx_inline_functions(infc_cx *cx, const char *path, infc_onnx_model *model) {
    inliner in = {.cx = cx, .path = path, .model = model, .taken = {.arena = cx->arena}};
    if (model->n_functions == 0) return INFC_OK;
    INFC_TRY(check_unique(cx, path, model));
    take_names(&in);
    for (size_t i = 0; i < model->graph.n_nodes; i++) INFC_TRY(add(&in, &model->graph.nodes[i], 1));
    model->graph.nodes = in.nodes;
    model->graph.n_nodes = in.n_nodes;
    return INFC_OK;
}
