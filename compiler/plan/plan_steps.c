/* plan_steps.c - a fused function as a step: its kernel call, and its element-wise ops as an expression. */
#include "../ir/op_rules.h"
#include "plan_internal.h"
#include <string.h>

static struct infc_body_value *body_find(const infc_builder *b, MlirValue value) {
    for (size_t i = 0; i < b->n_body; i++)
        if (mlirValueEqual(b->body[i].value, value)) return &b->body[i];
    return NULL;
}

static void body_add(infc_builder *b, MlirValue value, int expr, int buffer) {
    INFC_GROW(b->cx->arena, b->body, b->n_body, b->cap_body);
    b->body[b->n_body++] =
        (struct infc_body_value){.value = value, .extra = -1, .expr = expr, .buffer = buffer};
}

static int add_expr(infc_builder *b, infc_plan_step *step, infc_plan_expr expr) {
    infc_plan *plan = b->plan;
    INFC_GROW(b->cx->arena, plan->exprs, (size_t)plan->n_exprs, b->cap_exprs);
    plan->exprs[plan->n_exprs++] = expr;
    return step->n_exprs++;
}

static void add_store(infc_builder *b, infc_plan_step *step, int buffer, int expr) {
    infc_plan *plan = b->plan;
    INFC_GROW(b->cx->arena, plan->stores, (size_t)plan->n_stores, b->cap_stores);
    plan->stores[plan->n_stores++] = (infc_plan_store){buffer, expr};
    step->n_stores++;
}

/* A step reads `buffer` beside its output `out`: as an extra, once. */
static infc_status add_extra(infc_builder *b, infc_plan_step *step, infc_op_kind root,
                             const infc_type *out, const infc_type *type, int buffer, int *extra) {
    infc_plan *plan = b->plan;
    infc_plan_extra made = {.buffer = buffer, .access = INFC_ACCESS_STRIDED};
    bool padded = plan->buffers[buffer].place != INFC_PLACE_INPUT;
    bool readable = step->kernel ? infc_access_epilogue(root, out, type, padded, &made.access)
                                 : infc_access_strides(out, type, padded, made.strides);
    if (!readable)
        return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "step %s cannot read %s %s beside %s",
                         step->name, plan->buffers[buffer].name, infc_type_text(b->cx->arena, type),
                         infc_type_text(b->cx->arena, out));
    INFC_GROW(b->cx->arena, plan->extras, (size_t)plan->n_extras, b->cap_extras);
    plan->extras[plan->n_extras++] = made;
    *extra = step->n_extras++;
    return INFC_OK;
}

/* Node of a map's operand: a value of the group, or an extra. */
static infc_status operand_node(infc_builder *b, infc_plan_step *step, infc_op_kind root,
                                const infc_type *out, MlirValue value, int *node) {
    struct infc_body_value *v = body_find(b, value);
    if (!v)
        return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "step %s uses a value from outside", step->name);
    if (v->expr < 0) {
        infc_type type = infc_ir_type(b->ir, value);
        INFC_TRY(add_extra(b, step, root, out, &type, v->buffer, &v->extra));
        v->expr = add_expr(b, step, (infc_plan_expr){.kind = INFC_EXPR_EXTRA, .args = {v->extra, 0, 0}});
    }
    *node = v->expr;
    return INFC_OK;
}

/* Widening keeps a value in lanes, and a conversion that stands alone is the operand stored as another type: neither
 * is a node. */
static infc_status add_convert(infc_builder *b, infc_plan_step *step, infc_op_kind root,
                               const infc_type *out, MlirOperation op, const infc_op_desc *desc) {
    infc_plan_expr expr = {.kind = INFC_EXPR_CONVERT, .fn = (int)desc->out.dtype};
    INFC_TRY(operand_node(b, step, root, out, mlirOperationGetOperand(op, 0), &expr.args[0]));
    bool limits = desc->in[0].dtype == INFC_DTYPE_f32;
    const infc_plan_expr *of = &b->plan->exprs[step->first_expr + expr.args[0]];
    bool of_sum = of->kind == INFC_EXPR_ACC && desc->in[0].dtype == INFC_DTYPE_i32;
    int node = infc_desc_in_lanes(desc) && (limits || of_sum) ? add_expr(b, step, expr) : expr.args[0];
    body_add(b, mlirOperationGetResult(op, 0), node, -1);
    return INFC_OK;
}

