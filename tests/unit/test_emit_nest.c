/* Random loop nests: ranks 0 to 5, extents around multiples of 16, any strides, expressions with shared nodes.
 * Emitted as one library, compiled, and compared with the loops of this file for several worker counts. */
#include "compiler/base/subprocess.h"
#include "emit_tiny_plan.h"
#include "folder_fixture.h"
#include <dlfcn.h>
#include <stdio.h>

enum { NESTS = 40, MAX_EXTRAS = 4, MAX_NODES = 12, INPUT = 1 << 16, OUTPUT = 1 << 14 };

typedef struct nests {
    infc_plan plan;
    infc_spec spec;
    infc_plan_buffer buffers[1 + NESTS];
    infc_plan_step steps[NESTS];
    infc_plan_expr exprs[NESTS * MAX_NODES];
    infc_plan_extra extras[NESTS * MAX_EXTRAS];
    infc_plan_store stores[NESTS];
    int inputs[1], outputs[NESTS];
    float in[INPUT], expected[NESTS][OUTPUT], got[NESTS][OUTPUT];
} nests;

static uint64_t seed = 20;
static int below(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static const struct {
    const char *name;
    int arity;
} functions[] = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"max", 2},
                 {"min", 2}, {"neg", 1}, {"abs", 1}, {"relu", 1}};

static float apply(const char *name, float a, float b) {
    if (strcmp(name, "add") == 0) return a + b;
    if (strcmp(name, "sub") == 0) return a - b;
    if (strcmp(name, "mul") == 0) return a * b;
    if (strcmp(name, "max") == 0) return a > b ? a : b;
    if (strcmp(name, "min") == 0) return a < b ? a : b;
    if (strcmp(name, "neg") == 0) return -a;
    if (strcmp(name, "abs") == 0) return a < 0.0f ? -a : a;
    return a > 0.0f ? a : 0.0f;
}

static int node(nests *t, infc_plan_step *step, infc_plan_expr expr) {
    t->exprs[t->plan.n_exprs++] = expr;
    return step->n_exprs++;
}

static void random_nest(nests *t, int id) {
    static const int64_t extents[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 5};
    infc_plan *p = &t->plan;
    infc_plan_step *step = &t->steps[p->n_steps++];
    *step = (infc_plan_step){.name = infc_arena_printf(cx.arena, "nest%d", id),
                             .node = "",
                             .what = "nest",
                             .first_expr = p->n_exprs,
                             .first_extra = p->n_extras,
                             .first_store = p->n_stores,
                             .scratch = -1,
                             .nest_rank = below(6),
                             .units = 1};
    int64_t total = 1;
    for (int d = step->nest_rank; d-- > 0;) {
        do step->nest_dims[d] = extents[below(d == step->nest_rank - 1 ? 10 : 4)];
        while (total * step->nest_dims[d] > OUTPUT);
        total *= step->nest_dims[d];
        if (d < step->nest_rank - 1) step->units *= step->nest_dims[d];
    }
    if (step->nest_rank == 1) step->units = (step->nest_dims[0] + 15) / 16;
    for (step->n_extras = 0; step->n_extras <= below(MAX_EXTRAS); step->n_extras++) {
        infc_plan_extra *extra = &t->extras[p->n_extras++];
        *extra = (infc_plan_extra){.buffer = 0, .access = INFC_ACCESS_STRIDED};
        for (int d = 0; d < step->nest_rank; d++)
            extra->strides[d] = d == step->nest_rank - 1 ? below(2) : below(300);
        node(t, step, (infc_plan_expr){.kind = INFC_EXPR_EXTRA, .args = {step->n_extras, 0, 0}});
    }
    for (int k = 1 + below(6); k > 0; k--) {
        const int f = below(8), n = step->n_exprs;
        node(t, step,
             (infc_plan_expr){INFC_EXPR_FN, infc_scalar_find(functions[f].name), {below(n), below(n), 0}});
    }
    t->stores[p->n_stores++] = (infc_plan_store){1 + id, step->n_exprs - 1};
    step->n_stores = 1;
    const infc_type type = tiny_type(0, total, INFC_LAYOUT_plain);
    t->buffers[1 + id] = (infc_plan_buffer){.name = infc_arena_printf(cx.arena, "y%d", id),
                                            .type = type,
                                            .place = INFC_PLACE_OUTPUT,
                                            .index = id,
                                            .bytes = (uint64_t)total * 4,
                                            .alias_of = -1};
    t->outputs[id] = 1 + id;
}

static float evaluate(const nests *t, const infc_plan_step *step, const int64_t *index) {
    float values[MAX_NODES] = {0};
    for (int i = 0; i < step->n_exprs; i++) {
        const infc_plan_expr *e = &t->exprs[step->first_expr + i];
        if (e->kind == INFC_EXPR_FN) {
            values[i] = apply(infc_scalar_name(e->fn), values[e->args[0]], values[e->args[1]]);
            continue;
        }
        int64_t at = 0;
        for (int d = 0; d < step->nest_rank; d++)
            at += index[d] * t->extras[step->first_extra + e->args[0]].strides[d];
        values[i] = t->in[at];
    }
    return values[step->n_exprs - 1];
}

