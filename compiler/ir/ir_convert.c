/* ir_convert.c - types, attributes and ops between MLIR and plain values. */
#include "ir_mlir.h"
#include "op_rules.h"

MlirNamedAttribute infc_mlir_named(MlirContext ctx, const char *name, MlirAttribute attr) {
    return mlirNamedAttributeGet(mlirIdentifierGet(ctx, infc_mlir_str(name)), attr);
}

/* ---- types -------------------------------------------------------------------------------------- */

static MlirType element_type(MlirContext ctx, infc_dtype dtype) {
    switch (dtype) {
    case INFC_DTYPE_f32: return mlirF32TypeGet(ctx);
    case INFC_DTYPE_f64: return mlirF64TypeGet(ctx);
    case INFC_DTYPE_f16: return mlirF16TypeGet(ctx);
    case INFC_DTYPE_bf16: return mlirBF16TypeGet(ctx);
    case INFC_DTYPE_i8:
    case INFC_DTYPE_i16:
    case INFC_DTYPE_i32:
    case INFC_DTYPE_i64: return mlirIntegerTypeGet(ctx, (unsigned)infc_dtype_bytes(dtype) * 8);
    case INFC_DTYPE_u8:
    case INFC_DTYPE_u16:
    case INFC_DTYPE_u32:
    case INFC_DTYPE_u64:
        return mlirIntegerTypeUnsignedGet(ctx, (unsigned)infc_dtype_bytes(dtype) * 8);
    case INFC_DTYPE_bool: return mlirIntegerTypeGet(ctx, 1);
    case INFC_DTYPE_NONE: break;
    }
    return mlirNoneTypeGet(ctx);
}

static infc_dtype integer_dtype(MlirType type) {
    bool is_unsigned = mlirIntegerTypeIsUnsigned(type);
    if (mlirIntegerTypeIsSigned(type)) return INFC_DTYPE_NONE; /* signless is what we write */
    switch (mlirIntegerTypeGetWidth(type)) {
    case 1: return is_unsigned ? INFC_DTYPE_NONE : INFC_DTYPE_bool;
    case 8: return is_unsigned ? INFC_DTYPE_u8 : INFC_DTYPE_i8;
    case 16: return is_unsigned ? INFC_DTYPE_u16 : INFC_DTYPE_i16;
    case 32: return is_unsigned ? INFC_DTYPE_u32 : INFC_DTYPE_i32;
    case 64: return is_unsigned ? INFC_DTYPE_u64 : INFC_DTYPE_i64;
    default: return INFC_DTYPE_NONE;
    }
}

static infc_dtype dtype_of(MlirType type) {
    if (mlirTypeIsAF32(type)) return INFC_DTYPE_f32;
    if (mlirTypeIsAF64(type)) return INFC_DTYPE_f64;
    if (mlirTypeIsAF16(type)) return INFC_DTYPE_f16;
    if (mlirTypeIsABF16(type)) return INFC_DTYPE_bf16;
    return mlirTypeIsAInteger(type) ? integer_dtype(type) : INFC_DTYPE_NONE;
}

