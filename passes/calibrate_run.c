/* calibrate_run.c - the model reads the text, one op at a time over all rows; each layer of int4 weights, and what keys
 * are balanced by, is chosen when its inputs are known. Activations are floats, the cache is left out, and what comes
 * after a layer sees the weights that were chosen. Held are the values that are still needed, and one layer's
 * weights. */
#include "calibrate.h"
#include "../compiler/base/cache.h"
#include "../compiler/base/hash.h"
#include "../compiler/base/interrupt.h"
#include "../compiler/ir/eval.h"
#include "../compiler/ir/op_rules.h"
#include "../templates/simd/scalar.h"
#include <math.h>
#include <string.h>

#define DAMPING 0.01f

enum { ROPE = 5, BALANCE = 6 }; /* operands of kv_store */

typedef struct value {  /* of the IR */
    infc_tensor tensor; /* rows of all sequences; data null: a constant, or not known */
    infc_arena *arena;  /* that it lies in */
    bool constant;
    size_t last; /* the op that uses it last */
} value;

typedef struct run {
    infc_calibration *c;
    infc_ir *ir;
    infc_arena *scratch; /* of one op */
    infc_ptr_map values;
    int64_t sizes[INFC_MAX_SIZES];
    size_t n_chosen, n_to_choose;
    bool uncached; /* which has been told */
} run;

static value *value_of(run *r, MlirValue v) {
    void **at = infc_ptr_map_at(&r->values, v.ptr);
    if (!*at) *at = INFC_NEW(r->c->pass->scratch, value, 1);
    return *at;
}

/* ---- what is chosen ------------------------------------------------------------------------------------------ */

/* Null unless `op` packs what choose_i4 makes. */
static MlirOperation choice_of(const infc_ir *ir, MlirOperation op) {
    if (infc_ir_kind(ir, op) != INFC_OP_pack_i4) return (MlirOperation){NULL};
    MlirOperation choice = infc_ir_def(mlirOperationGetOperand(op, 0));
    const bool is = !mlirOperationIsNull(choice) && infc_ir_kind(ir, choice) == INFC_OP_choose_i4;
    return is ? choice : (MlirOperation){NULL};
}

/* What a constant takes the place of; null: nothing of this op is chosen. */
static MlirValue chosen_of(const infc_calibration *c, MlirOperation op) {
    const infc_ir *ir = c->pass->ir;
    if (c->balances && infc_ir_kind(ir, op) == INFC_OP_kv_store)
        return mlirOperationGetOperand(op, BALANCE);
    if (c->chooses && !mlirOperationIsNull(choice_of(ir, op))) return mlirOperationGetResult(op, 0);
    return (MlirValue){NULL};
}

static const char *entry_key(const infc_calibration *c, size_t i) {
    infc_arena *arena = c->pass->ir->cx->arena;
    const char *text = infc_arena_printf(arena, "chosen 2 " INFC_PACKED_VERSION " %s %zu", c->key, i);
    return infc_hash_hex(arena, (infc_bytes){(const uint8_t *)text, strlen(text)});
}

/* A constant takes the place of what is chosen of `op`. */
static void put_chosen(infc_calibration *c, MlirOperation op, infc_bytes chosen) {
    infc_ir *ir = c->pass->ir;
    MlirValue place = chosen_of(c, op);
    const infc_weight weight = {infc_constant_name(ir, place), infc_ir_type(ir, place), chosen.ptr,
                                infc_origin_chosen, NULL};
    const infc_ir_at at = {mlirOperationGetBlock(op), op};
    MlirValue made =
        infc_ir_weight(ir, at, infc_weights_add(&ir->weights, weight), mlirOperationGetLocation(op));
    infc_ir_replace(ir, place, made);
    c->pass->n_changes++;
}

