/* eval_main.c - runs @main on the host. Values live until their last use; their memory is then used again, so
 * that a model needs a few tensors rather than all of them. */
#include "eval.h"
#include "guards.h"
#include "ir_mlir.h"
#include "op_rules.h"

typedef struct slot { /* of a value of the IR */
    infc_tensor tensor;
    int uses_left;
    bool owned; /* its memory came from take_memory */
} slot;

typedef struct block {
    void *data;
    uint64_t bytes;
} block;

typedef struct eval {
    infc_ir *ir;
    infc_arena *arena, *scratch; /* scratch: reset after each op */
    infc_ptr_map slots;          /* by value */
    block *free;                 /* blocks of dead values */
    size_t n_free, cap_free;
    infc_eval_seen seen;
    void *user;
    bool ended; /* by `seen` */
    infc_guards guards;
    int64_t sizes[INFC_MAX_SIZES];
} eval;

static slot *find(eval *e, MlirValue value) { return infc_ptr_map_find(&e->slots, value.ptr); }

static int count_uses(MlirValue value) {
    int n = 0;
    MlirOpOperand use = mlirValueGetFirstUse(value);
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) n++;
    return n;
}

static void put(eval *e, MlirValue value, infc_tensor tensor, bool owned) {
    void **at = infc_ptr_map_at(&e->slots, value.ptr);
    if (!*at) *at = INFC_NEW(e->arena, slot, 1);
    *(slot *)*at = (slot){tensor, count_uses(value), owned};
}

/* ---- memory ------------------------------------------------------------------------------------- */

enum { MAX_LOOKED_AT = 256 }; /* free blocks: graphs of thousands of small values end too */

/* The smallest free block that fits and is not four times too large, of those freed last, else a new one. */
static void *take_memory(eval *e, uint64_t bytes) {
    size_t best = e->n_free;
    for (size_t i = e->n_free > MAX_LOOKED_AT ? e->n_free - MAX_LOOKED_AT : 0; i < e->n_free; i++) {
        if (e->free[i].bytes < bytes || e->free[i].bytes / 4 > bytes) continue;
        if (best == e->n_free || e->free[i].bytes < e->free[best].bytes) best = i;
    }
    if (best == e->n_free)
        return infc_arena_alloc(e->arena, (size_t)bytes + INFC_OVER_READ, INFC_ALIGN);
    void *data = e->free[best].data;
    e->free[best] = e->free[--e->n_free];
    memset(data, 0, (size_t)bytes); /* pad lanes of c16: the same bits on every run */
    return data;
}

static void release(eval *e, MlirValue value) {
    slot *s = find(e, value);
    if (--s->uses_left > 0 || !s->owned) return;
    INFC_GROW(e->arena, e->free, e->n_free, e->cap_free);
    e->free[e->n_free++] = (block){s->tensor.data, infc_type_bytes(&s->tensor.type)};
    s->owned = false;
}

/* ---- ops ---------------------------------------------------------------------------------------- */

static void put_weight(eval *e, MlirOperation op) {
    const infc_weight *weight = infc_ir_weight_of(e->ir, mlirOperationGetResult(op, 0));
    infc_tensor borrowed = {weight->type, (void *)(uintptr_t)weight->bytes}; /* only read */
    put(e, mlirOperationGetResult(op, 0), borrowed, false);
}

static infc_status run_op(eval *e, MlirOperation op) {
    infc_op_desc desc;
    infc_tensor in[INFC_MAX_OPERANDS], made, kept;
    infc_ir_describe(e->ir, op, &desc);
    desc = infc_desc_at(&desc, e->sizes);
    for (int i = 0; i < desc.n_in; i++) in[i] = find(e, mlirOperationGetOperand(op, i))->tensor;
    const size_t mark = e->ir->cx->n_diags;
    infc_status status = infc_eval_op(e->ir->cx, e->scratch, &desc, in, &made);
    if (status != INFC_OK)
        infc_diags_place(e->ir->cx, mark, infc_ir_loc(e->ir, mlirOperationGetLocation(op)));
    if (status == INFC_OK) {
        uint64_t bytes = infc_type_bytes(&made.type);
        kept = (infc_tensor){made.type, take_memory(e, bytes)};
        if (bytes) memcpy(kept.data, made.data, (size_t)bytes);
    }
    infc_arena_reset(e->scratch);
    INFC_TRY(status);
    MlirValue result = mlirOperationGetResult(op, 0);
    put(e, result, kept, true);
    if (e->seen) e->ended = !e->seen(e->user, op, infc_ir_name(e->ir, result), &kept);
    return INFC_OK;
}

static infc_status run_body(eval *e, MlirBlock body);

static infc_status run_call(eval *e, MlirOperation call) {
    MlirBlock body = infc_ir_body(infc_ir_callee(e->ir, call));
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
        put(e, mlirBlockGetArgument(body, i), find(e, mlirOperationGetOperand(call, i))->tensor, false);
    INFC_TRY(run_body(e, body));
    if (e->ended) return INFC_OK;
    MlirOperation last = mlirBlockGetTerminator(body);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(last); i++) {
        slot *from = find(e, mlirOperationGetOperand(last, i));
        bool owned = from->owned;
        from->owned = false; /* the call's result owns it now */
        put(e, mlirOperationGetResult(call, i), from->tensor, owned);
    }
    return INFC_OK;
}

