/* infrt_fake_answers.h - answers of infrt_fake_llm.h's model, looked at token by token. */
#ifndef INFRT_FAKE_ANSWERS_H
#define INFRT_FAKE_ANSWERS_H
#include "infrt_fake_llm.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Steps until the request ends; every token of its greedy answer must be the right one after the prompt, tokens[n],
 * and goes behind it. */
static inline infrt_llm_event fake_finish(infrt_llm *llm, infrt_llm_id id, int32_t *tokens, uint32_t n) {
    infrt_llm_event event = {0};
    while (!event.finish) {
        assert_int_equal(infrt_llm_step(llm, NULL, NULL), INFRT_OK);
        while (infrt_llm_poll(llm, id, &event) && !event.finish) {
            assert_int_equal(event.token, fake_next(tokens, n));
            tokens[n++] = event.token;
        }
    }
    return event;
}

#endif