bool infc_calibration_recall(infc_calibration *c) {
    infc_ir *ir = c->pass->ir;
    MlirOperation *ops;
    size_t n = infc_ir_ops(c->pass->scratch, infc_ir_body(ir->main), &ops), n_found = 0;
    infc_bytes *found = INFC_NEW(c->pass->scratch, infc_bytes, n);
    for (size_t i = 0; i < n; i++) {
        MlirValue place = chosen_of(c, ops[i]);
        if (mlirValueIsNull(place)) continue;
        const infc_type type = infc_ir_type(ir, place);
        if (!infc_cache_map(ir->cx, entry_key(c, n_found++), &found[i]) ||
            found[i].len != infc_type_bytes(&type))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (found[i].ptr) put_chosen(c, ops[i], found[i]);
    return true;
}

void infc_calibration_packed(infc_calibration *c) {
    infc_ir *ir = c->pass->ir;
    MlirOperation *ops;
    const size_t n = infc_ir_ops(c->pass->scratch, infc_ir_body(ir->main), &ops);
    for (size_t i = 0; i < n; i++)
        if (!mlirValueIsNull(chosen_of(c, ops[i]))) put_chosen(c, ops[i], (infc_bytes){0});
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static float *new_rows(run *r, MlirOperation op, int64_t columns) {
    value *v = value_of(r, mlirOperationGetResult(op, 0));
    v->tensor.type = (infc_type){.dtype = INFC_DTYPE_f32, .rank = 2, .dims = {r->c->n_ids, columns}};
    v->arena = infc_arena_create_scratch(r->c->pass->scratch);
    v->tensor.data =
        infc_arena_alloc(v->arena, (size_t)infc_type_bytes(&v->tensor.type) + INFC_OVER_READ, INFC_ALIGN);
    return v->tensor.data;
}

static const infc_tensor *rows_of(run *r, MlirOperation op, int i) {
    return &value_of(r, mlirOperationGetOperand(op, i))->tensor;
}

static infc_status no_way(run *r, MlirOperation op, const char *why) {
    const bool asked = r->c->chooses;
    return infc_fail(r->ir->cx, INFC_ERR_UNSUPPORTED, infc_ir_loc(r->ir, mlirOperationGetLocation(op)),
                     "%s: %s; %s", asked ? "precision.calibration" : "keys of a cache of int8 cannot be balanced",
                     why, asked ? "leave it out" : "set precision.kv: f16");
}

/* What a layer reads: rows, perhaps over their root mean square and times a vector, rotated where weights are. */
static infc_status records(run *r, MlirOperation op, bool rms) {
    const infc_tensor *x = rows_of(r, op, 0);
    infc_op_desc desc;
    infc_tensor weight = {.data = NULL};
    float epsilon = 0;
    infc_ir_describe(r->ir, op, &desc);
    const bool rotates = r->c->chooses && infc_desc_attr(&desc, "rotate"); /* else without, on both sides */
    const ptrdiff_t rotate = rotates ? (ptrdiff_t)infc_desc_int(&desc, "rotate") : 0;
    const int64_t inputs = x->type.dims[1], k = rotates ? infc_round_up(inputs, INFC_GROUP) : inputs;
    if (rms) {
        const uint32_t bits = (uint32_t)infc_desc_int(&desc, "epsilon");
        memcpy(&epsilon, &bits, sizeof epsilon);
        INFC_TRY(infc_constant(r->ir, r->scratch, mlirOperationGetOperand(op, 1), &weight));
        weight = infc_tensor_aligned(r->scratch, &weight);
    }
    float *y = new_rows(r, op, k);
    for (int64_t t = 0; t < r->c->n_ids; t++, y += k) {
        const float *row = (const float *)x->data + t * inputs, *w = weight.data;
        double square = 0;
        for (int64_t i = 0; rms && i < inputs; i++) square += (double)row[i] * (double)row[i];
        const float by = rms ? (float)(1 / sqrt(square / (double)inputs + (double)epsilon)) : 1;
        for (int64_t i = 0; i < inputs; i++) y[i] = rms ? row[i] * by * w[i] : row[i];
        if (rotates) infc_rotate(y, k, rotate, s_rotated_row(rotate));
    }
    return INFC_OK;
}

/* In the cache, if there is one, and in the model. */
static void keep_chosen(run *r, MlirOperation op, infc_bytes chosen) {
    infc_cx *cx = r->ir->cx;
    const char *key = entry_key(r->c, r->n_chosen++);
    infc_bytes bytes;
    infc_cache_put(cx, key, chosen);
    if (!infc_cache_map(cx, key, &bytes)) {
        if (cx->cache_dir && !r->uncached)
            infc_warn(cx, INFC_NO_LOC,
                      "the cache %s cannot be written: the next compile reads"
                      " the text again; infc doctor tells more",
                      cx->cache_dir);
        r->uncached = true;
        uint8_t *copy = infc_arena_alloc(cx->arena, chosen.len + INFC_OVER_READ, INFC_ALIGN);
        memcpy(copy, chosen.ptr, chosen.len);
        bytes = (infc_bytes){copy, chosen.len};
    }
    put_chosen(r->c, op, bytes);
}

/* The weights of `pack`, by what its inputs were; panels are then what has been chosen. */
static infc_status choose(run *r, MlirOperation pack, const float *x, infc_matrix *m) {
    infc_cx *cx = r->ir->cx;
    MlirOperation choice = choice_of(r->ir, pack);
    const int64_t k = m->k;
    float *h = INFC_NEW(r->scratch, float, (size_t)(k * k)),
          *u = INFC_NEW(r->scratch, float, (size_t)(k * k)),
          *importance = INFC_NEW(r->scratch, float, (size_t)k);
    infc_op_desc desc;
    infc_tensor chosen, packed;
    infc_progress(cx, "calibrating: %s (%zu of %zu)",
                  infc_constant_name(r->ir, mlirOperationGetOperand(choice, 0)), r->n_chosen + 1, r->n_to_choose);
    infc_square_of_rows(x, r->c->n_ids, k, h);
    for (int64_t i = 0; i < k; i++) importance[i] = h[i * k + i];
    if (!infc_gptq_factor(r->scratch, h, k, DAMPING, u))
        return no_way(r, pack, "an activation is no finite number");
    const infc_type type = infc_ir_type(r->ir, mlirOperationGetResult(choice, 0));
    INFC_TRY(infc_tensor_create(cx, r->scratch, &type, &chosen));
    const infc_gptq g = {m->n, k, u, importance, m->panels, chosen.data, type.dims[1]};
    infc_gptq_round(&g);
    INFC_TRY(infc_interrupt_check(cx));
    infc_ir_describe(r->ir, pack, &desc);
    INFC_TRY(infc_eval_op(cx, r->scratch, &desc, &chosen, &packed));
    keep_chosen(r, pack, (infc_bytes){packed.data, (size_t)infc_type_bytes(&packed.type)});
    return INFC_OK;
}

static float silu(float x) {
    const float e = infc_exp_below(x < 0 ? x : -x);
    return x < 0 ? x * (e / (1 + e)) : x / (1 + e);
}

/* Gate and up once more, as adapters need them: of which there are none. */
static bool only_for_adapters(const run *r, MlirOperation op) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
    return !mlirOpOperandIsNull(use) && infc_ir_kind(r->ir, mlirOpOperandGetOwner(use)) == INFC_OP_adapter_gate;
}

static infc_status linear(run *r, MlirOperation op, bool gated) {
    const infc_tensor *x = rows_of(r, op, 0);
    MlirOperation pack = infc_ir_def(mlirOperationGetOperand(op, 1)), choice = choice_of(r->ir, pack);
    if (!gated && only_for_adapters(r, op)) return INFC_OK;
    const bool kept = infc_ir_kind(r->ir, pack) == INFC_OP_pack_keep;
    infc_matrix m;
    if (kept) INFC_TRY(infc_kept_matrix(r->ir, r->scratch, pack, &m));
    else
        INFC_TRY(infc_float_matrix(r->ir, r->scratch, op,
                                   mlirOperationIsNull(choice) ? pack : choice, r->c->chooses, &m));
    if (!mlirValueIsNull(chosen_of(r->c, pack))) INFC_TRY(choose(r, pack, x->data, &m));
    if (!gated) {
        infc_rows_times_panels(x->data, r->c->n_ids, m.k, m.panels, m.n, new_rows(r, op, m.n));
        return infc_interrupt_check(r->ir->cx);
    }
    const int64_t length = r->c->length; /* gate and up of a sequence at a time */
    float *both = INFC_NEW(r->scratch, float, (size_t)(length * m.n)), *y = new_rows(r, op, m.n / 2);
    for (int64_t at = 0; at < r->c->n_ids; at += length) {
        infc_rows_times_panels((const float *)x->data + at * m.k, length, m.k, m.panels, m.n, both);
        for (int64_t t = 0; t < length; t++)
            for (int64_t i = 0; i < m.n / 2; i++)
                *y++ = silu(both[t * m.n + i]) * both[t * m.n + m.n / 2 + i];
    }
    return infc_interrupt_check(r->ir->cx);
}

/* f32, f16 or bf16 [k, n]. */
static infc_status matmul(run *r, MlirOperation op) {
    const infc_tensor *x = rows_of(r, op, 0);
    infc_tensor stored, w;
    INFC_TRY(infc_constant(r->ir, r->scratch, mlirOperationGetOperand(op, 1), &stored));
    w = infc_tensor_aligned(r->scratch, &stored);
    const int64_t k = w.type.dims[0], n = w.type.dims[1];
    if (w.type.dtype != INFC_DTYPE_f32) {
        const infc_op_desc widen = {.kind = INFC_OP_widen, .n_in = 1, .in = {w.type}};
        INFC_TRY(infc_eval_op(r->ir->cx, r->scratch, &widen, &w, &w));
    }
    float *panels = INFC_NEW(r->scratch, float, (size_t)(infc_round_up(n, INFC_LANES) * k));
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < n; j++)
            panels[(j / INFC_LANES * k + i) * INFC_LANES + j % INFC_LANES] =
                ((const float *)w.data)[i * n + j];
    infc_constant_forget(r->ir, &stored);
    infc_rows_times_panels(x->data, r->c->n_ids, k, panels, n, new_rows(r, op, n));
    return infc_interrupt_check(r->ir->cx);
}

