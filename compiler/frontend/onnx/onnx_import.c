#include "onnx_import.h"
#include "../../base/file.h"
#include "../../base/interrupt.h"
#include "onnx_function.h"
#include <string.h>

static infc_loc model_loc(const infc_onnx_import *import) {
    return (infc_loc){.file = import->path};
}

/* ---- the model as a whole ---------------------------------------------------------------------------- */

static void find_opset(infc_onnx_import *import) {
    const infc_onnx_model *model = &import->model;
    infc_cx *cx = import->cx;
    for (size_t i = 0; i < model->n_opsets; i++)
        if (!*model->opsets[i].domain) import->opset = model->opsets[i].version;
    if (import->opset == 0)
        infc_fail(cx, INFC_ERR_MODEL, model_loc(import), "the model does not say which opset it uses");
    else if (import->opset < INFC_ONNX_OLDEST_OPSET || import->opset > INFC_ONNX_NEWEST_OPSET)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, model_loc(import),
                  "opset %lld is not supported; infc knows opsets %d to %d: convert the model "
                  "(onnx.version_converter) or export it again",
                  (long long)import->opset, INFC_ONNX_OLDEST_OPSET, INFC_ONNX_NEWEST_OPSET);
}

static infc_status check_model(infc_onnx_import *import) {
    const infc_onnx_model *model = &import->model;
    infc_cx *cx = import->cx;
    size_t mark = cx->n_diags;
    infc_loc loc = model_loc(import);
    if (model->ir_version < 3 || model->ir_version > INFC_ONNX_NEWEST_IR)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "ONNX IR version %lld is not supported; infc knows 3 to %d",
                  (long long)model->ir_version, INFC_ONNX_NEWEST_IR);
    find_opset(import);
    if (!model->has_graph) infc_fail(cx, INFC_ERR_MODEL, loc, "the model has no graph");
    if (model->n_training)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "the model holds training information; export it for inference");
    if (model->graph.n_sparse)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                  "%zu sparse initializers are not supported; store them densely", model->graph.n_sparse);
    if (model->graph.n_quantization)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "quantization annotations are not supported");
    return infc_diags_status(cx, mark);
}

/* ---- which operators ------------------------------------------------------------------------------------ */

typedef struct refusals { /* operators that are refused, with their first node and how many there are */
    infc_map names;
    size_t *firsts, *counts;
    size_t cap_firsts, cap_counts;
} refusals;

/* The line of the node's operator; null when it is one of those to refuse. Optimisers write two of com.microsoft's into
 * ONNX's own domain, where no opset has them. */
static const infc_onnx_op *find_op(const infc_onnx_import *import, const infc_onnx_node *node) {
    const infc_onnx_op *op = infc_onnx_op_find(node->domain, node->op, import->opset);
    bool either = strcmp(node->op, "LayerNormalization") == 0 ||
                  strcmp(node->op, "SimplifiedLayerNormalization") == 0;
    if (op || *node->domain || !either) return op;
    return infc_onnx_op_find("com.microsoft", node->op, import->opset);
}

static void refuse(infc_onnx_import *import, refusals *all, size_t n) {
    const infc_onnx_node *node = &import->model.graph.nodes[n];
    infc_arena *arena = import->cx->arena;
    const char *name = infc_arena_printf(arena, "%s%s%s", node->domain, *node->domain ? "::" : "", node->op);
    size_t known;
    if (infc_map_find(&all->names, name, &known)) {
        all->counts[known]++;
        return;
    }
    size_t i = all->names.n;
    INFC_GROW(arena, all->firsts, i, all->cap_firsts);
    INFC_GROW(arena, all->counts, i, all->cap_counts);
    all->firsts[i] = n;
    all->counts[i] = 1;
    infc_map_put(&all->names, name, i);
}

