/* The command line of a built binary: what each command gives, and how it refuses. */
#include "infrt_fake_program.h"
#include "infrt_test_files.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_x(void) {
    float x[FAKE_X];
    for (int i = 0; i < FAKE_X; i++) x[i] = (float)i;
    put_file("x.raw", x, sizeof x);
}

/* y of x[i] = i, as run prints it */
static void expect_y(float bias) {
    char line[256] = " ";
    for (int i = 0; i < FAKE_Y; i++)
        snprintf(line + strlen(line), 32, " %.9g", (double)fake_expected(i / FAKE_S, i % FAKE_S, bias));
    expect_has(caught_out, line);
}

static infrt_bytes file_of(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", work_dir, name);
    return test_bytes(path);
}

static void test_run(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    put_x();
    static const char *const commands[] = {
        "run --input x.raw",
        "run --input x=x.raw",
        "run --input=x=x.raw --threads 3",
        "run --input x=x.raw --threads=2 --repeat 50",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect_fine(&model, commands[i]);
        expect_has(caught_out, "y f32[2,3]  min 1160.5  max 3640.5\n");
        expect_y(0.5f);
        expect_has(caught_err, "start-up");
    }
    expect_has(caught_err, "50 runs, fastest");
    expect_has(caught_err, "2 workers");
    expect_fine(&model, "run --input x.raw --json");
    expect_has(caught_out, "\"values\": [1160.5, 1200.5, 1240.5, 3560.5, 3600.5, 3640.5]");
    expect_has(caught_out, "\"workers\": 1,");
    assert_string_equal(caught_err, "");
}

static void test_run_files(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    infrt_error error = {0};
    infrt_tensor t = {0};
    put_x();
    expect_fine(&model,
                "run --input x.raw --output out --outputs y.npz --dump-tensor all --dump-to mid.npz"
                " --profile trace.json");
    infrt_bytes npz = file_of("y.npz"), npy = file_of("out/y.npy"), mid = file_of("mid.npz");
    assert_int_equal(infrt_npz_read(npz, "y.npz", "y", &t, &error), INFRT_OK);
    assert_int_equal(infrt_tensor_match(&t, &model.outputs[0], "y.npz", &error), INFRT_OK);
    for (size_t i = 0; i < FAKE_Y; i++)
        assert_true(infrt_element(t.dtype, t.data, i) ==
                    (double)fake_expected((int)i / FAKE_S, (int)i % FAKE_S, 0.5f));
    infrt_tensor_free(&t);
    assert_int_equal(infrt_npy_read(npy, "y.npy", &t, &error), INFRT_OK);
    infrt_tensor_free(&t);
    /* the intermediate: 2 x + 1, out of its channel blocks */
    assert_int_equal(infrt_npz_read(mid, "mid.npz", "/mid", &t, &error), INFRT_OK);
    assert_int_equal(infrt_tensor_match(&t, &model.tensors[0], "mid.npz", &error), INFRT_OK);
    for (size_t i = 0; i < FAKE_X; i++)
        assert_true(infrt_element(t.dtype, t.data, i) == 2 * (double)i + 1);
    infrt_tensor_free(&t);
    test_file_free(npz);
    test_file_free(npy);
    test_file_free(mid);

    infrt_bytes trace = file_of("trace.json");
    char text[8192];
    assert_true(trace.n < sizeof text);
    memcpy(text, trace.data, trace.n);
    text[trace.n] = 0;
    test_file_free(trace);
    expect_has(text, "\"name\": \"affine\"");
    expect_has(text, "\"name\": \"worker 0\"");
    expect_has(text, "\"ph\": \"X\"");
}

