/* Building, looking, changing, checking: the module as importers and passes use it. */
#include "compiler/ir/ir.h"
#include "cx_fixture.h"
#include <string.h>

static infc_ir ir;
static MlirBlock body;

static const infc_type image = {INFC_DTYPE_f32, INFC_LAYOUT_plain, 4, {1, 2, 4, 4}};
static const float two[2] = {1, 2};

static int setup(void **state) {
    assert_int_equal(cx_setup(state), 0);
    assert_int_equal(infc_ir_create(&cx, "net.onnx", &ir), INFC_OK);
    const infc_ir_port input = {"image", image};
    assert_int_equal(infc_ir_main_begin(&ir, &input, 1, &body), INFC_OK);
    return 0;
}
static MlirValue argument(void) { return mlirBlockGetArgument(body, 0); }

static MlirValue map(const char *fn, const char *node, MlirValue a, MlirValue b) {
    MlirValue in[2] = {a, b}, out;
    int n = mlirValueIsNull(b) ? 1 : 2;
    MlirLocation location = infc_ir_location(&ir, node, 3);
    assert_int_equal(infc_ir_map(&ir, (infc_ir_at){.block = body}, fn, location, in, n, &out), INFC_OK);
    return out;
}

static const MlirValue none = {NULL};

static MlirValue constant(void) {
    infc_weight weight = {"bias", {INFC_DTYPE_f32, INFC_LAYOUT_plain, 3, {2, 1, 1}}, two, "initializer", NULL};
    int64_t id = infc_weights_add(&ir.weights, weight);
    return infc_ir_weight(&ir, (infc_ir_at){.block = body}, id, infc_ir_location(&ir, NULL, 0));
}

static void end(MlirValue result) {
    const char *name = "y";
    assert_int_equal(infc_ir_main_end(&ir, &result, &name, 1), INFC_OK);
}

static const char *last_diag(void) { return cx.n_diags ? cx.diags[cx.n_diags - 1].text : "(none)"; }

static const char *text_of(infc_ir *module) {
    infc_buf text = {.arena = cx.arena};
    infc_ir_print(module, &text);
    return infc_buf_str(&text);
}

/* ---- building ------------------------------------------------------------------------------------ */

static void test_ports_and_names(void **state) {
    (void)state;
    MlirValue y = map("relu", "node \"a\" (Relu)", argument(), none);
    infc_ir_set_name(&ir, y, "a_out");
    end(y);
    assert_int_equal(infc_ir_verify(&ir, NULL), INFC_OK);
    assert_int_equal(infc_ir_input_count(&ir), 1);
    assert_int_equal(infc_ir_output_count(&ir), 1);
    assert_string_equal(infc_ir_input_name(&ir, 0), "image");
    assert_string_equal(infc_ir_output_name(&ir, 0), "y");
    assert_string_equal(infc_ir_name(&ir, argument()), "image");
    assert_string_equal(infc_ir_name(&ir, y), "a_out");
}

static void test_build_says_what_is_wrong_and_where(void **state) {
    (void)state;
    MlirValue in = argument(), out;
    infc_attr perm = infc_attr_ints("perm", (const int64_t[]){0, 1}, 2);
    infc_status status =
        infc_ir_build(&ir, (infc_ir_at){.block = body}, INFC_OP_transpose,
                      infc_ir_location(&ir, "node \"t\" (Transpose)", 7), &in, 1, &perm, 1, &out);
    assert_int_equal(status, INFC_ERR_MODEL);
    assert_int_equal(cx.n_diags, 1);
    assert_string_equal(last_diag(), "transpose: 2 axes in \"perm\" for f32[1,2,4,4]");
    assert_string_equal(cx.diags[0].loc.file, "net.onnx");
    assert_string_equal(cx.diags[0].loc.node, "node \"t\" (Transpose)");
    assert_true(mlirOperationIsNull(mlirBlockGetFirstOperation(body)));
}

static void test_input_types_are_checked(void **state) {
    (void)state;
    infc_ir_port bad = {"huge", {INFC_DTYPE_f32, INFC_LAYOUT_plain, 2, {INT64_MAX, 2}}};
    infc_ir other;
    MlirBlock block;
    assert_int_equal(infc_ir_create(&cx, "net.onnx", &other), INFC_OK);
    assert_int_equal(infc_ir_main_begin(&other, &bad, 1, &block), INFC_ERR_MODEL);
    assert_non_null(strstr(last_diag(), "input \"huge\""));
}