static void report_refusals(infc_onnx_import *import, const refusals *all) {
    for (size_t i = 0; i < all->names.n; i++) {
        const infc_onnx_node *node = &import->model.graph.nodes[all->firsts[i]];
        infc_loc loc = infc_onnx_node_loc(import->cx, import->path, &import->model.graph, all->firsts[i]);
        const char *why = "is not supported", *what_to_do = "see   infc ops";
        if (*node->domain && strcmp(node->domain, "com.microsoft") != 0)
            why = "is of a domain that infc does not know",
            what_to_do = "export with ONNX's own operators";
        infc_fail(import->cx, INFC_ERR_UNSUPPORTED, loc,
                  "operator %s %s (%zu node%s, first \"%s\"); %s", all->names.entries[i].key, why,
                  all->counts[i], all->counts[i] > 1 ? "s" : "", node->name, what_to_do);
    }
}

static infc_status check_nodes(infc_onnx_import *import) {
    infc_cx *cx = import->cx;
    const infc_onnx_graph *graph = &import->model.graph;
    size_t mark = cx->n_diags;
    refusals all = {.names = {.arena = cx->arena}};
    import->ops = INFC_NEW(cx->arena, const infc_onnx_op *, graph->n_nodes + 1);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (!import->net.live[i]) continue;
        const infc_onnx_op *op = find_op(import, &graph->nodes[i]);
        infc_loc loc = infc_onnx_node_loc(cx, import->path, graph, i);
        if (!op) refuse(import, &all, i);
        else if (infc_onnx_op_check(cx, loc, op, &graph->nodes[i], import->opset) == INFC_OK)
            import->ops[i] = op;
    }
    report_refusals(import, &all);
    return infc_diags_status(cx, mark);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

/* @main with those inputs whose types are known. */
static infc_status begin_main(infc_onnx_import *import, infc_ir *ir) {
    infc_ir_port *ports;
    size_t n;
    INFC_TRY(infc_ir_create(import->cx, import->path, ir));
    import->ir = ir;
    infc_onnx_inputs_bind(import, &ports, &n);
    INFC_TRY(infc_ir_main_begin(ir, ports, n, &import->block));
    for (size_t i = 0; i < n; i++) {
        size_t id = 0;
        infc_map_find(&import->net.names, ports[i].name, &id);
        import->operands[id] = (infc_onnx_operand){
            .type = ports[i].type, .value = mlirBlockGetArgument(import->block, (intptr_t)i)};
        import->ready[id] = true;
    }
    return INFC_OK;
}

/* By value: whether something else than a DequantizeLinear reads it, or it is a result. */
static bool *read_elsewhere(const infc_onnx_import *import) {
    const infc_onnx_graph *graph = &import->model.graph;
    bool *out = INFC_NEW(import->cx->arena, bool, import->net.n_values + 1);
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; i < infc_onnx_n_reads(&graph->nodes[n]); i++) {
            const size_t id = import->net.node_inputs[n][i];
            const bool dequantizes = strcmp(graph->nodes[n].op, "DequantizeLinear") == 0;
            if (id != INFC_ONNX_ABSENT && !dequantizes) out[id] = true;
        }
    for (size_t i = 0, id; i < graph->n_outputs; i++)
        if (infc_map_find(&import->net.names, graph->outputs[i].name, &id)) out[id] = true;
    return out;
}

static infc_status read_initializers(infc_onnx_import *import) {
    infc_cx *cx = import->cx;
    size_t mark = cx->n_diags;
    const bool *elsewhere = read_elsewhere(import);
    for (size_t id = 0; id < import->net.n_values; id++) {
        const infc_onnx_value *value = &import->net.values[id];
        if (value->origin != INFC_ONNX_FROM_INITIALIZER || !value->used) continue;
        infc_loc loc = {.file = import->path,
                        .node = infc_arena_printf(cx->arena, "initializer \"%s\"", value->name)};
        infc_weight *weight = INFC_NEW(cx->arena, infc_weight, 1);
        const infc_onnx_tensor *tensor = &import->model.graph.initializers[value->index];
        weight->origin = "initializer";
        if (infc_onnx_tensor_read(&import->files, loc, tensor, !elsewhere[id], weight) != INFC_OK)
            continue;
        infc_onnx_operand *operand = &import->operands[id];
        if (infc_onnx_stored(import, weight, operand) != INFC_OK) continue;
        if (infc_onnx_dtype(tensor->data_type) && /* four bits: declared what it no longer is */
            infc_onnx_declared_check(import, loc, value->declared, &operand->type) != INFC_OK)
            continue;
        import->ready[id] = true;
    }
    return infc_diags_status(cx, mark);
}

