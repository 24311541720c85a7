/* serve_libevent.c - see serve_libevent.h. */
#include "serve_libevent.h"
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local bool lacked;
static _Thread_local infrt_log *warnings;

static void *note(void *at) {
    lacked = lacked || !at;
    return at;
}
static void *noted_malloc(size_t n) { return note(malloc(n)); }
static void *noted_realloc(void *at, size_t n) { return note(realloc(at, n)); }

/* Without this it writes to stderr itself, between lines of JSON. */
static void on_warning(int severity, const char *text) {
    infrt_out line = {0};
    if (!warnings || severity == EVENT_LOG_DEBUG) return;
    infrt_out_text(&line, "{\"event\":\"libevent\",\"text\":");
    infrt_out_string(&line, text, strlen(text));
    infrt_out_text(&line, "}\n");
    infrt_log_put(warnings, &line);
    infrt_out_free(&line);
}

void infrt_libevent_begin(infrt_log *log) {
    event_set_mem_functions(noted_malloc, noted_realloc, free);
    event_set_log_callback(on_warning);
    warnings = log;
}

void infrt_libevent_end(void) {
    warnings = NULL;
    libevent_global_shutdown();
    event_set_log_callback(NULL);
}

bool infrt_libevent_lacked(void) {
    const bool was = lacked;
    lacked = false;
    return was;
}
