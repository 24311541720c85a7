/* recognise_attention.c - softmax(q k * scale + mask) v with the reshapes and transposes around it becomes one op that
 * reads q, k and v as their projections wrote them.
 *
 *   q [B,M,H*D] -> [B,M,H,D] -> transposed [B,H,M,D] -+
 *   k                       -> transposed [B,H,D,N] -+- matmul -> * or / scale -> + mask -> softmax -+
 *   v                       -> transposed [B,H,N,E] ---------------------------------------- matmul -+-> transposed
 *
 * Where heads were not split that way (one head, or products batched before), the batch of the products counts as
 * sequences of one head. What is left unused is for dce. Values change by rounding only. */
#include "../compiler/ir/op_rules.h"
#include "match.h"
#include <string.h>

enum { MAX_HEAD = 256 };

typedef struct pattern {
    infc_ir *ir;
    MlirOperation softmax, scores, product; /* the two matmuls around it */
    MlirValue mask;                         /* null when there is none */
    double scale;
    int64_t b, h, m, n, d, e; /* sequences, heads, queries, keys, columns of q and k, of v */
    MlirValue q, k, v; /* [b, m, h, d], [b, n, h, d], [b, n, h, e] in any shape of that order */
} pattern;

static MlirOperation only_user_past_reshapes(const infc_ir *ir, MlirValue value) {
    MlirOperation user = infc_ir_only_user(value);
    while (!mlirOperationIsNull(user) && infc_ir_kind(ir, user) == INFC_OP_reshape)
        user = infc_ir_only_user(mlirOperationGetResult(user, 0));
    return user;
}

/* From the softmax up to the matmul of its scores. */
static bool match_scores(pattern *p) {
    infc_ir *ir = p->ir;
    MlirValue value = mlirOperationGetOperand(p->softmax, 0), other;
    MlirOperation add = infc_match_map(ir, value, "add");
    p->scale = 1;
    if (!mlirOperationIsNull(add) && infc_ir_uses(value) == 1) {
        for (int i = 0; i < 2 && mlirValueIsNull(p->mask); i++) {
            MlirOperation def = infc_ir_def(infc_match_past_reshapes(ir, mlirOperationGetOperand(add, i)));
            infc_op_kind kind = mlirOperationIsNull(def) ? INFC_OP_OTHER : infc_ir_kind(ir, def);
            if (kind != INFC_OP_matmul && kind != INFC_OP_map2) continue;
            infc_type side = infc_ir_type(ir, mlirOperationGetOperand(add, i)),
                      whole = infc_ir_type(ir, value);
            if (!infc_type_equal(&side, &whole)) continue;
            p->mask = mlirOperationGetOperand(add, 1 - i);
            value = mlirOperationGetOperand(add, i);
        }
        if (mlirValueIsNull(p->mask)) return false;
    }
    for (float c;;) {
        value = infc_match_past_reshapes(ir, value);
        if (infc_ir_uses(value) != 1) return false;
        if (infc_match_with_constant(ir, value, "mul", &other, &c)) p->scale *= (double)c;
        else if (infc_match_with_constant(ir, value, "div", &other, &c)) p->scale /= (double)c;
        else break;
        value = other;
    }
    p->scores = infc_match_kind(ir, value, INFC_OP_matmul);
    return !mlirOperationIsNull(p->scores);
}

static int64_t batch_of(const infc_type *type) {
    return infc_dims_product(type, 0, type->rank - 2);
}

/* The sizes of both products, of which no operand is shared between batches. */
static bool match_sizes(pattern *p) {
    infc_type q = infc_ir_type(p->ir, mlirOperationGetOperand(p->scores, 0)),
              k = infc_ir_type(p->ir, mlirOperationGetOperand(p->scores, 1)),
              w = infc_ir_type(p->ir, mlirOperationGetOperand(p->product, 0)),
              v = infc_ir_type(p->ir, mlirOperationGetOperand(p->product, 1));
    p->m = q.dims[q.rank - 2];
    p->d = q.dims[q.rank - 1];
    p->n = k.dims[k.rank - 1];
    p->e = v.dims[v.rank - 1];
    p->b = batch_of(&q);
    p->h = 1;
    bool same = batch_of(&k) == p->b && batch_of(&v) == p->b && batch_of(&w) == p->b;
    return same && w.dims[w.rank - 2] == p->m && w.dims[w.rank - 1] == p->n &&
           v.dims[v.rank - 2] == p->n && v.dtype == INFC_DTYPE_f32 && k.dtype == INFC_DTYPE_f32 &&
           !infc_dim_open(p->d) && !infc_dim_open(p->e) && p->d <= MAX_HEAD && p->e <= MAX_HEAD;
}

