/* interrupt.h - SIGINT, SIGTERM and SIGHUP: end the compilers that run, let the stage be removed, exit. */
#ifndef INFC_INTERRUPT_H
#define INFC_INTERRUPT_H
#include "../base/cx.h"

void infc_interrupt_install(void);
/* The signal that asked this process to end, or 0. A second one ends it at once. */
int infc_interrupt_signal(void);
/* Fails when one has come: called between stages and before anything is put under its final name. */
infc_status infc_interrupt_check(infc_cx *cx);

#endif
