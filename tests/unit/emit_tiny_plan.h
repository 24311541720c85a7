/* emit_tiny_plan.h - a plan made by hand, with all that the emitter knows: kernels with epilogues, shared functions,
 * a kernel by size, loop nests of two ranks with tails, several results, a barrier, packed and plain weights.
 *
 *   x [3,20], s [33] -> h = relu(x w1 + b1) [3,33];  g = relu(x w2 + b2) [3,33], by the same function
 *   y = h * s + g (a row of one value each: column 0 of g), and p = max(y, 0)
 *   q = -h, flat;  r = transpose(h) [33,3] */
#ifndef EMIT_TINY_PLAN_H
#define EMIT_TINY_PLAN_H
#include "compiler/emit/emit.h"
#include <assert.h>
#include <string.h>

enum { TINY_M = 3, TINY_K = 20, TINY_N = 33 };
enum { X, S, W1, B1, W2, B2, H, G, Y, P, Q, R, FLAT, TINY_BUFFERS };

typedef struct tiny_plan {
    infc_plan plan;
    infc_spec spec;
    infc_weights weights;
    infc_weight items[4];
    infc_plan_buffer buffers[TINY_BUFFERS];
    infc_plan_recipe recipes[4];
    infc_op_desc ops[6];
    infc_plan_step steps[5];
    infc_plan_expr exprs[16];
    infc_plan_extra extras[8];
    infc_plan_store stores[8];
    int inputs[2], outputs[4];
    float w1[TINY_K * TINY_N], w2[TINY_K * TINY_N], b1[TINY_N], b2[TINY_N];
} tiny_plan;

/* Multiples of 1/64 between -1 and 1. */
static inline float tiny_value(unsigned seed, int i) {
    unsigned z = (seed + (unsigned)i) * 2654435761u;
    return (float)((int)(z >> 16 & 127) - 64) / 64.0f;
}

static inline infc_type tiny_type(int64_t rows, int64_t columns, infc_layout layout) {
    infc_type type = {.dtype = INFC_DTYPE_f32, .layout = layout, .rank = 2, .dims = {rows, columns}};
    if (rows == 0) type = (infc_type){.dtype = INFC_DTYPE_f32, .rank = 1, .dims = {columns}};
    return type;
}

static inline void tiny_buffer(tiny_plan *t, int id, const char *name, infc_place place, int index,
                               infc_type type, uint64_t offset) {
    t->buffers[id] = (infc_plan_buffer){.name = name,
                                        .tensor = name,
                                        .type = type,
                                        .place = place,
                                        .index = index,
                                        .bytes = infc_type_bytes(&type),
                                        .offset = offset,
                                        .first = -1,
                                        .last = -1,
                                        .alias_of = -1};
}

static inline void tiny_buffers(tiny_plan *t) {
    const infc_type mn = tiny_type(TINY_M, TINY_N, INFC_LAYOUT_plain),
                    n = tiny_type(0, TINY_N, INFC_LAYOUT_plain);
    const infc_type panel = tiny_type(TINY_K, TINY_N, INFC_LAYOUT_panel);
    tiny_buffer(t, X, "x", INFC_PLACE_INPUT, 0, tiny_type(TINY_M, TINY_K, INFC_LAYOUT_plain), 0);
    tiny_buffer(t, S, "s", INFC_PLACE_INPUT, 1, n, 0);
    tiny_buffer(t, W1, "w1", INFC_PLACE_WEIGHT, 0, panel, 0);
    tiny_buffer(t, B1, "b1", INFC_PLACE_WEIGHT, 1, n, 3840);
    tiny_buffer(t, W2, "w2", INFC_PLACE_WEIGHT, 2, panel, 4032);
    tiny_buffer(t, B2, "b2", INFC_PLACE_WEIGHT, 3, n, 7872);
    tiny_buffer(t, H, "h", INFC_PLACE_ARENA, -1, mn, 0);
    tiny_buffer(t, G, "g", INFC_PLACE_ARENA, -1, mn, 512);
    tiny_buffer(t, Y, "y", INFC_PLACE_OUTPUT, 0, mn, 0);
    tiny_buffer(t, P, "p", INFC_PLACE_OUTPUT, 1, mn, 0);
    tiny_buffer(t, Q, "q", INFC_PLACE_OUTPUT, 2, mn, 0);
    tiny_buffer(t, R, "r", INFC_PLACE_OUTPUT, 3, tiny_type(TINY_N, TINY_M, INFC_LAYOUT_plain), 0);
    tiny_buffer(t, FLAT, "flat", INFC_PLACE_ARENA, -1, tiny_type(0, TINY_M * TINY_N, INFC_LAYOUT_plain), 0);
    t->buffers[FLAT].alias_of = H;
    t->buffers[H].first = 0;
    t->buffers[G].first = 1;
}