/* The operand of a transpose by `perm` of rank 4 to dims [.., a, c] that makes `value`, past reshapes. */
static bool untransposed(const pattern *p, MlirValue value, const int64_t *perm, int64_t a,
                         int64_t c, MlirValue *out, int64_t *b, int64_t *h) {
    MlirOperation op = infc_match_kind(p->ir, infc_match_past_reshapes(p->ir, value), INFC_OP_transpose);
    infc_op_desc desc;
    if (mlirOperationIsNull(op)) return false;
    infc_ir_describe(p->ir, op, &desc);
    const infc_attr *is = infc_desc_attr(&desc, "perm");
    if (is->n_ints != 4 || memcmp(is->ints, perm, 4 * sizeof *perm) != 0) return false;
    if (desc.out.dims[2] != a || desc.out.dims[3] != c ||
        infc_dim_mul(desc.out.dims[0], desc.out.dims[1]) != p->b)
        return false;
    *b = desc.out.dims[0];
    *h = desc.out.dims[1];
    *out = mlirOperationGetOperand(op, 0);
    return true;
}

static bool match_heads(pattern *p) {
    static const int64_t rows[] = {0, 2, 1, 3}, columns[] = {0, 2, 3, 1};
    int64_t b[3], h[3];
    MlirValue q = mlirOperationGetOperand(p->scores, 0), k = mlirOperationGetOperand(p->scores, 1),
              v = mlirOperationGetOperand(p->product, 1);
    if (!untransposed(p, q, rows, p->m, p->d, &p->q, &b[0], &h[0])) return false;
    if (!untransposed(p, k, columns, p->d, p->n, &p->k, &b[1], &h[1])) return false;
    if (!untransposed(p, v, rows, p->n, p->e, &p->v, &b[2], &h[2])) return false;
    if (b[0] != b[1] || b[0] != b[2] || infc_dim_open(h[0])) return false;
    p->b = b[0];
    p->h = h[0];
    return true;
}

/* k alone must have been turned: q and v lie as they are needed. */
static bool match_plain(pattern *p) {
    MlirOperation turned = infc_match_kind(
        p->ir, infc_match_past_reshapes(p->ir, mlirOperationGetOperand(p->scores, 1)), INFC_OP_transpose);
    infc_op_desc desc;
    if (mlirOperationIsNull(turned)) return false;
    infc_ir_describe(p->ir, turned, &desc);
    const infc_attr *perm = infc_desc_attr(&desc, "perm");
    int last = desc.out.rank - 1;
    if (desc.out.dims[last] != p->n || desc.out.dims[last - 1] != p->d) return false;
    for (int i = 0; i < last - 1; i++)
        if (perm->ints[i] != i) return false;
    if (perm->ints[last] != last - 1) return false;
    p->q = mlirOperationGetOperand(p->scores, 0);
    p->k = mlirOperationGetOperand(turned, 0);
    p->v = mlirOperationGetOperand(p->product, 1);
    return true;
}

/* The mask in a shape that broadcasts to [b, h, m, n]; false when there is none. */
static bool mask_dims(const pattern *p, int64_t dims[4]) {
    infc_type scores = infc_ir_type(p->ir, mlirOperationGetOperand(p->softmax, 0)),
              mask = infc_ir_type(p->ir, p->mask);
    int64_t batch = 1;
    int shift = scores.rank - mask.rank;
    if (mask.layout != INFC_LAYOUT_plain || mask.dtype != INFC_DTYPE_f32) return false;
    bool four = scores.rank == 4 && scores.dims[0] == p->b && scores.dims[1] == p->h;
    for (int i = 0; i < 4; i++) dims[i] = i < shift || !four ? 1 : mask.dims[i - shift];
    if (four) return true;
    for (int i = shift; i < scores.rank - 2; i++) batch = infc_dim_mul(batch, mask.dims[i - shift]);
    if (batch != 1 && batch != infc_dim_mul(p->b, p->h)) return false;
    dims[0] = batch == 1 ? 1 : p->b;
    dims[1] = batch == 1 ? 1 : p->h;
    for (int i = 2; i < 4; i++) dims[i] = 4 - i <= mask.rank ? mask.dims[mask.rank - 4 + i] : 1;
    return true;
}

