/* safetensors and config.json: what they say, and that damaged ones are refused. */
#include <string.h>
#include "compiler/frontend/hf/hf_model.h"
#include "compiler/frontend/hf/safetensors.h"
#include "llm_file_bytes.h"
#include "cx_fixture.h"

static infc_bytes make(const char *directory, size_t data) {
    infc_buf file = {.arena = cx.arena};
    put_string(&file, directory);
    for (size_t i = 0; i < data; i++) put_number(&file, i, 1);
    return infc_buf_bytes(&file);
}

static infc_status read_it(infc_bytes file, infc_checkpoint *out) {
    *out = infc_checkpoint_empty(cx.arena);
    return infc_safetensors_read(&cx, "m.safetensors", file, out);
}

static const char two[] =
    "{\"__metadata__\": {\"format\": \"pt\"},"
    "\"b\": {\"dtype\": \"F32\", \"shape\": [], \"data_offsets\": [12, 16]},"
    "\"w\": {\"dtype\": \"BF16\", \"shape\": [2, 3], \"data_offsets\": [0, 12]}}";

static void a_whole_file(void **state) {
    (void)state;
    infc_checkpoint c;
    assert_int_equal(read_it(make(two, 16), &c), INFC_OK);
    assert_int_equal(c.n, 2);
    const infc_stored_tensor *w = infc_checkpoint_find(&c, "w");
    assert_int_equal(w->type, INFC_STORED_BF16);
    assert_int_equal(w->dims[0], 2);
    assert_int_equal(w->dims[1], 3);
    assert_int_equal(w->bytes.ptr[11], 11);
    assert_int_equal(infc_checkpoint_find(&c, "b")->rank, 0);
    assert_int_equal(infc_checkpoint_find(&c, "b")->bytes.ptr[0], 12);
}

static void every_cut(void **state) {
    (void)state;
    infc_checkpoint c;
    infc_bytes whole = make(two, 16);
    for (size_t n = 0; n < whole.len; n++)
        assert_int_equal(read_it((infc_bytes){whole.ptr, n}, &c), INFC_ERR_MODEL);
}

/* ml-explore/mlx#3363 and others of its kind */
static void damaged_files(void **state) {
    (void)state;
    static const struct {
        const char *directory, *text;
        infc_status status;
    } cases[] = {
        {"[]", "no JSON object", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [0, 16]}", "not JSON", INFC_ERR_MODEL},
        {"{\"w\": 1}", "has no dtype", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F33\", \"shape\": [4], \"data_offsets\": [0, 16]}}", "F33", INFC_ERR_UNSUPPORTED},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [-4], \"data_offsets\": [0, 16]}}",
         "dimension 0 is no size", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": 4, \"data_offsets\": [0, 16]}}",
         "its shape is no list", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4], \"data_offsets\": [16, 0]}}", "bytes 16 to 0", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [5], \"data_offsets\": [0, 20]}}",
         "bytes 0 to 20 of 16", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 16]}}",
         "takes 12 bytes, but 16", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [3], \"data_offsets\": [0, 12]}}", "4 of its 16", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"F32\", \"shape\": [4611686018427387904, 4], \"data_offsets\": [0, "
         "0]}}",
         "fit 64 bits", INFC_ERR_MODEL},
        {"{\"v\": {\"dtype\": \"U8\", \"shape\": [10], \"data_offsets\": [0, 10]},"
         " \"w\": {\"dtype\": \"U8\", \"shape\": [10], \"data_offsets\": [6, 16]}}",
         "overlap", INFC_ERR_MODEL},
        {"{\"w\": {\"dtype\": \"U8\", \"shape\": [8], \"data_offsets\": [0, 8]},"
         " \"w\": {\"dtype\": \"U8\", \"shape\": [8], \"data_offsets\": [8, 16]}}",
         "duplicate", INFC_ERR_MODEL},
        {"{\"\": {\"dtype\": \"U8\", \"shape\": [16], \"data_offsets\": [0, 16]}}", "is empty", INFC_ERR_MODEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infc_checkpoint c;
        assert_int_equal(read_it(make(cases[i].directory, 16), &c), cases[i].status);
        assert_non_null(strstr(cx.diags[cx.n_diags - 1].text, cases[i].text));
    }
}

static void absurd_length(void **state) {
    (void)state;
    infc_checkpoint c;
    static const uint8_t file[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}'};
    assert_int_equal(read_it((infc_bytes){file, sizeof file}, &c), INFC_ERR_MODEL);
    assert_non_null(strstr(cx.diags[0].text, "its directory has 18446744073709551615 bytes"));
}

static infc_status config_of(const char *type, const char *more, infc_llm_config *out) {
    const char *text = infc_arena_printf(
        cx.arena,
        "{\"model_type\": \"%s\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
        "\"num_attention_heads\": 8, \"intermediate_size\": 96, \"vocab_size\": 100%s}",
        type, more);
    infc_status status =
        infc_hf_config(&cx, "config.json", (infc_bytes){(const uint8_t *)text, strlen(text)}, out);
    return status == INFC_OK ? infc_llm_config_check(&cx, INFC_NO_LOC, out) : status;
}
static infc_status config(const char *more, infc_llm_config *out) {
    return config_of("llama", more, out);
}