static void test_run_archive(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    float x[FAKE_X], y[FAKE_Y] = {0};
    infrt_error error = {0};
    char path[512];
    for (int i = 0; i < FAKE_X; i++) x[i] = (float)i;
    infc_tensor_info other = model.outputs[0];
    other.name = "other";
    const infc_tensor_info *infos[] = {&model.inputs[0], &model.outputs[0], &other};
    const void *data[] = {x, y, y};
    snprintf(path, sizeof path, "%s/in.npz", work_dir);
    assert_int_equal(infrt_npz_write(path, infos, data, 3, &error), INFRT_OK);
    expect_fine(&model, "run --inputs in.npz");
    expect_y(0.5f);
    expect_has(caught_err, "array \"other\" is not an input");
    if (strstr(caught_err, "\"y\"")) fail_msg("expected outputs are no surprise: %s", caught_err);
    expect_fine(&model, "run --input in.npz");
    expect_y(0.5f);
    assert_int_equal(infrt_npz_write(path, infos + 1, data + 1, 2, &error), INFRT_OK);
    expect_refused(&model, "run --inputs in.npz", 3, "in.npz: no array \"x\"; it has: y, other");
}

static void test_run_other_weights(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    fake_payload other = fake_payload_make(100), bad = other;
    put_x();
    put_file("w.weights", &other, sizeof other);
    expect_fine(&model, "run --input x.raw --weights w.weights");
    expect_y(100);
    bad.bias[1] = 1; /* hashed when it comes from the user */
    put_file("w.weights", &bad, sizeof bad);
    expect_refused(&model, "run --input x.raw --weights w.weights", 3, "the weights are damaged");
    bad = other, bad.header.layout_hash = 1;
    put_file("w.weights", &bad, sizeof bad);
    expect_refused(&model, "run --input x.raw --weights w.weights", 3, "another layout");
    expect_refused(&model, "run --input x.raw --weights none", 4, "none: cannot open");
}

/* What never ends, never begins, is no file, or is larger than what it is for: told at once. */
static void test_inputs_that_are_no_files(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    static const char *const flags[] = {"--input x=", "--inputs "};
    char fifo[128], large[128], raw[128];
    snprintf(fifo, sizeof fifo, "%s/fifo.npz", work_dir);
    snprintf(large, sizeof large, "%s/large.npz", work_dir);
    snprintf(raw, sizeof raw, "%s/large.raw", work_dir);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    for (int i = 0; i < 2; i++) {
        char line[128];
        snprintf(line, sizeof line, "run %s/dev/zero", flags[i]);
        expect_refused(&model, line, 4, "/dev/zero: not a regular file");
        snprintf(line, sizeof line, "run %sfifo.npz", flags[i]);
        expect_refused(&model, line, 4, "fifo.npz: not a regular file");
        snprintf(line, sizeof line, "run %s/", flags[i]);
        expect_refused(&model, line, 4, "/: a folder, not a file");
        put_file("large.npz", "", 0);
        assert_int_equal(truncate(large, (off_t)1 << 40), 0);
        snprintf(line, sizeof line, "run %slarge.npz", flags[i]);
        expect_refused(&model, line, 3, "large.npz: not an .npz file, or truncated");
    }
    assert_int_equal(rename(large, raw), 0);
    expect_refused(&model, "run --input large.raw", 3,
                   "large.raw: 1099511627776 bytes, but \"x\" is f32[2,20,3], 480");
    put_x();
    expect_refused(&model, "run --input x.raw --weights fifo.npz", 4, "fifo.npz: not a regular file");
}

