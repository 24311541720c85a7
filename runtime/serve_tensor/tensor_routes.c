/* tensor_routes.c - what the server of a model of tensors answers: the Open Inference Protocol, version 2, and
 * /v1/embeddings. */
#include "serve_tensor.h"
#include "tensor_shapes.h"
#include "tensor_values.h"
#include <inttypes.h>
#include <string.h>

static const char models_path[] = "/v2/models/";

/* ---- facts -------------------------------------------------------------------------------------- */

static void handle_server(infrt_conn *c) {
    infrt_out body = {0};
    infrt_out_format(&body, "{\"name\":\"infc\",\"version\":\"%s\",\"extensions\":[\"binary_tensor_data\"]}\n",
                     c->server->model->infc_version);
    infrt_conn_json(c, 200, &body);
}

static void flag_reply(infrt_conn *c, const char *name, bool good) {
    infrt_out body = {0};
    infrt_out_format(&body, "{\"%s\":%s}\n", name, good ? "true" : "false");
    infrt_conn_json(c, good ? 200 : 503, &body);
}

static bool is_ready(infrt_conn *c) {
    return !c->server->draining && infrt_server_alive(c->server);
}
static void handle_live(infrt_conn *c) { flag_reply(c, "live", infrt_server_alive(c->server)); }
static void handle_ready(infrt_conn *c) { flag_reply(c, "ready", is_ready(c)); }

static void ports_put(const infc_model *model, uint32_t table, infrt_out *out) {
    const bool in = table == INFC_TABLE_INPUTS;
    const infc_tensor_info *infos = in ? model->inputs : model->outputs;
    infrt_out_format(out, ",\"%s\":[", in ? "inputs" : "outputs");
    for (uint32_t i = 0; i < (in ? model->n_inputs : model->n_outputs); i++) {
        char shape[INFRT_SHAPE_ROOM];
        infrt_out_format(out, "%s{\"name\":", i ? "," : "");
        infrt_out_string(out, infos[i].name, strlen(infos[i].name));
        infrt_out_format(out, ",\"datatype\":\"%s\",\"shape\":%s}", infrt_oip_type(infos[i].dtype),
                         infrt_shape_open(model, table, i, shape));
    }
    infrt_out_text(out, "]");
}

static void model_reply(infrt_conn *c) {
    const infc_model *model = c->server->model;
    infrt_out body = {0};
    infrt_out_format(&body, "{\"name\":\"%s\",\"versions\":[\"1\"],\"platform\":\"infc\"", model->name);
    ports_put(model, INFC_TABLE_INPUTS, &body);
    ports_put(model, INFC_TABLE_OUTPUTS, &body);
    infrt_out_text(&body, "}\n");
    infrt_conn_json(c, 200, &body);
}

/* The path of the model: what follows its name and, where it is there, its version. Null: refused. */
static const char *model_path(infrt_conn *c, size_t *n) {
    static const char version[] = "/versions/";
    const char *name = c->server->model->name, *at = c->path + sizeof models_path - 1;
    const char *const end = c->path + c->path_bytes;
    const size_t own = strlen(name);
    infrt_refusal refusal = {0};
    bool good = (size_t)(end - at) >= own && memcmp(at, name, own) == 0 && (at + own == end || at[own] == '/');
    if (!good)
        infrt_refuse(&refusal, 404, NULL, "there is no model \"%.*s\": this is \"%s\"",
                     (int)(end - at > 128 ? 128 : end - at), at, name);
    if (good) at += own;
    if (good && (size_t)(end - at) >= sizeof version - 1 && memcmp(at, version, sizeof version - 1) == 0) {
        at += sizeof version - 1;
        good = at < end && *at == '1' && (at + 1 == end || at[1] == '/');
        if (good) at++;
        else infrt_refuse(&refusal, 404, NULL, "\"%s\" has one version, 1", name);
    }
    if (!good) infrt_conn_refuse(c, &refusal);
    *n = (size_t)(end - at);
    return good ? at : NULL;
}

static bool path_ends(const char *at, size_t n, const char *with) {
    return n == strlen(with) && memcmp(at, with, n) == 0;
}

static void path_refuse(infrt_conn *c, int status) {
    infrt_refusal refusal = {0};
    infrt_refuse(&refusal, status, NULL, status == 405 ? "%.*s takes another method" : "there is no %.*s",
                 (int)c->path_bytes, c->path);
    infrt_conn_refuse(c, &refusal);
}

static void handle_model(infrt_conn *c) {
    const infc_model *model = c->server->model;
    infrt_out body = {0};
    size_t n;
    const char *at = model_path(c, &n);
    if (!at) return;
    if (!n) {
        model_reply(c);
        return;
    }
    if (!path_ends(at, n, "/ready")) {
        path_refuse(c, path_ends(at, n, "/infer") ? 405 : 404);
        return;
    }
    infrt_out_format(&body, "{\"name\":\"%s\",\"ready\":%s}\n", model->name, is_ready(c) ? "true" : "false");
    infrt_conn_json(c, is_ready(c) ? 200 : 503, &body);
}

static void handle_infer(infrt_conn *c) {
    size_t n;
    const char *at = model_path(c, &n);
    if (!at) return;
    if (path_ends(at, n, "/infer")) infrt_tensor_job_start(c, false);
    else path_refuse(c, n == 0 || path_ends(at, n, "/ready") ? 405 : 404);
}