static void test_describe(void **state) {
    (void)state;
    MlirValue y = map("mul", NULL, argument(), constant());
    infc_op_desc desc;
    infc_ir_describe(&ir, infc_ir_def(y), &desc);
    assert_int_equal(desc.kind, INFC_OP_map2);
    assert_int_equal(desc.n_in, 2);
    assert_string_equal(infc_desc_str(&desc, "fn"), "mul");
    assert_true(infc_type_equal(&desc.out, &image));
    assert_ptr_equal(infc_ir_weight_of(&ir, mlirOperationGetOperand(infc_ir_def(y), 1))->bytes, two);
    assert_null(infc_ir_weight_of(&ir, y));
    assert_null(infc_ir_weight_of(&ir, argument()));
}

static void test_every_element_type(void **state) {
    (void)state;
    for (int dtype = INFC_DTYPE_f32; dtype <= INFC_DTYPE_bool; dtype++) {
        static const uint64_t zeros[4];
        infc_weight weight = {"w", {(infc_dtype)dtype, INFC_LAYOUT_plain, 1, {3}}, zeros, "", NULL};
        MlirLocation location = infc_ir_location(&ir, NULL, 0);
        int64_t id = infc_weights_add(&ir.weights, weight);
        infc_type type = infc_ir_type(&ir, infc_ir_weight(&ir, (infc_ir_at){.block = body}, id, location));
        assert_true(infc_type_equal(&type, &weight.type));
    }
}

/* ---- looking and changing ------------------------------------------------------------------------ */

static void test_uses(void **state) {
    (void)state;
    MlirValue a = map("neg", NULL, argument(), none);
    assert_int_equal(infc_ir_uses(a), 0);
    MlirValue b = map("abs", NULL, a, none);
    assert_int_equal(infc_ir_uses(a), 1);
    assert_true(mlirOperationEqual(infc_ir_only_user(a), infc_ir_def(b)));
    map("add", NULL, a, a);
    assert_int_equal(infc_ir_uses(a), 2);
    assert_true(mlirOperationIsNull(infc_ir_only_user(a)));
    assert_true(mlirOperationIsNull(infc_ir_def(argument())));
}

static void test_replace_moves_the_name(void **state) {
    (void)state;
    MlirValue a = map("neg", NULL, argument(), none), b = map("abs", NULL, argument(), none);
    MlirValue c = map("sqrt", NULL, argument(), none), user = map("relu", NULL, a, none);
    infc_ir_set_name(&ir, a, "a");
    infc_ir_replace(&ir, a, b);
    assert_string_equal(infc_ir_name(&ir, b), "a");
    assert_true(mlirValueEqual(mlirOperationGetOperand(infc_ir_def(user), 0), b));
    infc_ir_erase(infc_ir_def(a));
    infc_ir_set_name(&ir, c, "c");
    infc_ir_replace(&ir, b, c);
    assert_string_equal(infc_ir_name(&ir, c), "c");
    infc_ir_replace(&ir, c, argument());
    assert_string_equal(infc_ir_name(&ir, argument()), "image");
}

static void test_locations(void **state) {
    (void)state;
    MlirLocation a = infc_ir_location(&ir, "node \"a\" (Conv)", 1),
                 b = infc_ir_location(&ir, "node \"b\" (Relu)", 2);
    infc_loc one = infc_ir_loc(&ir, a), plain = infc_ir_loc(&ir, infc_ir_location(&ir, NULL, 12));
    MlirLocation parts[] = {a, b};
    infc_loc both = infc_ir_loc(&ir, infc_ir_location_fuse(&ir, parts, 2));
    assert_string_equal(one.node, "node \"a\" (Conv)");
    assert_string_equal(one.file, "net.onnx");
    assert_string_equal(both.node, "node \"a\" (Conv), node \"b\" (Relu)");
    assert_int_equal(plain.line, 12);
    assert_null(plain.node);
}

