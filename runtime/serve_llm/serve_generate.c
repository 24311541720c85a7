/* serve_generate.c - requests for answers: from a body to a job, from the pieces of its answers to replies. */
#include "serve_llm.h"
#include "infrt_os.h"
#include "tokenizer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    INLINE_BYTES = 8192,   /* longer prompts are tokenised elsewhere, so that the others go on */
    TEXT_MAX_TOKENS = 16,  /* of /v1/completions, as OpenAI has it */
    STALLED_BYTES = 65536, /* that a client has not taken: no more is made for it */
    FLOWING_BYTES = 16384,
};

static void job_free(infrt_llm_server *s, infrt_serve_job *job) {
    infrt_quota_give_back(&s->base.quotas, job->key, job->held);
    infrt_ask_free(&job->ask);
    free(job->choices);
    free(job);
}

/* The connection no longer has a job. */
static void job_drop(infrt_llm_conn *c) {
    infrt_serve_job *job = c->job;
    infrt_llm_server_of(&c->base)->n_answers -= job->n_choices;
    infrt_reply_destroy(&c->reply);
    c->job = NULL;
    job_free(infrt_llm_server_of(&c->base), job);
}

static void job_refuse(infrt_llm_conn *c, infrt_refusal *refusal) {
    infrt_reply_destroy(&c->reply);
    infrt_conn_refuse(&c->base, refusal);
    job_drop(c);
}

/* ---- what is asked ------------------------------------------------------------------------------ */

static bool job_fits(infrt_llm_server *s, const infrt_serve_job *job, infrt_refusal *refusal) {
    const uint32_t most = s->base.options->queue + s->facts.sequences;
    if (job->n_choices > most)
        return infrt_refuse(refusal, 400, "n", "%u answers at a time: this server makes %u",
                            job->n_choices, most);
    if (s->base.draining) {
        refusal->type = "unavailable_error";
        return infrt_refuse(refusal, 503, NULL, "the server is shutting down");
    }
    if (!infrt_server_alive(&s->base)) {
        refusal->type = "unavailable_error";
        return infrt_refuse(refusal, 503, NULL, "the engine stands still");
    }
    if (s->n_answers + job->n_choices <= most) return true;
    s->base.metrics.rejected[INFRT_REJECTED_QUEUE]++;
    refusal->type = "overloaded_error";
    refusal->code = "queue_full";
    return infrt_refuse(refusal, 429, NULL, "%u answers are under way, of at most %u; try again",
                        s->n_answers, most);
}

static bool model_take(infrt_llm_server *s, infrt_serve_job *job, infrt_refusal *refusal) {
    const infrt_ask *a = &job->ask;
    if (!a->model || infrt_model_find(s, a->model, &job->adapter)) return true;
    return infrt_refuse_model(refusal, a->model);
}

/* Texts that cannot fit, whatever their tokens are, are not tokenised. */
static bool texts_fit(const infrt_llm_server *s, const infrt_ask *a, size_t *bytes, infrt_refusal *refusal) {
    const infrt_tokenizer *t = s->base.model->llm->tokenizer;
    *bytes = 0;
    for (uint32_t i = 0; i < a->n_messages; i++) *bytes += strlen(a->messages[i].content);
    for (uint32_t i = 0; i < a->n_prompts; i++) {
        const size_t own = a->chat ? *bytes : a->prompts[i].text ? strlen(a->prompts[i].text) : 0;
        if (!a->chat) *bytes += own;
        if (!t || own / t->most_bytes <= s->facts.context) continue;
        refusal->code = "context_length_exceeded";
        return infrt_refuse(refusal, 400, a->chat ? "messages" : "prompt",
                            "the prompt of %zu bytes is too long for the context of %u tokens", own,
                            s->facts.context);
    }
    return true;
}

static bool seed_take(infrt_serve_job *job, infrt_refusal *refusal) {
    job->seed = job->ask.seed;
    if (job->ask.seeded || getrandom(&job->seed, sizeof job->seed, 0) == sizeof job->seed)
        return true;
    return infrt_refuse(refusal, 503, NULL, "there are no random numbers");
}

/* Keys are tenants; what a salt has cached is seen by that salt alone. */
static void tenant_take(infrt_conn *c, infrt_serve_job *job) {
    size_t n;
    const char *key = infrt_http_find(&c->http, "authorization", &n), *salt = job->ask.cache_salt;
    if (c->server->keys.n && key)
        snprintf(job->tenant, sizeof job->tenant, "%016" PRIx64, infrt_text_number(key, n));
    if (salt) job->salt = infrt_text_number(salt, strlen(salt));
}

