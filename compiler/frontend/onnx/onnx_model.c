#include "../../base/map.h"
#include "../../ir/dim.h"
#include "onnx_function.h"
#include <string.h>

infc_status infc_onnx_bad(infc_onnx_parse *parse, const uint8_t *at, const char *what, const char *why) {
    return infc_fail(parse->cx, INFC_ERR_MODEL, (infc_loc){.file = parse->path},
                     "byte %zu, in %s: %s; the file is damaged or not an ONNX model",
                     (size_t)(at - parse->base), what, why);
}

static infc_status too_many(infc_onnx_parse *parse, const char *what, size_t limit) {
    return infc_fail(parse->cx, INFC_ERR_MODEL, (infc_loc){.file = parse->path},
                     "the model has more than %zu %s, which infc does not accept", limit, what);
}

infc_status infc_onnx_count(infc_onnx_parse *parse, infc_bytes body, const char *what, size_t *counts) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    while (infc_wire_next(&wire, &field)) {
        if (field.number < INFC_ONNX_MAX_FIELD) counts[field.number]++;
        if (++parse->n_items > INFC_ONNX_MAX_ITEMS)
            return too_many(parse, "parts (nodes, attributes, tensors, names)", INFC_ONNX_MAX_ITEMS);
    }
    return wire.error ? infc_onnx_bad(parse, wire.at, what, wire.error) : INFC_OK;
}

infc_status infc_onnx_borrow(infc_onnx_parse *parse, const infc_wire_field *field,
                             const uint8_t *at, const char *what, infc_bytes *out) {
    if (field->type != INFC_WIRE_BYTES)
        return infc_onnx_bad(parse, at, what, "not of its wire type");
    *out = field->bytes;
    return INFC_OK;
}

/* Names end up in diagnostics, emitted comments and file names: bytes that would end a line or a string early
 * are refused here, once. */
infc_status infc_onnx_text(infc_onnx_parse *parse, const infc_wire_field *field, const uint8_t *at,
                           const char *what, const char **out) {
    infc_bytes bytes = {0};
    INFC_TRY(infc_onnx_borrow(parse, field, at, what, &bytes));
    if (bytes.len > INFC_ONNX_MAX_NAME)
        return infc_onnx_bad(parse, at, what, "a name of over 16384 bytes");
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] < 0x20 || bytes.ptr[i] == 0x7f)
            return infc_onnx_bad(parse, at, what, "a name with a control character");
    }
    *out = infc_arena_copy_string(parse->cx->arena, (const char *)bytes.ptr, bytes.len);
    return INFC_OK;
}

infc_status infc_onnx_integer(infc_onnx_parse *parse, const infc_wire_field *field,
                              const uint8_t *at, const char *what, int64_t *out) {
    if (field->type != INFC_WIRE_VARINT)
        return infc_onnx_bad(parse, at, what, "not of its wire type");
    *out = infc_dim_number((int64_t)field->value);
    return INFC_OK;
}

static infc_status node_field(infc_onnx_parse *parse, const infc_wire_field *field,
                              const uint8_t *at, infc_onnx_node *out) {
    infc_bytes body = {0};
    switch (field->number) {
    case 1:
        return infc_onnx_text(parse, field, at, "NodeProto.input", &out->inputs[out->n_inputs++]);
    case 2:
        return infc_onnx_text(parse, field, at, "NodeProto.output", &out->outputs[out->n_outputs++]);
    case 3: return infc_onnx_text(parse, field, at, "NodeProto.name", &out->name);
    case 4: return infc_onnx_text(parse, field, at, "NodeProto.op_type", &out->op);
    case 5:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "NodeProto.attribute", &body));
        return infc_onnx_parse_attribute(parse, body, &out->attributes[out->n_attributes++]);
    case 7: return infc_onnx_text(parse, field, at, "NodeProto.domain", &out->domain);
    case 8: return infc_onnx_text(parse, field, at, "NodeProto.overload", &out->overload);
    default: return INFC_OK;
    }
}

static infc_status capture(infc_onnx_parse *parse, infc_onnx_node *node);