static void test_clone_is_independent(void **state) {
    (void)state;
    infc_ir copy;
    end(map("add", NULL, argument(), constant()));
    assert_int_equal(infc_ir_clone(&ir, &copy), INFC_OK);
    assert_string_equal(text_of(&ir), text_of(&copy));
    infc_ir_set_layout(&copy, mlirBlockGetArgument(infc_ir_body(copy.main), 0), INFC_LAYOUT_c16);
    infc_weights_add(&copy.weights, (infc_weight){"more", image, two, "", NULL});
    assert_int_equal(ir.weights.n, 1);
    assert_int_equal(copy.weights.n, 2);
    assert_int_equal(infc_ir_verify(&ir, NULL), INFC_OK);
    assert_true(infc_ir_verify(&copy, NULL) != INFC_OK);
}

static void test_outline(void **state) {
    (void)state;
    MlirValue a = map("neg", NULL, argument(), none), w = constant();
    MlirValue b = map("add", "node \"b\" (Add)", a, w), c = map("relu", NULL, b, none);
    MlirValue d = map("mul", NULL, b, c);
    infc_ir_set_name(&ir, c, "c");
    end(d);
    MlirOperation group[] = {infc_ir_def(b), infc_ir_def(c)}, call, again;
    assert_int_equal(infc_ir_outline(&ir, group, 2, "step", &call), INFC_OK);
    assert_int_equal(infc_ir_verify(&ir, "outline"), INFC_OK);
    assert_int_equal(mlirOperationGetNumOperands(call), 2); /* a and w */
    assert_int_equal(mlirOperationGetNumResults(call), 2);  /* b and c are used by d */
    assert_string_equal(infc_ir_name(&ir, mlirOperationGetResult(call, 1)), "c");
    assert_null(infc_ir_name(&ir, mlirOperationGetResult(call, 0)));
    assert_string_equal(infc_ir_symbol(cx.arena, infc_ir_callee(&ir, call)), "step");
    MlirOperation rest[] = {infc_ir_def(a)}, *funcs;
    assert_int_equal(infc_ir_outline(&ir, rest, 1, "step", &again), INFC_OK);
    assert_string_not_equal(infc_ir_symbol(cx.arena, infc_ir_callee(&ir, again)), "step");
    assert_int_equal(infc_ir_funcs(cx.arena, &ir, &funcs), 3);
    assert_int_equal(infc_ir_verify(&ir, "outline"), INFC_OK);
    assert_int_equal(infc_ir_kind(&ir, call), INFC_OP_CALL);
}

/* ---- checking ------------------------------------------------------------------------------------ */

static void test_verify_blames_the_pass(void **state) {
    (void)state;
    MlirValue y = map("relu", "node \"r\" (Relu)", argument(), none);
    end(y);
    infc_ir_set_layout(&ir, y, INFC_LAYOUT_c16);
    assert_int_equal(infc_ir_verify(&ir, "layout"), INFC_ERR_INTERNAL);
    assert_non_null(strstr(last_diag(), "after pass layout: "));
}

static void test_verify_checks_weights(void **state) {
    (void)state;
    end(map("add", NULL, argument(), constant()));
    assert_int_equal(infc_ir_verify(&ir, NULL), INFC_OK);
    ir.weights.items[0].type.dims[0] = 1;
    assert_int_equal(infc_ir_verify(&ir, "x"), INFC_ERR_INTERNAL);
    assert_non_null(
        strstr(last_diag(), "weight 0 (\"bias\") is f32[1,1,1] in the table, not f32[2,1,1]"));
    ir.weights.n = 0;
    assert_int_equal(infc_ir_verify(&ir, "x"), INFC_ERR_INTERNAL);
    assert_non_null(strstr(last_diag(), "weight 0 is not in the table of 0"));
}

