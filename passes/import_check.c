/* import_check.c - what the front end must have made, said in the model's terms: names are unique, no tensor that is
 * computed on is empty, inputs are used, outputs depend on inputs. Changes nothing. */
#include "../compiler/base/map.h"
#include "pass.h"
#include <stdio.h>

typedef struct check {
    infc_ir *ir;
    infc_map names; /* tensors of the model */
    infc_map live;  /* ops that depend on an input, by address */
} check;

static infc_loc loc_of(const check *c, MlirOperation op) {
    return infc_ir_loc(c->ir, mlirOperationGetLocation(op));
}

/* `tensor "x"`; one without a name of its own is a step on the way to an output of the node. */
static const char *value_text(const check *c, MlirValue value, const char *name) {
    infc_arena *arena = c->ir->cx->arena;
    if (name) return infc_arena_printf(arena, "tensor \"%s\"", name);
    if (!mlirValueIsAOpResult(value)) return "an input";
    return infc_arena_printf(arena, "output %d", (int)mlirOpResultGetResultNumber(value));
}

/* Nothing computes on a constant that @main returns and no other op takes: it may be empty. */
static bool is_answer(const check *c, MlirValue value) {
    if (!infc_ir_weight_of(c->ir, value)) return false;
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (infc_ir_kind(c->ir, mlirOpOperandGetOwner(use)) < INFC_N_OP_KINDS) return false;
    return true;
}

static void check_value(check *c, MlirValue value, infc_loc loc) {
    const char *name = infc_ir_name(c->ir, value);
    infc_type type = infc_ir_type(c->ir, value);
    if (infc_type_count(&type) == 0 && !is_answer(c, value))
        infc_fail(c->ir->cx, INFC_ERR_UNSUPPORTED, loc, "%s, %s, has no elements; empty tensors are not supported",
                  value_text(c, value, name), infc_type_text(c->ir->cx->arena, &type));
    if (!name) return;
    if (infc_map_find(&c->names, name, NULL))
        infc_fail(c->ir->cx, INFC_ERR_MODEL, loc, "another tensor is named \"%s\" too", name);
    infc_map_put(&c->names, name, 1);
}

static void key_of(MlirOperation op, char key[32]) { (void)snprintf(key, 32, "%p", op.ptr); }

static bool is_live(const check *c, MlirValue value) {
    char key[32];
    MlirOperation def = infc_ir_def(value);
    if (mlirOperationIsNull(def)) return true;
    key_of(def, key);
    return infc_map_find(&c->live, key, NULL);
}

static void mark_live(check *c, MlirOperation op) {
    char key[32];
    key_of(op, key);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (is_live(c, mlirOperationGetOperand(op, i))) {
            infc_map_put(&c->live, key, 1);
            return;
        }
}

static void check_inputs(check *c, MlirBlock body) {
    infc_loc loc = {.file = c->ir->source};
    for (size_t i = 0; i < infc_ir_input_count(c->ir); i++) {
        MlirValue input = mlirBlockGetArgument(body, (intptr_t)i);
        check_value(c, input, loc);
        if (infc_ir_uses(input) == 0)
            infc_warn(c->ir->cx, loc, "input \"%s\" is not used", infc_ir_input_name(c->ir, i));
    }
}

static void check_outputs(check *c, MlirOperation last) {
    infc_loc loc = {.file = c->ir->source};
    infc_map seen = {.arena = c->names.arena};
    if (infc_ir_output_count(c->ir) == 0)
        infc_fail(c->ir->cx, INFC_ERR_MODEL, loc, "the model has no outputs");
    for (size_t i = 0; i < infc_ir_output_count(c->ir); i++) {
        const char *name = infc_ir_output_name(c->ir, i);
        if (infc_map_find(&seen, name, NULL))
            infc_fail(c->ir->cx, INFC_ERR_MODEL, loc, "two outputs are named \"%s\"", name);
        infc_map_put(&seen, name, 1);
        if (!is_live(c, mlirOperationGetOperand(last, (intptr_t)i)))
            infc_warn(c->ir->cx, loc, "output \"%s\" is the same for all inputs%s", name,
                      infc_sizes_count(infc_ir_sizes(c->ir)) ? " of the same sizes" : "");
    }
}

infc_status infc_pass_import_check(infc_pass_cx *pass) {
    infc_ir *ir = pass->ir;
    check c = {.ir = ir, .names = {.arena = pass->scratch}, .live = {.arena = pass->scratch}};
    size_t mark = ir->cx->n_diags;
    MlirBlock body = infc_ir_body(ir->main);
    check_inputs(&c, body);
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, body, &ops);
    for (size_t i = 0; i < n; i++) {
        if (infc_ir_kind(ir, ops[i]) >= INFC_N_OP_KINDS) continue;
        check_value(&c, mlirOperationGetResult(ops[i], 0), loc_of(&c, ops[i]));
        mark_live(&c, ops[i]);
    }
    check_outputs(&c, ops[n - 1]);
    return infc_diags_status(ir->cx, mark);
}