infc_status infc_onnx_parse_node(infc_onnx_parse *parse, infc_bytes body, infc_onnx_node *out) {
    size_t counts[INFC_ONNX_MAX_FIELD] = {0};
    INFC_TRY(infc_onnx_count(parse, body, "NodeProto", counts));
    if (counts[5] > INFC_ONNX_MAX_ATTRIBUTES)
        return infc_onnx_bad(parse, body.ptr, "NodeProto", "a node with over 256 attributes");
    infc_arena *arena = parse->cx->arena;
    *out = (infc_onnx_node){.name = "", .op = "", .domain = "", .overload = ""};
    out->inputs = INFC_NEW(arena, const char *, counts[1] + 1);
    out->outputs = INFC_NEW(arena, const char *, counts[2] + 1);
    out->attributes = INFC_NEW(arena, infc_onnx_attribute, counts[5] + 1);
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        INFC_TRY(node_field(parse, &field, at, out));
    if (strcmp(out->domain, "ai.onnx") == 0) out->domain = "";
    for (size_t i = 0; i < out->n_outputs && !*out->name; i++) out->name = out->outputs[i];
    return capture(parse, out);
}

/* What a sub-graph reads from outside. */
static void put_free_name(infc_map *inside, infc_map *names, const char *name) {
    if (*name && !infc_map_find(inside, name, NULL) && !infc_map_find(names, name, NULL))
        infc_map_put(names, name, names->n);
}

static void free_names(infc_onnx_parse *parse, const infc_onnx_graph *graph, infc_map *names) {
    infc_map inside = {.arena = parse->cx->arena};
    for (size_t i = 0; i < graph->n_inputs; i++) infc_map_put(&inside, graph->inputs[i].name, 0);
    for (size_t i = 0; i < graph->n_initializers; i++)
        infc_map_put(&inside, graph->initializers[i].name, 0);
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; i < graph->nodes[n].n_outputs; i++)
            infc_map_put(&inside, graph->nodes[n].outputs[i], 0);
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; i < graph->nodes[n].n_inputs + graph->nodes[n].n_captured; i++)
            put_free_name(&inside, names, graph->nodes[n].inputs[i]);
    for (size_t i = 0; i < graph->n_outputs; i++)
        put_free_name(&inside, names, graph->outputs[i].name);
}

static infc_status capture(infc_onnx_parse *parse, infc_onnx_node *node) {
    infc_map names = {.arena = parse->cx->arena};
    bool graphs = false;
    for (size_t i = 0; i < node->n_attributes; i++) {
        graphs |= node->attributes[i].graph != NULL;
        if (node->attributes[i].graph) free_names(parse, node->attributes[i].graph, &names);
    }
    if (!graphs) return INFC_OK;
    parse->n_items += names.n;
    if (parse->n_items > INFC_ONNX_MAX_ITEMS)
        return too_many(parse, "parts (nodes, attributes, tensors, names)", INFC_ONNX_MAX_ITEMS);
    const char **inputs = INFC_NEW(parse->cx->arena, const char *, node->n_inputs + names.n + 1);
    for (size_t i = 0; i < node->n_inputs; i++) inputs[i] = node->inputs[i];
    for (size_t i = 0; i < names.n; i++) inputs[node->n_inputs + i] = names.entries[i].key;
    node->inputs = inputs;
    node->n_captured = names.n;
    return INFC_OK;
}

static infc_status graph_field(infc_onnx_parse *parse, const infc_wire_field *field,
                               const uint8_t *at, infc_onnx_graph *out) {
    infc_bytes body = {0};
    switch (field->number) {
    case 1:
    case 5:
    case 11:
    case 12:
    case 13: INFC_TRY(infc_onnx_borrow(parse, field, at, "GraphProto", &body));
    }
    switch (field->number) {
    case 1: return infc_onnx_parse_node(parse, body, &out->nodes[out->n_nodes++]);
    case 5: return infc_onnx_parse_tensor(parse, body, &out->initializers[out->n_initializers++]);
    case 11: return infc_onnx_parse_value_info(parse, body, &out->inputs[out->n_inputs++]);
    case 12: return infc_onnx_parse_value_info(parse, body, &out->outputs[out->n_outputs++]);
    case 13: return infc_onnx_parse_value_info(parse, body, &out->infos[out->n_infos++]);
    default: return INFC_OK;
    }
}

