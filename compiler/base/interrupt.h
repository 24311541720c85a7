/* interrupt.h - the wish that this process ends: set by a handler of signals, looked at by whatever takes long. */
#ifndef INFC_INTERRUPT_H
#define INFC_INTERRUPT_H
#include "cx.h"

/* For signal handlers. Lasts: what runs ends with INFC_ERR_IO, and so does what is begun. */
void infc_interrupt_request(int signal);
/* The signal that asked for it, or 0. */
int infc_interrupt_signal(void);
/* Fails when one has come. Called between stages, passes, nodes, ops and weights, and before anything is put under
 * its final name; loops over the elements of a tensor look at infc_interrupt_signal. */
infc_status infc_interrupt_check(infc_cx *cx);

#endif
