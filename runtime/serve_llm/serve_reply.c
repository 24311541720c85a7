/* serve_reply.c - see serve_reply.h. Of both routes and both ways there is one code: what differs is around it. */
#include "serve_reply.h"
#include "tokenizer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *infrt_finish_reason(infrt_llm_finish finish) {
    switch (finish) {
    case INFRT_LLM_EOS:
    case INFRT_LLM_STOP: return "stop";
    case INFRT_LLM_LENGTH:
    case INFRT_LLM_CONTEXT: return "length";
    default: return "abort";
    }
}

infrt_reply *infrt_reply_create(const infc_model *model, const infrt_serve_job *job,
                                const char *name, int64_t created, uint64_t number) {
    infrt_reply *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (infrt_reply){.model = model, .job = job, .created = created};
    a->said = calloc(job->n_choices, sizeof *a->said);
    for (uint32_t i = 0; i < job->ask.n_prompts; i++) a->n_prompt += job->ask.prompts[i].n_ids;
    snprintf(a->id, sizeof a->id, "%s-%016" PRIx64, job->ask.chat ? "chatcmpl" : "cmpl", number);
    snprintf(a->name, sizeof a->name, "%s", name);
    if (!a->said) infrt_reply_destroy(&a);
    return a;
}

void infrt_reply_destroy(infrt_reply **reply) {
    infrt_reply *a = *reply;
    if (!a) return;
    for (uint32_t i = 0; a->said && i < a->job->n_choices; i++) {
        infrt_said *s = &a->said[i];
        infrt_out_free(&s->text);
        infrt_out_free(&s->logprobs);
        infrt_out_free(&s->top);
        infrt_out_free(&s->numbers);
        infrt_out_free(&s->offsets);
    }
    free(a->said);
    free(a);
    *reply = NULL;
}

uint32_t infrt_reply_cached(const infrt_reply *a) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->job->n_choices; i += a->job->ask.n) n += a->said[i].n_reused;
    return n;
}

/* ---- logarithms of probabilities ---------------------------------------------------------------- */

static const char *piece_of(const infrt_reply *a, int32_t token, size_t *n) {
    const infrt_tokenizer *t = a->model->llm->tokenizer;
    const char *piece = t ? infrt_token_piece(t, token, n) : NULL;
    if (!piece) *n = 0;
    return piece ? piece : "";
}

/* "token": "..", "logprob": .., "bytes": [..] */
static void chat_entry(const infrt_reply *a, int32_t token, float logprob, infrt_out *out) {
    size_t n;
    const char *piece = piece_of(a, token, &n);
    infrt_out_text(out, "\"token\":");
    infrt_out_string(out, piece, n);
    infrt_out_text(out, ",\"logprob\":");
    infrt_out_logprob(out, logprob);
    infrt_out_text(out, ",\"bytes\":[");
    for (size_t i = 0; i < n; i++)
        infrt_out_format(out, "%s%u", i ? "," : "", (unsigned char)piece[i]);
    infrt_out_text(out, "]");
}

static void chat_logprob(const infrt_reply *a, infrt_said *s, const infrt_llm_event *e) {
    infrt_out *out = &s->logprobs;
    infrt_out_text(out, out->n ? ",{" : "{");
    chat_entry(a, e->token, e->logprob, out);
    infrt_out_text(out, ",\"top_logprobs\":[");
    for (uint32_t i = 0; i < e->n_top; i++) {
        infrt_out_text(out, i ? ",{" : "{");
        chat_entry(a, e->top[i].token, e->top[i].logprob, out);
        infrt_out_text(out, "}");
    }
    infrt_out_text(out, "]}");
}

/* Of /v1/completions: four lists. */
static void text_logprob(const infrt_reply *a, infrt_said *s, const infrt_llm_event *e) {
    const char *comma = s->logprobs.n ? "," : "";
    size_t n;
    const char *piece = piece_of(a, e->token, &n);
    infrt_out_text(&s->logprobs, comma);
    infrt_out_string(&s->logprobs, piece, n);
    infrt_out_text(&s->numbers, comma);
    infrt_out_logprob(&s->numbers, e->logprob);
    infrt_out_format(&s->offsets, "%s%u", comma, s->characters);
    infrt_out_format(&s->top, "%s{", comma);
    for (uint32_t i = 0; i < e->n_top; i++) {
        piece = piece_of(a, e->top[i].token, &n);
        if (i) infrt_out_text(&s->top, ",");
        infrt_out_string(&s->top, piece, n);
        infrt_out_text(&s->top, ":");
        infrt_out_logprob(&s->top, e->top[i].logprob);
    }
    infrt_out_text(&s->top, "}");
}

