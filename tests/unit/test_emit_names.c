/* Names and text from hostile models stay inside their comments, strings and identifiers; models at the edges (no
 * inputs, no weights, no steps) are still C and C++. */
#include "compiler/base/subprocess.h"
#include "compiler/emit/emit_unit.h"
#include "emit_tiny_plan.h"
#include "folder_fixture.h"
#include <stdio.h>

#define WARNINGS "-Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wundef -Wvla -Werror"

static tiny_plan tiny;

static void comments(void **state) {
    (void)state;
    assert_string_equal(infc_emit_comment(cx.arena, "/conv1/Conv"), "/conv1/Conv");
    assert_string_equal(infc_emit_comment(cx.arena, "a */ int x; /* b"), "a * / int x; / * b");
    assert_string_equal(infc_emit_comment(cx.arena, "*/*/"), "* / * /");
    assert_string_equal(infc_emit_comment(cx.arena, "a\nb\\\nc"), "a?b? ?c");
    assert_string_equal(infc_emit_comment(cx.arena, "x?\?/"), "x? ?/");
    assert_string_equal(infc_emit_comment(cx.arena, "\xe2\x80\xae"), "? ? ?"); /* right-to-left override */
    assert_string_equal(infc_emit_comment(cx.arena, NULL), "");
}

static void literals(void **state) {
    (void)state;
    assert_string_equal(infc_emit_literal(cx.arena, "a\"b\\"), "\"a\\\"b\\\\\"");
    assert_string_equal(infc_emit_literal(cx.arena, "?\?/\n1"), "\"\\077\\077/\\0121\"");
    assert_string_equal(infc_emit_literal(cx.arena, "\xc3\xa9"), "\"\\303\\251\"");
    assert_string_equal(infc_emit_literal(cx.arena, NULL), "0");
}

static void emit(void) {
    infc_emitted emitted;
    const infc_emit_options options = {.spec = &tiny.spec, .dir = dir};
    if (infc_emit(&cx, &tiny.plan, &options, &emitted) == INFC_OK) return;
    infc_buf text = {.arena = cx.arena};
    infc_diags_text(&cx, &text);
    fail_msg("%s", infc_buf_str(&text));
}

static void compile(void) {
    static const char script[] =
        "set -e; for cc in gcc clang-22; do command -v $cc >/dev/null || continue;\n"
        "for i in src/tiny.c src/tiny_model.c; do $cc " INFC_EMIT_CFLAGS " -march=x86-64 " WARNINGS
        " -I. -Isrc -c $i -o o.o; done\n"
        "echo '#include \"tiny.h\"' >h.c; $cc -std=c11 -pedantic " WARNINGS " -I. -c h.c -o o.o;\n"
        "$cc -x c++ -std=c++17 -pedantic -Wall -Wextra -Werror -I. -c h.c -o o.o; done";
    const char *argv[] = {"sh", "-c", script, NULL};
    infc_job job = {.argv = argv, .cwd = dir};
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 1), INFC_OK);
    if (job.exit_code != 0) fail_msg("%s", job.output);
}

static void hostile_names(void **state) {
    (void)state;
    tiny_plan_make(&tiny, infc_target_at(0));
    infc_plan_buffer *b = tiny.buffers;
    b[X].name = "class", b[X].tensor = "class\"; system(\"true\"); //";
    b[S].name = "__func__", b[S].tensor = "*/ #error escaped /*";
    b[H].name = "3d input", b[H].tensor = "?\?/\n#error escaped";
    b[G].name = "3d-input";
    b[Y].name = "default", b[P].name = "NULL", b[Q].name = "linux", b[R].name = "default ";
    tiny.steps[0].name = "run", tiny.steps[0].node = "*/ #error escaped /*\n#error escaped";
    tiny.steps[2].name = "steps", tiny.steps[2].what = "\\";
    tiny.steps[3].name = "run_dims";
    tiny.steps[4].name = "matmul_ref_add_relu_epi";
    tiny.plan.source = "a\"*/\n#error escaped.onnx";
    tiny.spec.license = "MIT */\n#error escaped";
    emit();
    compile();
}

/* Words that mean something else once a program has included what it needs. */
static const char *const taken_words[] = {"errno",
                                          "stdin",
                                          "stdout",
                                          "stderr",
                                          "NULL",
                                          "assert",
                                          "EOF",
                                          "INT_MAX",
                                          "unix",
                                          "linux",
                                          "and",
                                          "or",
                                          "xor",
                                          "bool",
                                          "true",
                                          "complex",
                                          "I",
                                          "PRIu64",
                                          "st_mtime",
                                          "si_addr",
                                          "h_addr",
                                          "thread_local",
                                          "static_assert",
                                          "typeof",
                                          "class",
                                          "template",
                                          "uint8_t",
                                          "size_t",
                                          "int32_t",
                                          "float",
                                          "SYS_read",
                                          "M_PIf",
                                          "basename",
                                          "direct",
                                          "sa_handler",
                                          "operator",
                                          "tiny_run",
                                          "tiny_inputs",
                                          "INFC_ABI_VERSION",
                                          "TINY_H",
                                          "TINY_ABI",
                                          "P_tmpdir",
                                          "noreturn",
                                          "isnan",
                                          "sin"};