/* The request may ask for less time than the server gives, not for more. */
static uint64_t deadline_of(const infrt_llm_server *s, const infrt_serve_job *job) {
    const uint64_t asked = (uint64_t)((double)job->ask.timeout * 1e9), given = s->base.options->timeout_ns;
    const uint64_t time = asked && (!given || asked < given) ? asked : given;
    return time ? job->begin_ns + time : 0;
}

static bool choices_make(infrt_serve_job *job, infrt_refusal *refusal) {
    const uint32_t n = job->ask.n_prompts * job->ask.n;
    job->choices = calloc(n, sizeof *job->choices);
    if (!job->choices) return infrt_refuse_memory(refusal);
    job->n_choices = n;
    for (uint32_t i = 0; i < n; i++) job->choices[i].prompt = i / job->ask.n;
    return true;
}

static void job_start(infrt_conn *c, infrt_ask_route route) {
    infrt_llm_server *s = infrt_llm_server_of(c);
    infrt_llm_conn *own = (infrt_llm_conn *)c;
    infrt_refusal refusal = {0};
    infrt_serve_job *job = calloc(1, sizeof *job);
    size_t bytes;
    if (!job) {
        infrt_refuse_memory(&refusal);
        infrt_conn_refuse(c, &refusal);
        return;
    }
    job->begin_ns = c->begin_ns;
    job->key = c->key;
    const bool good = infrt_ask_read(c->body.at ? c->body.at : "", c->body.n, route,
                                     s->facts.context, s->facts.n_ids, &job->ask, &refusal) &&
                      model_take(s, job, &refusal) && choices_make(job, &refusal) &&
                      job_fits(s, job, &refusal) && texts_fit(s, &job->ask, &bytes, &refusal) &&
                      seed_take(job, &refusal);
    infrt_out_free(&c->body);
    if (!good) {
        infrt_conn_refuse(c, &refusal);
        job_free(s, job);
        return;
    }
    tenant_take(c, job);
    job->deadline_ns = deadline_of(s, job);
    s->n_answers += job->n_choices;
    own->job = job;
    own->first_ns = 0;
    job->owner = own;
    job->letter.kind = INFRT_LETTER_PREPARE;
    if (bytes > INLINE_BYTES) {
        infrt_mailbox_put(&s->preparer.in, &job->letter);
        return;
    }
    infrt_job_prepare(s->base.model, job);
    infrt_job_letter(s, job, true);
}

void infrt_handle_chat(infrt_conn *c) { job_start(c, INFRT_ASK_CHAT); }
void infrt_handle_completions(infrt_conn *c) { job_start(c, INFRT_ASK_TEXT); }
void infrt_handle_tokenize(infrt_conn *c) { job_start(c, INFRT_ASK_TOKENIZE); }

/* ---- its prompts are ids ------------------------------------------------------------------------ */

/* The answer's length, and whether both fit into the context. */
static bool lengths_take(infrt_llm_server *s, infrt_serve_job *job, infrt_refusal *refusal) {
    infrt_ask *a = &job->ask;
    const char *param = a->chat ? "messages" : "prompt";
    uint32_t longest = 0;
    for (uint32_t i = 0; i < a->n_prompts; i++)
        if (a->prompts[i].n_ids > longest) longest = a->prompts[i].n_ids;
    refusal->code = "context_length_exceeded";
    if (longest >= s->facts.context)
        return infrt_refuse(refusal, 400, param, "the prompt of %u tokens fills the context of %u tokens",
                            longest, s->facts.context);
    const uint32_t room = s->facts.context - longest;
    if (a->max_tokens > room)
        return infrt_refuse(refusal, 400, "max_tokens",
                            "the prompt of %u tokens and an answer of %u are more than the context "
                            "of %u tokens; ask for at "
                            "most %u",
                            longest, a->max_tokens, s->facts.context, room);
    refusal->code = NULL;
    if (a->max_tokens) infrt_histogram_see(&s->metrics.asked, infrt_counts, a->max_tokens);
    if (!a->max_tokens && !a->chat) a->max_tokens = TEXT_MAX_TOKENS < room ? TEXT_MAX_TOKENS : room;
    return true;
}

/* What the answers may come to need of the cache, held until they have ended. */
static bool quota_take(infrt_llm_server *s, infrt_serve_job *job, infrt_refusal *refusal) {
    const infrt_ask *a = &job->ask;
    uint64_t n = 0;
    for (uint32_t i = 0; i < a->n_prompts; i++)
        n += (uint64_t)a->n * (a->max_tokens ? a->prompts[i].n_ids + a->max_tokens : s->facts.context);
    if (!infrt_quota_take(&s->base.quotas, job->key, n, refusal)) {
        s->base.metrics.rejected[INFRT_REJECTED_TOKENS] += refusal->status == 429;
        return false;
    }
    job->held = n;
    return true;
}