/* A file that is read is never written, under whatever name. */
static void test_inputs_stay(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    fake_payload weights = fake_payload_make(100);
    float x[FAKE_X];
    infrt_error error = {0};
    char from[512], to[512];
    for (int i = 0; i < FAKE_X; i++) x[i] = (float)i;
    const infc_tensor_info *infos[] = {&model.inputs[0]};
    const void *data[] = {x};
    snprintf(from, sizeof from, "%s/q.npy", work_dir);
    assert_int_equal(infrt_npy_write(from, infos[0], x, &error), INFRT_OK);
    snprintf(to, sizeof to, "%s/hard.npy", work_dir);
    assert_int_equal(link(from, to), 0);
    snprintf(to, sizeof to, "%s/soft.npy", work_dir);
    assert_int_equal(symlink("q.npy", to), 0);
    snprintf(to, sizeof to, "%s/soft.json", work_dir);
    assert_int_equal(symlink("q.npy", to), 0);
    snprintf(to, sizeof to, "%s/qs.npz", work_dir);
    assert_int_equal(infrt_npz_write(to, infos, data, 1, &error), INFRT_OK);
    put_file("w.json", &weights, sizeof weights);
    snprintf(from, sizeof from, "%s/folder", work_dir);
    snprintf(to, sizeof to, "%s/folder/y.npy", work_dir);
    assert_int_equal(mkdir(from, 0700), 0);
    assert_int_equal(infrt_npy_write(to, infos[0], x, &error), INFRT_OK);
    expect_refused(&model, "run --input q.npy --outputs q.npy", 2,
                   "--outputs q.npy: this is the file of --input, which is read");
    expect_refused(&model, "run --input x=q.npy --outputs hard.npy", 2, "which is read");
    expect_refused(&model, "run --input x=q.npy --outputs ./soft.npy", 2, "which is read");
    expect_refused(&model, "run --input soft.npy --outputs q.npy", 2, "which is read");
    expect_refused(&model, "run --input q.npy --profile soft.json", 2,
                   "--profile soft.json: this is the file of --input");
    expect_refused(&model, "run --inputs qs.npz --outputs qs.npz", 2, "of --inputs, which is read");
    expect_refused(&model, "run --inputs qs.npz --dump-tensor all --dump-to qs.npz", 2, "--dump-to qs.npz: this is");
    expect_refused(&model, "run --input q.npy --weights w.json --profile w.json", 2, "of --weights");
    expect_refused(&model, "run --input folder/y.npy --output folder", 2,
                   "--output folder/y.npy: this is the file of --input");
    expect_refused(&model, "run --input q.npy --outputs t.npz --dump-tensor all --dump-to ./t.npz",
                   2, "--dump-to ./t.npz: --outputs writes this file too");
    expect_refused(&model, "run --input q.npy --outputs folder/y.npy --output folder", 2, "writes this file too");
    expect_fine(&model, "run --input q.npy --outputs /dev/null --profile /dev/null");
    expect_fine(&model, "run --input q.npy");
    expect_y(0.5f); /* still what it was */
}

/* What is in a file is what its name says. */
static void test_endings(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    infrt_tensor t = {0};
    infrt_error error = {0};
    put_x();
    expect_refused(&model, "run --input x.raw --outputs o.txt", 2,
                   "--outputs o.txt: give F.npz or F.npy; --output DIR");
    expect_refused(&model, "run --input x.raw --outputs o", 2, "give F.npz or F.npy");
    expect_refused(&model, "run --input x.raw --profile p.npy", 2, "--profile p.npy: this writes JSON; give F.json");
    expect_refused(&model, "run --input x.raw --output o.npz", 2, "--output o.npz: this would be a folder");
    expect_refused(&model, "run --input x.raw --dump-tensor all --dump-to d.npy", 2, "give F.npz or a folder");
    expect_fine(&model, "run --input x.raw --outputs one.NPY");
    infrt_bytes file = file_of("one.NPY");
    assert_int_equal(infrt_npy_read(file, "one.NPY", &t, &error), INFRT_OK);
    assert_int_equal(infrt_tensor_match(&t, &model.outputs[0], "one.NPY", &error), INFRT_OK);
    test_file_free(file);
    infc_tensor_info two[2] = {model.outputs[0], model.outputs[0]};
    model.outputs = two;
    model.n_outputs = 2;
    expect_refused(&model, "run --input x.raw --outputs one.npy", 2, "give F.npz, the model has several outputs");
}