static infc_status build(const pattern *p, infc_ir_at at, MlirLocation location,
                         const int64_t *mask, MlirValue *out) {
    MlirValue in[4] = {p->q, p->k, p->v};
    int64_t q[] = {p->b, p->m, p->h * p->d}, k[] = {p->b, p->n, p->h * p->d},
            v[] = {p->b, p->n, p->h * p->e};
    INFC_TRY(infc_match_reshape(p->ir, at, location, p->q, q, 3, &in[0]));
    INFC_TRY(infc_match_reshape(p->ir, at, location, p->k, k, 3, &in[1]));
    INFC_TRY(infc_match_reshape(p->ir, at, location, p->v, v, 3, &in[2]));
    if (mask) INFC_TRY(infc_match_reshape(p->ir, at, location, p->mask, mask, 4, &in[3]));
    const int64_t heads[] = {p->h, p->h}, dims[] = {p->d, p->e}, zeros[3] = {0};
    infc_attr attrs[] = {infc_attr_ints("heads", heads, 2), infc_attr_ints("dims", dims, 2),
                         infc_attr_ints("at", zeros, 3),
                         infc_attr_int("scale", infc_f32_bits((float)p->scale)),
                         infc_attr_ints("past", zeros, 2)};
    return infc_ir_build(p->ir, at, mask ? INFC_OP_attention_masked : INFC_OP_attention, location,
                         in, mask ? 4 : 3, attrs, 5, out);
}

/* The transpose that puts the heads side by side again, when it is all that reads the product. */
static MlirOperation joined_heads(const pattern *p) {
    MlirOperation user = only_user_past_reshapes(p->ir, mlirOperationGetResult(p->product, 0));
    infc_op_desc desc;
    if (mlirOperationIsNull(user) || infc_ir_kind(p->ir, user) != INFC_OP_transpose)
        return (MlirOperation){NULL};
    infc_ir_describe(p->ir, user, &desc);
    static const int64_t rows[] = {0, 2, 1, 3}, n = 4;
    const infc_attr *perm = infc_desc_attr(&desc, "perm");
    bool fits = perm->n_ints == n && memcmp(perm->ints, rows, sizeof rows) == 0 &&
                desc.in[0].dims[0] == p->b && desc.in[0].dims[1] == p->h && desc.in[0].dims[2] == p->m;
    return fits ? user : (MlirOperation){NULL};
}

/* All that stood for `root` reads the op instead. */
static infc_status rewrite(pattern *p, const int64_t *mask) {
    MlirOperation turned = joined_heads(p), root = mlirOperationIsNull(turned) ? p->product : turned;
    infc_ir_at at = {mlirOperationGetBlock(root), root};
    MlirLocation locations[] = {mlirOperationGetLocation(p->scores), mlirOperationGetLocation(p->softmax),
                                mlirOperationGetLocation(p->product)};
    MlirLocation location = infc_ir_location_fuse(p->ir, locations, 3);
    MlirValue result;
    infc_type want = infc_ir_type(p->ir, mlirOperationGetResult(root, 0));
    INFC_TRY(build(p, at, location, mask, &result));
    if (mlirOperationIsNull(turned) && p->h > 1) {
        const int64_t split[] = {p->b, p->m, p->h, p->e}, perm[] = {0, 2, 1, 3};
        infc_attr attr = infc_attr_ints("perm", perm, 4);
        INFC_TRY(infc_match_reshape(p->ir, at, location, result, split, 4, &result));
        INFC_TRY(infc_ir_build(p->ir, at, INFC_OP_transpose, location, &result, 1, &attr, 1, &result));
    }
    INFC_TRY(infc_match_reshape(p->ir, at, location, result, want.dims, want.rank, &result));
    infc_ir_replace(p->ir, mlirOperationGetResult(root, 0), result);
    return INFC_OK;
}

infc_status infc_pass_recognise_attention(infc_pass_cx *pass) {
    MlirOperation *ops;
    size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        pattern p = {.ir = pass->ir, .softmax = ops[i]};
        infc_op_desc desc;
        int64_t mask[4];
        infc_ir_describe(p.ir, ops[i], &desc);
        if (desc.kind != INFC_OP_softmax || infc_desc_int(&desc, "axis") != desc.in[0].rank - 1)
            continue;
        p.product = only_user_past_reshapes(p.ir, mlirOperationGetResult(ops[i], 0));
        if (mlirOperationIsNull(p.product) || infc_ir_kind(p.ir, p.product) != INFC_OP_matmul)
            continue;
        MlirValue weights = infc_match_past_reshapes(p.ir, mlirOperationGetOperand(p.product, 0));
        if (!mlirValueEqual(weights, mlirOperationGetResult(ops[i], 0))) continue;
        if (!match_scores(&p) || !match_sizes(&p) || (!match_heads(&p) && !match_plain(&p)))
            continue;
        bool masked = !mlirValueIsNull(p.mask);
        if (masked && !mask_dims(&p, mask)) continue;
        INFC_TRY(rewrite(&p, masked ? mask : NULL));
        pass->n_changes++;
    }
    return INFC_OK;
}