static inline void tiny_weights(tiny_plan *t) {
    float *values[] = {t->w1, t->b1, t->w2, t->b2};
    for (int i = 0; i < 4; i++) {
        const bool matrix = i % 2 == 0;
        const int n = matrix ? TINY_K * TINY_N : TINY_N;
        for (int k = 0; k < n; k++) values[i][k] = tiny_value(1000u * (unsigned)i, k);
        t->items[i] = (infc_weight){.name = t->buffers[W1 + i].name,
                                    .bytes = values[i],
                                    .type = tiny_type(matrix ? TINY_K : 0, TINY_N, INFC_LAYOUT_plain)};
        const int first = i / 2 * 3 + i % 2 * 2; /* weight, relayout, weight */
        t->recipes[i] =
            (infc_plan_recipe){.buffer = W1 + i, .first_op = first, .n_ops = matrix ? 2 : 1, .n_weights = 1};
        t->ops[first] = (infc_op_desc){.kind = INFC_OP_weight, .n_attrs = 1, .out = t->items[i].type};
        t->ops[first].attrs[0] = (infc_attr){.name = "id", .kind = INFC_ATTR_I64, .i = i};
        if (!matrix) continue;
        infc_op_desc *pack = &t->ops[first + 1];
        *pack = (infc_op_desc){.kind = INFC_OP_relayout, .n_in = 1, .n_attrs = 1, .in = {t->items[i].type}};
        pack->attrs[0] = (infc_attr){.name = "layout", .kind = INFC_ATTR_LAYOUT, .layout = INFC_LAYOUT_panel};
        pack->out = t->buffers[W1 + i].type;
    }
    t->weights = (infc_weights){.items = t->items, .n = 4};
}

static inline infc_plan_step *tiny_step(tiny_plan *t, const char *name, const char *what) {
    infc_plan *p = &t->plan;
    t->steps[p->n_steps] = (infc_plan_step){.name = name,
                                            .node = name,
                                            .what = what,
                                            .first_expr = p->n_exprs,
                                            .first_extra = p->n_extras,
                                            .first_store = p->n_stores,
                                            .scratch = -1};
    return &t->steps[p->n_steps++];
}

static inline int tiny_expr(tiny_plan *t, infc_plan_step *step, infc_expr_kind kind, const char *fn,
                            int a, int b) {
    t->exprs[t->plan.n_exprs++] = (infc_plan_expr){kind, fn ? infc_scalar_find(fn) : 0, {a, b, 0}};
    return step->n_exprs++;
}

static inline int tiny_extra(tiny_plan *t, infc_plan_step *step, infc_plan_extra extra) {
    t->extras[t->plan.n_extras++] = extra;
    return tiny_expr(t, step, INFC_EXPR_EXTRA, NULL, step->n_extras++, 0);
}

static inline void tiny_store(tiny_plan *t, infc_plan_step *step, int buffer, int expr) {
    t->stores[t->plan.n_stores++] = (infc_plan_store){buffer, expr};
    step->n_stores++;
}

static inline void tiny_kernel(tiny_plan *t, infc_plan_step *step, infc_kernel_call call, infc_isa isa) {
    (void)t;
    step->call = call;
    step->kernel = infk_kernel_select(call.kind, call.types, isa, &call.dims);
    assert(step->kernel);
    step->units = infk_units(call.kind, &call.dims);
}

static inline void tiny_matmul(tiny_plan *t, const char *name, int w, int bias, int to, infc_isa isa) {
    infc_plan_step *step = tiny_step(t, name, "matmul 3 x 20 x 33; then add, relu");
    infc_kernel_call call = {.kind = INFK_matmul, .types = {"f32", "f32", "f32"}};
    call.dims.matmul =
        (infk_matmul_dims){.batch = 1, .m = TINY_M, .n = TINY_N, .k = TINY_K, .a_row = TINY_K, .y_row = TINY_N};
    tiny_kernel(t, step, call, isa);
    step->operands[0] = X, step->operands[1] = w, step->n_operands = 2;
    int acc = tiny_expr(t, step, INFC_EXPR_ACC, NULL, 0, 0);
    int b = tiny_extra(t, step, (infc_plan_extra){.buffer = bias, .access = INFC_ACCESS_COLUMN});
    int sum = tiny_expr(t, step, INFC_EXPR_FN, "add", acc, b);
    tiny_store(t, step, to, tiny_expr(t, step, INFC_EXPR_FN, "relu", sum, 0));
}