/* ---- as OpenAI has them ------------------------------------------------------------------------- */

static void handle_embeddings(infrt_conn *c) {
    infrt_refusal refusal = {.type = "not_supported_error"};
    if (infrt_tensor_server_of(c)->runners.embedder.info) {
        infrt_tensor_job_start(c, true);
        return;
    }
    infrt_refuse(&refusal, 501, NULL,
                 "%s was not compiled to make vectors of texts: its spec needs an input of kind "
                 "text, which feeds all "
                 "that the model takes, and an output of kind embedding",
                 c->server->model->name);
    infrt_conn_refuse(c, &refusal);
}

static void handle_models(infrt_conn *c) {
    const infrt_server *s = c->server;
    infrt_out body = {0};
    infrt_out_format(&body, "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\"",
                     s->model->name);
    infrt_out_format(&body, ",\"created\":%" PRId64 ",\"owned_by\":\"infc\"}]}\n", s->created);
    infrt_conn_json(c, 200, &body);
}

static void handle_elsewhere(infrt_conn *c) {
    infrt_refusal refusal = {.type = "not_supported_error"};
    infrt_refuse(&refusal, 501, NULL, "%.*s is of language models; there are /v2/models/%s/infer and /v1/embeddings",
                 (int)c->path_bytes, c->path, c->server->model->name);
    infrt_conn_refuse(c, &refusal);
}

/* ---- the service -------------------------------------------------------------------------------- */

static const infrt_route routes[] = {
    {"GET", "/v2", handle_server, 0},
    {"GET", "/v2/health/live", handle_live, INFRT_ROUTE_OPEN},
    {"GET", "/v2/health/ready", handle_ready, INFRT_ROUTE_OPEN},
    {"GET", models_path, handle_model, INFRT_ROUTE_BELOW},
    {"POST", models_path, handle_infer, INFRT_ROUTE_BELOW | INFRT_ROUTE_BYTES},
    {"POST", "/v1/embeddings", handle_embeddings, 0},
    {"GET", "/v1/models", handle_models, 0},
    {"POST", "/v1/chat/completions", handle_elsewhere, 0},
    {"POST", "/v1/completions", handle_elsewhere, 0},
    INFRT_ROUTES_OF_ALL,
};
_Static_assert(sizeof routes / sizeof *routes < INFRT_ROUTES_MOST, "counted by route");

static bool is_idle(const infrt_server *s) { return !((const infrt_tensor_server *)s)->n_jobs; }
static uint64_t busy_since(infrt_server *s) {
    return infrt_runners_busy_since(&((infrt_tensor_server *)s)->runners);
}

static void request_log(const infrt_conn *c, infrt_out *out) {
    const infrt_tensor_job *job = ((const infrt_tensor_conn *)c)->job;
    if (!job) return;
    infrt_out_format(out, ",\"model\":\"%s\",\"queue_ms\":%.3f,\"run_ms\":%.3f,\"batch_rows\":%u",
                     c->server->model->name, (double)job->queue_ns / 1e6, (double)job->run_ns / 1e6,
                     job->rows);
    if (job->embeds)
        infrt_out_format(out, ",\"texts\":%u,\"prompt_tokens\":%" PRIu64, job->embed.n_inputs, job->n_tokens);
}

static void metrics_put(infrt_server *server, infrt_out *out) {
    const infrt_tensor_server *s = (const infrt_tensor_server *)server;
    const char *model = server->model->name;
    infrt_gauge_put(out, model, "infrt_requests_in_flight", s->n_jobs, "Requests that run or wait.");
    infrt_gauge_put(out, model, "infrt_batches_joined", s->runners.batch_size >= 0,
                    "1 when rows of several requests share runs.");
    infrt_counter_put(out, model, "infrt_inferences_total", "", s->n_infer, "Requests that were inferred.");
    infrt_counter_put(out, model, "infrt_embedded_texts_total", "", s->n_texts, "Texts that became vectors.");
    infrt_counter_put(out, model, "infrt_embedded_tokens_total", "", s->n_tokens, "Tokens of these.");
#define INFRT_X(member, name, bounds, help) \
    infrt_histogram_put(out, model, name, &s->member, bounds, help);
    INFRT_TENSOR_HISTOGRAMS(INFRT_X)
#undef INFRT_X
}

/* As the protocol of the path has it. */
static void error_put(const infrt_conn *c, const infrt_refusal *refusal, infrt_out *out) {
    if (c && c->path_bytes >= 4 && memcmp(c->path, "/v1/", 4) == 0) {
        infrt_error_json(refusal, out);
        return;
    }
    infrt_out_text(out, "{\"error\":");
    infrt_out_string(out, refusal->text, strlen(refusal->text));
    infrt_out_text(out, "}");
}

const infrt_service infrt_tensor_service = {
    .routes = routes,
    .n_routes = sizeof routes / sizeof *routes,
    .conn_bytes = sizeof(infrt_tensor_conn),
    .letter = infrt_tensor_letter,
    .idle = is_idle,
    .busy_since_ns = busy_since,
    .fail = infrt_tensor_fail,
    .left = infrt_tensor_left,
    .log = request_log,
    .metrics = metrics_put,
    .error_put = error_put,
};