/* The layout of a convolution's result is free between plain and c16, and nothing else of its type is. */
static void test_verify_leaves_the_layout_of_images_free(void **state) {
    (void)state;
    infc_attr attrs[] = {infc_attr_ints("kernel", (const int64_t[]){2, 2}, 2),
                         infc_attr_ints("strides", (const int64_t[]){1, 1}, 2),
                         infc_attr_ints("pads", (const int64_t[]){0, 0, 0, 0}, 4),
                         infc_attr_ints("dilations", (const int64_t[]){1, 1}, 2)};
    MlirValue in = argument(), out;
    MlirLocation location = infc_ir_location(&ir, NULL, 0);
    infc_ir_at at = {.block = body};
    assert_int_equal(infc_ir_build(&ir, at, INFC_OP_pool_max, location, &in, 1, attrs, 4, &out), INFC_OK);
    infc_attr plain = infc_attr_layout(INFC_LAYOUT_plain);
    MlirValue back;
    infc_ir_set_layout(&ir, out, INFC_LAYOUT_c16);
    assert_int_equal(infc_ir_build(&ir, at, INFC_OP_relayout, location, &out, 1, &plain, 1, &back), INFC_OK);
    end(back);
    assert_int_equal(infc_ir_verify(&ir, "x"), INFC_OK);
    infc_ir_set_layout(&ir, out, INFC_LAYOUT_panel);
    assert_int_equal(infc_ir_verify(&ir, "x"), INFC_ERR_INTERNAL);
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void test_text_reads_back(void **state) {
    (void)state;
    MlirValue w = constant(), y = map("add", NULL, argument(), w);
    infc_ir_set_name(&ir, y, "sum");
    end(y);
    const char *text = text_of(&ir);
    assert_null(strstr(text_of(&ir), "net.onnx")); /* no places: the same for every user */
    infc_ir back;
    infc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    assert_int_equal(infc_ir_parse(&cx, bytes, "text", &back), INFC_OK);
    assert_string_equal(text, text_of(&back));
    assert_memory_equal(infc_weights_get(&back.weights, 0)->bytes, two, sizeof two);
    assert_string_equal(infc_weights_get(&back.weights, 0)->name, "bias");
    assert_string_equal(infc_ir_input_name(&back, 0), "image");
}

static void test_numbers_of_weights(void **state) {
    (void)state;
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7bff}; /* 1, -2, 2^-24, inf, 65504 */
    infc_weight f16 = {"h", {INFC_DTYPE_f16, INFC_LAYOUT_plain, 1, {5}}, halves, "", NULL};
    assert_true(infc_weight_f64(&f16, 0) == 1.0 && infc_weight_f64(&f16, 1) == -2.0);
    assert_true(infc_weight_f64(&f16, 2) == 0x1p-24 && infc_weight_f64(&f16, 4) == 65504.0);
    assert_true(infc_weight_f64(&f16, 3) > 1e300);
    assert_int_equal(infc_weight_i64(&f16, 3), INT64_MAX);
    static const uint16_t brains[] = {0x3f80, 0x7fc0, 0xff80}; /* 1, NaN, -inf */
    infc_weight bf16 = {"b", {INFC_DTYPE_bf16, INFC_LAYOUT_plain, 1, {3}}, brains, "", NULL};
    assert_true(infc_weight_f64(&bf16, 0) == 1.0);
    assert_int_equal(infc_weight_i64(&bf16, 1), 0);
    assert_int_equal(infc_weight_i64(&bf16, 2), INT64_MIN);
    static const int64_t wide[] = {INT64_MIN, -1};
    infc_weight i64 = {"i", {INFC_DTYPE_i64, INFC_LAYOUT_plain, 1, {2}}, wide, "", NULL};
    assert_true(infc_weight_i64(&i64, 0) == INT64_MIN && infc_weight_f64(&i64, 1) == -1.0);
    static const uint8_t bytes[] = {0xff, 0x01};
    infc_weight u8 = {"u", {INFC_DTYPE_u8, INFC_LAYOUT_plain, 1, {2}}, bytes, "", NULL};
    assert_int_equal(infc_weight_i64(&u8, 0), 255);
    assert_null(infc_weights_get(&ir.weights, -1));
    assert_null(infc_weights_get(&ir.weights, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, cx_teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(ports_and_names),
        TEST(build_says_what_is_wrong_and_where),
        TEST(input_types_are_checked),
        TEST(describe),
        TEST(every_element_type),
        TEST(uses),
        TEST(replace_moves_the_name),
        TEST(locations),
        TEST(clone_is_independent),
        TEST(outline),
        TEST(verify_blames_the_pass),
        TEST(verify_checks_weights),
        TEST(verify_leaves_the_layout_of_images_free),
        TEST(text_reads_back),
        TEST(numbers_of_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
