/* Specs that are read, and what comes of them; the refused ones are in spec/, see test_spec_refused.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compiler/frontend/spec.h"
#include "compiler/frontend/spec_check.h"
#include "compiler/frontend/spec_keys.h"
#include "cx_fixture.h"

#define SPECS INFC_SOURCE_DIR "/tests/unit/spec/"

static infc_spec spec;

static const char *diags(void) {
    infc_buf out = {.arena = cx.arena};
    infc_diags_text(&cx, &out);
    return infc_buf_str(&out);
}

static infc_status read_text(const char *text, const infc_spec_set *sets, size_t n_sets) {
    infc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    return infc_spec_read_bytes(&cx, SPECS "test.yaml", bytes, sets, n_sets, &spec);
}

static void read_ok(const char *text) {
    if (read_text(text, NULL, 0) != INFC_OK) fail_msg("%s", diags());
}

#define HEAD "infc: 1\nmodel: n.onnx\n"

static void defaults(void **state) {
    (void)state;
    infc_target host;
    read_ok(HEAD);
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "host", &host), INFC_OK);
    assert_string_equal(spec.path, SPECS "test.yaml");
    assert_string_equal(spec.model, SPECS "n.onnx");
    assert_string_equal(spec.model_text, "n.onnx");
    assert_int_equal(spec.model_loc.line, 2);
    assert_int_equal(spec.model_loc.col, 8);
    assert_string_equal(spec.name, "n");
    assert_true(spec.binary && spec.static_library && !spec.weights_file);
    assert_string_equal(spec.license, "MIT");
    assert_int_equal(spec.n_targets, 1);
    assert_string_equal(spec.targets[0].name, host.name);
    assert_int_equal(spec.weights, INFC_FORMAT_NONE);
    assert_int_equal(spec.n_dims + spec.n_rules + spec.n_images + spec.n_classes, 0);
    assert_true(spec.budget_file == 0 && spec.budget_memory == 0);
    assert_int_equal(cx.n_diags, 0);
}

static void check_example(void) {
    assert_string_equal(spec.name, "digits");
    assert_string_equal(spec.license, "Apache-2.0");
    assert_int_equal(spec.n_targets >= 2, 1); /* host may be x86-64-v3 */
    assert_int_equal(spec.n_dims, 1);
    assert_string_equal(spec.dims[0].name, "image.2");
    assert_int_equal(spec.dims[0].value, 8);
    assert_int_equal(spec.weights, INFC_FORMAT_int8);
    assert_int_equal(spec.n_rules, 1);
    assert_string_equal(spec.rules[0].match, "^conv1");
    assert_int_equal(spec.rules[0].weights, INFC_FORMAT_f32);
    const infc_spec_image *image = spec.images;
    assert_int_equal(spec.n_images, 1);
    assert_string_equal(image->input, "image");
    assert_true(image->channels == 1 && !image->nhwc && !image->bgr);
    assert_true(image->scale[0] == 1.0 / 255 && image->mean[0] == 0.5 && image->std[0] == 0.25);
    assert_int_equal(spec.n_classes, 1);
    assert_string_equal(spec.classes[0].output, "probabilities");
    assert_int_equal(spec.classes[0].n_labels, 10);
    assert_string_equal(spec.classes[0].labels[9], "nine");
    assert_int_equal(spec.classes[0].top, 3);
    assert_int_equal(spec.classes[0].scores, INFC_SCORES_values);
    assert_true(spec.budget_file == 1 << 20 && spec.budget_memory == 64 << 10);
}

/* The example of docs/spec.md, beside a model of the name it uses. */
static void documented_example(void **state) {
    (void)state;
    const infc_spec_set sets[] = {{"model=" SPECS "n.onnx"}};
    if (read_text(infc_spec_example, sets, 1) != INFC_OK) fail_msg("%s", diags());
    check_example();
}

/* What a language model was compiled with is all there. */
static void llm_keys_are_printed(void **state) {
    (void)state;
    infc_buf out = {.arena = cx.arena};
    read_ok(HEAD "context: 300\nbatch: {max_sequences: 3, target_itl: 30ms}\n"
                 "kv: {memory: 3MiB, prefix_cache: false}\n"
                 "adapters: {max_rank: 5, weights: int8, preload: [{name: a, path: ./a}]}\n");
    infc_spec_print(&spec, &out);
    assert_non_null(strstr(infc_buf_str(&out),
                           "context: 300\nbatch:\n  max_sequences: 3\n  target_itl: 30000us\n"
                           "kv:\n  memory: 3145728\n  prefix_cache: false\n"
                           "adapters:\n  max_loaded: 8\n  max_rank: 5\n  weights: int8\n"
                           "  preload:\n    - {name: \"a\", path: \"./a\"}\n"));
}