/* ---- nodes --------------------------------------------------------------------------------------------------- */

static bool inputs_ready(const infc_onnx_import *import, size_t node) {
    for (size_t i = 0; i < infc_onnx_n_reads(&import->model.graph.nodes[node]); i++) {
        size_t id = import->net.node_inputs[node][i];
        if (id != INFC_ONNX_ABSENT && !import->ready[id]) return false;
    }
    return true;
}

static bool of_model(infc_status status) {
    return status == INFC_OK || status == INFC_ERR_MODEL || status == INFC_ERR_UNSUPPORTED;
}

/* A node whose inputs failed is passed over in silence: its own results are then not ready either. Ends early
 * only on what is not the model's fault. */
static infc_status import_nodes(infc_onnx_import *import) {
    infc_cx *cx = import->cx;
    const infc_onnx_graph *graph = &import->model.graph;
    for (size_t k = 0; k < import->net.n_order; k++) {
        size_t n = import->net.order[k];
        if (!import->ops[n] || !inputs_ready(import, n)) continue;
        infc_loc loc = infc_onnx_node_loc(cx, import->path, graph, n);
        infc_onnx_at at = {import,
                           cx->arena,
                           &graph->nodes[n],
                           n,
                           import->opset,
                           loc,
                           infc_ir_location(import->ir, loc.node, (int)n + 1),
                           false};
        INFC_TRY(infc_interrupt_check(cx));
        infc_status status = infc_onnx_dims_check(&at);
        if (status == INFC_OK) status = infc_onnx_types_check(&at);
        if (status == INFC_OK) status = import->ops[n]->import(&at);
        if (!of_model(status)) return status;
    }
    return INFC_OK;
}

/* ---- sub-graphs ------------------------------------------------------------------------------------------------ */

static infc_status build_subgraph(infc_onnx_import *import, const infc_onnx_import *outer, infc_loc loc,
                                  const infc_onnx_operand *inputs, infc_onnx_operand *outputs) {
    infc_cx *cx = import->cx;
    const infc_onnx_graph *graph = &import->model.graph;
    size_t mark = cx->n_diags;
    import->operands = INFC_NEW(cx->arena, infc_onnx_operand, import->net.n_values + 1);
    import->ready = INFC_NEW(cx->arena, bool, import->net.n_values + 1);
    check_nodes(import);
    for (size_t id = 0; id < import->net.n_values; id++) {
        const infc_onnx_value *value = &import->net.values[id];
        bool given = value->origin == INFC_ONNX_FROM_INPUT, outside = value->origin == INFC_ONNX_FROM_OUTSIDE;
        if (given) import->operands[id] = inputs[value->index];
        if (given)
            infc_onnx_declared_check(import, loc, value->declared, &import->operands[id].type);
        if (outside) import->operands[id] = outer->operands[value->index];
        import->ready[id] = given || (outside && outer->ready[value->index]);
    }
    read_initializers(import);
    INFC_TRY(import_nodes(import));
    INFC_TRY(infc_diags_status(cx, mark));
    for (size_t i = 0; i < graph->n_outputs; i++) {
        outputs[i] = import->operands[import->net.outputs[i]];
        infc_onnx_declared_check(import, loc, &graph->outputs[i], &outputs[i].type);
    }
    return infc_diags_status(cx, mark);
}

infc_status infc_onnx_import_subgraph(infc_onnx_at *at, const infc_onnx_graph *graph,
                                      const infc_onnx_operand *inputs, infc_onnx_operand *outputs) {
    infc_onnx_import *import = at->import, *outer = INFC_NEW(at->arena, infc_onnx_import, 1);
    *outer = *import;
    if (graph->n_sparse || graph->n_quantization)
        return infc_onnx_refuse(
            at, "its sub-graph has sparse initializers or quantization annotations");
    import->model.graph = *graph;
    import->depth++;
    infc_status status =
        infc_onnx_net_build(import->cx, import->path, &import->model.graph, &outer->net, &import->net);
    if (status == INFC_OK) status = build_subgraph(import, outer, at->loc, inputs, outputs);
    import->depth = outer->depth;
    import->model.graph = outer->model.graph;
    import->net = outer->net;
    import->ops = outer->ops;
    import->operands = outer->operands;
    import->ready = outer->ready;
    return status;
}

