/* Requests for runs of a model: numbers of every type from and to JSON, shapes, lists, bytes; requests for vectors.
 * Right values were worked out with NumPy. */
#include "embed_read.h"
#include "infer_read.h"
#include "infrt_fake_shapes.h"
#include "tensor_values.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static infrt_refusal refusal;

/* Reads `text` as the elements of a tensor into `to`. */
static bool values(uint32_t dtype, const char *text, uint64_t n, void *to) {
    const infrt_values v = {.dtype = dtype, .rank = 1, .dims = {(int64_t)n}, .n = n, .to = to, .path = "x"};
    infrt_json_reader json;
    infrt_json_reader_init(&json, text, strlen(text));
    refusal = (infrt_refusal){0};
    return infrt_values_read(&v, &json, &refusal);
}

static void floats_are_rounded_once(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint16_t f16, bf16;
    } cases[] = {
        {"[1]", 0x3c00, 0x3f80},
        {"[-0.0]", 0x8000, 0x8000},
        {"[0.1]", 0x2e66, 0x3dcd},
        {"[65504]", 0x7bff, 0x4780},
        {"[65519.99]", 0x7bff, 0x4780},
        {"[2049]", 0x6800, 0x4500}, /* between 2048 and 2050: to even */
        {"[2051]", 0x6802, 0x4500},
        {"[6e-8]", 0x0001, 0x3381},              /* the least of half precision */
        {"[2.9e-8]", 0x0000, 0x32f9},            /* less than half of it */
        {"[1.00048828125]", 0x3c00, 0x3f80},     /* a tie, */
        {"[1.000488281250001]", 0x3c01, 0x3f80}, /* and above it: over float it would be one too */
        {"[6.1e-5]", 0x03ff, 0x3880},            /* just not normal */
        {"[6.104e-5]", 0x0400, 0x3880},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t half = 0xffff;
        assert_true(values(INFC_DTYPE_f16, cases[i].text, 1, &half));
        if (half != cases[i].f16) fail_msg("f16 of %s: %04x", cases[i].text, half);
        assert_true(values(INFC_DTYPE_bf16, cases[i].text, 1, &half));
        if (half != cases[i].bf16) fail_msg("bf16 of %s: %04x", cases[i].text, half);
    }
}