/* What is printed reads back as the same, and prints the same. */
static void print_reads_back(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEAD,
        HEAD "name: a\noutput: {kinds: binary, weights: file, license: (MIT OR Apache-2.0) AND "
             "BSD-3-Clause}\n",
        HEAD "targets: [aarch64, riscv64]\nshapes: {\"a: b\": 3, 'it''s': 4, \"\\u00e9\\n\": 5}\n",
        HEAD "inputs: {\"a.b/c\": {kind: image, scale: [1e-3, 0.1, 1/3], mean: [-1, 2, 3.5e10], "
             "channels: bgr}}\n",
        HEAD
        "inputs: {sr: {kind: constant, value: 16000}, \"x y\": {kind: constant, value: 1/3}}\n",
        HEAD "inputs: {a: {kind: audio, rate: 8000, fill: repeat, scale: 1/3}, b: {kind: audio, "
             "rate: 16000, features: mel, align: end, normalize: true, n_fft: 321, hop: 100, mels: "
             "40, window: hamming, center: zeros, power: 1, fmin: 20, fmax: 7600, mel_scale: htk, "
             "mel_norm: none, log: ln, floor: 1e-6, range: 8, relative: true, samples: 99}}\n",
        HEAD "precision: {rules: [{match: \"a\\\\.b|\\\"\", weights: int8}, {match: x, weights: "
             "f32}]}\n",
        HEAD "outputs: {p: {kind: classes, labels: labels.txt}, q: {kind: classes, labels: [0, "
             "yes, \"#\", \" \"]}}\n",
        HEAD
        "context: 300\nbatch: {max_sequences: 3, target_itl: 30ms}\n"
        "kv: {memory: 3MiB, prefix_cache: false}\nadapters: {max_loaded: 3, max_rank: 5, weights: "
        "keep, preload: [{name: a, path: ./a}, {name: \"b:c\", path: \"0.5*x,0.5*y\"}]}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        infc_buf first = {.arena = cx.arena}, second = {.arena = cx.arena};
        read_ok(texts[i]);
        infc_spec_print(&spec, &first);
        read_ok(infc_buf_str(&first));
        infc_spec_print(&spec, &second);
        assert_string_equal(infc_buf_str(&first), infc_buf_str(&second));
    }
}

static void broadcasting(void **state) {
    (void)state;
    read_ok(HEAD "output: {kinds: static-library}\n"
                 "targets: {arch: x86_64, features: [avx2, fma, f16c, bmi, bmi2, lzcnt, movbe]}\n"
                 "precision: {rules: {match: x, weights: int8}}\n"
                 "inputs: {i: {kind: image, mean: [1, 2, 3], std: 2}}\n");
    assert_true(spec.static_library && !spec.binary);
    assert_int_equal(spec.n_targets, 1);
    assert_string_equal(spec.targets[0].name, "x86-64-v3");
    assert_int_equal(spec.n_rules, 1);
    const infc_spec_image *image = spec.images;
    assert_int_equal(image->channels, 3);
    assert_true(image->mean[0] == 1 && image->mean[1] == 2 && image->mean[2] == 3);
    assert_true(image->std[0] == 2 && image->std[2] == 2);
    assert_true(image->scale[0] == 1 && image->scale[2] == 1);
}

static void sound(void **state) {
    (void)state;
    read_ok(HEAD "inputs: {x: {kind: audio, rate: 16000, features: mel, align: end, mean: -4}}\n");
    assert_int_equal(spec.n_audios, 1);
    const infc_spec_audio *audio = spec.audios;
    assert_true(audio->mel && audio->at_end && !audio->repeat && !audio->normalize && !audio->htk);
    assert_true(audio->rate == 16000 && audio->n_fft == 400 && audio->hop == 160 && audio->mels == 80);
    assert_true(audio->window == INFC_WINDOW_hann && audio->center == INFC_CENTER_reflect);
    assert_true(audio->log == INFC_LOG_log10 && audio->power == 2 && audio->equal_areas);
    assert_true(audio->fmin == 0 && audio->fmax == 8000 && audio->floor == 1e-10 && audio->range == 0);
    assert_true(audio->scale == 1 && audio->mean == -4 && audio->std == 1);
}

