/* engine_answer.c - one more token of an answer: its event, its text, and whether it is the last. */
#include "engine.h"
#include <string.h>

static bool ends(const infrt_llm *llm, const infrt_request *r, int32_t token) {
    for (int32_t i = 0; i < llm->info->n_eos && !r->ignore_eos; i++)
        if (llm->info->eos[i] == token) return true;
    return false;
}

/* Takes `n` new bytes at text_end; returns whether a stop string ended in them. */
static bool text_take(infrt_request *r, size_t n) {
    size_t used, cut;
    bool stopped = infrt_stop_feed(&r->stop, r->text + r->text_end, n, &used, &cut);
    r->text_end += (uint32_t)used;
    if (stopped) r->text_end -= (uint32_t)cut;
    else r->text_free = r->text_end - (uint32_t)cut;
    if (stopped) r->text_free = r->text_end;
    return stopped;
}

static infrt_llm_chosen *event_add(infrt_llm *llm, infrt_request *r, const float *logits, int32_t token) {
    infrt_llm_chosen *event = &r->events[(r->event_first + r->n_events++) % INFRT_LLM_EVENTS];
    event->token = token;
    event->logprob = 0;
    event->n_top = event->text_bytes = 0;
    if (r->logprobs)
        event->n_top = infrt_logprobs(&llm->sampler, logits, token, &event->logprob, event->top, r->n_top);
    return event;
}

void infrt_answer_go_on(infrt_llm *llm, infrt_request *r, const float *logits) {
    infrt_history history = {r->tokens, r->job.n_prompt, r->job.n};
    int32_t token = infrt_sample(&llm->sampler, logits, &r->sampling, &history);
    bool stopped = false;
    if (token < 0) {
        infrt_answer_end(llm, r, INFRT_LLM_FAILED, -1);
        return;
    }
    r->tokens[r->job.n++] = token;
    if (ends(llm, r, token)) {
        infrt_answer_end(llm, r, INFRT_LLM_EOS, token);
        return;
    }
    infrt_llm_chosen *event = event_add(llm, r, logits, token);
    if (llm->info->tokenizer) {
        uint32_t before = r->text_free;
        size_t n = infrt_detokenizer_put(&r->detokenizer, token, r->text + r->text_end);
        stopped = text_take(r, n);
        event->text_bytes = r->text_free - before;
    }
    if (stopped) infrt_answer_end(llm, r, INFRT_LLM_STOP, -1);
    else if (r->job.n == r->limit)
        infrt_answer_end(llm, r, r->max_given ? INFRT_LLM_LENGTH : INFRT_LLM_CONTEXT, -1);
}

void infrt_answer_end(infrt_llm *llm, infrt_request *r, infrt_llm_finish finish, int32_t token) {
    if (llm->info->tokenizer && finish != INFRT_LLM_STOP) {
        uint32_t freed = r->text_free;
        if (text_take(r, infrt_detokenizer_end(&r->detokenizer, r->text + r->text_end)))
            finish = INFRT_LLM_STOP;
        r->text_free = freed; /* what is left belongs to the last event */
    }
    infrt_scheduler_remove(&llm->scheduler, &r->job);
    infrt_adapters_drop(&llm->adapters, r->adapter);
    r->adapter = INFRT_NO_ADAPTER;
    r->job.state = INFRT_JOB_DONE;
    r->finish = finish;
    r->finish_token = token;
}
