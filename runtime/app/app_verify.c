/* app_verify.c - the command `verify`: weights, CPU, and the self-check with every number of workers, over arenas
 * full of different garbage, so that an answer that depends on what memory held before is found. */
#include "app.h"
#include "app_checks.h"
#include "infrt_hash.h"
#include <inttypes.h>
#include <string.h>

enum { REPEATS = 3, WORKERS_MIN = 4, WORKERS_MAX = 16 };

/* Zeros, all ones (a NaN), a quiet and a signalling NaN, a huge number. */
static const uint32_t fills[] = {0x00000000u, 0xffffffffu, 0x7fc00000u, 0x7f800001u, 0x7f7fffffu};
enum { N_FILLS = sizeof fills / sizeof *fills };

typedef struct verifier {
    infrt_app *app;
    infrt_checks checks;
    uint64_t expected;  /* hash of the outputs */
    bool have_expected; /* as recorded, or after the first run */
    bool recorded;
} verifier;

static void pattern_fill(void *memory, uint64_t bytes, uint32_t pattern) {
    for (uint64_t i = 0; i + sizeof pattern <= bytes; i += sizeof pattern)
        memcpy((char *)memory + i, &pattern, sizeof pattern);
    memset((char *)memory + bytes / sizeof pattern * sizeof pattern, (int)(pattern & 0xff), bytes % sizeof pattern);
}

static uint64_t outputs_hash(const infrt_app *app) {
    const infc_model *m = app->model;
    uint64_t hash = INFC_CHECK_START;
    for (uint32_t i = 0; i < m->n_outputs; i++)
        hash = m->outputs[i].dtype == INFC_DTYPE_f32
                   ? infc_check_hash_f32(hash, app->buffers.outputs[i],
                                         (size_t)m->outputs[i].bytes / sizeof(float))
                   : hash ^ infrt_hash64(app->buffers.outputs[i], (size_t)m->outputs[i].bytes);
    return hash;
}

static bool all_f32(const infc_tensor_info *infos, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (infos[i].dtype != INFC_DTYPE_f32) return false;
    return true;
}

/* The recorded hash speaks about f32 tensors and about the weights that the model was compiled with. */
static void expectation_find(verifier *v) {
    const infrt_app *app = v->app;
    const infc_model *m = app->model;
    const char *why = NULL;
    if (m->check_hash == 0) why = "the compiler recorded no result";
    else if (!all_f32(m->inputs, m->n_inputs) || !all_f32(m->outputs, m->n_outputs))
        why = "not all inputs and outputs are f32";
    else if (app->options.weights && app->weights.hash != m->weights_hash)
        why = "these are other weights";
    v->recorded = v->have_expected = why == NULL;
    v->expected = m->check_hash;
    if (why)
        infrt_check_report(&v->checks, true, "recorded", "skipped: %s; runs are compared with each other", why);
}

/* One run over memory full of `pattern`; false, having said so, when it goes wrong. */
static bool run_verify(verifier *v, infrt_session *session, const char *name, uint32_t pattern) {
    infrt_app *app = v->app;
    infrt_checks *c = &v->checks;
    const infc_model *m = app->model;
    infrt_error error = {0};
    pattern_fill(infrt_session_arena(session), infrt_session_arena_bytes(session), pattern);
    for (uint32_t i = 0; i < m->n_outputs; i++)
        pattern_fill(app->buffers.outputs[i], m->outputs[i].bytes, ~pattern);
    const infrt_status status = infrt_session_run(session, (const void *const *)app->buffers.inputs,
                                                  app->buffers.outputs, NULL, &error);
    if (status != INFRT_OK) {
        const bool unsuited = status == INFRT_ERR_DATA; /* says nothing against the code */
        infrt_check_report(&v->checks, unsuited, name, "%s%.400s",
                           unsuited ? "not run, made-up inputs do not suit this model: " : "", error.text);
        return false;
    }
    uint64_t hash = outputs_hash(app);
    if (!v->have_expected) v->expected = hash, v->have_expected = true;
    if (hash != v->expected)
        infrt_check_report(c, false, name, "outputs hash to %016" PRIx64 ", %s %" PRIx64 " (memory held %08x before)",
                           hash, v->recorded ? "the compiler recorded" : "others to", v->expected, pattern);
    else if (!infrt_buffers_intact(&app->buffers))
        infrt_check_report(&v->checks, false, name, "wrote outside of its outputs");
    else return true;
    return false;
}

static bool workers_verify(verifier *v, uint32_t workers) {
    infrt_app *app = v->app;
    infrt_session *session;
    infrt_error error = {0};
    char name[32];
    bool ok = true;
    snprintf(name, sizeof name, "workers %u", workers);
    if (infrt_session_create(app->model, &app->weights, workers, &session, &error) != INFRT_OK) {
        infrt_check_report(&v->checks, false, name, "%.400s", error.text);
        return false;
    }
    if (app->model->n_sizes) infrt_session_sizes(session, app->sizes);
    for (uint32_t fill = 0; fill < N_FILLS && ok; fill++)
        for (uint32_t repeat = 0; repeat < REPEATS && ok; repeat++)
            ok = run_verify(v, session, name, fills[fill]);
    infrt_session_destroy(&session);
    if (ok)
        infrt_check_report(&v->checks, true, name,
                           "outputs hash to %016" PRIx64 "%s: %d runs over %d kinds of old memory",
                           v->expected, v->recorded ? " as recorded" : "", REPEATS * N_FILLS, N_FILLS);
    return ok;
}

static uint32_t workers_most(const infrt_app *app) {
    uint32_t n = infrt_workers_available();
    if (app->options.threads) return app->options.threads;
    return n < WORKERS_MIN ? WORKERS_MIN : n > WORKERS_MAX ? WORKERS_MAX : n;
}

infrt_status infrt_app_verify(infrt_app *app) {
    verifier v = {.app = app};
    infrt_status status = infrt_weights_readable(app->options.weights, &app->error);
    if (status == INFRT_OK) status = infrt_app_sizes(app);
    if (status == INFRT_OK) status = infrt_buffers_create(app->model, &app->buffers, &app->error);
    if (status != INFRT_OK) return status;
    infrt_checks_begin(&v.checks, app->model, app->options.parsed.json);
    bool runnable = infrt_check_cpu(&v.checks, app->model);
    if (infrt_check_weights(&v.checks, app->model, app->options.weights, &app->weights) && runnable) {
        expectation_find(&v);
        infrt_buffers_synthesize(&app->buffers, app->model->check_seed);
        for (uint32_t n = 1; n <= workers_most(app); n++) workers_verify(&v, n);
    }
    return infrt_checks_end(&v.checks);
}
