/* app_verify.c - the command `verify`: weights, CPU, and the self-check with every number of workers, over arenas
 * full of different garbage, so that an answer that depends on what memory held before is found. */
#include "app.h"
#include "app_json.h"
#include "infrt_hash.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3, WORKERS_MIN = 4, WORKERS_MAX = 16 };

/* Zeros, all ones (a NaN), a quiet and a signalling NaN, a huge number. */
static const uint32_t fills[] = {0x00000000u, 0xffffffffu, 0x7fc00000u, 0x7f800001u, 0x7f7fffffu};
enum { N_FILLS = sizeof fills / sizeof *fills };

typedef struct verifier {
    infrt_app *app;
    infrt_json json;
    bool all_ok;
    uint64_t expected;  /* hash of the outputs */
    bool have_expected; /* as recorded, or after the first run */
    bool recorded;
} verifier;

static void report(verifier *v, bool ok, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void report(verifier *v, bool ok, const char *name, const char *format, ...) {
    char detail[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    v->all_ok = v->all_ok && ok;
    if (!v->app->options.parsed.json) {
        printf("%-4s %-12s %s\n", ok ? "ok" : "FAIL", name, detail);
        return;
    }
    infrt_json_open(&v->json, NULL, '{');
    infrt_json_string(&v->json, "name", name);
    infrt_json_bool(&v->json, "ok", ok);
    infrt_json_string(&v->json, "detail", detail);
    infrt_json_close(&v->json, '}');
}

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
    if (why) report(v, true, "recorded", "skipped: %s; runs are compared with each other", why);
}

static bool weights_verify(verifier *v) {
    infrt_app *app = v->app;
    const infc_model *m = app->model;
    infrt_error error = {0};
    bool ok = infrt_weights_open(m, app->options.weights, &app->weights, &error) == INFRT_OK &&
              infrt_weights_check_hash(&app->weights, &error) == INFRT_OK;
    if (!ok) report(v, false, "weights", "%.400s", error.text);
    else if (!app->options.weights && app->weights.hash != m->weights_hash)
        report(v, ok = false, "weights", "xxh64 %016" PRIx64 ", but the code was compiled with %016" PRIx64,
               app->weights.hash, m->weights_hash);
    else
        report(v, true, "weights", "%" PRIu64 " bytes, xxh64 %016" PRIx64, app->weights.bytes,
               app->weights.hash);
    return ok;
}

static bool cpu_verify(verifier *v) {
    infrt_error error = {0};
    bool ok = infrt_model_check(v->app->model, &error) == INFRT_OK;
    if (ok) report(v, true, "cpu", "has what %s needs", v->app->model->target);
    else report(v, false, "cpu", "%.400s", error.text);
    return ok;
}

/* One run over memory full of `pattern`; false, having said so, when it goes wrong. */
static bool run_verify(verifier *v, infrt_session *session, const char *name, uint32_t pattern) {
    infrt_app *app = v->app;
    const infc_model *m = app->model;
    infrt_error error = {0};
    pattern_fill(infrt_session_arena(session), infrt_session_arena_bytes(session), pattern);
    for (uint32_t i = 0; i < m->n_outputs; i++)
        pattern_fill(app->buffers.outputs[i], m->outputs[i].bytes, ~pattern);
    if (infrt_session_run(session, (const void *const *)app->buffers.inputs, app->buffers.outputs,
                          NULL, &error) != INFRT_OK) {
        report(v, false, name, "%.400s", error.text);
        return false;
    }
    uint64_t hash = outputs_hash(app);
    if (!v->have_expected) v->expected = hash, v->have_expected = true;
    if (hash != v->expected)
        report(v, false, name, "outputs hash to %016" PRIx64 ", %s %016" PRIx64 " (memory held %08x before)",
               hash, v->recorded ? "the compiler recorded" : "others to", v->expected, pattern);
    else if (!infrt_buffers_intact(&app->buffers))
        report(v, false, name, "wrote outside of its outputs");
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
        report(v, false, name, "%.400s", error.text);
        return false;
    }
    if (app->model->n_sizes) infrt_session_sizes(session, app->sizes);
    for (uint32_t fill = 0; fill < N_FILLS && ok; fill++)
        for (uint32_t repeat = 0; repeat < REPEATS && ok; repeat++)
            ok = run_verify(v, session, name, fills[fill]);
    infrt_session_destroy(&session);
    if (ok)
        report(v, true, name, "outputs hash to %016" PRIx64 "%s: %d runs over %d kinds of old memory",
               v->expected, v->recorded ? " as recorded" : "", REPEATS * N_FILLS, N_FILLS);
    return ok;
}

static uint32_t workers_most(const infrt_app *app) {
    uint32_t n = infrt_workers_available();
    if (app->options.threads) return app->options.threads;
    return n < WORKERS_MIN ? WORKERS_MIN : n > WORKERS_MAX ? WORKERS_MAX : n;
}

/* Weights that are not there are no weights that do not hold. */
static infrt_status weights_readable(infrt_app *app) {
    const char *path = app->options.weights;
    FILE *file = path ? fopen(path, "r") : NULL;
    if (path && !file)
        return infrt_fail(&app->error, INFRT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (file) fclose(file);
    return INFRT_OK;
}

infrt_status infrt_app_verify(infrt_app *app) {
    verifier v = {.app = app, .json = {.out = stdout}, .all_ok = true};
    infrt_status status = weights_readable(app);
    if (status == INFRT_OK) status = infrt_app_sizes(app);
    if (status == INFRT_OK) status = infrt_buffers_create(app->model, &app->buffers, &app->error);
    if (status != INFRT_OK) return status;
    if (app->options.parsed.json) {
        infrt_json_open(&v.json, NULL, '{');
        infrt_json_string(&v.json, "model", app->model->name);
        infrt_json_open(&v.json, "checks", '[');
    }
    bool runnable = cpu_verify(&v);
    if (weights_verify(&v) && runnable) {
        expectation_find(&v);
        infrt_buffers_synthesize(&app->buffers, app->model->check_seed);
        for (uint32_t n = 1; n <= workers_most(app); n++) workers_verify(&v, n);
    }
    if (app->options.parsed.json) {
        infrt_json_close(&v.json, ']');
        infrt_json_bool(&v.json, "ok", v.all_ok);
        infrt_json_close(&v.json, '}');
    }
    return v.all_ok ? INFRT_OK : INFRT_ERR_CHECK;
}