/* What passes its first operand on: kv_store, q, k and v; adapters, of which there are none. */
static infc_status pass_on(run *r, MlirOperation op) {
    value *from = value_of(r, mlirOperationGetOperand(op, 0)),
          *to = value_of(r, mlirOperationGetResult(op, 0));
    to->tensor = from->tensor;
    to->arena = from->arena;
    from->arena = NULL;
    return INFC_OK;
}

/* Of kv_store or attend: without room and result. */
static infc_status attention_of(run *r, MlirOperation op, MlirOperation stored, infc_attention *out) {
    infc_op_desc desc;
    infc_tensor rope;
    infc_ir_describe(r->ir, op, &desc);
    const int64_t *heads = infc_desc_attr(&desc, "heads")->ints;
    const uint32_t bits = (uint32_t)infc_desc_int(&desc, "scale");
    INFC_TRY(infc_constant(r->ir, r->scratch, mlirOperationGetOperand(stored, ROPE), &rope));
    if (heads[2] != heads[3])
        return no_way(r, op, "heads that are turned in part are not supported with it");
    *out = (infc_attention){.qkv = rows_of(r, op, 0)->data,
                            .rope = rope.data,
                            .t = r->c->n_ids,
                            .length = r->c->length,
                            .heads = heads[0],
                            .groups = heads[1],
                            .dim = heads[2],
                            .window = infc_desc_int(&desc, "window")};
    memcpy(&out->scale, &bits, sizeof out->scale);
    return INFC_OK;
}