static inline void tiny_nests(tiny_plan *t) {
    infc_plan_step *rows = tiny_step(t, "scale", "mul, add, max over [3,33]");
    int h = tiny_extra(
        t, rows, (infc_plan_extra){.buffer = H, .access = INFC_ACCESS_STRIDED, .strides = {TINY_N, 1}});
    int s = tiny_extra(t, rows,
                       (infc_plan_extra){.buffer = S, .access = INFC_ACCESS_STRIDED, .strides = {0, 1}});
    int g = tiny_extra(
        t, rows, (infc_plan_extra){.buffer = G, .access = INFC_ACCESS_STRIDED, .strides = {TINY_N, 0}});
    int y = tiny_expr(t, rows, INFC_EXPR_FN, "add", tiny_expr(t, rows, INFC_EXPR_FN, "mul", h, s), g);
    tiny_store(t, rows, Y, y);
    tiny_store(t, rows, P, tiny_expr(t, rows, INFC_EXPR_FN, "relu", y, 0));
    rows->nest_rank = 2, rows->nest_dims[0] = TINY_M, rows->nest_dims[1] = TINY_N;
    rows->units = TINY_M, rows->barrier = 1;

    infc_plan_step *flat = tiny_step(t, "negate", "neg over [99]");
    int f = tiny_extra(t, flat,
                       (infc_plan_extra){.buffer = FLAT, .access = INFC_ACCESS_STRIDED, .strides = {1}});
    tiny_store(t, flat, Q, tiny_expr(t, flat, INFC_EXPR_FN, "neg", f, 0));
    flat->nest_rank = 1, flat->nest_dims[0] = TINY_M * TINY_N;
    flat->units = (TINY_M * TINY_N + 15) / 16;
}

static inline void tiny_transpose(tiny_plan *t, infc_isa isa) {
    infc_plan_step *step = tiny_step(t, "turn", "transpose [3,33]");
    infc_kernel_call call = {.kind = INFK_strided, .types = {"b4", "", "b4"}};
    call.dims.strided = (infk_strided_dims){
        .d0 = 1, .d1 = 1, .d2 = 1, .d3 = 1, .d4 = TINY_N, .d5 = TINY_M, .s4 = 1, .s5 = TINY_N};
    call.dims.strided.y_unit = TINY_M * TINY_N;
    tiny_kernel(t, step, call, isa);
    step->operands[0] = H, step->n_operands = 1;
    tiny_store(t, step, R, -1);
}

static inline void tiny_plan_make(tiny_plan *t, const infc_target *target) {
    memset(t, 0, sizeof *t);
    infc_plan *p = &t->plan;
    *p = (infc_plan){.name = "tiny",
                     .source = "tiny.onnx",
                     .source_sha256 = "0123abcd",
                     .target = *target,
                     .buffers = t->buffers,
                     .n_buffers = TINY_BUFFERS,
                     .inputs = t->inputs,
                     .n_inputs = 2,
                     .outputs = t->outputs,
                     .n_outputs = 4,
                     .recipes = t->recipes,
                     .n_recipes = 4,
                     .recipe_ops = t->ops,
                     .n_recipe_ops = 6,
                     .steps = t->steps,
                     .exprs = t->exprs,
                     .extras = t->extras,
                     .stores = t->stores,
                     .arena_bytes = 1024 + INFC_OVER_READ,
                     .arena_lower_bound = 1024,
                     .weights_bytes = 8064 + INFC_OVER_READ,
                     .weights = &t->weights};
    t->spec = (infc_spec){
        .name = "tiny", .model = "tiny.onnx", .model_text = "tiny.onnx", .license = "MIT", .static_library = true};
    t->inputs[0] = X, t->inputs[1] = S;
    for (int i = 0; i < 4; i++) t->outputs[i] = Y + i;
    tiny_buffers(t);
    tiny_weights(t);
    tiny_matmul(t, "hidden", W1, B1, H, target->isa);
    tiny_matmul(t, "gate", W2, B2, G, target->isa);
    tiny_nests(t);
    tiny_transpose(t, target->isa);
}

#endif