/* "logprobs": .. of what was collected, which is then empty. */
static void logprobs_put(const infrt_reply *a, infrt_said *s, infrt_out *out) {
    infrt_out *lists[] = {&s->logprobs, &s->numbers, &s->top, &s->offsets};
    static const char *const names[] = {"{\"tokens\":[", "],\"token_logprobs\":[",
                                        "],\"top_logprobs\":[", "],\"text_offset\":["};
    for (int i = 0; i < 4; i++) out->failed = out->failed || lists[i]->failed;
    infrt_out_text(out, "\"logprobs\":");
    if (!a->job->ask.logprobs || !s->logprobs.n) {
        infrt_out_text(out, "null");
        return;
    }
    if (a->job->ask.chat) infrt_out_text(out, "{\"content\":[");
    for (int i = 0; i < (a->job->ask.chat ? 1 : 4); i++) {
        if (!a->job->ask.chat) infrt_out_text(out, names[i]);
        infrt_out_add(out, lists[i]->at, lists[i]->n);
        lists[i]->n = 0;
    }
    infrt_out_text(out, a->job->ask.chat ? "],\"refusal\":null}" : "]}");
}

/* ---- parts of objects --------------------------------------------------------------------------- */

static void head_put(const infrt_reply *a, infrt_out *out) {
    const infrt_ask *ask = &a->job->ask;
    infrt_out_format(out, "{\"id\":\"%s\",\"object\":\"%s\",\"created\":%" PRId64 ",\"model\":", a->id,
                     !ask->chat    ? "text_completion"
                     : ask->stream ? "chat.completion.chunk"
                                   : "chat.completion",
                     a->created);
    infrt_out_string(out, a->name, strlen(a->name));
    infrt_out_text(out, ",\"choices\":[");
}

static void usage_put(const infrt_reply *a, infrt_out *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->job->n_choices; i++) n += a->said[i].n_answer;
    infrt_out_format(out,
                     "\"usage\":{\"prompt_tokens\":%u,\"completion_tokens\":%u,\"total_tokens\":%u,"
                     "\"prompt_tokens_details\":{\"cached_tokens\":%u}}",
                     a->n_prompt, n, a->n_prompt + n, infrt_reply_cached(a));
}

/* OpenAI's reason; and as vLLM has it the string that ended the answer, or null. */
static void finish_put(const infrt_reply *a, const infrt_said *s, infrt_out *out) {
    const char *stop = s->finish == INFRT_LLM_STOP ? a->job->ask.stop[s->stop] : NULL;
    if (!s->finish) {
        infrt_out_text(out, "\"finish_reason\":null}");
        return;
    }
    infrt_out_format(out, "\"finish_reason\":\"%s\",\"stop_reason\":", infrt_finish_reason(s->finish));
    if (stop) infrt_out_string(out, stop, strlen(stop));
    else infrt_out_text(out, "null");
    infrt_out_text(out, "}");
}

/* One chunk of a stream: `text` is new; null: none, but the role. */
static void chunk_put(infrt_reply *a, uint32_t choice, const char *text, size_t n, infrt_out *out) {
    infrt_said *s = &a->said[choice];
    infrt_out_text(out, "data: ");
    head_put(a, out);
    infrt_out_format(out, "{\"index\":%u,", choice);
    if (a->job->ask.chat) infrt_out_text(out, "\"delta\":{");
    if (a->job->ask.chat && !s->begun) infrt_out_text(out, "\"role\":\"assistant\",");
    if (text || !a->job->ask.chat || !s->begun) {
        infrt_out_text(out, a->job->ask.chat ? "\"content\":" : "\"text\":");
        infrt_out_string(out, text ? text : "", n);
    }
    infrt_out_text(out, a->job->ask.chat ? "}," : ",");
    if (a->job->ask.chat && !s->begun) infrt_out_text(out, "\"logprobs\":null");
    else logprobs_put(a, s, out);
    s->begun = true;
    infrt_out_text(out, ",");
    finish_put(a, s, out);
    infrt_out_text(out, "]");
    if (a->job->ask.include_usage) infrt_out_text(out, ",");
    if (a->job->ask.continuous_usage) usage_put(a, out);
    else if (a->job->ask.include_usage) infrt_out_text(out, "\"usage\":null");
    infrt_out_text(out, "}\n\n");
}

/* ---- pieces ------------------------------------------------------------------------------------- */