static void labels_from_a_file(void **state) {
    (void)state;
    read_ok(HEAD "outputs: {p: {kind: classes, labels: labels.txt}}\n");
    const infc_spec_classes *classes = spec.classes;
    assert_int_equal(classes->n_labels, 4); /* an empty line is a label, unless it ends the file */
    assert_string_equal(classes->labels[1], "dog");
    assert_string_equal(classes->labels[2], "");
    assert_string_equal(classes->labels[3], "fish");
    assert_int_equal(classes->top, 4); /* the default 5, of 4 */
}

static void repeated_targets_are_used_once(void **state) {
    (void)state;
    read_ok(HEAD "targets: [aarch64, riscv64, aarch64]\n");
    assert_int_equal(spec.n_targets, 2);
    assert_int_equal(cx.n_diags, 1);
    assert_string_equal(cx.diags[0].text, "targets: aarch64 is there already; used once");
}

static void sets_override(void **state) {
    (void)state;
    static const infc_spec_set sets[] = {
        {"precision.weights=int8"},  {"targets=[aarch64, riscv64]"}, {"shapes.image.2=8"},
        {"shapes.batch=4"},          {"output.kinds=binary"},        {"inputs.a.b.kind=image"},
        {"inputs.a.b.scale=1/2"},    {"budgets.file=2kB"},           {"name=other"},
        {"outputs.o.labels=[x, y]"}, {"outputs.o.kind=classes"},     {"model=" SPECS "n.onnx"},
    };
    const char *text = HEAD "name: 1bad\nprecision: {weights: f32}\nshapes: {batch: 1}\n";
    if (read_text(text, sets, sizeof sets / sizeof *sets) != INFC_OK) fail_msg("%s", diags());
    assert_int_equal(spec.weights, INFC_FORMAT_int8);
    assert_string_equal(spec.targets[1].name, "riscv64");
    assert_int_equal(spec.n_dims, 2);
    assert_int_equal(spec.dims[0].value, 4);
    assert_string_equal(spec.dims[1].name, "image.2");
    assert_true(spec.binary && !spec.static_library);
    assert_string_equal(spec.images[0].input, "a.b");
    assert_true(spec.images[0].scale[2] == 0.5);
    assert_int_equal(spec.budget_file, 2000);
    assert_string_equal(spec.name, "other");
    assert_string_equal(spec.classes[0].labels[1], "y");
    assert_string_equal(spec.model_text, "n.onnx"); /* no machine's path in what is hashed */
}

static void sets_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"precision.weights", "expected key=value, for example  --set precision.weights=int8; got "
                              "\"precision.weights\""},
        {"=x", "expected key=value, for example  --set precision.weights=int8; got \"=x\""},
        {"precison.weights=int8", "unknown key \"precison\"; did you mean \"precision\"?"},
        {"precision.weight=int8", "precision: unknown key \"weight\"; did you mean \"weights\"?"},
        {"precision.weights=int3",
         "precision.weights: unknown value \"int3\"; did you mean \"int8\"?"},
        {"precision.weights=", "precision.weights: has no value; write one or remove the key"},
        {"precision.=x", "\"precision.=x\": there is no such key to set"},
        {"name.x=1", "\"name.x=1\": there is no such key to set"},
        {"targets=[a", "not YAML: did not find expected ',' or ']', while parsing a flow sequence "
                       "that begins in line 1"},
        {"shapes={a: 1, a: 2}", "key \"a\" is given twice; remove one"},
        {"kv.block=8", "kv.block: not implemented yet; remove it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t mark = cx.n_diags;
        infc_spec_set set = {cases[i].assignment};
        assert_int_equal(read_text(HEAD "name: n\n", &set, 1), INFC_ERR_SPEC);
        assert_int_equal(cx.n_diags, mark + 1);
        assert_string_equal(cx.diags[mark].text, cases[i].message);
        assert_string_equal(cx.diags[mark].loc.file, "--set");
        assert_int_equal(cx.diags[mark].loc.line, 0);
    }
}

static void bare_model(void **state) {
    (void)state;
    static const infc_spec_set sets[] = {{"precision.weights=int8"}};
    assert_int_equal(infc_spec_read(&cx, SPECS "n.onnx", sets, 1, &spec), INFC_OK);
    assert_null(spec.path);
    assert_string_equal(spec.model, SPECS "n.onnx");
    assert_string_equal(spec.name, "n");
    assert_int_equal(spec.weights, INFC_FORMAT_int8);
    infc_buf out = {.arena = cx.arena};
    infc_spec_print(&spec, &out);
    assert_null(strstr(infc_buf_str(&out), INFC_SOURCE_DIR));
}

