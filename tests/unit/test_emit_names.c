/* Names and text from hostile models stay inside their comments, strings and identifiers; models at the edges (no
 * inputs, no weights, no steps) are still C and C++. */
#include "compiler/base/file.h"
#include "compiler/base/subprocess.h"
#include "compiler/emit/emit_unit.h"
#include "emit_tiny_plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define WARNINGS "-Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wundef -Wvla -Werror"

typedef struct fixture {
    infc_cx cx;
    char dir[64];
    tiny_plan tiny;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    *state = f;
    snprintf(f->dir, sizeof f->dir, "/tmp/infc-names-XXXXXX");
    return infc_cx_init(&f->cx) != INFC_OK || !mkdtemp(f->dir);
}

static int teardown(void **state) {
    fixture *f = *state;
    infc_dir_remove(f->dir);
    infc_cx_deinit(&f->cx);
    free(f);
    return 0;
}

static void comments(void **state) {
    fixture *f = *state;
    assert_string_equal(infc_emit_comment(f->cx.arena, "/conv1/Conv"), "/conv1/Conv");
    assert_string_equal(infc_emit_comment(f->cx.arena, "a */ int x; /* b"), "a * / int x; / * b");
    assert_string_equal(infc_emit_comment(f->cx.arena, "*/*/"), "* / * /");
    assert_string_equal(infc_emit_comment(f->cx.arena, "a\nb\\\nc"), "a?b? ?c");
    assert_string_equal(infc_emit_comment(f->cx.arena, "x?\?/"), "x? ?/");
    assert_string_equal(infc_emit_comment(f->cx.arena, "\xe2\x80\xae"), "? ? ?"); /* right-to-left override */
    assert_string_equal(infc_emit_comment(f->cx.arena, NULL), "");
}

static void literals(void **state) {
    fixture *f = *state;
    assert_string_equal(infc_emit_literal(f->cx.arena, "a\"b\\"), "\"a\\\"b\\\\\"");
    assert_string_equal(infc_emit_literal(f->cx.arena, "?\?/\n1"), "\"\\077\\077/\\0121\"");
    assert_string_equal(infc_emit_literal(f->cx.arena, "\xc3\xa9"), "\"\\303\\251\"");
    assert_string_equal(infc_emit_literal(f->cx.arena, NULL), "0");
}

static void emit(fixture *f) {
    infc_emitted emitted;
    const infc_emit_options options = {.spec = &f->tiny.spec, .dir = f->dir};
    if (infc_emit(&f->cx, &f->tiny.plan, &options, &emitted) == INFC_OK) return;
    infc_buf text = {.arena = f->cx.arena};
    infc_diags_text(&f->cx, &text);
    fail_msg("%s", infc_buf_str(&text));
}

static void compile(fixture *f) {
    static const char script[] =
        "set -e; for cc in gcc clang-22; do command -v $cc >/dev/null || continue;\n"
        "for i in src/tiny.c src/tiny_model.c; do $cc " INFC_EMIT_CFLAGS " -march=x86-64 " WARNINGS
        " -I. -Isrc -c $i -o o.o; done\n"
        "echo '#include \"tiny.h\"' >h.c; $cc -std=c11 -pedantic " WARNINGS " -I. -c h.c -o o.o;\n"
        "$cc -x c++ -std=c++17 -pedantic -Wall -Wextra -Werror -I. -c h.c -o o.o; done";
    const char *argv[] = {"sh", "-c", script, NULL};
    infc_job job = {.argv = argv, .cwd = f->dir};
    assert_int_equal(infc_jobs_run(&f->cx, &job, 1, 1), INFC_OK);
    if (job.exit_code != 0) fail_msg("%s", job.output);
}