/* Headers before tiny.h, in C and C++. */
static const char include_all[] =
    "set -e\n"
    "{ for h in assert complex ctype errno fenv float inttypes iso646 limits locale math "
    "setjmp signal stdalign\n"
    " do echo \"#include <$h.h>\"; done\n"
    "for h in stdarg stdbool stddef stdint stdio stdlib string time unistd fcntl dirent netdb "
    "pthread sched\n"
    " do echo \"#include <$h.h>\"; done\n"
    "for h in sys/stat sys/syscall sys/socket sys/wait netinet/in netinet/icmp6 arpa/inet "
    "arpa/nameser getopt utmp\n"
    " do echo \"#include <$h.h>\"; done; } >all.h\n"
    "{ cat all.h; echo '#include <stdnoreturn.h>'; echo '#include <threads.h>'; echo '#include "
    "\"tiny.h\"'; } >h.c\n"
    "{ cat all.h; echo '#include <vector>'; echo '#include <cmath>'; echo '#include "
    "\"tiny.h\"'; } >h.cc\n"
    "for cc in gcc clang-22; do command -v $cc >/dev/null || continue\n"
    "$cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -c h.c -o o.o\n"
    "$cc -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -I. -c h.c -o o.o\n"
    "$cc -x c++ -std=gnu++17 -Wall -Wextra -Werror -I. -c h.cc -o o.o; done";

static void fields_of_the_header(void **state) {
    (void)state;
    enum { N = sizeof taken_words / sizeof *taken_words };
    infc_plan_buffer buffers[N];
    int ids[N];
    tiny_plan_make(&tiny, infc_target_at(0));
    infc_plan *p = &tiny.plan;
    p->n_steps = p->n_recipes = p->n_exprs = p->n_extras = p->n_stores = 0;
    p->weights_bytes = 0;
    for (int i = 0; i < N; i++) {
        buffers[i] = tiny.buffers[X];
        buffers[i].name = taken_words[i];
        buffers[i].type.dtype = i % 2 ? INFC_DTYPE_u8 : INFC_DTYPE_i32;
        ids[i] = i;
    }
    p->buffers = buffers, p->n_buffers = N;
    p->inputs = ids, p->n_inputs = N, p->n_outputs = 0;
    emit();
    const char *argv[] = {"sh", "-c", include_all, NULL};
    infc_job job = {.argv = argv, .cwd = dir};
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 1), INFC_OK);
    if (job.exit_code != 0) fail_msg("%s", job.output);
}

static void nothing_in_it(void **state) {
    (void)state;
    tiny_plan_make(&tiny, infc_target_at(0));
    infc_plan *p = &tiny.plan;
    p->n_buffers = p->n_inputs = p->n_outputs = p->n_steps = p->n_recipes = 0;
    p->n_exprs = p->n_extras = p->n_stores = 0;
    p->arena_bytes = p->weights_bytes = 0;
    emit();
    compile();
}

static void other_types(void **state) {
    (void)state;
    tiny_plan_make(&tiny, infc_target_at(0));
    infc_plan *p = &tiny.plan;
    p->n_steps = p->n_recipes = p->n_exprs = p->n_extras = p->n_stores = 0;
    p->weights_bytes = 0;
    p->n_buffers = 2, p->n_inputs = 2, p->n_outputs = 0;
    tiny.buffers[X].type = (infc_type){.dtype = INFC_DTYPE_i64}; /* a scalar */
    tiny.buffers[S].type = (infc_type){.dtype = INFC_DTYPE_bool, .rank = 1, .dims = {0}};
    emit();
    compile();
}

static void spec_that_does_not_fit(void **state) {
    (void)state;
    static const char *labels[] = {"a", "b"};
    infc_emitted emitted;
    const infc_emit_options options = {.spec = &tiny.spec, .dir = dir};
    infc_spec_classes classes[] = {{.output = "y", .labels = labels, .n_labels = 2, .top = 1},
                                   {.output = "none"}};
    infc_spec_image images[] = {{.input = "x", .channels = 1, .scale = {1}, .std = {1}},
                                {.input = "none", .channels = 1}};
    for (int i = 0; i < 2; i++) {
        tiny_plan_make(&tiny, infc_target_at(0));
        tiny.spec.classes = &classes[i], tiny.spec.n_classes = 1;
        assert_int_equal(infc_emit(&cx, &tiny.plan, &options, &emitted), INFC_ERR_SPEC);
        tiny_plan_make(&tiny, infc_target_at(0));
        tiny.spec.images = &images[i], tiny.spec.n_images = 1;
        assert_int_equal(infc_emit(&cx, &tiny.plan, &options, &emitted), INFC_ERR_SPEC);
    }
    /* x is [3,20]: no single axis of time; no axis of 80; too short to reflect; one sample too few; no input */
    infc_spec_audio audios[] = {
        {.input = "x", .rate = 1},
        {.input = "x", .mel = true, .mels = 80},
        {.input = "x", .mel = true, .mels = 3, .n_fft = 64, .hop = 1, .center = INFC_CENTER_reflect},
        {.input = "x", .mel = true, .mels = 20, .n_fft = 8, .hop = 4, .samples = 15},
        {.input = "none"}};
    for (int i = 0; i < 5; i++) {
        tiny_plan_make(&tiny, infc_target_at(0));
        tiny.spec.audios = &audios[i], tiny.spec.n_audios = 1;
        assert_int_equal(infc_emit(&cx, &tiny.plan, &options, &emitted), INFC_ERR_SPEC);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(comments),
        FOLDER_TEST(literals),
        FOLDER_TEST(hostile_names),
        FOLDER_TEST(fields_of_the_header),
        FOLDER_TEST(nothing_in_it),
        FOLDER_TEST(other_types),
        FOLDER_TEST(spec_that_does_not_fit),
    };
    return cmocka_run_group_tests_name("emit_names", tests, NULL, NULL);
}
