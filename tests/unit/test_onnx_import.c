/* The ONNX importer in one process: what is borrowed, names and places, damaged bytes, kinds of model. What the
 * operators compute is compared with ONNX Runtime by tests/fault/onnx_semantics.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/base/file.h"
#include "compiler/frontend/import.h"
#include "compiler/frontend/onnx/onnx_import.h"
#include "cx_fixture.h"

#define DIGITS INFC_SOURCE_DIR "/examples/digits/digits.onnx"
#define CORPUS INFC_SOURCE_DIR "/tests/fuzz/corpus/onnx/"

static infc_spec spec;
static infc_ir ir;

static int setup(void **state) {
    spec = (infc_spec){0};
    return cx_setup(state);
}

static infc_bytes map(const char *path) {
    infc_bytes bytes;
    assert_int_equal(infc_file_map(&cx, path, &bytes), INFC_OK);
    return bytes;
}

static void ports(void **state) {
    (void)state;
    spec.model = DIGITS;
    assert_int_equal(infc_frontend_import(&cx, &spec, &ir), INFC_OK);
    assert_int_equal(infc_ir_verify(&ir, "import"), INFC_OK);
    assert_int_equal(cx.n_diags, 0);
    assert_int_equal(infc_ir_input_count(&ir), 1);
    assert_string_equal(infc_ir_input_name(&ir, 0), "image");
    assert_int_equal(infc_ir_output_count(&ir), 1);
    assert_string_equal(infc_ir_output_name(&ir, 0), "probabilities");
}

static void weights_are_borrowed(void **state) {
    (void)state;
    infc_bytes bytes = map(DIGITS);
    size_t borrowed = 0;
    assert_int_equal(infc_onnx_read_bytes(&cx, &spec, bytes, DIGITS, &ir), INFC_OK);
    for (size_t i = 0; i < ir.weights.n; i++) {
        const infc_weight *weight = &ir.weights.items[i];
        if (strcmp(weight->origin, "initializer") != 0) continue;
        const uint8_t *at = weight->bytes;
        assert_true(at >= bytes.ptr && at + infc_type_bytes(&weight->type) <= bytes.ptr + bytes.len);
        borrowed++;
    }
    assert_int_equal(borrowed, 17);
}

static void names_and_places(void **state) {
    (void)state;
    MlirOperation *ops;
    const infc_weight *weight;
    size_t named = 0;
    assert_int_equal(infc_onnx_read_bytes(&cx, &spec, map(DIGITS), DIGITS, &ir), INFC_OK);
    size_t n = infc_ir_ops(cx.arena, infc_ir_body(ir.main), &ops);
    for (size_t i = 0; i < n; i++) {
        infc_loc loc = infc_ir_loc(&ir, mlirOperationGetLocation(ops[i]));
        infc_op_kind kind = infc_ir_kind(&ir, ops[i]);
        if (kind >= INFC_N_OP_KINDS) continue;
        assert_string_equal(loc.file, DIGITS);
        assert_non_null(loc.node);
        MlirValue value = mlirOperationGetResult(ops[i], 0);
        named += infc_ir_name(&ir, value) != NULL;
        weight = infc_ir_weight_of(&ir, value);
        if (kind == INFC_OP_softmax) {
            assert_string_equal(loc.node, "node \"/softmax/Softmax\" (Softmax)");
            assert_string_equal(infc_ir_name(&ir, value), "probabilities");
        } else if (weight && strcmp(weight->name, "head.bias") == 0) {
            assert_string_equal(loc.node, "initializer \"head.bias\"");
        }
    }
    assert_int_equal(named, 14); /* one value for each node of the model */
}

/* Imports bytes in a context of their own: no crash, and a message whenever it is refused. */
static infc_status import_alone(const uint8_t *bytes, size_t n) {
    infc_cx own;
    infc_ir made;
    infc_spec_dim dim = {.name = "batch", .value = 2};
    infc_spec bound = {.dims = &dim, .n_dims = 1};
    uint8_t *copy = malloc(n ? n : 1); /* so that a sanitizer sees a read past the end */
    assert_non_null(copy);
    if (n) memcpy(copy, bytes, n);
    assert_int_equal(infc_cx_init(&own), INFC_OK);
    infc_status status = infc_onnx_read_bytes(&own, &bound, (infc_bytes){copy, n}, NULL, &made);
    assert_true(status != INFC_ERR_INTERNAL && (status == INFC_OK) == (own.n_errors == 0));
    if (status == INFC_OK) assert_int_equal(infc_ir_verify(&made, "import"), INFC_OK);
    infc_cx_deinit(&own);
    free(copy);
    return status;
}