static void hostile_names(void **state) {
    fixture *f = *state;
    tiny_plan_make(&f->tiny, infc_target_at(0));
    infc_plan_buffer *b = f->tiny.buffers;
    b[X].name = "class", b[X].tensor = "class\"; system(\"true\"); //";
    b[S].name = "__func__", b[S].tensor = "*/ #error escaped /*";
    b[H].name = "3d input", b[H].tensor = "?\?/\n#error escaped";
    b[G].name = "3d-input";
    b[Y].name = "default", b[P].name = "NULL", b[Q].name = "linux", b[R].name = "default ";
    f->tiny.steps[0].name = "run", f->tiny.steps[0].node = "*/ #error escaped /*\n#error escaped";
    f->tiny.steps[2].name = "steps", f->tiny.steps[2].what = "\\";
    f->tiny.steps[3].name = "run_dims";
    f->tiny.steps[4].name = "matmul_ref_add_relu_epi";
    f->tiny.plan.source = "a\"*/\n#error escaped.onnx";
    f->tiny.spec.license = "MIT */\n#error escaped";
    emit(f);
    compile(f);
}

static void reserved_model_names(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"v", "s", "infc", "infk", "infrt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        infc_buf text = {.arena = f->cx.arena};
        tiny_plan_make(&f->tiny, infc_target_at(0));
        f->tiny.plan.name = names[i];
        assert_int_equal(infc_emit_source(&f->cx, &f->tiny.plan, &f->tiny.spec, &text), INFC_ERR_SPEC);
    }
}

static void nothing_in_it(void **state) {
    fixture *f = *state;
    tiny_plan_make(&f->tiny, infc_target_at(0));
    infc_plan *p = &f->tiny.plan;
    p->n_buffers = p->n_inputs = p->n_outputs = p->n_steps = p->n_recipes = 0;
    p->n_exprs = p->n_extras = p->n_stores = 0;
    p->arena_bytes = p->weights_bytes = 0;
    emit(f);
    compile(f);
}

static void other_types(void **state) {
    fixture *f = *state;
    tiny_plan_make(&f->tiny, infc_target_at(0));
    infc_plan *p = &f->tiny.plan;
    p->n_steps = p->n_recipes = p->n_exprs = p->n_extras = p->n_stores = 0;
    p->weights_bytes = 0;
    p->n_buffers = 2, p->n_inputs = 2, p->n_outputs = 0;
    f->tiny.buffers[X].type = (infc_type){.dtype = INFC_DTYPE_i64}; /* a scalar */
    f->tiny.buffers[S].type = (infc_type){.dtype = INFC_DTYPE_bool, .rank = 1, .dims = {0}};
    emit(f);
    compile(f);
}

static void spec_that_does_not_fit(void **state) {
    fixture *f = *state;
    static const char *labels[] = {"a", "b"};
    infc_emitted emitted;
    const infc_emit_options options = {.spec = &f->tiny.spec, .dir = f->dir};
    infc_spec_classes classes[] = {{.output = "y", .labels = labels, .n_labels = 2, .top = 1},
                                   {.output = "none"}};
    infc_spec_image images[] = {{.input = "x", .channels = 1, .scale = {1}, .std = {1}},
                                {.input = "none", .channels = 1}};
    for (int i = 0; i < 2; i++) {
        tiny_plan_make(&f->tiny, infc_target_at(0));
        f->tiny.spec.classes = &classes[i], f->tiny.spec.n_classes = 1;
        assert_int_equal(infc_emit(&f->cx, &f->tiny.plan, &options, &emitted), INFC_ERR_SPEC);
        tiny_plan_make(&f->tiny, infc_target_at(0));
        f->tiny.spec.images = &images[i], f->tiny.spec.n_images = 1;
        assert_int_equal(infc_emit(&f->cx, &f->tiny.plan, &options, &emitted), INFC_ERR_SPEC);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comments, setup, teardown),
        cmocka_unit_test_setup_teardown(literals, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_names, setup, teardown),
        cmocka_unit_test_setup_teardown(reserved_model_names, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_in_it, setup, teardown),
        cmocka_unit_test_setup_teardown(other_types, setup, teardown),
        cmocka_unit_test_setup_teardown(spec_that_does_not_fit, setup, teardown),
    };
    return cmocka_run_group_tests_name("emit_names", tests, NULL, NULL);
}