static infc_status add_map(infc_builder *b, infc_plan_step *step, infc_op_kind root,
                           const infc_type *out, MlirOperation op) {
    infc_op_desc desc;
    infc_ir_describe(b->ir, op, &desc);
    infc_fn fn;
    if (desc.kind == INFC_OP_convert) return add_convert(b, step, root, out, op, &desc);
    infc_desc_fn(&desc, &fn);
    infc_plan_expr expr = {.kind = fn.integer ? INFC_EXPR_INTEGER : INFC_EXPR_FN, .fn = fn.index};
    for (int i = 0; i < desc.n_in; i++)
        INFC_TRY(operand_node(b, step, root, out, mlirOperationGetOperand(op, i), &expr.args[i]));
    body_add(b, mlirOperationGetResult(op, 0), add_expr(b, step, expr), -1);
    step->flops += (uint64_t)infc_type_count(out);
    return INFC_OK;
}

/* The kernel of step->call. */
static infc_status select_kernel(infc_builder *b, infc_plan_step *step, MlirOperation op,
                                 const infc_op_desc *desc) {
    infc_kernel_call most;
    infc_plan_kernel(b, step, &most);
    step->units = infc_call_units(&step->call);
    if (!step->kernel || step->units == INFC_DIM_BAD)
        return infc_fail(b->cx, INFC_ERR_UNSUPPORTED, infc_ir_loc(b->ir, mlirOperationGetLocation(op)),
                         "no %s kernel for %s", infk_kind_get(step->call.kind)->name,
                         infc_type_text(b->cx->arena, &desc->in[0]));
    step->flops = infk_flops(most.kind, &most.dims);
    if (infk_has_scratch(step->call.kind)) {
        infc_type type = {.dtype = INFC_DTYPE_f32, .rank = 1};
        type.dims[0] = infk_scratch(most.kind, &most.dims);
        step->scratch = infc_builder_buffer(
            b, INFC_PLACE_ARENA, -1, infc_arena_printf(b->cx->arena, "%s_scratch", step->name), &type);
        b->plan->buffers[step->scratch].tensor = NULL;
    }
    return INFC_OK;
}

static infc_status add_kernel(infc_builder *b, infc_plan_step *step, MlirOperation op,
                              const infc_op_desc *desc, bool alone) {
    if (!infc_op_get(desc->kind)->call)
        return infc_fail(b->cx, INFC_ERR_UNSUPPORTED, infc_ir_loc(b->ir, mlirOperationGetLocation(op)),
                         "%s is for constants only", infc_op_get(desc->kind)->name);
    infc_op_get(desc->kind)->call(desc, &step->call);
    INFC_TRY(select_kernel(b, step, op, desc));
    for (int i = 0; i < desc->n_in; i++)
        step->operands[step->n_operands++] = body_find(b, mlirOperationGetOperand(op, i))->buffer;
    int acc = alone ? -1 : add_expr(b, step, (infc_plan_expr){.kind = INFC_EXPR_ACC});
    body_add(b, mlirOperationGetResult(op, 0), acc, -1);
    return INFC_OK;
}

/* Dims that every operand walks without a gap become one; dims of extent 1 go. */
static void collapse_nest(infc_plan *plan, infc_plan_step *step) {
    infc_plan_extra *extras = plan->extras + step->first_extra;
    int rank = 0;
    for (int d = 0; d < step->nest_rank; d++) {
        bool joins = rank > 0;
        for (int i = 0; joins && i < step->n_extras; i++)
            joins = step->nest_dims[rank - 1] == 1 ||
                    extras[i].strides[rank - 1] == infc_dim_mul(extras[i].strides[d], step->nest_dims[d]);
        if (step->nest_dims[d] == 1 && rank > 0) continue;
        int to = joins ? rank - 1 : rank++;
        step->nest_dims[to] =
            joins ? infc_dim_mul(step->nest_dims[to], step->nest_dims[d]) : step->nest_dims[d];
        for (int i = 0; i < step->n_extras; i++) extras[i].strides[to] = extras[i].strides[d];
    }
    step->nest_rank = rank;
}

static void finish_nest(infc_plan *plan, infc_plan_step *step, const infc_type *out) {
    step->nest_rank = infc_access_space(out, step->nest_dims);
    collapse_nest(plan, step);
    step->units = 1;
    for (int i = 0; i + 1 < step->nest_rank; i++)
        step->units = infc_dim_mul(step->units, step->nest_dims[i]);
    if (step->nest_rank == 1) step->units = infc_dim_blocks(step->nest_dims[0], 16);
}

static void finish(infc_builder *b, infc_plan_step *step) {
    infc_plan *plan = b->plan;
    for (int i = 0; i < step->n_operands; i++)
        step->bytes += plan->buffers[step->operands[i]].bytes;
    for (int i = 0; i < step->n_extras; i++)
        step->bytes += plan->buffers[plan->extras[step->first_extra + i].buffer].bytes;
    for (int i = 0; i < step->n_stores; i++)
        step->bytes += plan->buffers[plan->stores[step->first_store + i].buffer].bytes;
    step->what = infc_plan_what(b, step);
    INFC_GROW(b->cx->arena, plan->steps, (size_t)plan->n_steps, b->cap_steps);
    plan->steps[plan->n_steps++] = *step;
}

