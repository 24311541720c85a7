#include "interrupt.h"
#include "../base/subprocess.h"
#include <signal.h>

static volatile sig_atomic_t received;

static void on_signal(int number) {
    received = number;
    infc_jobs_interrupt();
}

void infc_interrupt_install(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        /* What the parent ignores stays ignored: nohup, background jobs of a script. */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

int infc_interrupt_signal(void) { return received; }

infc_status infc_interrupt_check(infc_cx *cx) {
    if (!received) return INFC_OK;
    return infc_fail(cx, INFC_ERR_IO, INFC_NO_LOC, "interrupted");
}