infc_status infc_onnx_parse_graph(infc_onnx_parse *parse, infc_bytes body, infc_onnx_graph *out) {
    size_t counts[INFC_ONNX_MAX_FIELD] = {0};
    INFC_TRY(infc_onnx_count(parse, body, "GraphProto", counts));
    if (counts[1] > INFC_ONNX_MAX_NODES) return too_many(parse, "nodes", INFC_ONNX_MAX_NODES);
    if (parse->depth == INFC_ONNX_MAX_NESTED)
        return infc_onnx_bad(parse, body.ptr, "GraphProto", "sub-graphs are nested too deeply");
    infc_arena *arena = parse->cx->arena;
    *out = (infc_onnx_graph){.n_sparse = counts[15], .n_quantization = counts[14]};
    out->nodes = INFC_NEW(arena, infc_onnx_node, counts[1] + 1);
    out->initializers = INFC_NEW(arena, infc_onnx_tensor, counts[5] + 1);
    out->inputs = INFC_NEW(arena, infc_onnx_value_info, counts[11] + 1);
    out->outputs = INFC_NEW(arena, infc_onnx_value_info, counts[12] + 1);
    out->infos = INFC_NEW(arena, infc_onnx_value_info, counts[13] + 1);
    parse->depth++;
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        INFC_TRY(graph_field(parse, &field, at, out));
    parse->depth--;
    return INFC_OK;
}

/* OperatorSetIdProto */
infc_status infc_onnx_parse_opset(infc_onnx_parse *parse, infc_bytes body, infc_onnx_named *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    *out = (infc_onnx_named){.domain = ""};
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == 1) INFC_TRY(infc_onnx_text(parse, &field, at, "domain", &out->domain));
        else if (field.number == 2 && field.type == INFC_WIRE_VARINT)
            out->version = (int64_t)field.value;
    }
    if (wire.error) return infc_onnx_bad(parse, wire.at, "OperatorSetIdProto", wire.error);
    if (strcmp(out->domain, "ai.onnx") == 0) out->domain = "";
    return INFC_OK;
}

static infc_status model_field(infc_onnx_parse *parse, const infc_wire_field *field,
                               const uint8_t *at, infc_onnx_model *out) {
    infc_bytes body = {0};
    switch (field->number) {
    case 1: return infc_onnx_integer(parse, field, at, "ModelProto.ir_version", &out->ir_version);
    case 7:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "ModelProto.graph", &body));
        out->has_graph = true;
        return infc_onnx_parse_graph(parse, body, &out->graph);
    case 8:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "ModelProto.opset_import", &body));
        return infc_onnx_parse_opset(parse, body, &out->opsets[out->n_opsets++]);
    case 25:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "ModelProto.functions", &body));
        return infc_onnx_parse_function(parse, body, &out->functions[out->n_functions++]);
    default: return INFC_OK;
    }
}

infc_status infc_onnx_model_parse(infc_cx *cx, const char *path, infc_bytes bytes, infc_onnx_model *out) {
    infc_onnx_parse parse = {.cx = cx, .path = path, .base = bytes.ptr};
    infc_loc loc = {.file = path};
    size_t counts[INFC_ONNX_MAX_FIELD] = {0};
    *out = (infc_onnx_model){0};
    if (bytes.len == 0) return infc_fail(cx, INFC_ERR_MODEL, loc, "the file is empty");
    if (bytes.len > INFC_ONNX_MAX_FILE)
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "larger than 2 GiB, which protobuf does not allow; "
                         "save the weights as external data");
    INFC_TRY(infc_onnx_count(&parse, bytes, "ModelProto", counts));
    if (counts[7] > 1) return infc_onnx_bad(&parse, bytes.ptr, "ModelProto", "more than one graph");
    out->n_training = counts[20];
    out->opsets = INFC_NEW(cx->arena, infc_onnx_named, counts[8] + 1);
    out->functions = INFC_NEW(cx->arena, infc_onnx_function, counts[25] + 1);
    infc_wire wire = infc_wire_open(bytes);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        INFC_TRY(model_field(&parse, &field, at, out));
    return INFC_OK;
}