static infc_plan_step begin(const infc_builder *b, const char *name, const char *node) {
    const infc_plan *plan = b->plan;
    return (infc_plan_step){.name = name,
                            .node = node ? node : "",
                            .scratch = -1,
                            .guard = b->guard,
                            .first_expr = plan->n_exprs,
                            .first_extra = plan->n_extras,
                            .first_store = plan->n_stores};
}

static infc_status bind_arguments(infc_builder *b, MlirOperation call, MlirBlock body) {
    b->n_body = 0;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); i++) {
        MlirValue value = mlirOperationGetOperand(call, i);
        int buffer;
        if (infc_builder_is_constant(b, value)) INFC_TRY(infc_builder_weight(b, value, &buffer));
        else if (!infc_builder_find(b, value, &buffer))
            return infc_fail(b->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "a call reads a value that no step computes");
        body_add(b, mlirBlockGetArgument(body, i), -1, buffer);
    }
    return INFC_OK;
}

/* A step per operand, each writing its part of the result. */
static infc_status add_concat(infc_builder *b, const char *name, const char *node, MlirOperation op,
                              const infc_op_desc *desc, int result) {
    for (int i = 0; i < desc->n_in; i++) {
        infc_plan_step step = begin(b, infc_arena_printf(b->cx->arena, "%s_%d", name, i), node);
        infc_call_concat_part(desc, i, &step.call);
        INFC_TRY(select_kernel(b, &step, op, desc));
        step.operands[step.n_operands++] = body_find(b, mlirOperationGetOperand(op, i))->buffer;
        add_store(b, &step, result, -1);
        finish(b, &step);
    }
    return INFC_OK;
}

infc_status infc_builder_step(infc_builder *b, MlirOperation call, const int *results) {
    MlirOperation callee = infc_ir_callee(b->ir, call), *ops;
    MlirBlock body = infc_ir_body(callee);
    INFC_TRY(bind_arguments(b, call, body));
    size_t n = infc_ir_ops(b->cx->arena, body, &ops);
    infc_loc loc = infc_ir_loc(b->ir, mlirOperationGetLocation(ops[0]));
    infc_plan_step step = begin(b, infc_ir_symbol(b->cx->arena, callee), loc.node);
    infc_op_desc desc;
    infc_ir_describe(b->ir, ops[0], &desc);
    if (infc_op_is_concat(desc.kind))
        return add_concat(b, step.name, loc.node, ops[0], &desc, results[0]);
    infc_type out = infc_ir_type(b->ir, mlirOperationGetResult(ops[0], 0));
    for (size_t i = 0; i + 1 < n; i++) {
        infc_op_kind kind = infc_ir_kind(b->ir, ops[i]);
        bool map = infc_op_is_map(kind);
        if (i == 0 && !map) INFC_TRY(add_kernel(b, &step, ops[0], &desc, n == 2));
        else INFC_TRY(add_map(b, &step, desc.kind, &out, ops[i]));
    }
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(ops[n - 1]); i++) {
        const struct infc_body_value *v = body_find(b, mlirOperationGetOperand(ops[n - 1], i));
        bool is_acc = step.kernel && mlirValueEqual(v->value, mlirOperationGetResult(ops[0], 0));
        add_store(b, &step, results[i], is_acc ? -1 : v->expr);
    }
    if (!step.kernel) finish_nest(b->plan, &step, &out);
    finish(b, &step);
    return INFC_OK;
}

infc_status infc_builder_copy(infc_builder *b, int from, int to) {
    const char *name = infc_arena_printf(b->cx->arena, "copy_%s", b->plan->buffers[to].name);
    infc_plan_step step = begin(b, name, "");
    infc_type type = b->plan->buffers[to].type, flat = {.dtype = type.dtype, .rank = 1};
    int extra;
    bool known = infc_dtype_is_integer(type.dtype) || type.dtype == INFC_DTYPE_bool || type.dtype == INFC_DTYPE_f32;
    if (!known)
        return infc_fail(b->cx, INFC_ERR_UNSUPPORTED, INFC_NO_LOC,
                         "output \"%s\" is only a copy of an input or a constant and is %s",
                         b->plan->buffers[to].tensor, infc_dtype_name(type.dtype));
    INFC_TRY(add_extra(b, &step, INFC_OP_map1, &type, &type, from, &extra));
    int node = add_expr(b, &step, (infc_plan_expr){.kind = INFC_EXPR_EXTRA, .args = {extra, 0, 0}});
    add_store(b, &step, to, node);
    flat.dims[0] = infc_dims_product(&type, 0, type.rank);
    b->plan->extras[step.first_extra].strides[0] = 1;
    finish_nest(b->plan, &step, &flat);
    finish(b, &step);
    return INFC_OK;
}