static infc_status attend(run *r, MlirOperation op) {
    infc_attention a;
    INFC_TRY(attention_of(r, op, infc_ir_def(mlirOperationGetOperand(op, 0)), &a));
    a.keys = INFC_NEW(r->scratch, float, (size_t)(a.t * a.groups * a.dim));
    a.out = new_rows(r, op, a.heads * a.dim);
    infc_attention_run(&a);
    return infc_interrupt_check(r->ir->cx);
}

static infc_status store(run *r, MlirOperation op) {
    MlirValue balance = chosen_of(r->c, op);
    if (!mlirValueIsNull(balance)) {
        infc_attention a;
        const infc_type type = infc_ir_type(r->ir, balance);
        const size_t bytes = (size_t)infc_type_bytes(&type);
        float *made = INFC_NEW(r->scratch, float, bytes / sizeof(float));
        infc_progress(r->ir->cx, "reading a text to balance keys (%zu of %zu)", r->n_chosen + 1, r->n_to_choose);
        INFC_TRY(attention_of(r, op, op, &a));
        infc_balance_of(r->scratch, &a, made);
        keep_chosen(r, op, (infc_bytes){(const uint8_t *)made, bytes});
    }
    return pass_on(r, op);
}

/* ---- any other op: by the reference kernels, sequence by sequence -------------------------------------------- */

