/* plan_packed.c - weights that a packed file (docs/infw.md) has as the emitter would make them. A recipe is its own
 * name: only what was made in the very same way is taken. */
#include "../base/hash.h"
#include "plan_internal.h"

/* Whether a packed file has this weight in no other way: matrices, and what calibration chose. */
static bool packs(const infc_weight *weight) {
    return weight->origin == infc_origin_chosen ||
           (weight->origin == infc_origin_checkpoint && weight->type.rank > 1);
}

static void put_attr(const infc_attr *attr, infc_buf *out) {
    infc_buf_printf(out, " %s=", attr->name);
    switch (attr->kind) {
    case INFC_ATTR_I64: infc_buf_printf(out, "%lld", (long long)attr->i); break;
    case INFC_ATTR_I64S:
        for (int i = 0; i < attr->n_ints; i++)
            infc_buf_printf(out, "%lld,", (long long)attr->ints[i]);
        break;
    case INFC_ATTR_STR: infc_buf_puts(out, attr->str); break;
    case INFC_ATTR_LAYOUT: infc_buf_puts(out, infc_layout_name(attr->layout)); break;
    }
}

void infc_plan_recipe_text(infc_arena *arena, const infc_weights *weights, const infc_op_desc *ops,
                           int n_ops, infc_buf *out) {
    for (int i = 0; i < n_ops; i++) {
        const infc_op_desc *op = &ops[i];
        infc_buf_puts(out, infc_op_get(op->kind)->name);
        if (op->kind == INFC_OP_weight) {
            const infc_weight *weight = infc_weights_get(weights, infc_desc_int(op, "id"));
            infc_buf_printf(out, " %s (%s)", weight->name, weight->origin);
        } else {
            for (int k = 0; k < op->n_attrs; k++) put_attr(&op->attrs[k], out);
        }
        infc_buf_printf(out, " -> %s\n", infc_type_text(arena, &op->out));
    }
}

const char *infc_plan_recipe_key(infc_arena *arena, const infc_weights *weights,
                                 const infc_op_desc *ops, int n_ops) {
    infc_buf text = {.arena = arena};
    const infc_weight *first = NULL;
    bool any = false;
    for (int i = 0; i < n_ops; i++) {
        if (ops[i].kind != INFC_OP_weight) continue;
        const infc_weight *weight = infc_weights_get(weights, infc_desc_int(&ops[i], "id"));
        if (!first) first = weight;
        any |= packs(weight);
    }
    if (!any) return NULL;
    infc_plan_recipe_text(arena, weights, ops, n_ops, &text);
    return infc_arena_printf(arena, "%.200s.%016llx", first->name,
                             (unsigned long long)infc_hash64(infc_buf_bytes(&text)));
}

infc_status infc_builder_find_packed(infc_builder *b, const infc_type *type, infc_plan_recipe *recipe) {
    const infc_weights *weights = &b->ir->weights;
    const infc_packed *packed = weights->packed;
    size_t at;
    if (!packed) return INFC_OK;
    const char *key =
        infc_plan_recipe_key(b->cx->arena, weights, &b->plan->recipe_ops[recipe->first_op], recipe->n_ops);
    if (!key) return INFC_OK;
    const infc_loc loc = {.file = packed->file};
    if (!infc_map_find(&packed->index, key, &at))
        return infc_fail(
            b->cx, INFC_ERR_UNSUPPORTED, loc,
            "it has no weight \"%s\" as this spec or command needs it: it holds %s. Leave out "
            "precision.weights, rules and calibration, or take the model that it was packed from "
            "(infc "
            "eval: --against MODEL)",
            key, packed->holds);
    recipe->packed = packed->items[at];
    if (recipe->packed.len == infc_type_bytes(type)) return INFC_OK;
    return infc_fail(b->cx, INFC_ERR_MODEL, loc, "weight \"%s\" has %zu bytes, but %s takes %llu: it is damaged",
                     key, recipe->packed.len, infc_type_text(b->cx->arena, type),
                     (unsigned long long)infc_type_bytes(type));
}