MlirType infc_ir_mlir_type(MlirContext ctx, const infc_type *type) {
    int64_t dims[INFC_MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        dims[i] = infc_dim_open(type->dims[i]) ? INT64_MIN : type->dims[i];
    return mlirRankedTensorTypeGet(type->rank, dims, element_type(ctx, type->dtype),
                                   infc_ir_encoding(ctx, type));
}

infc_type infc_ir_type_of(struct infc_ir_kinds *kinds, MlirType type) {
    infc_type r = {0};
    if (!mlirTypeIsARankedTensor(type)) return r;
    r.dtype = dtype_of(mlirShapedTypeGetElementType(type));
    r.rank = (int)mlirShapedTypeGetRank(type);
    for (int i = 0; i < r.rank && i < INFC_MAX_RANK; i++) /* dynamic: INT64_MIN */
        r.dims[i] = mlirShapedTypeGetDimSize(type, i);
    if (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
        infc_ir_encoding_read(kinds, type, &r);
    return r;
}

infc_type infc_ir_type(const infc_ir *ir, MlirValue value) {
    return infc_ir_type_of(ir->kinds, mlirValueGetType(value));
}

/* ---- attributes --------------------------------------------------------------------------------- */

MlirAttribute infc_ir_mlir_attr(MlirContext ctx, const infc_attr *attr) {
    switch (attr->kind) {
    case INFC_ATTR_I64: return mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), attr->i);
    case INFC_ATTR_I64S: {
        int64_t ints[INFC_MAX_INTS];
        for (int i = 0; i < attr->n_ints; i++)
            ints[i] = infc_dim_open(attr->ints[i]) ? INT64_MIN : attr->ints[i];
        return mlirDenseI64ArrayGet(ctx, attr->n_ints, ints);
    }
    case INFC_ATTR_STR: return mlirStringAttrGet(ctx, infc_mlir_str(attr->str));
    case INFC_ATTR_LAYOUT:
        return mlirStringAttrGet(ctx, infc_mlir_str(infc_layout_name(attr->layout)));
    }
    return mlirAttributeGetNull();
}

static bool is_i64(MlirAttribute attr) {
    if (!mlirAttributeIsAInteger(attr)) return false;
    MlirType type = mlirAttributeGetType(attr);
    return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) == 64;
}

/* False when `from` is not of the declared kind. */
static bool read_attr(const infc_ir *ir, infc_attr_kind kind, MlirAttribute from, infc_attr *out) {
    out->kind = kind;
    switch (kind) {
    case INFC_ATTR_I64:
        if (!is_i64(from)) return false;
        out->i = infc_dim_number(mlirIntegerAttrGetValueInt(from));
        return true;
    case INFC_ATTR_I64S:
        if (!mlirAttributeIsADenseI64Array(from)) return false;
        out->n_ints = (int)mlirDenseArrayGetNumElements(from);
        for (int i = 0; i < out->n_ints && i < INFC_MAX_INTS; i++)
            out->ints[i] = infc_dim_number(mlirDenseI64ArrayGetElement(from, i));
        return true;
    case INFC_ATTR_STR: out->str = infc_ir_attr_string(ir, from); return out->str != NULL;
    case INFC_ATTR_LAYOUT:
        if (!mlirAttributeIsAString(from)) return false;
        out->layout = infc_ir_layout_of(mlirStringAttrGetValue(from));
        return true;
    }
    return false;
}

static void read_attrs(const infc_ir *ir, MlirOperation op, infc_op_desc *out) {
    infc_attr_decl decl;
    for (const char *list = infc_op_get(out->kind)->attrs; infc_attr_next(&list, &decl);) {
        MlirAttribute from = infc_mlir_attr(op, decl.name);
        infc_attr *to = &out->attrs[out->n_attrs];
        if (mlirAttributeIsNull(from) || !read_attr(ir, decl.kind, from, to)) continue;
        MlirIdentifier name = mlirIdentifierGet(ir->ctx, infc_mlir_str(decl.name));
        to->name = infc_ir_string(ir->kinds, name.ptr, mlirIdentifierStr(name));
        if (decl.kind == INFC_ATTR_I64S) infc_ir_open_ints_read(ir->kinds, op, decl.name, to);
        out->n_attrs++;
    }
}

void infc_ir_describe(const infc_ir *ir, MlirOperation op, infc_op_desc *out) {
    *out = (infc_op_desc){.kind = infc_ir_kind(ir, op)};
    out->n_in = (int)mlirOperationGetNumOperands(op);
    for (int i = 0; i < out->n_in && i < INFC_MAX_OPERANDS; i++)
        out->in[i] = infc_ir_type(ir, mlirOperationGetOperand(op, i));
    if (mlirOperationGetNumResults(op) == 1)
        out->out = infc_ir_type(ir, mlirOperationGetResult(op, 0));
    if (out->kind == INFC_OP_matmul) out->fast = ir->fast;
    if (out->kind < INFC_N_OP_KINDS) read_attrs(ir, op, out);
}