static void expect(nests *t) {
    for (int s = 0; s < NESTS; s++) {
        const infc_plan_step *step = &t->steps[s];
        const int64_t total = t->buffers[1 + s].type.dims[0];
        for (int64_t o = 0; o < total; o++) {
            int64_t index[INFC_MAX_RANK] = {0}, rest = o;
            for (int d = step->nest_rank; d-- > 0; rest /= step->nest_dims[d])
                index[d] = rest % step->nest_dims[d];
            t->expected[s][o] = evaluate(t, step, index);
        }
    }
}

static void make(nests *t, const infc_target *target) {
    infc_plan *p = &t->plan;
    *p = (infc_plan){.name = "nests",
                     .source = "none",
                     .target = *target,
                     .buffers = t->buffers,
                     .n_buffers = 1 + NESTS,
                     .inputs = t->inputs,
                     .n_inputs = 1,
                     .outputs = t->outputs,
                     .n_outputs = NESTS,
                     .steps = t->steps,
                     .exprs = t->exprs,
                     .extras = t->extras,
                     .stores = t->stores};
    t->spec = (infc_spec){.name = "nests", .model = "none", .model_text = "none", .license = "MIT"};
    t->buffers[0] = (infc_plan_buffer){.name = "x",
                                       .type = tiny_type(0, INPUT, INFC_LAYOUT_plain),
                                       .place = INFC_PLACE_INPUT,
                                       .bytes = sizeof t->in,
                                       .alias_of = -1};
    for (int i = 0; i < INPUT; i++) t->in[i] = tiny_value(5, i);
    for (int i = 0; i < NESTS; i++) random_nest(t, i);
}

static void run(nests *t, const infc_model *model, uint32_t n) {
    static _Alignas(64) unsigned char arena[64];
    const void *in[] = {t->in};
    void *out[NESTS];
    memset(t->got, 0xff, sizeof t->got);
    for (int i = 0; i < NESTS; i++) out[i] = t->got[i];
    for (uint32_t worker = 0; worker < n; worker++) { /* no barrier among them: one after the other will do */
        const infc_barrier none = {(void (*)(void *, uint32_t))abort, NULL};
        const infc_call call = {NULL, arena, in, out, worker, n, &none, NULL, NULL};
        assert_int_equal(model->run(&call), INFC_RUN_OK);
    }
    for (int i = 0; i < NESTS; i++) {
        const size_t total = (size_t)t->buffers[1 + i].type.dims[0];
        for (size_t o = 0; o < total; o++) /* zeros of either sign are equal: max leaves the sign open */
            if (!(t->got[i][o] == t->expected[i][o]))
                fail_msg("nest %d, %u workers, element %zu: %a, not %a", i, n, o,
                         (double)t->got[i][o], (double)t->expected[i][o]);
        uint32_t beyond;
        if (total < OUTPUT)
            memcpy(&beyond, &t->got[i][total], 4), assert_int_equal(beyond, 0xffffffffu);
    }
}

static void check(nests *t, const infc_target *target, const char *compiler) {
    const char *library = infc_arena_printf(cx.arena, "%s/%s-%s.so", dir, target->name, compiler);
    const char *command = infc_arena_printf(
        cx.arena,
        "%s -std=c11 -O2 -ffp-contract=off -fPIC -shared %s -Wall -Wextra -Wshadow "
        "-Wconversion -Wvla -Werror -I. -Isrc src/nests.c src/nests_model.c -o %s",
        compiler, target->cflags, library);
    const char *argv[] = {"sh", "-c", command, NULL};
    infc_job job = {.argv = argv, .cwd = dir};
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 1), INFC_OK);
    if (job.exit_code != 0) fail_msg("%s", job.output);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    const infc_model *(*model)(void) = NULL;
    void *symbol = dlsym(handle, "nests_model");
    memcpy(&model, &symbol, sizeof model);
    for (uint32_t n = 1; n <= 7; n += 2) run(t, model(), n);
    dlclose(handle);
}

static void nests_are_right(void **state) {
    static nests t;
    (void)state;
    make(&t, infc_target_at(0));
    expect(&t);
    for (size_t i = 0; i < infc_target_count(); i++) {
        infc_emitted emitted;
        const infc_emit_options options = {.spec = &t.spec, .dir = dir};
        if (!infc_target_runs_here(infc_target_at(i))) continue;
        t.plan.target = *infc_target_at(i);
        assert_int_equal(infc_emit(&cx, &t.plan, &options, &emitted), INFC_OK);
        static const char *const compilers[] = {"gcc", "clang-22"}; /* in turns, with INFC_ALL_TARGETS (full) by both */
        for (size_t c = 0; c < 2; c++)
            if ((i == 0 || i % 2 == c || getenv("INFC_ALL_TARGETS")) &&
                infc_program_find(cx.arena, compilers[c]))
                check(&t, infc_target_at(i), compilers[c]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {FOLDER_TEST(nests_are_right)};
    return cmocka_run_group_tests_name("emit_nest", tests, NULL, NULL);
}
