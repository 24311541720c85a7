/* guards.c - one walk from the end. What uses a value decides when it is needed: a choose needs one side where its
 * condition says so, an op that works in place (infc_op_is_adapted) by its last operand, anything else whenever it runs
 * itself. Guards form a tree; a value is needed where the nearest common ancestor of its uses holds. */
#include "guards.h"
#include "ir_mlir.h"
#include "op_rules.h"

typedef struct finder {
    const infc_ir *ir;
    infc_arena *arena;
    infc_guards *guards;
    infc_ptr_map places; /* op -> its place in the block + 1, as a pointer */
} finder;

enum { ALWAYS = -1, UNUSED = -2 };

static uintptr_t place_of(const finder *f, MlirOperation op) {
    return (uintptr_t)infc_ptr_map_find(&f->places, op.ptr);
}

static int guard_add(finder *f, int parent, MlirValue condition, bool taken) {
    infc_guards *g = f->guards;
    const char *key = infc_arena_printf(f->arena, "%d %p %d", parent, condition.ptr, taken);
    size_t known;
    if (infc_map_find(&g->known, key, &known)) return (int)known;
    INFC_GROW(f->arena, g->items, g->n, g->cap);
    int depth = parent < 0 ? 1 : g->items[parent].depth + 1;
    g->items[g->n] = (infc_guard){parent, depth, condition, taken};
    infc_map_put(&g->known, key, g->n);
    return (int)g->n++;
}

static int meet(const infc_guards *g, int a, int b) {
    if (a == UNUSED || b == UNUSED) return a == UNUSED ? b : a;
    while (a != b) {
        int depth_a = a < 0 ? 0 : g->items[a].depth, depth_b = b < 0 ? 0 : g->items[b].depth;
        if (depth_a >= depth_b) a = g->items[a].parent;
        if (depth_b >= depth_a) b = g->items[b].parent;
    }
    return a;
}

/* The op that `op` is, or the first of the function that it calls. */
static MlirOperation first_of(const finder *f, MlirOperation op) {
    if (infc_ir_kind(f->ir, op) != INFC_OP_CALL) return op;
    return mlirBlockGetFirstOperation(infc_ir_body(infc_ir_callee(f->ir, op)));
}

/* Operand i of the first op as @main has it. */
static MlirValue operand_of(MlirOperation op, MlirOperation first, int i) {
    MlirValue value = mlirOperationGetOperand(first, i);
    if (mlirOperationEqual(op, first) || !mlirValueIsABlockArgument(value)) return value;
    return mlirOperationGetOperand(op, mlirBlockArgumentGetArgNumber(value));
}

/* A choose, or null. */
static MlirOperation choose_of(const finder *f, MlirOperation op) {
    MlirOperation first = first_of(f, op);
    return infc_ir_kind(f->ir, first) == INFC_OP_choose ? first : (MlirOperation){NULL};
}

/* An op that does something only where its last operand is true, or null. */
static MlirOperation adapted_of(const finder *f, MlirOperation op) {
    MlirOperation first = first_of(f, op);
    return infc_op_is_adapted(infc_ir_kind(f->ir, first)) ? first : (MlirOperation){NULL};
}

/* Such an op is itself guarded by that operand, and so is what it reads; of adapter_gate, the first operand by the
 * opposite. */
static int adapted_guard(finder *f, MlirOperation op, MlirOperation adapted, int outer) {
    const int last = (int)mlirOperationGetNumOperands(adapted) - 1;
    return guard_add(f, outer, operand_of(op, adapted, last), true);
}

static int needed_by_adapted(finder *f, MlirValue value, MlirOperation user, MlirOperation adapted) {
    const int own = infc_guards_of(f->guards, user), outer = own < 0 ? own : f->guards->items[own].parent;
    const int last = (int)mlirOperationGetNumOperands(adapted) - 1;
    const MlirValue condition = operand_of(user, adapted, last);
    if (mlirValueEqual(value, condition)) return outer;
    if (!mlirValueEqual(value, operand_of(user, adapted, 0))) return own;
    if (infc_ir_kind(f->ir, adapted) != INFC_OP_adapter_gate) return outer;
    return guard_add(f, outer, condition, false);
}

static int needed_by(finder *f, MlirValue value, MlirOperation user) {
    int own = infc_guards_of(f->guards, user), guard = UNUSED;
    MlirOperation choose = choose_of(f, user), adapted = adapted_of(f, user);
    if (!mlirOperationIsNull(adapted)) return needed_by_adapted(f, value, user, adapted);
    if (mlirOperationIsNull(choose)) return own;
    MlirValue condition = operand_of(user, choose, 1);
    if (mlirValueEqual(value, condition)) return own;
    for (int i = 0; i < 3; i += 2)
        if (mlirValueEqual(value, operand_of(user, choose, i)))
            guard = meet(f->guards, guard, guard_add(f, own, condition, i == 0));
    return guard == UNUSED ? own : guard;
}

/* Only conditions that are known before the op can guard it. */
static int known_before(const finder *f, int guard, MlirOperation op) {
    int result = guard;
    for (int g = guard; g >= 0; g = f->guards->items[g].parent) {
        MlirOperation def = infc_ir_def(f->guards->items[g].condition);
        if (!mlirOperationIsNull(def) && place_of(f, def) >= place_of(f, op))
            result = f->guards->items[g].parent;
    }
    return result;
}

static int guard_of(finder *f, MlirOperation op) {
    int guard = UNUSED;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
        MlirValue value = mlirOperationGetResult(op, i);
        MlirOpOperand use = mlirValueGetFirstUse(value);
        for (; !mlirOpOperandIsNull(use) && guard != ALWAYS; use = mlirOpOperandGetNextUse(use))
            guard = meet(f->guards, guard, needed_by(f, value, mlirOpOperandGetOwner(use)));
    }
    MlirOperation adapted = adapted_of(f, op);
    if (guard < 0) guard = ALWAYS;
    if (!mlirOperationIsNull(adapted)) guard = adapted_guard(f, op, adapted, guard);
    return guard < 0 ? ALWAYS : known_before(f, guard, op);
}

void infc_guards_find(const infc_ir *ir, infc_arena *arena, infc_guards *out) {
    MlirOperation *ops;
    finder f = {.ir = ir, .arena = arena, .guards = out, .places = {.arena = arena}};
    *out = (infc_guards){.known = {.arena = arena}, .of = {.arena = arena}};
    size_t n = infc_ir_ops(arena, infc_ir_body(ir->main), &ops);
    for (size_t i = 0; i < n; i++)
        *infc_ptr_map_at(&f.places, ops[i].ptr) = (void *)(uintptr_t)(i + 1);
    for (size_t i = n; i-- > 0;) {
        int guard = guard_of(&f, ops[i]);
        if (guard >= 0) *infc_ptr_map_at(&out->of, ops[i].ptr) = (void *)(uintptr_t)(guard + 1);
    }
}

int infc_guards_of(const infc_guards *guards, MlirOperation op) {
    return (int)(uintptr_t)infc_ptr_map_find(&guards->of, op.ptr) - 1;
}