static const char *const small_models[] = {"dim_param.onnx", "typed_data.onnx",
                                           "constants_of_all_forms.onnx", "external_beyond.onnx"};

/* Only a cut between two fields of the model itself can leave a whole one. */
static void truncated(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof small_models / sizeof *small_models; k++) {
        infc_bytes bytes = map(infc_path_join(cx.arena, CORPUS, small_models[k]));
        size_t n_whole = 0;
        for (size_t n = 0; n < bytes.len; n++) n_whole += import_alone(bytes.ptr, n) == INFC_OK;
        assert_int_equal(n_whole, 0);
    }
}

static void changed_bytes(void **state) {
    (void)state;
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    for (size_t k = 0; k < sizeof small_models / sizeof *small_models; k++) {
        infc_bytes bytes = map(infc_path_join(cx.arena, CORPUS, small_models[k]));
        uint8_t *copy = infc_arena_alloc(cx.arena, bytes.len, 1);
        for (size_t i = 0; i < bytes.len * 3; i++) {
            memcpy(copy, bytes.ptr, bytes.len);
            copy[i / 3] ^= changes[i % 3];
            import_alone(copy, bytes.len);
        }
    }
}

static void external_data_from_memory(void **state) {
    (void)state;
    infc_bytes bytes = map(CORPUS "external_beyond.onnx");
    assert_int_equal(infc_onnx_read_bytes(&cx, &spec, bytes, NULL, &ir), INFC_ERR_UNSUPPORTED);
    assert_non_null(strstr(cx.diags[0].text, "the model has no folder"));
}

static void expect_kind(const char *model, infc_status status, const char *text) {
    size_t mark = cx.n_diags;
    spec.model = model;
    assert_int_equal(infc_frontend_import(&cx, &spec, &ir), status);
    assert_true(cx.n_diags > mark);
    assert_non_null(strstr(cx.diags[mark].text, text));
}

static void kinds_of_model(void **state) {
    (void)state;
    expect_kind("missing.gguf", INFC_ERR_IO, "cannot read this file");
    expect_kind(INFC_SOURCE_DIR, INFC_ERR_UNSUPPORTED, "is none of the kinds of model");
    expect_kind("model.tflite", INFC_ERR_UNSUPPORTED, "is none of the kinds of model");
    expect_kind("missing.onnx", INFC_ERR_IO, "cannot read this file");
}

static void table(void **state) {
    (void)state;
    for (size_t i = 0; i < infc_onnx_op_count(); i++) {
        const infc_onnx_op *op = infc_onnx_op_at(i);
        assert_ptr_equal(infc_onnx_op_find(op->domain, op->name, op->since), op);
        assert_ptr_equal(infc_onnx_op_find(op->domain, op->name, op->until), op);
        const infc_onnx_op *before = i ? infc_onnx_op_at(i - 1) : op;
        int order = strcmp(before->domain, op->domain);
        assert_true(order < 0 || (order == 0 && strcmp(before->name, op->name) <= 0));
    }
    assert_null(infc_onnx_op_find("", "NonMaxSuppression", 17));
    assert_null(infc_onnx_op_find("", "Relu", 29));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ports, setup, cx_teardown),
        cmocka_unit_test_setup_teardown(weights_are_borrowed, setup, cx_teardown),
        cmocka_unit_test_setup_teardown(names_and_places, setup, cx_teardown),
        cmocka_unit_test_setup_teardown(truncated, setup, cx_teardown),
        cmocka_unit_test_setup_teardown(changed_bytes, setup, cx_teardown),
        cmocka_unit_test_setup_teardown(external_data_from_memory, setup, cx_teardown),
        cmocka_unit_test_setup_teardown(kinds_of_model, setup, cx_teardown),
        cmocka_unit_test(table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
