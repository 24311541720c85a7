#include "interrupt.h"
#include <signal.h>

static volatile sig_atomic_t received;

void infc_interrupt_request(int signal) { received = signal; }

int infc_interrupt_signal(void) { return received; }

infc_status infc_interrupt_check(infc_cx *cx) {
    if (!received) return INFC_OK;
    return infc_fail(cx, INFC_ERR_IO, INFC_NO_LOC, "interrupted");
}