static infc_tensor part_of(const infc_tensor *rows, int64_t at, int64_t n) {
    infc_tensor part = *rows;
    part.data = (char *)part.data + infc_type_bytes(&rows->type) / (uint64_t)rows->type.dims[0] * (uint64_t)at;
    part.type.dims[0] = n;
    return part;
}

static infc_status sequence(run *r, MlirOperation op, const infc_tensor *fixed, int64_t at, infc_arena *arena) {
    infc_op_desc open, desc;
    infc_tensor in[INFC_MAX_OPERANDS], made;
    value *to = value_of(r, mlirOperationGetResult(op, 0));
    infc_ir_describe(r->ir, op, &open);
    desc = infc_desc_at(&open, r->sizes);
    for (int i = 0; i < desc.n_in; i++) {
        in[i] = fixed[i].data ? fixed[i] : part_of(rows_of(r, op, i), at, r->c->length);
        desc.in[i] = in[i].type;
    }
    INFC_TRY(infc_eval_op(r->ir->cx, arena, &desc, in, &made));
    if (made.type.rank != 2 || made.type.dims[0] != r->c->length || made.type.dtype != INFC_DTYPE_f32)
        return no_way(r, op, "this operation is not supported with it");
    float *data = to->tensor.data ? to->tensor.data : new_rows(r, op, made.type.dims[1]);
    memcpy(data + at * made.type.dims[1], made.data, (size_t)infc_type_bytes(&made.type));
    return INFC_OK;
}

static infc_status by_sequence(run *r, MlirOperation op) {
    infc_tensor fixed[INFC_MAX_OPERANDS] = {0};
    for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
        MlirValue operand = mlirOperationGetOperand(op, i);
        if (value_of(r, operand)->constant)
            INFC_TRY(infc_constant(r->ir, r->scratch, operand, &fixed[i]));
        else if (!value_of(r, operand)->tensor.data)
            return INFC_OK; /* of inputs that are not there: not known either */
    }
    infc_arena *arena = infc_arena_create_scratch(r->scratch);
    infc_status status = INFC_OK;
    for (int64_t at = 0; at < r->c->n_ids && status == INFC_OK; at += r->c->length) {
        status = sequence(r, op, fixed, at, arena);
        infc_arena_reset(arena);
    }
    infc_arena_destroy(&arena);
    for (int i = 0; i < INFC_MAX_OPERANDS; i++)
        if (fixed[i].data) infc_constant_forget(r->ir, &fixed[i]);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static bool reads_rows(infc_op_kind kind) {
    static const infc_op_kind kinds[] = {
        INFC_OP_quantize,  INFC_OP_rms_quantize, INFC_OP_quantize_groups, INFC_OP_rms_groups,
        INFC_OP_linear_i4, INFC_OP_linear_i8,    INFC_OP_linear_keep,     INFC_OP_gated_i4,
        INFC_OP_gated_i8,  INFC_OP_gated_keep,   INFC_OP_matmul,          INFC_OP_kv_store,
        INFC_OP_attend,    INFC_OP_adapter_out,  INFC_OP_adapter_sum,     INFC_OP_adapter_gate};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == kind) return true;
    return false;
}

