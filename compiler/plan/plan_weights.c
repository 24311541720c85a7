/* plan_weights.c - constants of @main as weight buffers. A chain of one-operand ops over a weight (transpose,
 * relayout) becomes a recipe that the emitter runs when it writes the payload; anything wider is evaluated now. */
#include "plan_internal.h"
#include <stdio.h>

bool infc_builder_is_constant(const infc_builder *b, MlirValue value) {
    return infc_ptr_set_has(&b->constants, infc_ir_def(value).ptr);
}

/* Once per value: constants may share operands, so that walking them as a tree could take for ever. */
static infc_status evaluate(infc_builder *b, MlirValue value, infc_tensor *out) {
    const infc_weight *weight = infc_ir_weight_of(b->ir, value);
    if (weight) {
        *out = (infc_tensor){.type = weight->type, .data = (void *)(uintptr_t)weight->bytes}; /* only read */
        return INFC_OK;
    }
    char key[32];
    size_t at;
    snprintf(key, sizeof key, "%p", value.ptr);
    if (infc_map_find(&b->evaluated, key, &at)) {
        *out = b->tensors[at];
        return INFC_OK;
    }
    infc_op_desc desc;
    infc_tensor in[INFC_MAX_OPERANDS];
    MlirOperation def = infc_ir_def(value);
    infc_ir_describe(b->ir, def, &desc);
    for (int i = 0; i < desc.n_in; i++)
        INFC_TRY(evaluate(b, mlirOperationGetOperand(def, i), &in[i]));
    INFC_TRY(infc_eval_op(b->cx, b->cx->arena, &desc, in, out));
    INFC_GROW(b->cx->arena, b->tensors, b->n_tensors, b->cap_tensors);
    infc_map_put(&b->evaluated, key, b->n_tensors);
    b->tensors[b->n_tensors++] = *out;
    return INFC_OK;
}

/* The weight id where the recipe of `value` starts; its ops are appended to recipe_ops. */
static infc_status chain(infc_builder *b, MlirValue value, int *weight, const char **name) {
    infc_plan *plan = b->plan;
    infc_op_desc desc;
    MlirOperation def = infc_ir_def(value);
    infc_ir_describe(b->ir, def, &desc);
    if (desc.kind == INFC_OP_weight) {
        *weight = (int)infc_desc_int(&desc, "id");
        *name = infc_ir_weight_of(b->ir, value)->name;
        return INFC_OK;
    }
    if (desc.n_in != 1) {
        infc_tensor made;
        INFC_TRY(evaluate(b, value, &made));
        *name = infc_ir_name(b->ir, value);
        infc_weight folded = {.name = *name, .type = made.type, .bytes = made.data, .origin = "evaluated by the plan"};
        *weight = (int)infc_weights_add(&b->ir->weights, folded);
        return INFC_OK;
    }
    INFC_TRY(chain(b, mlirOperationGetOperand(def, 0), weight, name));
    INFC_GROW(b->cx->arena, plan->recipe_ops, (size_t)plan->n_recipe_ops, b->cap_recipe_ops);
    plan->recipe_ops[plan->n_recipe_ops++] = desc;
    return INFC_OK;
}

infc_status infc_builder_weight(infc_builder *b, MlirValue value, int *buffer) {
    infc_plan *plan = b->plan;
    if (infc_builder_find(b, value, buffer)) return INFC_OK;
    infc_plan_recipe recipe = {.first_op = plan->n_recipe_ops};
    const char *name = NULL;
    INFC_TRY(chain(b, value, &recipe.weight, &name));
    recipe.n_ops = plan->n_recipe_ops - recipe.first_op;
    infc_type type = infc_ir_type(b->ir, value);
    *buffer = infc_builder_buffer(b, INFC_PLACE_WEIGHT, plan->n_recipes, name ? name : "weight", &type);
    recipe.buffer = *buffer;
    INFC_GROW(b->cx->arena, plan->recipes, (size_t)plan->n_recipes, b->cap_recipes);
    plan->recipes[plan->n_recipes++] = recipe;
    infc_builder_bind(b, value, *buffer);
    return INFC_OK;
}