static void numbers_keep_to_their_ranges(void **state) {
    (void)state;
    static const struct {
        uint32_t dtype;
        const char *text;
        bool good;
    } cases[] = {
        {INFC_DTYPE_f16, "[65520]", false},
        {INFC_DTYPE_bf16, "[3.4e38]", false},
        {INFC_DTYPE_f32, "[3.4028235e38]", true}, /* as NumPy writes the largest */
        {INFC_DTYPE_f32, "[-3.4028236e38]", false},
        {INFC_DTYPE_f64, "[1.7976931348623157e308]", true},
        {INFC_DTYPE_f64, "[1e309]", false},
        {INFC_DTYPE_i8, "[-128]", true},
        {INFC_DTYPE_i8, "[-129]", false},
        {INFC_DTYPE_i8, "[128]", false},
        {INFC_DTYPE_u8, "[255]", true},
        {INFC_DTYPE_u8, "[-1]", false},
        {INFC_DTYPE_u8, "[-0]", true},
        {INFC_DTYPE_i64, "[-9223372036854775808]", true},
        {INFC_DTYPE_i64, "[9223372036854775808]", false},
        {INFC_DTYPE_u64, "[18446744073709551615]", true},
        {INFC_DTYPE_u64, "[18446744073709551616]", false},
        {INFC_DTYPE_i32, "[1.0]", false},
        {INFC_DTYPE_i32, "[1e3]", false},
        {INFC_DTYPE_i32, "[01]", false},
        {INFC_DTYPE_bool, "[true]", true},
        {INFC_DTYPE_bool, "[1]", true},
        {INFC_DTYPE_bool, "[2]", false},
        {INFC_DTYPE_f32, "[true]", false},
        {INFC_DTYPE_f32, "[nan]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t to = 0;
        const bool good = values(cases[i].dtype, cases[i].text, 1, &to);
        if (good != cases[i].good)
            fail_msg("%s as %s", cases[i].text, infrt_oip_type(cases[i].dtype));
    }
}

static void numbers_come_back(void **state) {
    (void)state;
    static const struct {
        uint32_t dtype;
        const char *text;
    } cases[] = {
        {INFC_DTYPE_f32, "[0.100000001,-3.40282347e+38]"},
        {INFC_DTYPE_f64, "[0.10000000000000001,-1.7976931348623157e+308]"},
        {INFC_DTYPE_f16, "[0.0999755859,-65504]"},
        {INFC_DTYPE_bf16, "[0.100097656,-3.38953139e+38]"},
        {INFC_DTYPE_i8, "[-128,127]"},
        {INFC_DTYPE_u8, "[0,255]"},
        {INFC_DTYPE_i16, "[-32768,32767]"},
        {INFC_DTYPE_u16, "[0,65535]"},
        {INFC_DTYPE_i32, "[-2147483648,2147483647]"},
        {INFC_DTYPE_u32, "[0,4294967295]"},
        {INFC_DTYPE_i64, "[-9223372036854775808,9223372036854775807]"},
        {INFC_DTYPE_u64, "[0,18446744073709551615]"},
        {INFC_DTYPE_bool, "[false,true]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t to[2] = {0};
        infrt_out out = {0};
        assert_true(values(cases[i].dtype, cases[i].text, 2, to));
        assert_true(infrt_values_put(cases[i].dtype, to, 2, &out));
        infrt_out_add(&out, "", 1);
        assert_string_equal(out.at, cases[i].text);
        infrt_out_free(&out);
        assert_int_equal(infrt_oip_dtype(infrt_oip_type(cases[i].dtype)), cases[i].dtype);
    }
    assert_int_equal(infrt_oip_dtype("BYTES"), 0);
}

/* ---- whole requests ----------------------------------------------------------------------------- */

enum { ROOM = 1 << 14 };

/* All inputs for `rows` rows but pair, then `rest`. */
static const char *request(int rows, const char *rest) {
    static char text[ROOM];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"inputs\": [");
    for (int i = 0; i < SHAPES_TYPES; i++) {
        const char *flags = "[[true, false], [false, true], [true, true], [false, false]]",
                   *numbers = "[[0, 1], [2, 3], [4, 5], [6, 7]]",
                   *data = shapes_inputs[i].dtype == INFC_DTYPE_bool ? flags : numbers;
        const char *end = data; /* of so many rows */
        for (int k = 0; k < rows; k++) end = strchr(end + 1, ']');
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"data\": %.*s], \"name\": \"%s\", \"shape\": [%d, 2], "
                              "\"datatype\": \"%s\"}, ",
                              (int)(end - data + 1), data, shapes_inputs[i].name, rows,
                              infrt_oip_type(shapes_inputs[i].dtype));
    }
    snprintf(text + n, sizeof text - n, "%s", rest);
    return text;
}

#define PAIR "{\"name\": \"pair\", \"datatype\": \"FP32\", \"shape\": "
#define ONES "[1,1,1, 1,1,1, 1,1,1, 1,1,1]"

static bool read_whole(const char *text, size_t json, size_t bytes, infrt_infer *infer) {
    refusal = (infrt_refusal){0};
    const bool good = infrt_infer_read(&shapes_model, text, bytes, json, infer, &refusal);
    assert_int_equal(good, refusal.status == 0);
    return good;
}

static void expect_refused(int rows, const char *rest, const char *said) {
    infrt_infer infer;
    const char *text = request(rows, rest);
    if (read_whole(text, strlen(text), strlen(text), &infer)) fail_msg("%s is taken", rest);
    if (!strstr(refusal.text, said)) fail_msg("%s: %s", rest, refusal.text);
    infrt_infer_free(&infer);
}

