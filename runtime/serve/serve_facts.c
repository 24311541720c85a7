/* serve_facts.c - what the server tells about itself. */
#include "serve_server.h"
#include "infrt_os.h"

enum { STUCK_SECONDS = 60 };

/* What waits is well; what has been in the same step for long is not. */
bool infrt_server_alive(infrt_server *s) {
    const uint64_t since = s->service->busy_since_ns(s);
    return !since || infrt_os_now_ns() - since < STUCK_SECONDS * UINT64_C(1000000000);
}

static void health(infrt_conn *c, bool good, const char *text) {
    infrt_out body = {0};
    infrt_out_format(&body, "{\"status\":\"%s\"}\n", text);
    infrt_conn_json(c, good ? 200 : 503, &body);
}

void infrt_handle_health(infrt_conn *c) {
    const bool alive = infrt_server_alive(c->server);
    health(c, alive, alive ? "ok" : "the engine does not go on");
}

void infrt_handle_ready(infrt_conn *c) {
    const bool alive = infrt_server_alive(c->server), ready = alive && !c->server->draining;
    health(c, ready, ready ? "ready" : alive ? "shutting down" : "the engine does not go on");
}

void infrt_handle_version(infrt_conn *c) {
    infrt_out body = {0};
    infrt_out_format(&body, "{\"version\":\"%s\"}\n", c->server->model->infc_version);
    infrt_conn_json(c, 200, &body);
}
