/* serve_facts.c - what the server tells about itself. */
#include "serve_server.h"

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