static infc_status step(run *r, MlirOperation op) {
    const infc_op_kind kind = infc_ir_kind(r->ir, op);
    if (kind == INFC_OP_adapter_in || kind == INFC_OP_adapter_rms) return INFC_OK;
    if (reads_rows(kind) && !rows_of(r, op, 0)->data)
        return no_way(r, op, "what it reads is made by an operation that is not supported with it");
    switch (kind) {
    case INFC_OP_quantize:
    case INFC_OP_quantize_groups: return records(r, op, false);
    case INFC_OP_rms_quantize:
    case INFC_OP_rms_groups: return records(r, op, true);
    case INFC_OP_linear_i4:
    case INFC_OP_linear_i8:
    case INFC_OP_linear_keep: return linear(r, op, false);
    case INFC_OP_gated_i4:
    case INFC_OP_gated_i8:
    case INFC_OP_gated_keep: return linear(r, op, true);
    case INFC_OP_matmul: return matmul(r, op);
    case INFC_OP_adapter_out:
    case INFC_OP_adapter_sum:
    case INFC_OP_adapter_gate: return pass_on(r, op);
    case INFC_OP_kv_store: return store(r, op);
    case INFC_OP_attend: return attend(r, op);
    default: return by_sequence(r, op);
    }
}

static bool is_constant(run *r, MlirOperation op) {
    const intptr_t n = mlirOperationGetNumOperands(op);
    bool all = n > 0 || infc_ir_kind(r->ir, op) == INFC_OP_weight;
    for (intptr_t i = 0; i < n; i++) all &= value_of(r, mlirOperationGetOperand(op, i))->constant;
    return all;
}

static void release(run *r, MlirOperation op, size_t i) {
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++) {
        value *v = value_of(r, mlirOperationGetOperand(op, k));
        if (v->last != i || !v->arena) continue;
        infc_arena_destroy(&v->arena);
        v->tensor.data = NULL;
    }
}

static void begin(run *r, const MlirOperation *ops, size_t n) {
    infc_calibration *c = r->c;
    const infc_sizes *sizes = infc_ir_sizes(r->ir);
    for (int i = 0; i < infc_sizes_count(sizes); i++) r->sizes[i] = infc_sizes_at(sizes, i)->max;
    const int tokens = infc_sizes_find(sizes, "tokens");
    if (tokens >= 0) r->sizes[tokens] = c->length;
    value *ids = value_of(r, mlirBlockGetArgument(infc_ir_body(r->ir->main), INFC_LLM_TOKENS));
    ids->tensor.type = (infc_type){.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {c->n_ids}};
    ids->tensor.data = (void *)(uintptr_t)c->ids; /* only read */
    for (size_t i = 0; i < n; i++) {
        for (intptr_t k = 0; k < mlirOperationGetNumOperands(ops[i]); k++)
            value_of(r, mlirOperationGetOperand(ops[i], k))->last = i;
        r->n_to_choose += !mlirValueIsNull(chosen_of(c, ops[i]));
    }
}

infc_status infc_calibration_run(infc_calibration *c) {
    infc_ir *ir = c->pass->ir;
    infc_arena *scratch = c->pass->scratch;
    run r = {.c = c, .ir = ir, .values = {.arena = scratch}, .scratch = infc_arena_create_scratch(scratch)};
    MlirOperation *ops;
    const size_t n = infc_ir_ops(scratch, infc_ir_body(ir->main), &ops);
    infc_status status = INFC_OK;
    begin(&r, ops, n);
    for (size_t i = 0; i < n && status == INFC_OK && r.n_chosen < r.n_to_choose; i++) {
        if (is_constant(&r, ops[i])) {
            value_of(&r, mlirOperationGetResult(ops[i], 0))->constant = true;
            continue;
        }
        status = step(&r, ops[i]);
        release(&r, ops[i], i);
        infc_arena_reset(r.scratch);
        if (status == INFC_OK) status = infc_interrupt_check(ir->cx);
    }
    infc_arena_destroy(&r.scratch);
    return status;
}
