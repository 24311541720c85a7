/* cse.c - makes equal ops one: same kind, operands and attributes (the tensor name `out` aside). Constants are
 * equal when type and bytes are; large ones are compared by id alone, since hashing them would read the model. */
#include "../compiler/base/hash.h"
#include "pass.h"
#include <string.h>

enum { MAX_COMPARED_BYTES = 64 * 1024 };

typedef struct entry {
    uint64_t hash;
    MlirOperation op;
} entry;

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static const infc_weight *small_constant(const infc_ir *ir, MlirOperation op) {
    const infc_weight *weight = infc_ir_weight_of(ir, mlirOperationGetResult(op, 0));
    if (weight && ir->llm && weight->type.rank > 1)
        return NULL; /* a packed file does not have its bytes */
    return weight && infc_type_bytes(&weight->type) <= MAX_COMPARED_BYTES ? weight : NULL;
}

static uint64_t hash_attr(uint64_t hash, const infc_attr *attr) {
    switch (attr->kind) {
    case INFC_ATTR_I64: return mix(hash, (uint64_t)attr->i);
    case INFC_ATTR_I64S:
        for (int i = 0; i < attr->n_ints; i++) hash = mix(hash, (uint64_t)attr->ints[i]);
        return mix(hash, (uint64_t)attr->n_ints);
    case INFC_ATTR_STR:
        return mix(hash, infc_hash64((infc_bytes){(const uint8_t *)attr->str, strlen(attr->str)}));
    case INFC_ATTR_LAYOUT: return mix(hash, (uint64_t)attr->layout);
    }
    return hash;
}

static uint64_t hash_op(const infc_ir *ir, MlirOperation op, const infc_op_desc *desc) {
    uint64_t hash = mix(7, (uint64_t)desc->kind);
    const infc_weight *weight = small_constant(ir, op);
    if (weight)
        return mix(hash, infc_hash64((infc_bytes){weight->bytes, (size_t)infc_type_bytes(&weight->type)}));
    for (int i = 0; i < desc->n_in; i++)
        hash = mix(hash, (uintptr_t)mlirOperationGetOperand(op, i).ptr);
    for (int i = 0; i < desc->n_attrs; i++) hash = hash_attr(hash, &desc->attrs[i]);
    return hash;
}

static bool same_attr(const infc_attr *a, const infc_attr *b) {
    switch (a->kind) {
    case INFC_ATTR_I64: return a->i == b->i;
    case INFC_ATTR_I64S:
        return a->n_ints == b->n_ints && memcmp(a->ints, b->ints, (size_t)a->n_ints * sizeof *a->ints) == 0;
    case INFC_ATTR_STR: return strcmp(a->str, b->str) == 0;
    case INFC_ATTR_LAYOUT: return a->layout == b->layout;
    }
    return false;
}

static bool same(const infc_ir *ir, MlirOperation a, MlirOperation b) {
    infc_op_desc da, db;
    infc_ir_describe(ir, a, &da);
    infc_ir_describe(ir, b, &db);
    if (da.kind != db.kind || !infc_type_equal(&da.out, &db.out)) return false;
    const infc_weight *wa = small_constant(ir, a), *wb = small_constant(ir, b);
    if (wa && wb) return memcmp(wa->bytes, wb->bytes, (size_t)infc_type_bytes(&wa->type)) == 0;
    for (int i = 0; i < da.n_in; i++)
        if (!mlirValueEqual(mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i)))
            return false;
    for (int i = 0; i < da.n_attrs; i++) /* both in the order of ops.def */
        if (!same_attr(&da.attrs[i], &db.attrs[i])) return false;
    return true;
}

infc_status infc_pass_cse(infc_pass_cx *pass) {
    infc_ir *ir = pass->ir;
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(ir->main), &ops), cap = 64;
    while (cap < n * 2) cap *= 2;
    entry *table = INFC_NEW(pass->scratch, entry, cap);
    for (size_t i = 0; i < n; i++) {
        infc_op_desc desc;
        infc_ir_describe(ir, ops[i], &desc);
        if (desc.kind >= INFC_N_OP_KINDS) continue;
        uint64_t hash = hash_op(ir, ops[i], &desc);
        size_t at = (size_t)hash & (cap - 1);
        while (table[at].op.ptr && !(table[at].hash == hash && same(ir, table[at].op, ops[i])))
            at = (at + 1) & (cap - 1);
        if (!table[at].op.ptr) {
            table[at] = (entry){hash, ops[i]};
            continue;
        }
        infc_ir_replace(ir, mlirOperationGetResult(ops[i], 0), mlirOperationGetResult(table[at].op, 0));
        infc_ir_erase(ops[i]);
        pass->n_changes++;
    }
    return INFC_OK;
}
