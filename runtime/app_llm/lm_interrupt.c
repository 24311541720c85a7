/* lm_interrupt.c - signals that stop an answer. A second one, while the first has not been seen, ends the program. */
#define _GNU_SOURCE 1
#include "lm_app.h"
#include <signal.h>
#include <stdatomic.h>

static infrt_llm *_Atomic answering;
static _Atomic uint64_t answer_id;
static _Atomic int came;

static void on_signal(int number) {
    infrt_llm *llm = atomic_load(&answering);
    if (atomic_exchange(&came, number) == number) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when this handler returns */
    }
    if (llm) infrt_llm_cancel(llm, atomic_load(&answer_id));
}

void infrt_lm_interruptible(infrt_llm *llm, infrt_llm_id id) {
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: reading a line ends, too */
    atomic_store(&answer_id, id);
    atomic_store(&answering, id ? llm : NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int infrt_lm_interrupted(void) { return atomic_exchange(&came, 0); }
