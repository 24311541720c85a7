/* signals.h - SIGINT, SIGTERM and SIGHUP become a request to end (base/interrupt.h): compilers that run are ended,
 * the stage is removed. A second one ends this process at once. SIGXFSZ is ignored, here and in what is run: a write
 * beyond `ulimit -f` fails with EFBIG, as one to a full disk does with ENOSPC. */
#ifndef INFC_SIGNALS_H
#define INFC_SIGNALS_H

void infc_signals_install(void);

#endif