static bool error_take(const infrt_error *error, infrt_refusal *refusal) {
    int status = 400;
    if (!error->text[0]) return true;
    if (error->status == INFRT_ERR_BUSY) status = 429;
    if (error->status == INFRT_ERR_NO_MEMORY) status = 503;
    if (error->status == INFRT_ERR_INTERNAL || error->status == INFRT_ERR_IO) status = 500;
    if (status != 400) refusal->type = "server_error";
    return infrt_refuse(refusal, status, NULL, "%s", error->text);
}

static void job_prepared(infrt_llm_server *s, infrt_llm_conn *c, infrt_serve_job *job) {
    infrt_refusal refusal = {0};
    const bool good = error_take(&job->error, &refusal) && lengths_take(s, job, &refusal);
    if (good && job->ask.route == INFRT_ASK_TOKENIZE) {
        infrt_tokens_reply(&c->base, &job->ask);
        job_drop(c);
        return;
    }
    if (good && quota_take(s, job, &refusal)) {
        const char *name = job->adapter ? job->adapter : s->base.model->name;
        c->reply = infrt_reply_create(s->base.model, job, name, (int64_t)infrt_os_date(),
                                      infc_check_random(s->base.random, s->base.n_requests, 1));
        if (!c->reply) infrt_refuse(&refusal, 503, NULL, "there is no memory for the answer");
    }
    if (refusal.status) {
        job_refuse(c, &refusal);
        return;
    }
    infrt_histogram_see(&s->metrics.answers, infrt_counts_small, job->ask.n);
    for (uint32_t i = 0; i < job->ask.n_prompts; i++)
        infrt_histogram_see(&s->metrics.prompt_sizes, infrt_counts, job->ask.prompts[i].n_ids);
    job->letter.kind = INFRT_LETTER_JOB;
    job->queued_ns = infrt_os_now_ns();
    infrt_mailbox_put(&s->engine.in, &job->letter);
}

/* ---- pieces ------------------------------------------------------------------------------------- */

static double seconds(uint64_t from, uint64_t to) {
    return to > from ? (double)(to - from) / 1e9 : 0;
}

/* How long an answer that has ended waited, was read and was made. */
static void times_count(infrt_llm_server *s, const infrt_serve_job *job, const infrt_said *said,
                        const infrt_llm_event *e) {
    infrt_llm_metrics *m = &s->metrics;
    if (!e->begun_ns) return;
    infrt_histogram_see(&m->queue_times, infrt_seconds_long, seconds(job->queued_ns, e->begun_ns));
    if (!said->first_ns) return;
    infrt_histogram_see(&m->prefill_times, infrt_seconds_long, seconds(e->begun_ns, said->first_ns));
    infrt_histogram_see(&m->decode_times, infrt_seconds_long, seconds(said->first_ns, said->last_ns));
    infrt_histogram_see(&m->inference_times, infrt_seconds_long, seconds(e->begun_ns, said->last_ns));
    if (e->n_answer > 1)
        infrt_histogram_see(&m->token_times, infrt_seconds_short,
                            seconds(said->first_ns, said->last_ns) / (e->n_answer - 1));
}

static void piece_count(infrt_llm_server *s, infrt_llm_conn *c, const infrt_piece *piece) {
    infrt_llm_metrics *m = &s->metrics;
    infrt_said *said = &c->reply->said[piece->choice];
    const infrt_llm_event *e = &piece->event;
    const uint64_t now = infrt_os_now_ns();
    if (e->token >= 0 || e->n_answer) {
        if (!c->first_ns) {
            c->first_ns = now;
            infrt_histogram_see(&m->ttft, infrt_seconds_short, (double)(now - c->base.begin_ns) / 1e9);
        }
        if (e->token >= 0 && said->last_ns)
            infrt_histogram_see(&m->itl, infrt_seconds_short, (double)(now - said->last_ns) / 1e9);
        if (!said->first_ns) said->first_ns = now;
        if (e->token >= 0) said->last_ns = now;
    }
    if (!said->read) {
        m->prompt_tokens += e->n_prompt;
        m->cache_queries += e->n_prompt;
        m->cache_hits += e->n_reused;
        said->read = true;
    }
    if (!e->finish) return;
    const char *reason = infrt_finish_reason(e->finish);
    if (e->finish == INFRT_LLM_FAILED) s->base.metrics.failed++;
    else m->finished[reason[0] == 's' ? 0 : reason[0] == 'l' ? 1 : 2]++;
    infrt_histogram_see(&m->answer_sizes, infrt_counts, e->n_answer);
    times_count(s, c->job, said, e);
}