static uint32_t characters_of(const char *text, size_t n) {
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void stream_take(infrt_reply *a, uint32_t choice, const infrt_llm_event *e, infrt_out *out) {
    infrt_said *s = &a->said[choice];
    const bool chat = a->job->ask.chat;
    const infrt_llm_finish finish = s->finish;
    if (!chat) { /* its last text and its end come together */
        if (e->text_bytes || s->logprobs.n || finish)
            chunk_put(a, choice, e->text, e->text_bytes, out);
        return;
    }
    s->finish = INFRT_LLM_GOES_ON; /* the end has a chunk of its own */
    if (!s->begun) chunk_put(a, choice, NULL, 0, out);
    if (e->text_bytes || s->logprobs.n) chunk_put(a, choice, e->text, e->text_bytes, out);
    s->finish = finish;
    if (finish) chunk_put(a, choice, NULL, 0, out);
}

void infrt_reply_take(infrt_reply *a, const infrt_piece *piece, infrt_out *out) {
    const infrt_llm_event *e = &piece->event;
    infrt_said *s = &a->said[piece->choice];
    const bool is_token = e->token >= 0 && !e->finish;
    if (is_token && a->job->ask.logprobs) {
        if (a->job->ask.chat) chat_logprob(a, s, e);
        else text_logprob(a, s, e);
    }
    s->n_reused = e->n_reused;
    s->n_preempted = e->n_preempted;
    s->begun_ns = e->begun_ns;
    s->stop = e->stop;
    s->characters += characters_of(e->text, e->text_bytes);
    s->n_answer = e->n_answer;
    s->finish = e->finish;
    a->n_ended += e->finish != INFRT_LLM_GOES_ON;
    a->failed = a->failed || e->finish == INFRT_LLM_FAILED;
    const bool late = e->finish == INFRT_LLM_DEADLINE && !e->n_answer;
    a->n_late += late;
    if (a->failed || (late && a->job->ask.stream))
        return; /* told at the end, perhaps as an error */
    if (a->job->ask.stream) stream_take(a, piece->choice, e, out);
    else infrt_out_escaped(&s->text, e->text, e->text_bytes);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* The prompt before its answer, as OpenAI's echo has it. */
static void echo_put(const infrt_reply *a, uint32_t choice, infrt_out *out) {
    const infrt_prompt *p = &a->job->ask.prompts[a->job->choices[choice].prompt];
    const infrt_tokenizer *t = a->model->llm->tokenizer;
    if (!a->job->ask.echo) return;
    if (p->text || !t) {
        if (p->text) infrt_out_escaped(out, p->text, strlen(p->text));
        return;
    }
    const size_t n = infrt_decode(t, p->ids, p->n_ids, 0, NULL, 0);
    char *text = malloc(n + 1);
    if (!text) {
        out->failed = true;
        return;
    }
    infrt_decode(t, p->ids, p->n_ids, 0, text, n);
    infrt_out_escaped(out, text, n);
    free(text);
}

static void choice_put(infrt_reply *a, uint32_t choice, infrt_out *out) {
    infrt_said *s = &a->said[choice];
    const bool chat = a->job->ask.chat;
    infrt_out_format(out, "%s{\"index\":%u,%s\"", choice ? "," : "", choice,
                     chat ? "\"message\":{\"role\":\"assistant\",\"content\":" : "\"text\":");
    echo_put(a, choice, out);
    infrt_out_add(out, s->text.at, s->text.n);
    infrt_out_text(out, chat ? "\",\"refusal\":null}," : "\",");
    logprobs_put(a, s, out);
    infrt_out_text(out, ",");
    finish_put(a, s, out);
}

void infrt_reply_failure(const infrt_reply *a, char out[INFRT_FAILURE_TEXT]) {
    const char *adapter = a->job->adapter;
    snprintf(out, INFRT_FAILURE_TEXT,
             adapter ? "adapter \"%s\" gives no numbers: its weights, or lora_alpha, are too large"
                     : "the model %s gives no numbers",
             adapter ? adapter : a->model->name);
}

void infrt_reply_end(infrt_reply *a, infrt_out *out) {
    const infrt_ask *ask = &a->job->ask;
    if (ask->stream) {
        for (uint32_t i = 0; i < a->job->n_choices; i++)
            if (!a->said[i].begun) stream_take(a, i, &(infrt_llm_event){0}, out);
        if (ask->include_usage) {
            infrt_out_text(out, "data: ");
            head_put(a, out);
            infrt_out_text(out, "],");
            usage_put(a, out);
            infrt_out_text(out, "}\n\n");
        }
        infrt_out_text(out, "data: [DONE]\n\n");
        return;
    }
    head_put(a, out);
    for (uint32_t i = 0; i < a->job->n_choices; i++) {
        out->failed = out->failed || a->said[i].text.failed;
        choice_put(a, i, out);
    }
    infrt_out_text(out, "],");
    usage_put(a, out);
    infrt_out_text(out, "}\n");
}