static void a_request_fills_all_inputs(void **state) {
    (void)state;
    infrt_infer infer;
    const char *text = request(2, PAIR "[2,2,3], \"data\": " ONES "}], \"id\": \"7\"}");
    if (!read_whole(text, strlen(text), strlen(text), &infer)) fail_msg("%s", refusal.text);
    assert_int_equal(infer.sizes[0], 2);
    assert_int_equal(infer.sizes[1], 2);
    assert_int_equal(infer.n_outputs, SHAPES_TYPES + 1);
    assert_string_equal(infer.id, "7");
    assert_int_equal(((const uint16_t *)infer.inputs[INFC_DTYPE_f16 - 1])[3], 0x4200);
    assert_int_equal(((const int64_t *)infer.inputs[INFC_DTYPE_i64 - 1])[3], 3);
    assert_int_equal(((const uint8_t *)infer.inputs[INFC_DTYPE_bool - 1])[3], 1);
    for (uint32_t i = 0; i < shapes_model.n_inputs; i++)
        assert_int_equal((uintptr_t)infer.inputs[i] % INFC_ALIGN, 0);
    infrt_infer_free(&infer);
}

static void shapes_follow_from_sizes(void **state) {
    (void)state;
    char shape[INFRT_SHAPE_ROOM];
    assert_string_equal(infrt_shape_open(&shapes_model, INFC_TABLE_INPUTS, SHAPES_PAIR, shape),
                        "[-1,-1,3]");
    assert_string_equal(infrt_shape_open(&shapes_model, INFC_TABLE_OUTPUTS, 0, shape), "[-1,2]");
    assert_int_equal(infrt_batch_size_find(&shapes_model), 0);
    expect_refused(2, PAIR "[1,2,3], \"data\": [1,1,1,1,1,1]}]}", "shape[0]: 1, but \"pair\" needs 2 there");
    expect_refused(2, PAIR "[2,3,3], \"data\": []}]}", "steps is from 2 to 6, in steps of 2");
    expect_refused(2, PAIR "[2,8,3], \"data\": []}]}", "steps is from 2 to 6");
    expect_refused(2, PAIR "[2,2,3], \"data\": [1,1]}]}", "2 values, but its shape has 12");
    expect_refused(2, PAIR "[2,4611686018427387904,3], \"data\": [1]}]}", "whole numbers");
    expect_refused(2, PAIR "[2,2,3]}]}", "data, or parameters.binary_data_size is needed");
    expect_refused(2, "{}]}", "inputs[13]: name is needed");
    expect_refused(2, PAIR "[2,2,3], \"data\": " ONES ", \"data\": " ONES "}]}", "data is there twice");
    expect_refused(2, PAIR "[2,2,3], \"data\": " ONES "}]} x", "something after the value");
}

