/* signals.h - SIGINT, SIGTERM and SIGHUP become a request to end (base/interrupt.h): compilers that run are ended,
 * the stage is removed. A second one ends this process at once. */
#ifndef INFC_SIGNALS_H
#define INFC_SIGNALS_H

void infc_signals_install(void);

#endif