/* A NaN is said to be one. */
static void test_nan(void **state) {
    (void)state;
    static const char *const labels[] = {"a", "b", "c"};
    static const infc_classes_info classes = {.labels = labels, .n_labels = 3, .top = 1, .scores = INFC_SCORES_softmax};
    static const infc_classes_info plain = {.labels = labels, .n_labels = 3, .top = 1};
    infc_model model = fake_program_make();
    float x[FAKE_X] = {0};
    for (int i = 0; i < FAKE_X; i++) x[i] = -(float)NAN;
    put_file("nan.raw", x, sizeof x);
    expect_fine(&model, "run --input nan.raw");
    expect_has(caught_out, "  nan nan nan nan nan nan\n");
    expect_has(
        caught_err,
        "output \"y\": 6 of 6 values are NaN; input \"x\" has 120 values that are NaN or infinite");
    model.classes = &classes;
    model.n_classes = 1;
    expect_fine(&model, "run --input nan.raw");
    expect_has(caught_out, "a  nan\n");
    expect_fine(&model, "run --input nan.raw --json");
    expect_has(caught_out, "\"confidence\": null");
    expect_has(caught_err, "\"severity\": \"warning\"");
    for (int i = 0; i < FAKE_X; i++) x[i] = INFINITY;
    put_file("inf.raw", x, sizeof x);
    expect_fine(&model, "run --input inf.raw");
    expect_has(caught_out, "a  nan\n");
    expect_has(caught_err, "infinite scores, so no confidence is known");
    model.classes = &plain;
    expect_fine(&model, "run --input inf.raw");
    expect_has(caught_out, "a  inf\n");
    expect_fine(&model, "run --input inf.raw --json");
    expect_has(caught_out, "\"score\": null");
}

static void test_run_refused(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    put_x();
    put_file("short.raw", "123", 3);
    put_file("text.txt", "hello", 5);
    put_file("file", "hello", 5);
    expect_refused(&model, "run", 2, "input \"x\" f32[2,20,3] is not given; add --input x=FILE");
    expect_refused(&model, "run --input z=x.raw", 2, "no input is named \"z\"; did you mean \"x\"?");
    expect_refused(&model, "run --input x.raw --input x=x.raw", 2, "\"x\" is given twice");
    expect_refused(&model, "run --input x.raw --inputs a.npz", 2, "not both");
    expect_refused(&model, "run --input x.raw --threads 1 --threads=2", 2, "--threads is given twice");
    expect_refused(&model, "run --json --input x.raw --json", 2, "--json is given twice");
    expect_refused(&model, "run --input short.raw", 3, "short.raw: 3 bytes, but \"x\" is f32[2,20,3], 480 bytes");
    expect_refused(&model, "run --input none.raw", 4, "none.raw: cannot open");
    expect_refused(&model, "run --input text.txt", 3, "not a kind of file that is read: .npy .npz");
    expect_refused(&model, "run --input x.raw --dump-tensor /mid", 2, "--dump-tensor and --dump-to go together");
    expect_refused(&model, "run --input x.raw --dump-tensor mid --dump-to d", 2, "did you mean \"/mid\"?");
    expect_refused(&model, "run --input x.raw --dump-tensor y --dump-to d", 2, "this is an output");
    expect_refused(&model, "run --input x.raw --dump-tensor all --dump-to d --threads 2", 2, "one worker");
    expect_refused(&model, "run --input x.raw --outputs no/such/y.npz", 4, "no/such/y.npz: cannot write");
    expect_refused(&model, "run --input x.raw --output file", 4, "file: cannot make this folder");
}

