/* serve_signals.h - SIGTERM and SIGINT while a server runs: the first shuts it down, a second one ends the process at
 * once, whatever the server does. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_SIGNALS_H
#define INFRT_SERVE_SIGNALS_H
#include <stdbool.h>

/* `event_fd` is written to when the first one comes. One server of a process at a time. */
void infrt_signals_take(int event_fd);
bool infrt_signals_came(void);
void infrt_signals_give_back(void); /* they do what they did before; fine without infrt_signals_take */
/* Ends the process as if the signal were not handled. */
_Noreturn void infrt_end_now(int number);

#endif