/* At every depth; what nobody knows may. */
static void no_key_is_there_twice(void **state) {
    (void)state;
    static const struct {
        const char *rest, *said;
    } cases[] = {
        {"{\"name\": \"pair\", \"name\": \"pair\"}]}", "inputs[13]: name is there twice"},
        {PAIR "[2,2,3], \"parameters\": null, \"parameters\": {}}]}",
         "inputs[13]: parameters is there twice"},
        {PAIR "[2,2,3], \"parameters\": {\"binary_data_size\": 48, \"binary_data_size\": 48}}]}",
         "inputs[13]: binary_data_size is there twice"},
        {PAIR "[2,2,3], \"data\": " ONES
              "}], \"outputs\": [{\"name\": \"x\", \"parameters\": {\"binary_data\": true, "
              "\"binary_data\": false}}]}",
         "outputs[0]: binary_data is there twice"},
        {PAIR "[2,2,3], \"data\": " ONES "}], \"outputs\": null, \"outputs\": []}",
         "outputs is there twice"},
        {PAIR "[2,2,3], \"data\": " ONES "}], \"parameters\": {\"timeout\": 1, \"timeout\": 2}}",
         "parameters: timeout is there twice"},
        {PAIR "[2,2,3], \"data\": " ONES "}], \"parameters\": {}, \"parameters\": {}}",
         "parameters is there twice"},
        {PAIR "[2,2,3], \"data\": " ONES "}], \"id\": \"1\", \"id\": \"2\"}", "id is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(2, cases[i].rest, cases[i].said);
    infrt_infer infer;
    const char *text = request(
        2,
        PAIR "[2,2,3], \"data\": " ONES
             ", \"x\": 1, \"x\": 2, \"parameters\": {\"y\": 1, \"y\": 2}}], \"z\": 1, \"z\": 2}");
    if (!read_whole(text, strlen(text), strlen(text), &infer)) fail_msg("%s", refusal.text);
    infrt_infer_free(&infer);
}

/* A binary tensor lies behind the JSON; lengths that lie are found out. */
static void bytes_follow_the_json(void **state) {
    (void)state;
    const char *json = request(1, PAIR "[1,2,3], \"parameters\": {\"binary_data_size\": 24}}]}");
    const float six[] = {1, 2, 3, 4, 5, 6};
    const size_t n = strlen(json);
    char *text = malloc(n + sizeof six); /* so that what reads on is found out */
    infrt_infer infer;
    assert_non_null(text);
    memcpy(text, json, n);
    memcpy(text + n, six, sizeof six);
    for (size_t more = 0; more <= sizeof six; more++) {
        assert_int_equal(read_whole(text, n, n + more, &infer), more == sizeof six);
        if (more == sizeof six) assert_memory_equal(infer.inputs[SHAPES_PAIR], six, sizeof six);
        infrt_infer_free(&infer);
    }
    free(text);
    expect_refused(1, PAIR "[1,2,3], \"parameters\": {\"binary_data_size\": 20}}]}", "its shape has 24 bytes");
}

/* ---- vectors ------------------------------------------------------------------------------------ */

static bool embed(const char *text, infrt_embed *out) {
    refusal = (infrt_refusal){0};
    const bool good = infrt_embed_read(text, strlen(text), 384, 4, out, &refusal);
    assert_int_equal(good, refusal.status == 0);
    return good;
}

static void texts_and_ids_become_inputs(void **state) {
    (void)state;
    infrt_embed e;
    assert_true(embed("{\"input\": [\"a\", \"b\\u00e9\"], \"encoding_format\": \"base64\", "
                      "\"user\": {}, \"model\": \"m\"}",
                      &e));
    assert_int_equal(e.n_inputs, 2);
    assert_true(e.base64);
    assert_string_equal(e.inputs[1].text, "b\xc3\xa9");
    assert_string_equal(e.model, "m");
    infrt_embed_free(&e);
    assert_true(embed("{\"dimensions\": 384, \"input\": [[1, 2], [3]]}", &e));
    assert_int_equal(e.n_inputs, 2);
    assert_int_equal(e.ids[e.inputs[1].first], 3);
    infrt_embed_free(&e);
    assert_true(embed("{\"input\": [7, 8, 9]}", &e));
    assert_true(e.n_inputs == 1 && e.inputs[0].n_ids == 3);
    infrt_embed_free(&e);
    assert_true(embed("{\"input\": \"a\", \"add_special_tokens\": true, \"input_type\": null}", &e));
    infrt_embed_free(&e);
    static const char *const bad[] = {"{}",
                                      "[]",
                                      "{\"input\": [1, 2, 3, 4, 5]}",
                                      "{\"input\": [[]]}",
                                      "{\"input\": \"\"}",
                                      "{\"input\": \"a\", \"dimensions\": 383}",
                                      "{\"input\": \"a\", \"input\": \"b\"}",
                                      "{\"input\": \"a\", \"truncate_prompt_tokens\": 4}",
                                      "{\"input\": \"a\", \"add_special_tokens\": false}",
                                      "{\"input\": \"a\", \"input_type\": \"query\"}",
                                      "{\"input\": [\"a\", 1]}",
                                      "{\"input\": [1, [1]]}",
                                      "{\"input\": \"a\\u0000\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (embed(bad[i], &e)) fail_msg("%s is taken", bad[i]);
        infrt_embed_free(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_rounded_once),  cmocka_unit_test(numbers_keep_to_their_ranges),
        cmocka_unit_test(numbers_come_back),        cmocka_unit_test(a_request_fills_all_inputs),
        cmocka_unit_test(shapes_follow_from_sizes), cmocka_unit_test(no_key_is_there_twice),
        cmocka_unit_test(bytes_follow_the_json),    cmocka_unit_test(texts_and_ids_become_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
