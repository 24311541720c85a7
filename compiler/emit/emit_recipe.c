/* emit_recipe.c - what a recipe makes of its weights. Each value is on an arena of its own, which goes as soon as the
 * value has been used, so that no more is held than an op reads and writes. */
#include "../base/file.h"
#include "../ir/eval.h"
#include "emit_unit.h"
#include <math.h>
#include <string.h>

enum { MAX_STACK = 16 };

static const infc_op_desc *ops_of(const infc_plan *plan, const infc_plan_recipe *recipe) {
    return &plan->recipe_ops[recipe->first_op];
}

/* Whether row i of what the ops make follows from row i of the weight alone; the last of them is left out. */
static bool row_by_row(const infc_op_desc *ops, int n_ops) {
    for (int i = 1; i + 1 < n_ops; i++)
        if (ops[i].kind != INFC_OP_widen && ops[i].kind != INFC_OP_choose_i4) return false;
    return true;
}

/* A matrix that lies as [n][k], which op `at` turns. */
static bool is_turned(const infc_op_desc *ops, int at) {
    return ops[0].out.rank == 2 && ops[at].kind == INFC_OP_transpose &&
           infc_desc_attr(&ops[at], "perm")->ints[0] == 1;
}

static bool by_rows(const infc_op_desc *ops, int n_ops) {
    const infc_op_desc *last = &ops[n_ops - 1];
    const infc_type *from = &ops[0].out;
    if (last->kind == INFC_OP_widen) return row_by_row(ops, n_ops);
    if (last->kind == INFC_OP_pack_i8 || last->kind == INFC_OP_pack_i4 || last->kind == INFC_OP_pack_keep)
        return infc_desc_int(last, "parts") == 1 && row_by_row(ops, n_ops);
    if (last->kind != INFC_OP_relayout || from->layout != INFC_LAYOUT_plain ||
        infc_desc_attr(last, "layout")->layout != INFC_LAYOUT_panel)
        return false;
    const bool converts = n_ops == 4 && (ops[1].kind == INFC_OP_widen || ops[1].kind == INFC_OP_narrow);
    return n_ops == 2 ? from->rank == 4 : (n_ops == 3 || converts) && is_turned(ops, n_ops - 2);
}

int64_t infc_emit_recipe_rows(const infc_plan *plan, const infc_plan_recipe *recipe, int64_t *step) {
    enum { PANEL = 16, PART = 1 << 20 };
    const infc_op_desc *ops = ops_of(plan, recipe);
    const infc_type *from = &ops[0].out;
    const int64_t rows = recipe->n_weights == 1 && from->rank && from->dims[0] > 0 ? from->dims[0] : 1;
    *step = rows;
    if (recipe->n_weights != 1 || from->rank == 0 || recipe->n_ops < 2 || !by_rows(ops, recipe->n_ops))
        return rows;
    const int64_t panel_bytes = (int64_t)infc_type_bytes(from) / rows * PANEL;
    *step = PANEL * (panel_bytes > 0 && panel_bytes < PART ? PART / panel_bytes : 1);
    return rows;
}

void infc_emit_made_free(infc_emit_unit *u, infc_emit_made *made) {
    if (made->arena) infc_arena_destroy(&made->arena);
    else if (made->tensor.data)
        infc_file_forget(u->cx, made->tensor.data, (size_t)infc_type_bytes(&made->tensor.type));
    *made = (infc_emit_made){0};
}

/* Whether no element of this weight, borrowed from a file at any address, is NaN or infinite. */
static bool all_finite(const infc_type *type, const void *data, int64_t n) {
    uint32_t bad = 0;
    if (type->dtype == INFC_DTYPE_f32)
        for (int64_t i = 0; i < n; i++) {
            uint32_t bits;
            memcpy(&bits, (const char *)data + i * (int64_t)sizeof bits, sizeof bits);
            bad |= (bits & 0x7f800000u) == 0x7f800000u;
        }
    else if (infc_dtype_is_half(type->dtype)) {
        const uint32_t exponent = type->dtype == INFC_DTYPE_f16 ? 0x7c00u : 0x7f80u;
        for (int64_t i = 0; i < n; i++) {
            uint16_t bits;
            memcpy(&bits, (const char *)data + i * (int64_t)sizeof bits, sizeof bits);
            bad |= (bits & exponent) == exponent;
        }
    }
    return !bad;
}

