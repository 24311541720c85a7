/* plan_weights.c - constants of @main as weight buffers. A few ops of one operand over weights (transpose,
 * relayout), or that put several one after the other, become a recipe that the emitter runs when it writes the payload;
 * anything wider is evaluated now. */
#include "../ir/op_rules.h"
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

/* How many ops a recipe for `value` has; 0 when it has more than `most`, or takes several values in another way than
 * one after the other, or as rows of a table. */
static int recipe_length(infc_builder *b, MlirValue value, int most) {
    infc_op_desc desc;
    MlirOperation def = infc_ir_def(value);
    infc_ir_describe(b->ir, def, &desc);
    const bool one_after_another = infc_op_is_concat(desc.kind) || desc.kind == INFC_OP_embed_keep;
    if (most < 1 || (desc.n_in > 1 && !one_after_another)) return 0;
    int n = 1;
    for (int i = 0; i < desc.n_in; i++) {
        const int more = recipe_length(b, mlirOperationGetOperand(def, i), most - n);
        if (more == 0) return 0;
        n += more;
    }
    return n;
}

static void add_recipe_op(infc_builder *b, infc_plan_recipe *recipe, const infc_op_desc *desc) {
    infc_plan *plan = b->plan;
    INFC_GROW(b->cx->arena, plan->recipe_ops, (size_t)plan->n_recipe_ops, b->cap_recipe_ops);
    plan->recipe_ops[plan->n_recipe_ops++] = *desc;
    recipe->n_ops++;
    recipe->n_weights += desc->kind == INFC_OP_weight;
}

/* A value that is too much for a recipe is made now, and is a weight. */
static infc_status add_evaluated(infc_builder *b, MlirValue value, infc_plan_recipe *recipe, const char **name) {
    infc_tensor made;
    INFC_TRY(evaluate(b, value, &made));
    *name = infc_ir_name(b->ir, value);
    infc_weight folded = {.name = *name, .type = made.type, .bytes = made.data, .origin = "evaluated by the plan"};
    infc_op_desc desc = {.kind = INFC_OP_weight, .n_attrs = 1, .out = made.type};
    desc.attrs[0] = infc_attr_int("id", infc_weights_add(&b->ir->weights, folded));
    add_recipe_op(b, recipe, &desc);
    return INFC_OK;
}

enum { MAX_RECIPE = 64 };

/* Appends what makes `value`; *name: that of the first weight. */
static infc_status add_recipe(infc_builder *b, MlirValue value, infc_plan_recipe *recipe, const char **name) {
    infc_op_desc desc;
    MlirOperation def = infc_ir_def(value);
    infc_ir_describe(b->ir, def, &desc);
    if (desc.kind == INFC_OP_weight) *name = infc_ir_weight_of(b->ir, value)->name;
    else if (desc.n_in != 1 && recipe_length(b, value, MAX_RECIPE) == 0)
        return add_evaluated(b, value, recipe, name);
    for (int i = 0; i < desc.n_in; i++) {
        const char *of_operand = NULL;
        INFC_TRY(add_recipe(b, mlirOperationGetOperand(def, i), recipe, &of_operand));
        if (i == 0) *name = of_operand;
    }
    add_recipe_op(b, recipe, &desc);
    return INFC_OK;
}

infc_status infc_builder_weight(infc_builder *b, MlirValue value, int *buffer) {
    infc_plan *plan = b->plan;
    if (infc_builder_find(b, value, buffer)) return INFC_OK;
    infc_plan_recipe recipe = {.first_op = plan->n_recipe_ops};
    const char *name = NULL;
    INFC_TRY(add_recipe(b, value, &recipe, &name));
    infc_type type = infc_ir_type(b->ir, value);
    INFC_TRY(infc_builder_find_packed(b, &type, &recipe));
    *buffer = infc_builder_buffer(b, INFC_PLACE_WEIGHT, plan->n_recipes, name ? name : "weight", &type);
    recipe.buffer = *buffer;
    INFC_GROW(b->cx->arena, plan->recipes, (size_t)plan->n_recipes, b->cap_recipes);
    plan->recipes[plan->n_recipes++] = recipe;
    infc_builder_bind(b, value, *buffer);
    return INFC_OK;
}
