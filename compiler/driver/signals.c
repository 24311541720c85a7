#include "signals.h"
#include "../base/interrupt.h"
#include <signal.h>

void infc_signals_install(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, action = {.sa_handler = infc_interrupt_request, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        /* What the parent ignores stays ignored: nohup, background jobs of a script. */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}
