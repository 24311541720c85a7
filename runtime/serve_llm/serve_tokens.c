/* serve_tokens.c - /tokenize and /detokenize, shaped as vLLM has them. */
#include "serve_llm.h"
#include "tokenizer.h"
#include <stdlib.h>

void infrt_tokens_reply(infrt_conn *c, const infrt_ask *ask) {
    const infrt_prompt *p = &ask->prompts[0];
    infrt_out body = {0};
    infrt_out_format(&body, "{\"count\":%u,\"max_model_len\":%u,\"tokens\":[", p->n_ids,
                     infrt_llm_server_of(c)->facts.context);
    for (uint32_t i = 0; i < p->n_ids; i++)
        infrt_out_format(&body, "%s%d", i ? "," : "", p->ids[i]);
    infrt_out_text(&body, "],\"token_strs\":null}\n");
    infrt_conn_json(c, 200, &body);
}

static void text_reply(infrt_conn *c, const infrt_tokenizer *t, const infrt_prompt *p) {
    infrt_out body = {0};
    infrt_refusal refusal = {.type = "server_error"};
    const size_t n = infrt_decode(t, p->ids, p->n_ids, 1, NULL, 0);
    char *text = malloc(n + 1);
    if (!text) {
        infrt_refuse(&refusal, 503, NULL, "there is no memory for the text");
        infrt_conn_refuse(c, &refusal);
        return;
    }
    infrt_decode(t, p->ids, p->n_ids, 1, text, n);
    infrt_out_text(&body, "{\"prompt\":");
    infrt_out_string(&body, text, n);
    infrt_out_text(&body, "}\n");
    free(text);
    infrt_conn_json(c, 200, &body);
}

void infrt_handle_detokenize(infrt_conn *c) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    const infrt_tokenizer *t = s->base.model->llm->tokenizer;
    infrt_refusal refusal = {0};
    infrt_ask ask;
    const char *adapter;
    bool good = infrt_ask_read(c->body.at ? c->body.at : "", c->body.n, INFRT_ASK_DETOKENIZE,
                               s->facts.context, s->facts.n_ids, &ask, &refusal);
    if (good && ask.model && !infrt_model_find(s, ask.model, &adapter))
        good = infrt_refuse_model(&refusal, ask.model);
    if (good && !t)
        good = infrt_refuse(&refusal, 400, NULL, "%s has no tokenizer", s->base.model->name);
    if (good) text_reply(c, t, &ask.prompts[0]);
    else infrt_conn_refuse(c, &refusal);
    infrt_ask_free(&ask);
}