/* The file of a weight: a checkpoint may have many. */
static infc_loc stored_in(const infc_emit_unit *u, const infc_weight *weight) {
    return (infc_loc){.file = weight && weight->file ? weight->file : u->plan->source};
}

static infc_status not_finite(infc_emit_unit *u, infc_loc loc, const char *weight, const char *so) {
    return infc_fail(u->cx, INFC_ERR_MODEL, loc,
                     "weight \"%s\" has an element that is no finite number; %s", weight, so);
}

/* What is kept as GGUF stores it: the format of its blocks; 0 of other weights. `op`: within a recipe's ops. */
static int64_t kept_format(const infc_op_desc *op, int n_after) {
    for (int i = 1; i <= n_after && op->out.dtype == INFC_DTYPE_u8; i++)
        if (op[i].kind == INFC_OP_pack_keep) return infc_desc_int(&op[i], "format");
    return 0;
}

/* The weight that `op` names, `n_after` ops before the recipe's end: rows [row, row + n) of it where the recipe is made
 * in parts. */
static infc_status take_weight(infc_emit_unit *u, const infc_op_desc *op, int n_after, bool parts,
                               int64_t row, int64_t n, infc_emit_made *out) {
    const infc_weight *weight = infc_weights_get(u->plan->weights, infc_desc_int(op, "id"));
    if (!weight)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "a recipe starts from nothing");
    out->tensor = (infc_tensor){.type = weight->type, .data = (void *)(uintptr_t)weight->bytes}; /* only read */
    if (parts) {
        const uint64_t row_bytes = infc_type_bytes(&weight->type) / (uint64_t)weight->type.dims[0];
        out->tensor.data = (char *)out->tensor.data + (uint64_t)row * row_bytes;
        out->tensor.type.dims[0] = n;
    }
    const infc_type *type = &out->tensor.type;
    const int64_t kept = kept_format(op, n_after);
    const bool good = kept ? infc_keep_is_finite(kept, out->tensor.data, (int64_t)infc_type_bytes(type))
                           : all_finite(type, out->tensor.data, infc_type_count(type));
    if (!u->plan->llm || good) return INFC_OK;
    return not_finite(u, stored_in(u, weight), weight->name, "a language model with it would give no answers");
}

/* What becomes f16 must be in its range; of those beyond 65504, what is nearer to it than to 65536 becomes it. */
static infc_status check_range(infc_emit_unit *u, infc_loc loc, const char *name, const infc_tensor *in) {
    for (int64_t i = 0, n = infc_type_count(&in->type); i < n; i++) {
        float value;
        memcpy(&value, (const char *)in->data + i * (int64_t)sizeof value, sizeof value);
        if (fabsf(value) < 65520.0f) continue;
        return infc_fail(u->cx, INFC_ERR_MODEL, loc,
                         "weight \"%s\" has an element of %g, beyond what f16 holds (65504); store "
                         "it as bf16 or f32: "
                         "precision.weights, or a rule of precision.rules",
                         name, (double)value);
    }
    return INFC_OK;
}

/* What becomes integers must be numbers. */
static infc_status check_finite(infc_emit_unit *u, const infc_plan_recipe *recipe,
                                const infc_op_desc *op, const infc_tensor *in) {
    const infc_plan_buffer *buffer = &u->plan->buffers[recipe->buffer];
    const char *name = buffer->tensor ? buffer->tensor : buffer->name;
    const infc_op_desc *first = ops_of(u->plan, recipe);
    const infc_loc loc =
        stored_in(u, infc_weights_get(u->plan->weights, infc_desc_int(first, "id")));
    if (op->kind == INFC_OP_narrow && op->out.dtype == INFC_DTYPE_f16)
        return check_range(u, loc, name, in);
    if (op->kind != INFC_OP_pack_i8 && op->kind != INFC_OP_choose_i4) return INFC_OK;
    for (int64_t i = 0, n = infc_type_count(&in->type); i < n; i++) {
        float value; /* borrowed from a file at any address */
        memcpy(&value, (const char *)in->data + i * (int64_t)sizeof value, sizeof value);
        if (isfinite(value)) continue;
        return not_finite(u, loc, name, "it cannot become integers");
    }
    return INFC_OK;
}

