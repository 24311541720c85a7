/* The files of adapters: JSON is read strictly, configurations and tensors are what PEFT writes or refused by name.
 * What answers become is tests/e2e/adapters.py. */
#include "adapter_file.h"
#include "adapters.h"
#include "json_read.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static bool json_is_good(const char *text) {
    infrt_json_reader r;
    infrt_json_reader_init(&r, text, strlen(text));
    return infrt_json_skip(&r) && infrt_json_end(&r);
}

static void json_is_strict(void **state) {
    static const char *const good[] = {" [1, -2.5e+3, 0.5] ", "\"a\\u00e9\\ud83d\\ude00\\n\"",
                                       "{\"a\": {\"b\": null}}", "true", "\"\xc3\xa9\""};
    static const char *const bad[] = {"",
                                      "{",
                                      "[1,]",
                                      "{\"a\" 1}",
                                      "{a: 1}",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "--1",
                                      "nul",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud83d\"",
                                      "\"\\udc00\"",
                                      "\"\xff\"",
                                      "\"\n\"",
                                      "{} {}",
                                      "[1 2]",
                                      "{\"a\": }",
                                      "NaN",
                                      "'a'",
                                      "\"\xed\xa0\x80\""};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!json_is_good(good[i])) fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (json_is_good(bad[i])) fail_msg("accepted: %s", bad[i]);
    char deep[2 * INFRT_JSON_DEPTH + 3] = {0};
    memset(deep, '[', INFRT_JSON_DEPTH);
    memset(deep + INFRT_JSON_DEPTH, ']', INFRT_JSON_DEPTH);
    assert_true(json_is_good(deep));
    memset(deep, '[', INFRT_JSON_DEPTH + 1);
    memset(deep + INFRT_JSON_DEPTH + 1, ']', INFRT_JSON_DEPTH + 1);
    assert_false(json_is_good(deep));
}

/* Numbers of any length that doubles can tell apart are read; longer ones are refused, with a reason. */
static void long_numbers(void **state) {
    (void)state;
    char text[1100];
    for (size_t n = 20; n < sizeof text - 1; n += n < 70 ? 1 : 37) {
        memset(text, '1', n);
        text[1] = '.';
        text[n] = 0;
        infrt_json_reader r;
        double got = 0;
        infrt_json_reader_init(&r, text, n);
        assert_int_equal(infrt_json_number(&r, &got), n < 1024);
        if (n < 1024) assert_true(got == 10.0 / 9 && infrt_json_end(&r));
        else assert_string_equal(r.wrong, "a number of more than 1023 characters");
        if (n < 200) {
            memset(text, '9', n); /* 10^n, rounded */
            infrt_json_reader_init(&r, text, n);
            assert_true(infrt_json_number(&r, &got) && fabs(got / pow(10, (double)n) - 1) < 1e-12);
        }
    }
}

/* Names of bases as PEFT writes them, beside what a model is called and was compiled from. */
static void bases(void **state) {
    (void)state;
    static const struct {
        const char *source, *base;
        bool foreign;
    } cases[] = {
        {"SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct", false},
        {"SmolLM2-135M-Instruct-Q4_1.gguf", "HuggingFaceTB/SmolLM2-135M-Instruct", false},
        {"smollm2_135m_instruct.Q8_0.gguf", "/home/u/SmolLM2-135M-Instruct/", false},
        {"SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-135M", false}, /* its relative: often meant */
        {"SmolLM2-135M-Instruct", "TinyLlama/TinyLlama-1.1B-Chat-v1.0", true},
        {"SmolLM2-135M-Instruct", "HuggingFaceTB/SmolLM2-360M-Instruct", true},
        {"model.gguf", "meta-llama/Llama-3.2-1B", true}, /* it may be: only a note */
        {"model.gguf", "x", false},                      /* says nothing */
        {"model.gguf", "", false},
        {"SmolLM2-135M-Instruct", "C:\\models\\SmolLM2-135M-Instruct", false},
        {"other.gguf", "someone/my-model", false}, /* the name of the spec */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const infc_model model = {.name = "my_model", .source = cases[i].source};
        if (infrt_adapter_base_is_foreign(&model, cases[i].base) != cases[i].foreign)
            fail_msg("%s for %s", cases[i].base, cases[i].source);
    }
}

/* Of a configuration; "": fine. */
static const char *config_error(const char *text, infrt_adapter_config *config) {
    static infrt_error error;
    error = (infrt_error){0};
    infrt_adapter_config_free(config);
    infrt_adapter_config_read("c", text, strlen(text), config, &error);
    return error.text;
}

