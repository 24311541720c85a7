#include "../base/map.h"
#include "graph.h"
#include <string.h>

typedef struct builder {
    infc_ir *ir;
    infc_graph *graph;
    infc_ptr_set constants;
    infc_ptr_map node_of; /* op or block argument -> index + 1 */
    infc_map named;       /* node of the model -> index */
} builder;

/* ---- what an op is --------------------------------------------------------------------------------------- */

static infc_graph_class class_of(infc_op_kind kind) {
    switch (kind) {
    case INFC_OP_conv:
    case INFC_OP_iconv:
    case INFC_OP_qconv:
    case INFC_OP_matmul:
    case INFC_OP_imatmul:
    case INFC_OP_qmatmul:
    case INFC_OP_qmatmul_both:
    case INFC_OP_attention:
    case INFC_OP_attention_masked:
    case INFC_OP_attend:
    case INFC_OP_linear_i8:
    case INFC_OP_linear_i4:
    case INFC_OP_linear_keep:
    case INFC_OP_gated_i8:
    case INFC_OP_gated_i4:
    case INFC_OP_gated_keep:
    case INFC_OP_lstm:
    case INFC_OP_gru:
    case INFC_OP_rnn: return INFC_GRAPH_PRODUCT;
    case INFC_OP_norm:
    case INFC_OP_softmax:
    case INFC_OP_reduce_sum:
    case INFC_OP_reduce_max:
    case INFC_OP_pool_max:
    case INFC_OP_pool_avg: return INFC_GRAPH_NORM;
    default: return infc_op_is_map(kind) ? INFC_GRAPH_MAP : INFC_GRAPH_MOVE;
    }
}

static const char *op_name(infc_ir *ir, MlirOperation op) {
    infc_op_desc desc;
    infc_ir_describe(ir, op, &desc);
    if (desc.kind == INFC_OP_convert)
        return infc_arena_printf(ir->cx->arena, "to %s", infc_desc_str(&desc, "to"));
    return infc_op_is_map(desc.kind) ? infc_desc_str(&desc, "fn") : infc_op_get(desc.kind)->name;
}

static uint64_t flops_of_desc(const infc_op_desc *desc) {
    infc_kernel_call call = {0};
    if (infc_op_is_map(desc->kind)) return (uint64_t)infc_type_count(&desc->out);
    if (!infc_op_get(desc->kind)->call) return 0;
    infc_op_get(desc->kind)->call(desc, &call);
    return infk_flops(call.kind, &call.dims);
}

/* Of one op, or of the function that it calls, at the largest sizes. */
static uint64_t flops_of(infc_ir *ir, MlirOperation op) {
    const infc_sizes *sizes = infc_ir_sizes(ir);
    int64_t most[INFC_MAX_SIZES] = {0};
    infc_op_kind kind = infc_ir_kind(ir, op);
    infc_op_desc desc;
    if (kind == INFC_OP_CALL) {
        uint64_t flops = 0;
        MlirOperation inner = mlirBlockGetFirstOperation(infc_ir_body(infc_ir_callee(ir, op)));
        for (; !mlirOperationIsNull(inner); inner = mlirOperationGetNextInBlock(inner))
            flops += flops_of(ir, inner);
        return flops;
    }
    if (kind >= INFC_N_OP_KINDS) return 0;
    for (int i = 0; i < infc_sizes_count(sizes); i++) most[i] = infc_sizes_at(sizes, i)->max;
    infc_ir_describe(ir, op, &desc);
    desc = infc_desc_at(&desc, most);
    return flops_of_desc(&desc);
}

/* ---- boxes ------------------------------------------------------------------------------------------------ */

static size_t add_node(builder *b, infc_graph_class class, const char *op, const char *name, const char *type) {
    infc_graph *g = b->graph;
    INFC_GROW(g->arena, g->nodes, g->n, g->cap);
    g->nodes[g->n] = (infc_graph_node){.class = class, .op = op, .name = name, .type = type};
    return g->n++;
}

static void add_arrow(builder *b, size_t to, const void *from) {
    infc_graph_node *node = &b->graph->nodes[to];
    const void *known = infc_ptr_map_find(&b->node_of, from);
    size_t index = (size_t)(uintptr_t)known - 1;
    if (!known || index == to) return;
    for (size_t i = 0; i < node->n_from; i++)
        if (node->from[i] == index) return;
    INFC_GROW(b->graph->arena, node->from, node->n_from, node->cap_from);
    node->from[node->n_from++] = index;
}

/* `node "name" (Op)`, or the first of several, taken apart; false for other texts. */
static bool split_node(infc_arena *arena, const char *node, const char **name, const char **op) {
    static const char before[] = "node \"";
    const char *end = node ? strstr(node, "\" (") : NULL;
    if (!end || strncmp(node, before, sizeof before - 1) != 0) return false;
    *name = infc_arena_copy_string(arena, node + sizeof before - 1, (size_t)(end - node) - (sizeof before - 1));
    *op = infc_arena_copy_string(arena, end + 3, strcspn(end + 3, ")"));
    return true;
}