static void paths_that_are_neither(void **state) {
    (void)state;
    assert_int_equal(infc_spec_read(&cx, "no-such-file.yaml", NULL, 0, &spec), INFC_ERR_IO);
    assert_int_equal(infc_spec_read(&cx, "no-such-file", NULL, 0, &spec), INFC_ERR_IO);
    assert_int_equal(infc_spec_read(&cx, SPECS "labels.txt", NULL, 0, &spec), INFC_ERR_SPEC);
    assert_int_equal(infc_spec_read(&cx, "no-such-file.onnx", NULL, 0, &spec), INFC_ERR_IO);
    assert_int_equal(infc_spec_read(&cx, "some.gguf", NULL, 0, &spec), INFC_ERR_IO);
    assert_int_equal(infc_spec_read(&cx, SPECS, NULL, 0, &spec), INFC_ERR_SPEC);
    assert_non_null(strstr(cx.diags[1].text, "there is no such file; expected a spec (.yaml"));
    assert_non_null(strstr(cx.diags[2].text, "the name tells neither"));
    assert_non_null(strstr(cx.diags[3].text, "there is no file"));
    assert_non_null(strstr(cx.diags[4].text, "there is no file"));
    assert_non_null(strstr(cx.diags[5].text, "has no config.json"));
}

static void rules_choose_the_storage_type(void **state) {
    (void)state;
    infc_spec_format format;
    bool matched[4];
    read_ok(HEAD "precision:\n  weights: int8\n  rules:\n"
                 "    - {match: \"lm_head|embed\", weights: f32}\n"
                 "    - {match: \"^head\", weights: int8}\n"
                 "    - {match: \"head\", weights: f32}\n"
                 "    - {match: \"^(a+)+$\", weights: f32}\n");
    static const struct {
        const char *name;
        infc_spec_format format;
        bool matched[4];
    } cases[] = {
        {"model.embed.weight", INFC_FORMAT_f32, {true}},
        {"head.0", INFC_FORMAT_int8, {false, true, true}},
        {"x.head", INFC_FORMAT_f32, {false, false, true}},
        {"conv1", INFC_FORMAT_int8, {false}},
        {"\xff", INFC_FORMAT_int8, {false}},
        {"aaa", INFC_FORMAT_f32, {false, false, false, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(matched, 0, sizeof matched);
        assert_int_equal(infc_spec_weight_format(&cx, &spec, cases[i].name, matched, &format), INFC_OK);
        assert_int_equal(format, cases[i].format);
        assert_memory_equal(matched, cases[i].matched, sizeof matched);
    }
    char slow[64];
    memset(slow, 'a', sizeof slow);
    memcpy(slow + 60, "b", 2);
    assert_int_equal(infc_spec_weight_format(&cx, &spec, slow, matched, &format), INFC_ERR_SPEC);
    assert_non_null(strstr(diags(), "takes too long; simplify the expression"));
}

static jmp_buf memory_gone;

static void on_no_memory(void *user) {
    (void)user;
    longjmp(memory_gone, 1);
}

/* Each allocation in turn fails; nothing is leaked but what the arena frees. */
static void memory_runs_out_anywhere(void **state) {
    (void)state;
    static const infc_spec_set sets[] = {{"model=" SPECS "n.onnx"}, {"targets=[aarch64]"}};
    static volatile bool done;
    static volatile size_t n;
    for (n = 1, done = false; !done; n++) {
        infc_cx limited;
        assert_int_equal(infc_cx_init(&limited), INFC_OK);
        infc_arena_on_no_memory(limited.arena, on_no_memory, NULL);
        infc_arena_fail_at(limited.arena, n);
        if (!setjmp(memory_gone)) {
            infc_bytes bytes = {(const uint8_t *)infc_spec_example, strlen(infc_spec_example)};
            assert_int_equal(infc_spec_read_bytes(&limited, "x.yaml", bytes, sets, 2, &spec), INFC_OK);
            done = true;
        }
        infc_cx_deinit(&limited);
    }
    assert_true(n > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(defaults),
        CX_TEST(documented_example),
        CX_TEST(llm_keys_are_printed),
        CX_TEST(print_reads_back),
        CX_TEST(broadcasting),
        CX_TEST(sound),
        CX_TEST(labels_from_a_file),
        CX_TEST(repeated_targets_are_used_once),
        CX_TEST(sets_override),
        CX_TEST(sets_are_refused),
        CX_TEST(bare_model),
        CX_TEST(paths_that_are_neither),
        CX_TEST(rules_choose_the_storage_type),
        CX_TEST(memory_runs_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
