/* lm_answer.c - drives an engine until one answer has ended. */
#include "lm_answer.h"
#include "app_times.h"
#include "infrt_os.h"
#include <stdlib.h>
#include <string.h>

/* Room for `n` more after `used` of them; doubles. */
static bool grow(void *memory, size_t bytes, size_t used, size_t n, size_t *room) {
    void **block = memory, *more;
    if (*room - used >= n) return true;
    size_t wanted = (*room + n) * 2;
    more = realloc(*block, wanted * bytes);
    if (!more) return false;
    *block = more;
    *room = wanted;
    return true;
}

static bool text_keep(infrt_lm_answer *a, const infrt_llm_event *event) {
    if (!grow(&a->text, 1, a->text_bytes, event->text_bytes + 1, &a->text_room)) return false;
    if (event->text_bytes) memcpy(a->text + a->text_bytes, event->text, event->text_bytes);
    a->text_bytes += event->text_bytes;
    a->text[a->text_bytes] = 0;
    return true;
}

static bool token_keep(infrt_lm_answer *a, const infrt_llm_event *event) {
    size_t room = a->tokens_room;
    if (!grow(&a->tokens, sizeof *a->tokens, a->n_tokens, 1, &room)) return false;
    a->tokens_room = (uint32_t)room;
    infrt_lm_token *token = &a->tokens[a->n_tokens++];
    *token = (infrt_lm_token){.id = event->token, .logprob = event->logprob, .n_top = event->n_top};
    if (event->n_top) memcpy(token->top, event->top, event->n_top * sizeof *token->top);
    return true;
}

static infrt_status event_take(infrt_lm_app *app, infrt_lm_answer *a, infrt_llm_id id,
                               const infrt_llm_event *event) {
    if (!a->first_ns && event->token >= 0) a->first_ns = infrt_os_now_ns();
    a->finish = event->finish;
    a->n_prompt = event->n_prompt;
    a->n_reused = event->n_reused;
    a->n_answer = event->n_answer;
    if ((a->keep_text && !text_keep(a, event)) ||
        (a->keep_tokens && event->token >= 0 && !event->finish && !token_keep(a, event)))
        return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for the answer");
    if (a->tell && !a->tell(a->self, event)) infrt_llm_cancel(app->llm, id);
    return INFRT_OK;
}

infrt_status infrt_lm_no_number(infrt_lm_app *app, const char *adapter, uint32_t position) {
    if (adapter)
        return infrt_fail(&app->error, INFRT_ERR_DATA,
                          "adapter \"%s\" gives no numbers: with it no logit of token %u is one; "
                          "are its weights, or "
                          "lora_alpha, too large?",
                          adapter, position);
    return infrt_fail(
        &app->error, INFRT_ERR_DATA,
        "%s: the logits of token %u are no numbers: weights or the cache hold NaN, or sums of "
        "large weights are beyond the range of floats; see `verify`",
        app->model->name, position);
}

infrt_status infrt_lm_answer_get(infrt_lm_app *app, const infrt_llm_request *request, infrt_lm_answer *answer) {
    infrt_llm_id id;
    infrt_llm_event event;
    answer->submit_ns = infrt_os_now_ns();
    infrt_status status = infrt_llm_submit(app->llm, request, &id, &app->error);
    if (status != INFRT_OK) return status;
    infrt_lm_interruptible(app->llm, id);
    while (!answer->finish && status == INFRT_OK) {
        status = infrt_llm_step(app->llm, NULL, &app->error);
        while (status == INFRT_OK && infrt_llm_poll(app->llm, id, &event))
            status = event_take(app, answer, id, &event);
    }
    infrt_lm_interruptible(app->llm, 0);
    answer->end_ns = infrt_os_now_ns();
    if (status == INFRT_OK && answer->finish == INFRT_LLM_FAILED)
        status = infrt_lm_no_number(app, request->adapter, answer->n_prompt + answer->n_answer);
    return status;
}

void infrt_lm_answer_free(infrt_lm_answer *answer) {
    free(answer->text);
    free(answer->tokens);
    answer->text = NULL;
    answer->tokens = NULL;
}

static double per_second(double n, uint64_t ns) { return ns ? n * 1e9 / (double)ns : 0; }

void infrt_lm_answer_times(const infrt_lm_app *app, const infrt_lm_answer *a, FILE *out) {
    char first[INFRT_TIME_TEXT], rest[INFRT_TIME_TEXT];
    uint64_t prompt_ns = a->first_ns ? a->first_ns - a->submit_ns : 0,
             rest_ns = a->first_ns ? a->end_ns - a->first_ns : 0;
    fprintf(out, "%u prompt token%s, first token after %s (%.1f/s)", a->n_prompt, a->n_prompt == 1 ? "" : "s",
            infrt_time_text((double)prompt_ns, first), per_second(a->n_prompt, prompt_ns));
    if (a->n_answer > 1)
        fprintf(out, ", %u more in %s (%.1f/s)", a->n_answer - 1,
                infrt_time_text((double)rest_ns, rest), per_second(a->n_answer - 1, rest_ns));
    fprintf(out, ", %u worker%s; %s\n", app->facts.workers, app->facts.workers == 1 ? "" : "s",
            infrt_llm_finish_name(a->finish));
}