/* The ops of a function: "conv + add + relu". */
static const char *names_of_block(infc_ir *ir, MlirBlock block, infc_graph_class *class) {
    infc_buf text = {.arena = ir->cx->arena};
    MlirOperation op = mlirBlockGetFirstOperation(block);
    size_t n = 0;
    *class = INFC_GRAPH_MOVE;
    for (; infc_ir_kind(ir, op) < INFC_N_OP_KINDS; op = mlirOperationGetNextInBlock(op)) {
        infc_op_kind kind = infc_ir_kind(ir, op);
        if (kind == INFC_OP_weight) continue;
        if (class_of(kind) < *class) *class = class_of(kind);
        if (n < 8) infc_buf_printf(&text, "%s%s", n ? " + " : "", op_name(ir, op));
        n++;
    }
    if (n > 8) infc_buf_printf(&text, " + %zu more", n - 8);
    return infc_buf_str(&text);
}

static size_t node_for(builder *b, MlirOperation op, bool by_node) {
    infc_ir *ir = b->ir;
    infc_arena *arena = b->graph->arena;
    const char *node = infc_ir_loc(ir, mlirOperationGetLocation(op)).node, *name = "", *what = "";
    infc_graph_class class;
    size_t known;
    if (infc_ir_kind(ir, op) == INFC_OP_CALL) {
        MlirOperation callee = infc_ir_callee(ir, op);
        what = names_of_block(ir, infc_ir_body(callee), &class);
        return add_node(b, class, what, infc_ir_symbol(arena, callee), "");
    }
    class = class_of(infc_ir_kind(ir, op));
    if (by_node && node && infc_map_find(&b->named, node, &known)) {
        if (class < b->graph->nodes[known].class) b->graph->nodes[known].class = class;
        return known;
    }
    bool of_model = split_node(arena, node, &name, &what);
    size_t made = add_node(b, class, by_node && of_model ? what : op_name(ir, op), name, "");
    if (by_node && node) infc_map_put(&b->named, node, made);
    return made;
}

static const char *weight_text(infc_arena *arena, const infc_type *type) {
    infc_buf text = {.arena = arena};
    for (int i = 0; i < type->rank; i++)
        infc_buf_printf(&text, "%s%s", i ? "x" : "", infc_dim_text(arena, type->dims[i]));
    infc_buf_printf(&text, " %s", infc_dtype_name(type->dtype));
    return infc_buf_str(&text);
}

static void add_op(builder *b, MlirOperation op, bool by_node) {
    infc_ir *ir = b->ir;
    size_t at = node_for(b, op, by_node);
    infc_graph_node *node = &b->graph->nodes[at];
    const infc_type type = infc_ir_type(ir, mlirOperationGetResult(op, 0));
    const uint64_t flops = flops_of(ir, op);
    int64_t largest = 1;
    *infc_ptr_map_at(&b->node_of, op.ptr) = (void *)(uintptr_t)(at + 1);
    node->type = infc_type_text(b->graph->arena, &type);
    node->flops += flops;
    b->graph->flops += flops;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        MlirOperation def = infc_ir_def(operand);
        const infc_type read = infc_ir_type(ir, operand);
        bool constant = !mlirOperationIsNull(def) && infc_ptr_set_has(&b->constants, def.ptr);
        if (!constant) {
            add_arrow(b, at, mlirOperationIsNull(def) ? operand.ptr : def.ptr);
        } else if (infc_type_count(&read) > largest) {
            largest = infc_type_count(&read);
            if (!node->weights || class_of(infc_ir_kind(ir, op)) == INFC_GRAPH_PRODUCT)
                node->weights = weight_text(b->graph->arena, &read);
        }
    }
}

void infc_graph_build(infc_ir *ir, bool by_node, infc_graph *out) {
    infc_arena *arena = ir->cx->arena;
    builder b = {.ir = ir, .graph = out, .constants = {.arena = arena}};
    MlirBlock body = infc_ir_body(ir->main);
    MlirOperation *ops;
    size_t n = infc_ir_ops(arena, body, &ops);
    *out = (infc_graph){.arena = arena};
    b.node_of.arena = arena;
    b.named.arena = arena;
    infc_ir_constants(ir, body, &b.constants);
    for (size_t i = 0; i < infc_ir_input_count(ir); i++) {
        MlirValue argument = mlirBlockGetArgument(body, (intptr_t)i);
        const infc_type type = infc_ir_type(ir, argument);
        size_t at = add_node(&b, INFC_GRAPH_PORT, "input", infc_ir_input_name(ir, i),
                             infc_type_text(arena, &type));
        *infc_ptr_map_at(&b.node_of, argument.ptr) = (void *)(uintptr_t)(at + 1);
    }
    for (size_t i = 0; i < n; i++) {
        bool compute = infc_ir_kind(ir, ops[i]) < INFC_N_OP_KINDS || infc_ir_kind(ir, ops[i]) == INFC_OP_CALL;
        if (compute && !infc_ptr_set_has(&b.constants, ops[i].ptr)) add_op(&b, ops[i], by_node);
    }
    MlirOperation end = mlirBlockGetTerminator(body);
    for (size_t i = 0; i < infc_ir_output_count(ir); i++) {
        MlirValue value = mlirOperationGetOperand(end, (intptr_t)i);
        MlirOperation def = infc_ir_def(value);
        const infc_type type = infc_ir_type(ir, value);
        size_t at = add_node(&b, INFC_GRAPH_PORT, "output", infc_ir_output_name(ir, i),
                             infc_type_text(arena, &type));
        add_arrow(&b, at, mlirOperationIsNull(def) ? value.ptr : def.ptr);
    }
}