static void a_config(void **state) {
    (void)state;
    infc_llm_config c;
    assert_int_equal(config(", \"num_key_value_heads\": 2, \"rope_scaling\": {\"rope_type\": "
                            "\"llama3\", \"factor\": 8, "
                            "\"original_max_position_embeddings\": 8192}",
                            &c),
                     INFC_OK);
    assert_int_equal(c.head_dim, 8);
    assert_int_equal(c.kv_heads, 2);
    assert_int_equal(c.context, 2048);
    assert_int_equal(c.rope_scaling, INFC_ROPE_LLAMA3);
    assert_true(c.rope_factor == 8 && c.rope_low == 1 && c.rope_high == 4);
    assert_int_equal(infc_llm_kv_bytes(&c, 2), 2 * 2 * 2 * 8 * 2);
    assert_false(c.tied);
}

/* As transformers 5 writes it; values by configuration_llama.py and modeling_rope_utils.py of 5.24. */
static void rope_parameters(void **state) {
    (void)state;
    infc_llm_config c;
    assert_int_equal(
        config(", \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 500000.0}", &c), INFC_OK);
    assert_true(c.rope_theta == 500000 && c.rope_scaling == INFC_ROPE_NONE);
    assert_int_equal(
        config(
            ", \"rope_theta\": 5e5, \"rope_parameters\": {\"rope_type\": \"llama3\", "
            "\"rope_theta\": 500000.0, \"factor\": 32, \"original_max_position_embeddings\": 64}",
            &c),
        INFC_OK);
    assert_true(c.rope_theta == 500000 && c.rope_scaling == INFC_ROPE_LLAMA3 && c.rope_factor == 32);
    assert_int_equal(config(", \"rope_theta\": 100", &c), INFC_OK);
    assert_true(c.rope_theta == 100);
    assert_int_equal(
        config(", \"rope_parameters\": null, \"partial_rotary_factor\": 1.0, \"layer_types\": "
               "[\"full_attention\", \"full_attention\"]",
               &c),
        INFC_OK);
    assert_true(c.rope_theta == 10000);
}

/* What a missing key stands for, by configuration_mistral.py. */
static void defaults_of_mistral(void **state) {
    (void)state;
    infc_llm_config c;
    assert_int_equal(config_of("mistral", "", &c), INFC_OK);
    assert_int_equal(c.window, 4096);
    assert_int_equal(c.kv_heads, 8);
    assert_int_equal(c.context, 131072);
    assert_int_equal(config_of("mistral", ", \"sliding_window\": null, \"num_key_value_heads\": null", &c), INFC_OK);
    assert_int_equal(c.window, 0);
    assert_int_equal(c.kv_heads, 8);
    assert_int_equal(config_of("mistral", ", \"sliding_window\": 64, \"num_key_value_heads\": 4", &c), INFC_OK);
    assert_int_equal(c.window, 64);
    assert_int_not_equal(config_of("mistral", ", \"sliding_window\": \"16\"", &c), INFC_OK);
    assert_int_not_equal(config_of("mistral", ", \"sliding_window\": 0", &c), INFC_OK);
    assert_int_equal(config(", \"sliding_window\": null", &c), INFC_OK);
    assert_int_equal(c.window, 0);
}

/* CVE-2026-22807 among others: code that a model brings */
static void configs_that_lie(void **state) {
    (void)state;
    static const struct {
        const char *more, *text;
    } cases[] = {
        {", \"num_key_value_heads\": 3", "no multiple of the KV heads"},
        {", \"num_key_value_heads\": -1", "\"num_key_value_heads\" is no size"},
        {", \"tie_word_embeddings\": \"true\"",
         "\"tie_word_embeddings\" is neither true nor false"},
        {", \"head_dim\": 7", "odd"},
        {", \"rms_norm_eps\": 2", "epsilon"},
        {", \"rope_theta\": 0", "theta"},
        {", \"max_position_embeddings\": 99999999999", "context length is 99999999999"},
        {", \"hidden_act\": \"gelu\"", "\"hidden_act\" is supported as \"silu\" only"},
        {", \"attention_bias\": true", "\"attention_bias\""},
        {", \"quantization_config\": {\"quant_method\": \"gptq\"}", "\"quantization_config\""},
        {", \"auto_map\": {}", "\"auto_map\""},
        {", \"rope_scaling\": {\"type\": \"yarn\"}", "rotary scaling \"yarn\""},
        {", \"rope_parameters\": {\"rope_type\": \"yarn\"}", "rotary scaling \"yarn\""},
        {", \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\"}}",
         "rotary scaling \"?\""},
        {", \"rope_parameters\": 7", "\"rope_parameters\" is no object"},
        {", \"rope_theta\": 100, \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": "
         "200}",
         "\"rope_theta\" is there twice"},
        {", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}, \"rope_parameters\": "
         "{\"rope_type\": "
         "\"default\"}",
         "say different things"},
        {", \"rope_parameters\": {\"rope_type\": \"default\", \"partial_rotary_factor\": 0.5}",
         "\"partial_rotary_factor\" is supported as 1 only"},
        {", \"partial_rotary_factor\": 0.5", "\"partial_rotary_factor\" is supported as 1 only"},
        {", \"final_logit_softcapping\": 30.0", "\"final_logit_softcapping\""},
        {", \"residual_multiplier\": 0.22", "\"residual_multiplier\""},
        {", \"layer_types\": [\"full_attention\", \"sliding_attention\"]", "\"layer_types\""},
        {", \"sliding_window\": 16", "\"sliding_window\""},
        {", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 0.5}", "under 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infc_llm_config c;
        assert_int_not_equal(config(cases[i].more, &c), INFC_OK);
        assert_non_null(strstr(cx.diags[cx.n_diags - 1].text, cases[i].text));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(a_whole_file),        CX_TEST(every_cut),        CX_TEST(damaged_files),
        CX_TEST(absurd_length),       CX_TEST(a_config),         CX_TEST(rope_parameters),
        CX_TEST(defaults_of_mistral), CX_TEST(configs_that_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