static infc_status apply(infc_emit_unit *u, const infc_op_desc *op, infc_emit_made *operands,
                         infc_emit_made *out) {
    infc_op_desc desc = *op;
    infc_tensor in[INFC_MAX_OPERANDS];
    for (int i = 0; i < desc.n_in; i++) {
        in[i] = operands[i].tensor;
        desc.in[i] = in[i].type;
    }
    infc_emit_made made = {.arena = infc_arena_create_scratch(u->cx->arena)};
    const infc_status status = infc_eval_op(u->cx, made.arena, &desc, in, &made.tensor);
    for (int i = 0; i < desc.n_in; i++) infc_emit_made_free(u, &operands[i]);
    *out = made;
    return status;
}

/* What transpose and relayout make of 4-byte elements, in one step: in most classifiers that is most of the weights. */
static bool turns_to_panels(const infc_op_desc *ops, int n_ops) {
    return n_ops == 3 && by_rows(ops, n_ops) && ops[2].kind == INFC_OP_relayout &&
           infc_dtype_bytes(ops[0].out.dtype) == 4;
}

static infc_status turn_to_panels(infc_emit_unit *u, const infc_tensor *from, infc_emit_made *out) {
    enum { PANEL = 16 };
    const int64_t n = from->type.dims[0], k = from->type.dims[1];
    const infc_type type = {from->type.dtype, INFC_LAYOUT_panel, 2, {k, n}};
    *out = (infc_emit_made){.arena = infc_arena_create_scratch(u->cx->arena)};
    const infc_tensor rows = infc_tensor_aligned(out->arena, from);
    INFC_TRY(infc_tensor_create(u->cx, out->arena, &type, &out->tensor));
    const uint32_t *x = rows.data;
    uint32_t *y = out->tensor.data;
    for (int64_t first = 0; first < n; first += PANEL, x += PANEL * k)
        for (int64_t i = 0; i < k; i++, y += PANEL)
            for (int64_t lane = 0; lane < PANEL; lane++)
                y[lane] = first + lane < n ? x[lane * k + i] : 0;
    return INFC_OK;
}

infc_status infc_emit_recipe(infc_emit_unit *u, const infc_plan_recipe *recipe, int64_t row,
                             int64_t n, infc_emit_made *out) {
    const infc_op_desc *ops = ops_of(u->plan, recipe);
    int64_t step;
    const bool parts = infc_emit_recipe_rows(u->plan, recipe, &step) > step;
    infc_emit_made stack[MAX_STACK];
    int depth = 0;
    infc_status status = INFC_OK;
    if (turns_to_panels(ops, recipe->n_ops)) {
        infc_emit_made weight = {.arena = NULL};
        INFC_TRY(take_weight(u, &ops[0], recipe->n_ops - 1, parts, row, n, &weight));
        status = turn_to_panels(u, &weight.tensor, out);
        infc_emit_made_free(u, &weight);
        return status;
    }
    for (int i = 0; i < recipe->n_ops && status == INFC_OK; i++) {
        const int n_in = ops[i].n_in;
        if (depth - n_in < 0 || depth - n_in >= MAX_STACK) {
            status = infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "a recipe does not fit its stack");
            break;
        }
        depth -= n_in;
        if (n_in == 0) stack[depth] = (infc_emit_made){.arena = NULL};
        if (ops[i].kind == INFC_OP_weight)
            status = take_weight(u, &ops[i], recipe->n_ops - 1 - i, parts, row, n, &stack[depth]);
        else {
            status = check_finite(u, recipe, &ops[i], &stack[depth].tensor);
            if (status == INFC_OK) status = apply(u, &ops[i], &stack[depth], &stack[depth]);
        }
        depth++;
    }
    for (int i = depth; i-- > 0 && (status != INFC_OK || i > 0);) infc_emit_made_free(u, &stack[i]);
    if (status == INFC_OK) *out = stack[0];
    return status;
}