/* Whether the run needs what it guards. Conditions hold from the outermost inwards: an inner one has a value only
 * then. */
static bool is_needed(eval *e, int guard) {
    if (guard < 0) return true;
    const infc_guard *g = &e->guards.items[guard];
    return is_needed(e, g->parent) && (*(const uint8_t *)find(e, g->condition)->tensor.data != 0) == g->taken;
}

/* Values that nothing reads. */
static void put_nothing(eval *e, MlirOperation op) {
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        MlirValue result = mlirOperationGetResult(op, i);
        infc_type type = infc_ir_type(e->ir, result);
        put(e, result, (infc_tensor){.type = infc_type_at(&type, e->sizes)}, false);
    }
}

/* Up to, not including, func.return. */
static infc_status run_body(eval *e, MlirBlock body) {
    MlirOperation op = mlirBlockGetFirstOperation(body);
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        infc_op_kind kind = infc_ir_kind(e->ir, op);
        if (kind == INFC_OP_RETURN) break;
        if (kind == INFC_OP_weight) put_weight(e, op);
        else if (!is_needed(e, infc_guards_of(&e->guards, op))) put_nothing(e, op);
        else INFC_TRY(kind == INFC_OP_CALL ? run_call(e, op) : run_op(e, op));
        if (e->ended) return INFC_OK;
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
            release(e, mlirOperationGetOperand(op, i));
    }
    return INFC_OK;
}

/* What does not agree shows when types are compared. */
void infc_eval_main_sizes(const infc_ir *ir, const infc_tensor *inputs, int64_t out[INFC_MAX_SIZES]) {
    const infc_sizes *sizes = infc_ir_sizes(ir);
    for (int s = 0; s < infc_sizes_count(sizes); s++) out[s] = infc_sizes_at(sizes, s)->min;
    for (size_t i = 0; i < infc_ir_input_count(ir); i++) {
        infc_type want = infc_ir_type(ir, mlirBlockGetArgument(infc_ir_body(ir->main), (intptr_t)i));
        for (int axis = 0; axis < want.rank && axis < inputs[i].type.rank; axis++)
            for (int s = 0; s < infc_sizes_count(sizes); s++)
                if (infc_sizes_is(sizes, s, want.dims[axis])) out[s] = inputs[i].type.dims[axis];
    }
}

static infc_status run_main(eval *e, const infc_tensor *inputs, infc_tensor *outputs) {
    infc_ir *ir = e->ir;
    MlirBlock body = infc_ir_body(ir->main);
    infc_eval_main_sizes(ir, inputs, e->sizes);
    infc_guards_find(ir, e->arena, &e->guards);
    for (size_t i = 0; i < infc_ir_input_count(ir); i++) {
        MlirValue argument = mlirBlockGetArgument(body, (intptr_t)i);
        infc_type open = infc_ir_type(ir, argument), want = infc_type_at(&open, e->sizes);
        if (!infc_type_equal(&want, &inputs[i].type))
            return infc_fail(ir->cx, INFC_ERR_SPEC, INFC_NO_LOC, "input \"%s\" is %s, not %s",
                             infc_ir_input_name(ir, i), infc_type_text(ir->cx->arena, &want),
                             infc_type_text(ir->cx->arena, &inputs[i].type));
        put(e, argument, inputs[i], false);
    }
    INFC_TRY(run_body(e, body));
    if (e->ended) return INFC_OK;
    MlirOperation last = mlirBlockGetTerminator(body);
    for (size_t i = 0; i < infc_ir_output_count(ir); i++)
        outputs[i] =
            infc_tensor_aligned(e->arena, &find(e, mlirOperationGetOperand(last, (intptr_t)i))->tensor);
    return INFC_OK;
}

infc_status infc_eval_main(infc_ir *ir, infc_arena *arena, const infc_tensor *inputs,
                           infc_tensor *outputs, infc_eval_seen seen, void *user) {
    infc_arena *scratch = infc_arena_create_scratch(arena);
    eval e = {.ir = ir, .arena = arena, .scratch = scratch, .seen = seen, .user = user};
    e.slots.arena = arena;
    infc_status status = run_main(&e, inputs, outputs);
    infc_arena_destroy(&scratch);
    return status;
}

uint64_t infc_eval_main_work(const infc_ir *ir, const int64_t *sizes) {
    uint64_t work = 0;
    MlirOperation op = mlirBlockGetFirstOperation(infc_ir_body(ir->main));
    for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        infc_op_desc desc;
        if (infc_ir_kind(ir, op) >= INFC_N_OP_KINDS) continue;
        infc_ir_describe(ir, op, &desc);
        desc = infc_desc_at(&desc, sizes);
        uint64_t more = infc_eval_work(&desc);
        work = work > UINT64_MAX - more ? UINT64_MAX : work + more;
    }
    return work;
}