static void test_usage(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    expect_refused(&model, "", 2, "give a command");
    expect_refused(&model, "rum", 2, "unknown command \"rum\"; did you mean run?");
    expect_refused(&model, "frobnicate", 2, "there are run, bench, info, verify");
    expect_refused(&model, "run --treads 2", 2, "unknown flag \"--treads\"; did you mean --threads?");
    expect_refused(&model, "bench --input x", 2, "unknown flag \"--input\"");
    expect_refused(&model, "run x.raw", 2, "unknown argument \"x.raw\"; see run --help");
    expect_refused(&model, "run --threads", 2, "--threads needs a value: --threads N");
    expect_refused(&model, "run --threads 0", 2, "give a number from 1 to 1024");
    expect_refused(&model, "run --threads 2x", 2, "give a number from 1 to 1024");
    expect_refused(&model, "run --threads 99999999999999999999", 2, "give a number from 1 to 1024");
    expect_refused(&model, "run --repeat -1", 2, "give a number from 1");
    expect_refused(&model, "run --json=yes", 2, "--json takes no value");
    expect_refused(&model, "run --weights a --weights b", 2, "--weights is given twice");
    expect_refused(&model, "bench --seconds nan", 2, "give a number above 0");
}

static void test_help(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    expect_fine(&model, "--help");
    expect_has(caught_out, "usage: fake COMMAND");
    expect_fine(&model, "run --help");
    expect_has(caught_out, "--dump-tensor NAME");
    expect_fine(&model, "bench --help");
    expect_has(caught_out, "--seconds S");
    expect_fine(&model, "verify --help");
    expect_fine(&model, "info --help");
    expect_fine(&model, "--version");
    expect_has(caught_out, "fake for x86-64-v3, compiled by infc 0.0.1, ABI 1");
    expect_fine(&model, "--version --json");
    expect_has(caught_out, "\"infc_version\": \"0.0.1\"");
    expect_refused(&model, "--json", 2, "--json comes after a command");
}

static void test_info(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    expect_fine(&model, "info");
    expect_has(caught_out, "fake.onnx");
    expect_has(caught_out, "x f32[2,20,3]");
    expect_has(caught_out, "2, 1 barriers, 360 flops");
    expect_fine(&model, "info --json");
    expect_has(caught_out, "\"arena_bytes\": 832");
    expect_has(caught_out, "\"shape\": [2, 20, 3]");
    model.name = "a\"b\\c\n\xff\xc3\xa9"; /* whatever the model is called, it is JSON */
    expect_fine(&model, "info --json");
    expect_has(caught_out, "\"name\": \"a\\\"b\\\\c\\u000a\\ufffd\xc3\xa9\"");
}

static void test_bench(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    expect_fine(&model, "bench --seconds 0.05");
    expect_has(caught_out, "p50 ");
    expect_has(caught_out, "affine: /affine, fake");
    expect_fine(&model, "bench --seconds 0.05 --threads 2 --json");
    expect_has(caught_out, "\"p99_ns\": ");
    expect_has(caught_out, "\"workers\": 2,");
}

static const char *needs_avx512(void) { return "avx512f"; }

static void test_cpu_missing(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    put_x();
    model.cpu_missing = needs_avx512;
    expect_refused(&model, "run --input x.raw", 4, "this binary needs avx512f");
    expect_refused(&model, "bench", 4, "this CPU lacks it");
    assert_int_equal(program_run(&model, "verify"), 1);
    expect_has(caught_out, "FAIL cpu");
    expect_fine(&model, "info");
    expect_has(caught_out, "this CPU lacks avx512f");
    model.abi = 2;
    expect_refused(&model, "run --input x.raw", 3, "compiled for ABI 2");
}

static void test_full_disk(void **state) {
    (void)state;
    infc_model model = fake_program_make();
    put_x();
    expect_refused(&model, "run --input x.raw --outputs /dev/full", 4, "/dev/full: cannot write");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_run_files),
        cmocka_unit_test(test_run_archive),
        cmocka_unit_test(test_run_other_weights),
        cmocka_unit_test(test_inputs_that_are_no_files),
        cmocka_unit_test(test_inputs_stay),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_run_refused),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_bench),
        cmocka_unit_test(test_cpu_missing),
        cmocka_unit_test(test_full_disk),
    };
    if (!mkdtemp(work_dir)) return 1;
    return program_tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
