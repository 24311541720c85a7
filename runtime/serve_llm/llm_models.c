/* llm_models.c - the models that a server answers as: the base, and adapters. */
#include "serve_llm.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool infrt_adapter_there(void *server, const char *name) {
    infrt_llm_server *s = server;
    infrt_board *b = &s->engine.board;
    bool found = false;
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; name[0] && i < b->n_adapters; i++)
        found = found || strcmp(b->adapters[i].name, name) == 0;
    pthread_mutex_unlock(&b->lock);
    return found;
}

bool infrt_model_find(infrt_llm_server *s, const char *name, const char **adapter) {
    const size_t n = strlen(s->base.model->name);
    const char *own = strncmp(name, s->base.model->name, n) == 0 && name[n] == ':' ? name + n + 1 : name;
    *adapter = NULL;
    if (strcmp(name, s->base.model->name) == 0) return true;
    *adapter = infrt_adapter_there(s, name) ? name : own;
    return infrt_adapter_there(s, *adapter);
}

bool infrt_refuse_model(infrt_refusal *refusal, const char *name) {
    refusal->type = "not_found_error";
    refusal->code = "model_not_found";
    return infrt_refuse(refusal, 404, "model", "there is no model \"%.128s\"; /v1/models lists them", name);
}

/* Whether requests could name an adapter by it: not the base's own name, nor one that begins as base:name does. */
bool infrt_adapter_name_is_free(const infc_model *model, const char *name) {
    const size_t n = strlen(model->name);
    return strncmp(name, model->name, n) != 0 || (name[n] && name[n] != ':');
}

/* `created`: of an adapter, when it was loaded; of the base, when the server began. */
static void model_put(const infrt_llm_server *s, const char *adapter, int64_t created, infrt_out *out) {
    const char *base = s->base.model->name;
    infrt_out_text(out, "{\"id\":");
    infrt_out_string(out, adapter ? adapter : base, strlen(adapter ? adapter : base));
    infrt_out_format(out,
                     ",\"object\":\"model\",\"created\":%" PRId64 ",\"owned_by\":\"infc\","
                     "\"root\":\"%s\",\"parent\":",
                     created, base);
    if (adapter) infrt_out_string(out, base, strlen(base));
    else infrt_out_text(out, "null");
    infrt_out_format(out, ",\"max_model_len\":%u}", s->facts.context);
}

void infrt_handle_models(infrt_conn *c) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    infrt_board *b = &s->engine.board;
    infrt_out body = {0};
    infrt_out_text(&body, "{\"object\":\"list\",\"data\":[");
    model_put(s, NULL, s->base.created, &body);
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->n_adapters; i++) {
        if (!b->adapters[i].name[0]) continue;
        infrt_out_text(&body, ",");
        model_put(s, b->adapters[i].name, b->adapters[i].loaded, &body);
    }
    pthread_mutex_unlock(&b->lock);
    infrt_out_text(&body, "]}\n");
    infrt_conn_json(c, 200, &body);
}

static int64_t created_of(infrt_llm_server *s, const char *adapter) {
    infrt_board *b = &s->engine.board;
    int64_t created = s->base.created;
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; adapter && i < b->n_adapters; i++)
        if (strcmp(b->adapters[i].name, adapter) == 0) created = b->adapters[i].loaded;
    pthread_mutex_unlock(&b->lock);
    return created;
}

void infrt_handle_model(infrt_conn *c) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    static const char before[] = "/v1/models/";
    char name[2 * INFRT_LLM_ADAPTER_NAME];
    infrt_refusal refusal = {0};
    infrt_out body = {0};
    const char *adapter;
    const size_t n = c->path_bytes - (sizeof before - 1);
    snprintf(name, sizeof name, "%.*s", (int)n, c->path + sizeof before - 1);
    if (n < sizeof name && infrt_model_find(s, name, &adapter)) {
        model_put(s, adapter, created_of(s, adapter), &body);
        infrt_conn_json(c, 200, &body);
        return;
    }
    infrt_refuse_model(&refusal, name);
    infrt_conn_refuse(c, &refusal);
}
