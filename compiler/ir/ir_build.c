/* ir_build.c - locations and building ops. */
#include "ir_mlir.h"
#include <assert.h>
#include <stdio.h>

/* ---- locations ---------------------------------------------------------------------------------- */

MlirLocation infc_ir_location(infc_ir *ir, const char *node, int line) {
    MlirLocation file =
        mlirLocationFileLineColGet(ir->ctx, infc_mlir_str(ir->source), line > 0 ? (unsigned)line : 0, 0);
    return node ? mlirLocationNameGet(ir->ctx, infc_mlir_str(node), file) : file;
}

MlirLocation infc_ir_location_fuse(infc_ir *ir, const MlirLocation *parts, size_t n) {
    if (n == 1) return parts[0];
    return mlirLocationFusedGet(ir->ctx, (intptr_t)n, parts, mlirAttributeGetNull());
}

enum { MAX_LOC_DEPTH = 16, MAX_LOC_NODES = 4 };

typedef struct found {
    struct infc_ir_kinds *kinds;
    infc_loc loc;
    infc_buf nodes; /* joined by ", " */
    int n_nodes;
} found;

static void find(found *f, MlirLocation location, int depth);

static void find_parts(found *f, MlirLocation location, int depth) {
    unsigned n = mlirLocationFusedGetNumLocations(location);
    MlirLocation *parts = INFC_NEW(f->kinds->cx->arena, MlirLocation, n + 1);
    mlirLocationFusedGetLocations(location, parts);
    for (unsigned i = 0; i < n; i++) find(f, parts[i], depth + 1);
}

static void find(found *f, MlirLocation location, int depth) {
    if (depth > MAX_LOC_DEPTH) return;
    if (mlirLocationIsAName(location)) {
        MlirStringRef name = mlirIdentifierStr(mlirLocationNameGetName(location));
        if (f->n_nodes++ < MAX_LOC_NODES) {
            if (f->nodes.len) infc_buf_puts(&f->nodes, ", ");
            infc_buf_put(&f->nodes, name.data, name.length);
        }
        find(f, mlirLocationNameGetChildLoc(location), depth + 1);
    } else if (mlirLocationIsAFused(location)) {
        find_parts(f, location, depth);
    } else if (mlirLocationIsAFileLineColRange(location) && !f->loc.file) {
        MlirIdentifier file = mlirLocationFileLineColRangeGetFilename(location);
        f->loc.file = infc_ir_string(f->kinds, file.ptr, mlirIdentifierStr(file));
        if (strcmp(f->loc.file, "-") == 0) f->loc.file = f->kinds->source;
        f->loc.line = mlirLocationFileLineColRangeGetStartLine(location);
        f->loc.col = mlirLocationFileLineColRangeGetStartColumn(location);
    }
}

infc_loc infc_ir_loc_of(struct infc_ir_kinds *kinds, MlirLocation location) {
    found f = {.kinds = kinds, .nodes = {.arena = kinds->cx->arena}};
    find(&f, location, 0);
    if (f.n_nodes > MAX_LOC_NODES) infc_buf_puts(&f.nodes, ", ...");
    if (f.n_nodes > 0) {
        f.loc.node = infc_ir_string(kinds, location.ptr, mlirStringRefCreate(f.nodes.data, f.nodes.len));
        f.loc.line = f.loc.col = 0; /* the line is the node's index: the node says more */
    }
    return f.loc;
}

infc_loc infc_ir_loc(const infc_ir *ir, MlirLocation location) {
    return infc_ir_loc_of(ir->kinds, location);
}

/* ---- ops ---------------------------------------------------------------------------------------- */

MlirOperation infc_ir_op(infc_ir_at at, const char *name, MlirLocation location,
                         const MlirValue *in, intptr_t n_in, const MlirType *out, intptr_t n_out,
                         const MlirNamedAttribute *attrs, intptr_t n_attrs) {
    MlirOperationState state = mlirOperationStateGet(infc_mlir_str(name), location);
    if (n_in) mlirOperationStateAddOperands(&state, n_in, in);
    if (n_out) mlirOperationStateAddResults(&state, n_out, out);
    if (n_attrs) mlirOperationStateAddAttributes(&state, n_attrs, attrs);
    MlirOperation op = mlirOperationCreate(&state);
    if (!mlirBlockIsNull(at.block)) mlirBlockInsertOwnedOperationBefore(at.block, at.before, op);
    return op;
}

static MlirValue add_op(infc_ir *ir, infc_ir_at at, MlirLocation location, const infc_op_desc *desc,
                        const MlirValue *in) {
    char name[64];
    snprintf(name, sizeof name, "infc.%s", infc_op_get(desc->kind)->name);
    MlirType type = infc_ir_mlir_type(ir->ctx, &desc->out);
    MlirNamedAttribute attrs[2 * INFC_MAX_ATTRS];
    int n = 0;
    for (int i = 0; i < desc->n_attrs; i++) {
        const infc_attr *attr = &desc->attrs[i];
        MlirAttribute open = infc_ir_open_ints(ir->ctx, attr);
        attrs[n++] = infc_mlir_named(ir->ctx, attr->name, infc_ir_mlir_attr(ir->ctx, attr));
        if (!mlirAttributeIsNull(open))
            attrs[n++] = infc_mlir_named(ir->ctx, infc_ir_open_ints_name(attr->name).text, open);
    }
    MlirOperation op = infc_ir_op(at, name, location, in, desc->n_in, &type, 1, attrs, n);
    return mlirOperationGetResult(op, 0);
}

infc_status infc_ir_build(infc_ir *ir, infc_ir_at at, infc_op_kind kind, MlirLocation location,
                          const MlirValue *in, int n_in, const infc_attr *attrs, int n_attrs, MlirValue *out) {
    assert(kind < INFC_N_OP_KINDS && kind != INFC_OP_weight && n_attrs <= INFC_MAX_ATTRS);
    infc_op_desc desc = {.kind = kind, .n_in = n_in, .n_attrs = n_attrs};
    for (int i = 0; i < n_in && i < INFC_MAX_OPERANDS; i++) desc.in[i] = infc_ir_type(ir, in[i]);
    for (int i = 0; i < n_attrs; i++) desc.attrs[i] = attrs[i];
    const infc_op_info *info = infc_op_get(kind);
    const char *wrong = info->shape(ir->cx->arena, &desc, &desc.out);
    if (wrong)
        return infc_fail(ir->cx, INFC_ERR_MODEL, infc_ir_loc(ir, location), "%s: %s", info->name, wrong);
    *out = add_op(ir, at, location, &desc, in);
    return INFC_OK;
}

infc_status infc_ir_map(infc_ir *ir, infc_ir_at at, const char *fn, MlirLocation location,
                        const MlirValue *in, int n_in, MlirValue *out) {
    infc_attr attr = infc_attr_string("fn", fn);
    infc_op_kind kind = n_in <= 1 ? INFC_OP_map1 : n_in == 2 ? INFC_OP_map2 : INFC_OP_map3;
    return infc_ir_build(ir, at, kind, location, in, n_in, &attr, 1, out);
}

MlirValue infc_ir_weight(infc_ir *ir, infc_ir_at at, int64_t id, MlirLocation location) {
    const infc_weight *weight = infc_weights_get(&ir->weights, id);
    assert(weight);
    infc_op_desc desc = {.kind = INFC_OP_weight, .n_attrs = 1, .out = weight->type};
    desc.attrs[0] = infc_attr_int("id", id);
    return add_op(ir, at, location, &desc, NULL);
}
