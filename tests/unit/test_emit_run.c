/* A plan made by hand, emitted, compiled as users do with every compiler that is here, loaded and run: against
 * arithmetic done in this file, by one worker and by several. And compiled for other targets. */
#include "compiler/base/subprocess.h"
#include "emit_tiny_plan.h"
#include "folder_fixture.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define WARNINGS "-Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wundef -Wvla -Werror"

/* Commands: compiler, flags of the target, and for the first a library to make. */
#define MAKE_LIBRARY                                                               \
    "%s -std=c11 -O3 -ffp-contract=off -fno-math-errno -fPIC -shared %s " WARNINGS \
    " -I. -Isrc src/tiny.c src/tiny_model.c src/tiny_weights.S -o %s"
#define COMPILE_ALL(flags)                                                                  \
    "for i in src/tiny.c src/tiny_model.c src/tiny_weights.S; do %s " flags " %s " WARNINGS \
    " " INFC_EMIT_INCLUDES " -c $i -o o.o || exit 1; done"

typedef struct fixture {
    float x[TINY_M * TINY_K], s[TINY_N];
    float y[TINY_M * TINY_N], p[TINY_M * TINY_N], q[TINY_M * TINY_N], r[TINY_M * TINY_N]; /* expected */
    float h[TINY_M * TINY_N];
    tiny_plan tiny;
} fixture;

static void shell(const char *command, const char *cwd) {
    const char *argv[] = {"sh", "-c", command, NULL};
    infc_job job = {.argv = argv, .cwd = cwd};
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 1), INFC_OK);
    if (job.exit_code != 0) fail_msg("%s: exit %d\n%s", command, job.exit_code, job.output);
}

/* Rule 2 of docs/numerics.md: from +0 along k with fma, bias afterwards. */
static void expect_matmul(const fixture *f, const float *w, const float *b, float *out) {
    for (int m = 0; m < TINY_M; m++)
        for (int n = 0; n < TINY_N; n++) {
            float acc = 0.0f;
            for (int k = 0; k < TINY_K; k++)
                acc = fmaf(f->x[m * TINY_K + k], w[k * TINY_N + n], acc);
            acc += b[n];
            out[m * TINY_N + n] = acc > 0.0f ? acc : 0.0f;
        }
}

static void expect(fixture *f) {
    float g[TINY_M * TINY_N];
    for (int i = 0; i < TINY_M * TINY_K; i++) f->x[i] = tiny_value(7, i);
    for (int i = 0; i < TINY_N; i++) f->s[i] = tiny_value(99, i);
    expect_matmul(f, f->tiny.w1, f->tiny.b1, f->h);
    expect_matmul(f, f->tiny.w2, f->tiny.b2, g);
    for (int m = 0; m < TINY_M; m++)
        for (int n = 0; n < TINY_N; n++) {
            const int i = m * TINY_N + n;
            const float product = f->h[i] * f->s[n];
            f->y[i] = product + g[m * TINY_N];
            f->p[i] = f->y[i] > 0.0f ? f->y[i] : 0.0f;
            f->q[i] = -f->h[i];
            f->r[n * TINY_M + m] = f->h[i];
        }
}

static void emit_for(fixture *f, const infc_target *target, const char *folder) {
    infc_emitted emitted;
    const infc_emit_options options = {.spec = &f->tiny.spec, .dir = folder};
    tiny_plan_make(&f->tiny, target);
    assert_int_equal(infc_dir_create(&cx, folder), INFC_OK);
    if (infc_emit(&cx, &f->tiny.plan, &options, &emitted) != INFC_OK) {
        infc_buf text = {.arena = cx.arena};
        infc_diags_text(&cx, &text);
        fail_msg("%s", infc_buf_str(&text));
    }
}

static int setup(void **state) {
    static fixture f;
    f = (fixture){0};
    *state = &f;
    return folder_setup(state);
}

/* ---- running --------------------------------------------------------------------------------------------- */

typedef struct run {
    const infc_model *model;
    infc_call call;
    int status;
} run;

static void meet(void *self, uint32_t worker) {
    (void)worker;
    pthread_barrier_wait(self);
}
static void *work(void *argument) {
    run *r = argument;
    r->status = r->model->run(&r->call);
    return NULL;
}

