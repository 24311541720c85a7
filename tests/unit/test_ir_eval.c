/* The evaluator: results as ONNX Runtime and numpy give them, the same bits in every layout, int8 weights equal to
 * the same numbers as floats, and the order of sums. Element i of operand 0, 1, 2 is ((7i + 3) mod 11) - 5,
 * ((5i + 1) mod 7) - 3, ((3i + 2) mod 5) - 2; a result's checksum is the sum of y[i] * ((3i mod 17) + 1). */
#include "compiler/ir/eval.h"
#include "desc_text.h"
#include "cx_fixture.h"
#include <math.h>

typedef struct row {
    infc_op_kind kind;
    const char *operands, *attrs;
    double want;
} row;

static const row rows[] = {
#define EVAL(op, operands, attrs, want) {INFC_OP_##op, operands, attrs, want},
#include "ir_eval.def"
#undef EVAL
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static int64_t number(int operand, int64_t i) {
    switch (operand) {
    case 0: return (i * 7 + 3) % 11 - 5;
    case 1: return (i * 5 + 1) % 7 - 3;
    default: return (i * 3 + 2) % 5 - 2;
    }
}

static infc_tensor filled(const infc_type *type, int operand) {
    infc_tensor t;
    assert_int_equal(infc_tensor_create(&cx, cx.arena, type, &t), INFC_OK);
    for (int64_t i = 0; i < infc_type_count(type); i++) {
        if (type->dtype == INFC_DTYPE_f32) ((float *)t.data)[i] = (float)number(operand, i);
        else ((int8_t *)t.data)[i] = (int8_t)number(operand, i);
    }
    return t;
}

static infc_tensor relayout(const infc_tensor *in, infc_layout layout) {
    infc_op_desc desc = {.kind = INFC_OP_relayout, .n_in = 1, .n_attrs = 1, .in = {in->type}};
    infc_tensor out;
    desc.attrs[0] = infc_attr_layout(layout);
    if (in->type.layout == layout) return *in;
    assert_int_equal(infc_eval_op(&cx, cx.arena, &desc, in, &out), INFC_OK);
    return out;
}

static infc_tensor eval_filled(const infc_op_desc *desc) {
    infc_tensor in[INFC_MAX_OPERANDS], out;
    for (int i = 0; i < desc->n_in; i++) in[i] = filled(&desc->in[i], i);
    if (infc_eval_op(&cx, cx.arena, desc, in, &out) != INFC_OK)
        fail_msg("%s", cx.diags[cx.n_diags - 1].text);
    return out;
}

static void test_rows(void **state) {
    (void)state;
    for (size_t r = 0; r < N_ROWS; r++) {
        infc_op_desc desc = desc_of(cx.arena, rows[r].kind, rows[r].operands, rows[r].attrs);
        infc_tensor out = eval_filled(&desc);
        double sum = 0, size = 1;
        for (int64_t i = 0; i < infc_type_count(&out.type); i++) {
            double term = (double)((float *)out.data)[i] * (double)(i * 3 % 17 + 1);
            sum += term;
            size += fabs(term);
        }
        if (!(fabs(sum - rows[r].want) <= 1e-6 * size))
            fail_msg("%s %s {%s}: %.9g, not %.9g", infc_op_get(desc.kind)->name, rows[r].operands,
                     rows[r].attrs, sum, rows[r].want);
    }
}

/* Evaluates with the given layouts; false when the shape rule refuses them. */
static bool eval_in_layouts(infc_op_desc desc, const infc_layout *layouts, infc_layout out_layout,
                            infc_tensor *plain) {
    infc_tensor in[INFC_MAX_OPERANDS], out;
    for (int i = 0; i < desc.n_in; i++) {
        infc_type type = desc.in[i];
        desc.in[i].layout = layouts[i];
        if (infc_type_check(cx.arena, &desc.in[i])) return false;
        in[i] = filled(&type, i);
    }
    if (infc_op_get(desc.kind)->shape(cx.arena, &desc, &desc.out)) return false;
    for (int i = 0; i < desc.n_in; i++) in[i] = relayout(&in[i], layouts[i]);
    desc.out.layout = out_layout;
    assert_int_equal(infc_eval_op(&cx, cx.arena, &desc, in, &out), INFC_OK);
    *plain = relayout(&out, INFC_LAYOUT_plain);
    return true;
}

static void test_layouts_give_the_same_bits(void **state) {
    (void)state;
    int tried = 0;
    for (size_t r = 0; r < N_ROWS; r++) {
        infc_op_desc desc = desc_of(cx.arena, rows[r].kind, rows[r].operands, rows[r].attrs);
        if (desc.kind == INFC_OP_relayout) continue;
        infc_tensor want = eval_filled(&desc), got;
        for (int code = 1; code < 162; code++) { /* four operands in three layouts, two for the result */
            const infc_layout layouts[] = {(infc_layout)(code % 3), (infc_layout)(code / 3 % 3),
                                           (infc_layout)(code / 9 % 3), (infc_layout)(code / 27 % 3)};
            if (!eval_in_layouts(desc, layouts, (infc_layout)(code / 81), &got)) continue;
            tried++;
            assert_true(infc_type_equal(&want.type, &got.type));
            if (memcmp(want.data, got.data, (size_t)infc_type_bytes(&want.type)) != 0)
                fail_msg("%s %s {%s}: other bits in layouts %d %d %d %d -> %d",
                         infc_op_get(desc.kind)->name, rows[r].operands, rows[r].attrs,
                         (int)layouts[0], (int)layouts[1], (int)layouts[2], (int)layouts[3], code / 81);
        }
    }
    assert_true(tried > 100);
}

static void test_int8_weights_are_the_same_numbers(void **state) {
    (void)state;
    for (size_t r = 0; r < N_ROWS; r++) {
        infc_op_desc desc = desc_of(cx.arena, rows[r].kind, rows[r].operands, rows[r].attrs);
        if (desc.kind != INFC_OP_conv && desc.kind != INFC_OP_matmul) continue;
        infc_tensor want = eval_filled(&desc), got;
        desc.in[1].dtype = INFC_DTYPE_i8;
        got = eval_filled(&desc);
        assert_memory_equal(want.data, got.data, (size_t)infc_type_bytes(&want.type));
    }
}

/* Expected bits: float32 sums in numpy, of x = ((7i + 3) mod 11 - 5) * 0.1f. */
static void check_sums(const char *operand, const char *axes, const uint32_t *want, size_t n) {
    infc_op_desc desc = desc_of(cx.arena, INFC_OP_reduce_sum, operand, axes);
    infc_tensor x = filled(&desc.in[0], 0), y;
    for (int64_t i = 0; i < infc_type_count(&x.type); i++) ((float *)x.data)[i] *= 0.1f;
    assert_int_equal(infc_eval_op(&cx, cx.arena, &desc, &x, &y), INFC_OK);
    assert_memory_equal(y.data, want, n * sizeof *want);
}

static void test_order_of_sums(void **state) {
    (void)state;
    static const uint32_t in_order[] = {0xbe4ccccc, 0x3f000000, 0x3dcccccc, 0xbe99999b},
                          lanes[] = {0x3f000000, 0xbf333333, 0x3e99999a};
    check_sums("f32[1,20,3,7]", "axes=2,3", in_order, 4);
    check_sums("f32[3,50]", "axes=1", lanes, 3);
}

/* From axes and logical shape alone: the layout, the batch and extents of 1 do not matter. */
static void test_order_is_logical(void **state) {
    static const struct {
        const char *operand, *axes;
        int lanes;
    } cases[] = {
        {"f32[1,16,8,8]", "axes=2,3", 0},     {"f32[1,16,8,8]{c16}", "axes=2,3", 0},
        {"f32[1,15,8,8]", "axes=2,3", 1},     {"f32[1,15,8,8]{c16}", "axes=2,3", 1},
        {"f32[64,768]", "axes=1", 1},         {"f32[1,768]", "axes=1", 1},
        {"f32[2,64,768]", "axes=2", 1},       {"f32[2,64,768]", "axes=1", 0},
        {"f32[2,64,1]", "axes=1", 0},         {"f32[2,64,8,8]", "axes=3", 1},
        {"f32[2,64,8,1]", "axes=2", 0},       {"f32[64]", "axes=0", 1},
        {"f32[2,64,4,4,4]", "axes=2,3,4", 0}, {"f32[2,64,8,8]", "axes=1,2,3", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infc_op_desc desc = desc_of(cx.arena, INFC_OP_reduce_sum, cases[i].operand, cases[i].axes);
        infc_kernel_call call;
        assert_null(infc_op_get(desc.kind)->shape(cx.arena, &desc, &desc.out));
        infc_op_get(desc.kind)->call(&desc, &call);
        if (call.dims.reduce.lanes != cases[i].lanes)
            fail_msg("%s %s", cases[i].operand, cases[i].axes);
    }
}

/* Operands of a model file lie at any address. */
static void test_unaligned_operands(void **state) {
    (void)state;
    infc_op_desc desc = desc_of(cx.arena, INFC_OP_map1, "f32[3]", "fn~neg");
    char bytes[16];
    const float values[] = {1, -2, 3};
    memcpy(bytes + 1, values, sizeof values);
    infc_tensor in = {desc.in[0], bytes + 1}, out;
    assert_int_equal(infc_eval_op(&cx, cx.arena, &desc, &in, &out), INFC_OK);
    assert_true(((float *)out.data)[1] == 2.0f && ((float *)out.data)[2] == -3.0f);
}

/* A model may return a constant that lies anywhere in its file: whoever reads the results reads whole elements. */
static void test_unaligned_result(void **state) {
    (void)state;
    static const char text[] = "func.func @main() -> (tensor<3xf32> {infc.name = \"y\"}) {\n"
                               "  %0 = \"infc.weight\"() {name = \"w\", value = dense<[1.0, -2.0, "
                               "3.0]> : tensor<3xf32>} : () -> tensor<3xf32>\n"
                               "  return %0 : tensor<3xf32>\n"
                               "}\n";
    infc_ir ir;
    infc_tensor y;
    assert_int_equal(infc_ir_parse(&cx, (infc_bytes){(const uint8_t *)text, strlen(text)}, "m.mlir", &ir), INFC_OK);
    char bytes[16];
    memcpy(bytes + 1, ir.weights.items[0].bytes, 3 * sizeof(float));
    ir.weights.items[0].bytes = bytes + 1;
    assert_int_equal(infc_eval_main(&ir, cx.arena, NULL, &y, NULL, NULL), INFC_OK);
    assert_int_equal((uintptr_t)y.data % sizeof(float), 0);
    assert_true(((float *)y.data)[1] == -2.0f && ((float *)y.data)[2] == 3.0f);
}

/* Where llama.cpp's ggml-common.h has scales and minima in a block, and nowhere else. */
static void test_kept_scales(void **state) {
    (void)state;
    static const struct {
        int format, bytes, at[2];
    } cases[] = {{2, 18, {0, 0}}, {3, 20, {0, 2}},   {6, 22, {0, 0}},
                 {8, 34, {0, 0}}, {12, 144, {0, 2}}, {14, 210, {208, 208}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int at = 0; at < 2 * cases[c].bytes; at += 2) {
            const int in_block = at % cases[c].bytes;
            const bool scale = in_block == cases[c].at[0] || in_block == cases[c].at[1];
            unsigned char blocks[2 * 210] = {0};
            blocks[at + 1] = 0x7e; /* a NaN of f16 */
            assert_int_equal(infc_keep_is_finite(cases[c].format, blocks, 2 * cases[c].bytes), !scale);
            blocks[at + 1] = 0xfc; /* -inf */
            assert_int_equal(infc_keep_is_finite(cases[c].format, blocks, 2 * cases[c].bytes), !scale);
            blocks[at + 1] = 0x7b; /* the largest number */
            assert_true(infc_keep_is_finite(cases[c].format, blocks, 2 * cases[c].bytes));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(test_rows),
        CX_TEST(test_layouts_give_the_same_bits),
        CX_TEST(test_int8_weights_are_the_same_numbers),
        CX_TEST(test_order_of_sums),
        CX_TEST(test_order_is_logical),
        CX_TEST(test_unaligned_operands),
        CX_TEST(test_unaligned_result),
        cmocka_unit_test(test_kept_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
