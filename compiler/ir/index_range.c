/* index_range.c - one walk from the input along what keeps its values or adds a constant to them, to the gathers and
 * scatters that take them for indices. What goes another way, such as a product, is not followed. */
#include "index_range.h"
#include "ir_mlir.h"
#include "op_rules.h"
#include <string.h>

typedef struct walk {
    const infc_ir *ir;
    const int64_t *sizes;
    int64_t least, most; /* that all of them allow */
    int depth, n_uses;
} walk;

enum { DEEPEST = 64, MOST_USES = 10000 };

static void follow(walk *w, MlirValue value, int64_t added);

static void limit(walk *w, int64_t extent, int64_t added) {
    const int64_t most = (w->sizes ? infc_dim_at(extent, w->sizes) : infc_dim_least(extent)) - 1 - added;
    if (-added > w->least) w->least = -added;
    if (most < w->most) w->most = most;
}

/* The one value of a constant. */
static bool constant(const walk *w, MlirValue value, int64_t *out) {
    const infc_weight *weight = infc_ir_weight_of(w->ir, value);
    if (!weight || !infc_dtype_is_integer(weight->type.dtype) || infc_type_count(&weight->type) != 1)
        return false;
    *out = infc_weight_i64(weight, 0);
    return *out > -(INT64_C(1) << 40) && *out < INT64_C(1) << 40;
}

static void follow_map(walk *w, MlirOperation op, const infc_op_desc *desc, int operand, int64_t added) {
    const char *fn = infc_desc_str(desc, "fn");
    const MlirValue y = mlirOperationGetResult(op, 0);
    int64_t more = 0;
    if (strcmp(fn, "pick") == 0 && operand == 2)
        follow(w, y, added); /* operand 1 is what negative ones become */
    if (desc->n_in != 2 || !constant(w, mlirOperationGetOperand(op, 1 - operand), &more)) return;
    if (strcmp(fn, "less_equal") == 0 && operand == 1 && more >= 1)
        limit(w, more, added); /* how imports check */
    if (strcmp(fn, "add") == 0) follow(w, y, added + more);
    if (strcmp(fn, "sub") == 0 && operand == 0) follow(w, y, added - more);
}

static void follow_use(walk *w, MlirOperation op, int operand, int64_t added) {
    infc_op_desc desc;
    const infc_op_kind kind = infc_ir_kind(w->ir, op);
    if (kind >= INFC_N_OP_KINDS || ++w->n_uses > MOST_USES) return;
    infc_ir_describe(w->ir, op, &desc);
    switch (kind) {
    case INFC_OP_gather:
        if (operand == 1) limit(w, desc.in[0].dims[infc_desc_int(&desc, "axis")], added);
        return;
    case INFC_OP_scatter:
        if (operand == 1) limit(w, desc.in[0].dims[0], added);
        return;
    case INFC_OP_map2:
    case INFC_OP_map3: follow_map(w, op, &desc, operand, added); return;
    case INFC_OP_convert:
    case INFC_OP_reshape:
    case INFC_OP_transpose:
    case INFC_OP_slice:
    case INFC_OP_expand: follow(w, mlirOperationGetResult(op, 0), added); return;
    default:
        if (infc_op_is_concat(kind)) follow(w, mlirOperationGetResult(op, 0), added);
    }
}

static void follow(walk *w, MlirValue value, int64_t added) {
    if (w->depth == DEEPEST || !infc_dtype_is_integer(infc_ir_type(w->ir, value).dtype)) return;
    w->depth++;
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        follow_use(w, mlirOpOperandGetOwner(use), (int)mlirOpOperandGetOperandNumber(use), added);
    w->depth--;
}

infc_index_range infc_index_range_of(const infc_ir *ir, size_t i, const int64_t *sizes) {
    const MlirValue input = mlirBlockGetArgument(infc_ir_body(ir->main), (intptr_t)i);
    const infc_dtype dtype = infc_ir_type(ir, input).dtype;
    infc_index_range range = {.span = infc_dtype_bytes(dtype) >= 4 || dtype == INFC_DTYPE_bool ? 1 : 7};
    walk w = {.ir = ir, .sizes = sizes, .least = INT64_MIN, .most = INT64_MAX};
    follow(&w, input, 0);
    if (w.least > w.most) return range; /* nothing suits all of them */
    if (w.least > 0) range.least = w.least;
    if (w.most < 0) range.least = w.most;
    if (w.most - range.least < range.span) range.span = w.most - range.least;
    return range;
}