static void run_workers(fixture *f, const infc_model *model, uint32_t n) {
    static _Alignas(64) unsigned char arena[4096];
    float y[TINY_M * TINY_N], p[TINY_M * TINY_N], q[TINY_M * TINY_N], r[TINY_M * TINY_N];
    const void *in[] = {f->x, f->s};
    void *out[] = {y, p, q, r};
    pthread_barrier_t point;
    const infc_barrier barrier = {meet, &point};
    run runs[8];
    pthread_t threads[8];
    memset(y, 0xff, sizeof y), memset(p, 0xff, sizeof p), memset(q, 0xff, sizeof q),
        memset(r, 0xff, sizeof r);
    memset(arena, 0xff, sizeof arena);
    assert_true(model->arena_bytes <= sizeof arena);
    pthread_barrier_init(&point, NULL, n);
    for (uint32_t i = 0; i < n; i++) {
        runs[i] = (run){
            model, {model->weights_embedded(), arena, in, out, i, n, n > 1 ? &barrier : NULL, NULL, NULL}, -1};
        pthread_create(&threads[i], NULL, work, &runs[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(runs[i].status, INFC_RUN_OK);
    }
    pthread_barrier_destroy(&point);
    assert_memory_equal(y, f->y, sizeof y);
    assert_memory_equal(p, f->p, sizeof p);
    assert_memory_equal(q, f->q, sizeof q);
    assert_memory_equal(r, f->r, sizeof r);
    const infc_tensor_info *h = &model->tensors[0];
    assert_string_equal(h->name, "h");
    assert_memory_equal(arena + h->offset, f->h, sizeof f->h);
}

/* A caller that rounds towards zero and flushes denormals gets the same bits, and its settings back. */
static void sets_and_restores_environment(fixture *f, const infc_model *model) {
#if defined(__SSE__)
    static _Alignas(64) unsigned char arena[4096];
    static float y[TINY_M * TINY_N], p[TINY_M * TINY_N], q[TINY_M * TINY_N], r[TINY_M * TINY_N];
    const void *in[] = {f->x, f->s};
    void *out[] = {y, p, q, r};
    const infc_call call = {model->weights_embedded(), arena, in, out, 0, 1, NULL, NULL, NULL};
    const unsigned before = _mm_getcsr(), odd = 0xffc0; /* round to zero, FTZ, DAZ, all masked */
    _mm_setcsr(odd);
    const int status = model->run(&call);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    assert_int_equal(status, INFC_RUN_OK);
    assert_int_equal(after, odd);
    assert_memory_equal(y, f->y, sizeof y);
#else
    (void)f, (void)model;
#endif
}

static void refuses_bad_arguments(fixture *f, const infc_model *model) {
    static _Alignas(64) unsigned char arena[4096];
    float out_values[TINY_M * TINY_N] = {0};
    const void *in[] = {f->x, f->s}, *no_input[] = {f->x, NULL}, *odd[] = {(const char *)f->x + 1, f->s};
    void *out[] = {out_values, out_values, out_values, out_values},
         *no_output[] = {out_values, NULL, NULL, NULL};
    const void *weights = model->weights_embedded();
    static _Alignas(64) unsigned char other_weights[64] = "infcwts1";
    const infc_call bad[] = {
        {NULL, arena, in, out, 0, 1, NULL, NULL, NULL},
        {weights, NULL, in, out, 0, 1, NULL, NULL, NULL},
        {weights, arena + 4, in, out, 0, 1, NULL, NULL, NULL},
        {weights, arena, NULL, out, 0, 1, NULL, NULL, NULL},
        {weights, arena, no_input, out, 0, 1, NULL, NULL, NULL},
        {weights, arena, odd, out, 0, 1, NULL, NULL, NULL},
        {weights, arena, in, NULL, 0, 1, NULL, NULL, NULL},
        {weights, arena, in, no_output, 0, 1, NULL, NULL, NULL},
        {weights, arena, in, out, 1, 1, NULL, NULL, NULL},
        {weights, arena, in, out, 0, 0, NULL, NULL, NULL},
        {weights, arena, in, out, 0, 2, NULL, NULL, NULL},
        {other_weights, arena, in, out, 0, 1, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(model->run(&bad[i]), INFC_RUN_BAD_ARGUMENT);
    assert_int_equal(model->run(NULL), INFC_RUN_BAD_ARGUMENT);
}

static void checks_weights(const infc_model *model, void *library) {
    const void *(*check)(const void *, size_t) = NULL;
    void *symbol = dlsym(library, "tiny_weights_check");
    memcpy(&check, &symbol, sizeof check);
    assert_non_null(check);
    const char *weights = model->weights_embedded();
    assert_ptr_equal(check(weights, (size_t)model->weights_bytes), weights);
    assert_null(check(weights, (size_t)model->weights_bytes - 1));
    assert_null(check(weights + 4, (size_t)model->weights_bytes));
    assert_null(check(weights + 64, (size_t)model->weights_bytes)); /* no magic there */
    assert_null(check(NULL, 0));
}

static void check_compiler(fixture *f, const infc_target *target, const char *compiler) {
    const char *folder = infc_arena_printf(cx.arena, "%s/%s", dir, target->name);
    const char *library = infc_arena_printf(cx.arena, "%s/%s.so", dir, compiler);
    shell(infc_arena_printf(cx.arena, MAKE_LIBRARY, compiler, target->cflags, library), folder);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    const infc_model *(*model)(void) = NULL;
    void *symbol = dlsym(handle, "tiny_model");
    memcpy(&model, &symbol, sizeof model);
    assert_null(model()->cpu_missing());
    assert_int_equal(model()->n_steps, 5);
    assert_string_equal(model()->steps[0].name, "hidden");
    assert_string_equal(model()->steps[1].name, "hidden"); /* the same function */
    for (uint32_t n = 1; n <= 8; n++) run_workers(f, model(), n);
    sets_and_restores_environment(f, model());
    refuses_bad_arguments(f, model());
    checks_weights(model(), handle);
    dlclose(handle);
}

/* By both compilers the first target; the others in turns, with INFC_ALL_TARGETS (label full) by both. */
static void runs_right(void **state) {
    fixture *f = *state;
    static const char *const compilers[] = {"gcc", "clang-22"};
    for (size_t i = 0; i < infc_target_count(); i++) {
        const infc_target *target = infc_target_at(i);
        if (!infc_target_runs_here(target)) continue;
        emit_for(f, target, infc_arena_printf(cx.arena, "%s/%s", dir, target->name));
        expect(f);
        for (size_t c = 0; c < 2; c++)
            if ((i == 0 || i % 2 == c || getenv("INFC_ALL_TARGETS")) &&
                infc_program_find(cx.arena, compilers[c]))
                check_compiler(f, target, compilers[c]);
    }
}

/* ---- other properties ------------------------------------------------------------------------------------ */

/* Of each architecture the newest; with INFC_ALL_TARGETS (label full) all of them. */
static bool is_wanted(size_t i) {
    const infc_target *target = infc_target_at(i), *next = infc_target_at(i + 1);
    if (infc_target_runs_here(target)) return false; /* done above */
    return getenv("INFC_ALL_TARGETS") || !next || next->platform != target->platform;
}

static void compiles_for_other_targets(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < infc_target_count(); i++) {
        const infc_target *target = infc_target_at(i);
        if (!is_wanted(i)) continue;
        const char *folder = infc_arena_printf(cx.arena, "%s/%s", dir, target->name);
        const char *gcc = infc_arena_printf(cx.arena, "%s-gcc", target->platform->triple);
        const char *clang = infc_arena_printf(cx.arena, "clang-22 --target=%s", target->platform->triple);
        const char *compilers[] = {infc_program_find(cx.arena, gcc) ? gcc : NULL,
                                   infc_program_find(cx.arena, "clang-22") ? clang : NULL};
        emit_for(f, target, folder);
        for (size_t c = 0; c < 2; c++)
            if (compilers[c])
                shell(infc_arena_printf(cx.arena, COMPILE_ALL(INFC_EMIT_CFLAGS), compilers[c],
                                        target->cflags),
                      folder);
    }
}

/* Not platforms that infc links for, but the library is C that they take too. */
static void compiles_for_other_platforms(void **state) {
    fixture *f = *state;
    static const struct {
        const char *target, *platform;
    } pairs[] = {{"x86-64", "x86_64-apple-macos12"},      {"aarch64", "arm64-apple-macos12"},
                 {"x86-64-v3", "x86_64-pc-windows-msvc"}, {"x86-64-v4", "x86_64-w64-windows-gnu"},
                 {"aarch64", "aarch64-linux-android30"},  {"riscv64", "riscv64-unknown-elf"}};
    if (!infc_program_find(cx.arena, "clang-22")) skip();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        infc_target target;
        const char *folder = infc_arena_printf(cx.arena, "%s/%s", dir, pairs[i].platform);
        assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, pairs[i].target, &target), INFC_OK);
        emit_for(f, &target, folder);
        const char *clang = infc_arena_printf(cx.arena, "clang-22 --target=%s", pairs[i].platform);
        shell(infc_arena_printf(cx.arena, COMPILE_ALL("-ffreestanding -std=c11 -O1 -ffp-contract=off"),
                                clang, target.cflags),
              folder);
    }
}

