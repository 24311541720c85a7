/* serve_tensor.c - see infrt_serve.h: the server of a model of tensors. One thread has all connections, runners read
 * bodies and run the model; they share nothing but letters and the runners' queue. */
#include "serve_tensor.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- requests ----------------------------------------------------------------------------------- */

/* How much of the body is JSON: all, unless a field says it. */
static bool json_bytes_take(infrt_conn *c, infrt_tensor_job *job, infrt_refusal *refusal) {
    size_t n, value = 0;
    const char *text = infrt_http_find(&c->http, "inference-header-content-length", &n);
    job->json_bytes = job->body.n;
    if (!text) return true;
    bool good = n > 0 && n < 18;
    for (size_t i = 0; i < n && good; i++) {
        good = text[i] >= '0' && text[i] <= '9';
        value = value * 10 + (size_t)(text[i] - '0');
    }
    job->json_bytes = value;
    if (good && value <= job->body.n) return true;
    return infrt_refuse(refusal, 400, NULL, "Inference-Header-Content-Length: a number of bytes is needed, up to %zu",
                        job->body.n);
}

static bool room_check(infrt_tensor_server *s, infrt_refusal *refusal) {
    const uint32_t most = s->base.options->queue + s->runners.n;
    if (s->base.draining) {
        refusal->type = "unavailable_error";
        return infrt_refuse(refusal, 503, NULL, "the server is shutting down");
    }
    if (s->n_jobs < most) return true;
    s->base.metrics.rejected[INFRT_REJECTED_QUEUE]++;
    refusal->type = "overloaded_error";
    refusal->code = "queue_full";
    return infrt_refuse(refusal, 429, NULL, "%u requests are under way, of at most %u; try again",
                        s->n_jobs, most);
}

void infrt_tensor_job_start(infrt_conn *c, bool embeds) {
    infrt_tensor_server *s = infrt_tensor_server_of(c);
    infrt_refusal refusal = {0};
    infrt_tensor_job *job = calloc(1, sizeof *job);
    bool good = job || infrt_refuse_memory(&refusal);
    if (good) {
        job->body = c->body;
        c->body = (infrt_out){0};
        good = room_check(s, &refusal) && (embeds || json_bytes_take(c, job, &refusal));
    }
    if (!good) {
        if (job) infrt_tensor_job_free(job);
        infrt_conn_refuse(c, &refusal);
        return;
    }
    job->embeds = embeds;
    job->begin_ns = c->begin_ns;
    job->timeout_ns = s->base.options->timeout_ns;
    job->owner = c;
    ((infrt_tensor_conn *)c)->job = job;
    s->n_jobs++;
    infrt_runners_put(&s->runners, job);
}

/* ---- replies ------------------------------------------------------------------------------------ */

static void job_count(infrt_tensor_server *s, const infrt_conn *c, const infrt_tensor_job *job) {
    const double all = (double)(infrt_os_now_ns() - c->begin_ns) / 1e9;
    infrt_histogram_see(&s->queue, infrt_seconds_fine, (double)job->queue_ns / 1e9);
    infrt_histogram_see(&s->run, infrt_seconds_fine, (double)job->run_ns / 1e9);
    infrt_histogram_see(&s->request, infrt_seconds_fine, all);
    infrt_histogram_see(&s->rows, infrt_counts_small, job->rows);
    if (!job->embeds) s->n_infer++;
    s->n_texts += job->embed.n_inputs;
    s->n_tokens += job->n_tokens;
}

void infrt_tensor_letter(infrt_server *server, infrt_letter *letter) {
    infrt_tensor_server *s = (infrt_tensor_server *)server;
    infrt_tensor_job *job = (infrt_tensor_job *)letter;
    infrt_conn *c = job->owner;
    s->n_jobs--;
    if (c && job->refusal.status) {
        if (job->refusal.status == 500) server->metrics.failed++;
        infrt_conn_refuse(c, &job->refusal);
    } else if (c) {
        const bool failed = job->reply.failed;
        job_count(s, c, job);
        infrt_conn_reply(c, 200, job->binary ? "application/octet-stream" : "application/json",
                         &job->reply, job->more[0] ? job->more : NULL);
        if (failed) job->reply = (infrt_out){0}; /* what was sent instead is nobody's */
    }
    if (c) ((infrt_tensor_conn *)c)->job = NULL;
    infrt_tensor_job_free(job);
}

void infrt_tensor_left(infrt_conn *c) {
    infrt_tensor_conn *own = (infrt_tensor_conn *)c;
    infrt_tensor_job *job = own->job;
    if (!job) return;
    own->job = NULL; /* the runners have it */
    infrt_request_log(c, 499);
    c->server->metrics.disconnected[0]++;
    job->owner = NULL;
    atomic_store(&job->cancelled, true);
}