static infc_status end_main(infc_onnx_import *import) {
    infc_cx *cx = import->cx;
    const infc_onnx_graph *graph = &import->model.graph;
    size_t mark = cx->n_diags;
    MlirValue *results = INFC_NEW(cx->arena, MlirValue, graph->n_outputs + 1);
    const char **names = INFC_NEW(cx->arena, const char *, graph->n_outputs + 1);
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const infc_onnx_operand *operand = &import->operands[import->net.outputs[i]];
        infc_onnx_operand result = *operand;
        names[i] = graph->outputs[i].name;
        infc_onnx_declared_check(import, model_loc(import), &graph->outputs[i], &operand->type);
        infc_onnx_classes(import, names[i], import->net.outputs[i]);
        infc_dtype dtype = operand->type.dtype;
        if (dtype != INFC_DTYPE_f32 && dtype != INFC_DTYPE_bool && !infc_dtype_is_integer(dtype))
            infc_fail(cx, INFC_ERR_UNSUPPORTED, model_loc(import),
                      "output \"%s\" is %s; float, bool and integer outputs are supported",
                      names[i], infc_dtype_name(dtype));
        if (infc_weight_has_dims(operand->constant))
            infc_fail(cx, INFC_ERR_UNSUPPORTED, model_loc(import),
                      "output \"%s\" is made of dimensions known only at run time", names[i]);
        else if (infc_onnx_embedding(import, names[i], &result) == INFC_OK)
            results[i] = infc_onnx_value_of(import, &result);
    }
    infc_onnx_embeddings_check_unused(import);
    INFC_TRY(infc_diags_status(cx, mark));
    return infc_ir_main_end(import->ir, results, names, graph->n_outputs);
}

/* Problems are collected over all of these steps. */
static infc_status import_graph(infc_onnx_import *import, infc_ir *out) {
    infc_cx *cx = import->cx;
    size_t mark = cx->n_diags;
    import->operands = INFC_NEW(cx->arena, infc_onnx_operand, import->net.n_values + 1);
    import->ready = INFC_NEW(cx->arena, bool, import->net.n_values + 1);
    check_nodes(import);
    INFC_TRY(begin_main(import, out));
    read_initializers(import);
    INFC_TRY(import_nodes(import));
    infc_onnx_inputs_check_unused(import);
    INFC_TRY(infc_diags_status(cx, mark));
    return end_main(import);
}

infc_status infc_onnx_read_bytes(infc_cx *cx, const infc_spec *spec, infc_bytes bytes,
                                 const char *path, infc_ir *out) {
    infc_onnx_import *import = INFC_NEW(cx->arena, infc_onnx_import, 1);
    *import = (infc_onnx_import){.cx = cx,
                                 .spec = spec,
                                 .path = path ? path : "model",
                                 .files = infc_onnx_files_open(cx, path),
                                 .size_of = {.arena = cx->arena},
                                 .placed = {.arena = cx->arena},
                                 .inner_names = {.arena = cx->arena}};
    INFC_TRY(infc_onnx_model_parse(cx, import->path, bytes, &import->model));
    INFC_TRY(check_model(import));
    INFC_TRY(infc_onnx_inline_functions(cx, import->path, &import->model));
    INFC_TRY(infc_onnx_net_build(cx, import->path, &import->model.graph, NULL, &import->net));
    import->top_names = import->net.names;
    return import_graph(import, out);
}

infc_status infc_onnx_read_file(infc_cx *cx, const infc_spec *spec, infc_ir *out) {
    infc_bytes bytes;
    infc_progress(cx, "reading %s", spec->model);
    INFC_TRY(infc_file_map(cx, spec->model, &bytes));
    return infc_onnx_read_bytes(cx, spec, bytes, spec->model, out);
}