static void same_bytes_everywhere(void **state) {
    fixture *f = *state;
    const infc_target *target = infc_target_at(0);
    const char *a = infc_arena_printf(cx.arena, "%s/a", dir), *b = infc_arena_printf(cx.arena, "%s/b/c", dir);
    emit_for(f, target, a);
    emit_for(f, target, b);
    shell("diff -r a b/c && ! grep -rIl /tmp/infc-test a", dir);
}

/* With output.weights: file nothing is embedded, and the layout says so in one place. */
static void weights_in_a_file(void **state) {
    fixture *f = *state;
    const char *folder = infc_arena_printf(cx.arena, "%s/file", dir);
    infc_emitted emitted;
    tiny_plan_make(&f->tiny, infc_target_at(0));
    f->tiny.spec.weights_file = true;
    assert_int_equal(infc_dir_create(&cx, folder), INFC_OK);
    const infc_emit_options options = {.spec = &f->tiny.spec, .dir = folder};
    assert_int_equal(infc_emit(&cx, &f->tiny.plan, &options, &emitted), INFC_OK);
    assert_null(emitted.weights_asm);
    infc_bytes weights;
    assert_int_equal(infc_file_map(&cx, infc_path_join(cx.arena, folder, emitted.weights_file), &weights), INFC_OK);
    infc_weights_header header;
    memcpy(&header, weights.ptr, sizeof header);
    assert_memory_equal(header.magic, "infcwts1", 8);
    assert_int_equal(header.bytes, weights.len);
    assert_int_equal(header.layout_hash, emitted.layout_hash);
    /* Panels of 16 outputs, [k][16]: element (k, n) of w1 lies at n / 16 * 20 * 16 + k * 16 + n % 16. */
    const float *w1 = (const float *)(const void *)(weights.ptr + sizeof header);
    for (int k = 0; k < TINY_K; k++)
        for (int n = 0; n < TINY_N; n++)
            assert_true(w1[n / 16 * TINY_K * 16 + k * 16 + n % 16] == f->tiny.w1[k * TINY_N + n]);
    assert_memory_equal(weights.ptr + sizeof header + 3840, f->tiny.b1, sizeof f->tiny.b1);
    shell("cc -std=c11 " WARNINGS
          " -I. -Isrc -c src/tiny_model.c -o o.o && ! grep -q weights_embedded tiny.h",
          folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_right, setup, folder_teardown),
        cmocka_unit_test_setup_teardown(compiles_for_other_targets, setup, folder_teardown),
        cmocka_unit_test_setup_teardown(compiles_for_other_platforms, setup, folder_teardown),
        cmocka_unit_test_setup_teardown(same_bytes_everywhere, setup, folder_teardown),
        cmocka_unit_test_setup_teardown(weights_in_a_file, setup, folder_teardown),
    };
    return cmocka_run_group_tests_name("emit_run", tests, NULL, NULL);
}