/* Runs that take long are waited for, but at the end. */
void infrt_tensor_fail(infrt_server *s, const infrt_refusal *why) {
    for (infrt_conn *c = s->conns; c && s->draining; c = c->next) {
        infrt_tensor_conn *own = (infrt_tensor_conn *)c;
        if (!own->job) continue;
        own->job->owner = NULL;
        atomic_store(&own->job->cancelled, true);
        own->job = NULL;
        infrt_conn_refuse(c, why);
    }
}

/* ---- start and end ------------------------------------------------------------------------------ */

/* What the model was compiled with for texts, if this server can make vectors with it: every input is fed by the text,
 * and every size is that of tokens, or of texts and may be 1. */
static infrt_embedder embedder_of(const infc_model *model) {
    const infc_embed_info *info = model->embed;
    infrt_embedder e = {.tokens_size = -1};
    if (!info || info->text >= model->n_texts || info->output >= model->n_outputs) return e;
    e.text = &model->texts[info->text];
    const uint32_t fed[] = {e.text->ids, e.text->mask, e.text->types};
    uint32_t n = 0;
    for (int i = 0; i < 3; i++) n += fed[i] != UINT32_MAX;
    bool good = n == model->n_inputs;
    e.max = model->inputs[e.text->ids].dims[e.text->axis];
    for (uint32_t i = 0; i < model->n_sizes; i++) {
        const infc_size_info *size = &model->sizes[i];
        const bool tokens = size->axis == e.text->axis;
        good = good && (tokens || (size->axis == 0 && size->min == 1));
        if (tokens) e.tokens_size = (int)i;
    }
    const infc_tensor_info *output = &model->outputs[info->output];
    e.output = info->output;
    e.width = output->rank ? (uint64_t)output->dims[output->rank - 1] : 0;
    if (good && output->dtype == INFC_DTYPE_f32 && output->rank == 2 && e.width) e.info = info;
    return e;
}

/* The smallest inference, its tensors as bytes, has to be a request that is taken. */
static infrt_status body_check(const infc_model *model, uint64_t max_body, infrt_error *error) {
    int64_t sizes[INFRT_TENSOR_SIZES] = {0};
    uint64_t least = 64; /* of JSON around it */
    for (uint32_t i = 0; i < model->n_sizes; i++) sizes[i] = model->sizes[i].min;
    for (uint32_t i = 0; i < model->n_inputs && !model->embed; i++)
        least += infrt_bytes_at(model, sizes, INFC_TABLE_INPUTS, i);
    if (max_body >= least) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_USAGE,
                      "--max-body (or serve.max_body) of %" PRIu64
                      " bytes: the smallest inference of %s takes %" PRIu64
                      "; give as many or more",
                      max_body, model->name, least);
}

static infrt_status model_check(const infc_model *model, const infrt_serve_options *options, infrt_error *error) {
    if (model->n_sizes <= INFRT_TENSOR_SIZES && model->n_outputs <= INFRT_INFER_OUTPUTS)
        return body_check(model, options->max_body, error);
    return infrt_fail(error, INFRT_ERR_USAGE, "%s: a model of more than %d sizes or %d outputs is not served",
                      model->name, INFRT_TENSOR_SIZES, INFRT_INFER_OUTPUTS);
}

infrt_status infrt_serve_tensors(const infc_model *model, const infrt_weights *weights, uint32_t workers,
                                 const infrt_serve_options *options, infrt_error *error) {
    infrt_tensor_server *s = calloc(1, sizeof *s);
    if (!s) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
    const uint32_t fit = infrt_workers_available() / workers, n = fit < 1 ? 1
                                                                  : fit > INFRT_RUNNERS ? INFRT_RUNNERS
                                                                                        : fit;
    infrt_status status = model_check(model, options, error);
    if (status == INFRT_OK)
        status = infrt_server_open(&s->base, &infrt_tensor_service, model, options, error);
    if (status == INFRT_OK) {
        s->runners.embedder = embedder_of(model);
        s->runners.wait_ns = options->batch_wait_ns;
        status = infrt_runners_start(&s->runners, model, weights, n, workers, &s->base.in, error);
    }
    if (status == INFRT_OK) status = infrt_server_run(&s->base, error);
    infrt_conns_close(&s->base); /* their jobs are cancelled */
    infrt_runners_stop(&s->runners);
    if (s->base.service) infrt_server_free(&s->base);
    free(s);
    return status;
}