void infrt_piece_letter(infrt_llm_server *s, infrt_piece *piece) {
    infrt_llm_conn *c = piece->job->owner;
    if (c) {
        infrt_out frames = {0};
        piece_count(s, c, piece);
        infrt_reply_take(c->reply, piece, &frames);
        if (frames.n || frames.failed) infrt_conn_stream(&c->base, &frames, false);
        infrt_out_free(&frames);
    }
    free(piece);
}

/* Tells why there is no answer; where 200 has been said already, the error goes into the stream, which ends. */
static void job_fail(infrt_llm_conn *c, const infrt_refusal *refusal) {
    infrt_out out = {0};
    if (c->base.phase != INFRT_PHASE_STREAMING) {
        infrt_conn_refuse(&c->base, refusal);
        return;
    }
    infrt_out_text(&out, "data: ");
    infrt_error_json(refusal, &out);
    infrt_out_text(&out, "\n\ndata: [DONE]\n\n");
    c->base.close = true;
    c->base.code = refusal->code;
    c->base.server->metrics.failed++;
    infrt_conn_stream(&c->base, &out, true);
    infrt_out_free(&out);
}

static uint32_t longest_of(const infrt_reply *a) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->job->n_choices; i++)
        if (a->said[i].n_answer > n) n = a->said[i].n_answer;
    return n;
}

/* The engine has ended all of its answers. */
static void job_ended(infrt_llm_server *s, infrt_llm_conn *c, infrt_serve_job *job) {
    infrt_refusal refusal = {0};
    infrt_out out = {0};
    bool good = job->adapter_gone ? infrt_refuse_model(&refusal, job->ask.model)
                                  : error_take(&job->error, &refusal);
    if (good && c->reply->failed) {
        refusal.type = "server_error";
        char why[INFRT_FAILURE_TEXT];
        infrt_reply_failure(c->reply, why);
        good = infrt_refuse(&refusal, 500, NULL, "%s", why);
    }
    if (good && c->reply->n_late == job->n_choices) {
        refusal.type = "timeout_error";
        refusal.code = "deadline_exceeded";
        good = infrt_refuse(&refusal, 504, "timeout",
                            "the time that an answer may take was over before its first token");
    }
    if (!good) {
        job_fail(c, &refusal);
    } else {
        infrt_histogram_see(&s->metrics.e2e, infrt_seconds_long, seconds(job->begin_ns, infrt_os_now_ns()));
        infrt_histogram_see(&s->metrics.longest, infrt_counts, longest_of(c->reply));
        infrt_reply_end(c->reply, &out);
        if (job->ask.stream) infrt_conn_stream(&c->base, &out, true);
        else infrt_conn_reply(&c->base, 200, "application/json", &out, NULL);
        infrt_out_free(&out);
    }
    job_drop(c);
}

void infrt_job_letter(infrt_llm_server *s, infrt_serve_job *job, bool prepared) {
    infrt_llm_conn *c = job->owner;
    if (!c) {
        s->n_answers -= job->n_choices;
        job_free(s, job);
    } else if (prepared) {
        job_prepared(s, c, job);
    } else {
        job_ended(s, c, job);
    }
}

/* ---- clients ------------------------------------------------------------------------------------ */

/* Nobody waits for it any more; it is freed when it comes back. */
static void job_let_go(infrt_llm_conn *c) {
    infrt_llm_server *s = infrt_llm_server_of(&c->base);
    if (c->reply) s->metrics.finished[2] += c->job->n_choices - c->reply->n_ended;
    c->job->owner = NULL;
    atomic_store(&c->job->cancelled, true);
    infrt_mailbox_wake(&s->engine.in);
    infrt_reply_destroy(&c->reply);
    c->job = NULL;
}

void infrt_job_abandon(infrt_llm_conn *c) {
    infrt_request_log(&c->base, 499);
    if (c->base.broken) c->base.server->metrics.failed++;
    else c->base.server->metrics.disconnected[c->base.phase == INFRT_PHASE_STREAMING]++;
    job_let_go(c);
}

void infrt_jobs_fail(infrt_server *s, const infrt_refusal *why) {
    for (infrt_conn *c = s->conns; c; c = c->next) {
        infrt_llm_conn *own = (infrt_llm_conn *)c;
        if (own->job) {
            job_fail(own, why);
            job_let_go(own);
        } else if (s->draining && infrt_others_let_go(own)) {
            infrt_conn_refuse(c, why);
        }
    }
}

void infrt_job_flow(infrt_conn *c, size_t unsent) {
    infrt_serve_job *job = ((infrt_llm_conn *)c)->job;
    const bool stalled = atomic_load(&job->stalled);
    if (!stalled && unsent > STALLED_BYTES) atomic_store(&job->stalled, true);
    if (!stalled || unsent > FLOWING_BYTES) return;
    atomic_store(&job->stalled, false);
    infrt_mailbox_wake(&infrt_llm_server_of(c)->engine.in);
}