static void configurations(void **state) {
    infrt_adapter_config c = {0};
    uint32_t rank;
    float scale;
    (void)state;
    assert_string_equal(
        config_error(
            "{\"peft_type\":\"LORA\",\"r\":16,\"lora_alpha\":8,\"use_dora\":false,\"x\":null}", &c),
        "");
    infrt_adapter_config_of(&c, "model.layers.0.mlp.up_proj", &rank, &scale);
    assert_int_equal(rank, 16);
    assert_true(scale == 0.5f);
    assert_string_equal(
        config_error("{\"peft_type\":\"LORA\",\"r\":16,\"lora_alpha\":8,\"use_rslora\":true,\"rank_"
                     "pattern\":"
                     "{\"layers.1.q_proj\":4,\"q_proj\":9},\"alpha_pattern\":{\"q_proj\":6}}",
                     &c),
        "");
    infrt_adapter_config_of(&c, "model.layers.1.q_proj", &rank, &scale);
    assert_int_equal(rank, 4);
    assert_true(scale == 3.0f);
    infrt_adapter_config_of(&c, "model.layers.11.q_proj", &rank, &scale);
    assert_int_equal(rank, 9);
    assert_true(scale == 2.0f);
    infrt_adapter_config_of(&c, "model.layers.1.xq_proj", &rank, &scale);
    assert_true(rank == 16 && scale == 2.0f);
    static const char *const said[][2] = {
        {"\"a/b\"", "a/b"}, {"null", ""}, {"7", ""}, {"\"a\\u001b[31m\\u00e9\"", "a?[31m??"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"base_model_name_or_path\":%s}",
                 said[i][0]);
        assert_string_equal(config_error(text, &c), "");
        assert_string_equal(c.base, said[i][1]);
    }
    assert_string_equal(config_error("{\"peft_type\":\"LORA\",\"r\":4}", &c),
                        "c has no lora_alpha");
    assert_non_null(strstr(config_error("{\"r\":0}", &c), ", r: not a rank"));
    assert_string_equal(
        config_error("{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"use_dora\":true}", &c), "");
    assert_true(c.dora);
    assert_string_equal(
        config_error("{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8,\"use_dora\":null}", &c), "");
    assert_false(c.dora);
    assert_non_null(strstr(config_error("{\"use_dora\":1}", &c), "use_dora"));
    assert_non_null(strstr(config_error("{\"modules_to_save\":[\"a\"]}", &c), "modules_to_save"));
    assert_non_null(
        strstr(config_error("{\"init_lora_weights\":\"pissa_niter_4\"}", &c), "init_lora_weights"));
    assert_non_null(
        strstr(config_error("{\"rank_pattern\":{\"a.*\":4}}", &c), "regular expressions"));
    assert_non_null(strstr(config_error("{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":-1}", &c), "lora_alpha"));
    infrt_adapter_config_free(&c);
}

/* Whether it has q_proj of layer 1, o_proj of layer 1, q_proj of layer 30: n, y, ? each, and the key that says so. */
static const char *places(const char *keys) {
    static const struct {
        const char *module;
        uint32_t layer;
    } asked[] = {{"model.layers.1.self_attn.q_proj", 1},
                 {"model.layers.1.self_attn.o_proj", 1},
                 {"model.layers.30.self_attn.q_proj", 30}};
    static char out[128];
    infrt_adapter_config c = {0};
    char text[512];
    snprintf(text, sizeof text, "{\"peft_type\":\"LORA\",\"r\":4,\"lora_alpha\":8%s}", keys);
    const char *error = config_error(text, &c);
    out[0] = 0;
    for (size_t i = 0; i < 3 && !error[0]; i++) {
        const char *why;
        const infrt_adapter_place place =
            infrt_adapter_config_place(&c, asked[i].module, asked[i].layer, &why);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%c", i ? " " : "", "ny?"[place]);
        if (place == INFRT_ADAPTER_ELSEWHERE)
            snprintf(out + strlen(out), sizeof out - strlen(out), ":%s", why);
    }
    infrt_adapter_config_free(&c);
    return error[0] ? error : out;
}

/* As PEFT's check_target_module_exists chooses them. */
static void modules_are_chosen(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "? ? ?"},
        {",\"target_modules\":null", "? ? ?"},
        {",\"target_modules\":[\"q_proj\"]", "y n:target_modules y"},
        {",\"target_modules\":[\"1.self_attn.q_proj\",\"o_proj\"]", "y y n:target_modules"},
        {",\"target_modules\":[\"_proj\"]", "n:target_modules n:target_modules n:target_modules"},
        {",\"target_modules\":\".*q_proj\"", "? ? ?"},
        {",\"target_modules\":\"all-linear\"", "y y y"},
        {",\"target_modules\":\"All-Linear\",\"exclude_modules\":[\"o_proj\"]",
         "y n:exclude_modules y"},
        {",\"target_modules\":\"all-linear\",\"exclude_modules\":\"all-linear\"", "? ? ?"},
        {",\"target_modules\":[\"q_proj\",\"o_proj\"],\"exclude_modules\":[\"o_proj\"]",
         "y n:exclude_modules y"},
        {",\"target_modules\":[\"q_proj\"],\"layers_to_transform\":[0,30]",
         "n:layers_to_transform n:target_modules y"},
        {",\"target_modules\":[\"q_proj\"],\"layers_to_transform\":1,\"layers_pattern\":\"layers\"",
         "y n:target_modules n:layers_to_transform"},
        {",\"target_modules\":[\"q_proj\"],\"layers_to_transform\":[1,30],\"layers_pattern\":["
         "\"h\"]",
         "n:layers_pattern n:target_modules n:layers_pattern"},
        {",\"target_modules\":[\"q_proj\"],\"layers_pattern\":\"layers\"",
         "c: layers_pattern without layers_to_transform"},
        {",\"target_modules\":\"q_proj\",\"layers_to_transform\":[1]",
         "c: layers_to_transform beside a text as target_modules"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(places(cases[i][0]), cases[i][1]);
    assert_non_null(strstr(places(",\"layers_to_transform\":[1024]"),
                           "layers_to_transform: a layer that no model has"));
    assert_non_null(strstr(places(",\"target_modules\":[\"a\"],\"target_modules\":[]"),
                           "target_modules: there twice"));
}

/* A file of this header and so many bytes; the message, "" when it is good. */
static const char *tensors_error(const char *header, size_t data, uint32_t *n) {
    static char file[4096];
    static infrt_error error;
    infrt_adapter_tensor *tensors;
    const size_t length = strlen(header);
    error = (infrt_error){0};
    memset(file, 0, sizeof file);
    file[0] = (char)(length & 0xff);
    file[1] = (char)(length >> 8);
    memcpy(file + 8, header, length);
    infrt_adapter_tensors_read("t", file, 8 + length + data, &tensors, n, &error);
    free(tensors);
    return error.text;
}

#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}"
static void tensors(void **state) {
    uint32_t n;
    (void)state;
    assert_string_equal(tensors_error("{" A "}  ", 24, &n), "");
    assert_int_equal(n, 1);
    assert_string_equal(
        tensors_error("{\"b\":{\"shape\":[1,4],\"dtype\":\"BF16\",\"data_offsets\":[24,32]}," A
                      ",\"__metadata__\":{}}",
                      32, &n),
        "");
    assert_int_equal(n, 2);
    assert_non_null(strstr(tensors_error("{" A "}", 23, &n), "\"a\""));
    assert_non_null(strstr(tensors_error("{\"lora_magnitude_vector\":{\"dtype\":\"F32\","
                                         "\"shape\":[4],\"data_offsets\":[0,16]}}",
                                         16, &n),
                           "not a matrix")); /* no module before it */
    assert_string_equal(tensors_error("{\"a.q_proj.lora_magnitude_vector\":{\"dtype\":\"F32\","
                                      "\"shape\":[4],\"data_offsets\":[0,16]}}",
                                      16, &n),
                        "");
    assert_non_null(strstr(tensors_error("{\"a.q_proj.lora_magnitude_vector\":{\"dtype\":\"F32\","
                                         "\"shape\":[5],\"data_offsets\":[0,16]}}",
                                         16, &n),
                           "its bytes"));
    assert_non_null(strstr(tensors_error("{" A "}", 25, &n), "after the last"));
    assert_non_null(strstr(tensors_error("{" A "," A "}", 24, &n), "\"a\""));
    assert_non_null(strstr(
        tensors_error("{\"a\":{\"dtype\":\"I8\",\"shape\":[2,3],\"data_offsets\":[0,6]}}", 6, &n), "a: adapters are"));
    assert_non_null(strstr(
        tensors_error("{\"a\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]}}", 6, &n), "not a matrix"));
    assert_non_null(strstr(
        tensors_error("{\"a\":{\"dtype\":\"F16\",\"shape\":[3,2],\"data_offsets\":[0,10]}}", 10, &n), "its bytes"));
    assert_non_null(strstr(
        tensors_error(
            "{\"a\":{\"dtype\":\"F16\",\"shape\":[2147483647,2147483647],\"data_offsets\":[0,2]}}", 2, &n),
        "its bytes"));
    assert_non_null(strstr(
        tensors_error("{\"a\":{\"dtype\":\"F16\",\"shape\":[1,1],\"data_offsets\":[8,2]}}", 10, &n), "its bytes"));
    assert_non_null(strstr(tensors_error("{", 0, &n), "at byte 9"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(long_numbers),
        cmocka_unit_test(bases),
        cmocka_unit_test(configurations),
        cmocka_unit_test(modules_are_chosen),
        cmocka_unit_test(tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
