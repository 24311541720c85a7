/* serve_signals.c - see serve_signals.h. */
#define _GNU_SOURCE 1
#include "serve_signals.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static const int numbers[] = {SIGTERM, SIGINT};
static struct sigaction before[2];
static _Atomic int came, wake = -1;

void infrt_end_now(int number) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    _exit(128 + number); /* the first process of a container is not ended by its own signals */
}

static void on_signal(int number) {
    static const uint64_t one = 1;
    const int kept = errno;
    if (atomic_exchange(&came, number)) infrt_end_now(number);
    if (write(wake, &one, sizeof one) < 0) {} /* full: it is told */
    errno = kept;
}

void infrt_signals_take(int event_fd) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (wake >= 0) return;
    sigemptyset(&action.sa_mask);
    came = 0;
    wake = event_fd;
    for (int i = 0; i < 2; i++) sigaction(numbers[i], &action, &before[i]);
}

bool infrt_signals_came(void) { return came != 0; }

void infrt_signals_give_back(void) {
    if (wake < 0) return;
    for (int i = 0; i < 2; i++) sigaction(numbers[i], &before[i], NULL);
    wake = -1;
}
