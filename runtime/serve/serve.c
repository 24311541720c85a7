/* serve.c - a server from its start to its end: the loop of the thread that has all connections. Others compute for it;
 * they hand each other letters. */
#define _GNU_SOURCE 1
#include "serve_server.h"
#include "infrt_os.h"
#include "serve_libevent.h"
#include "serve_signals.h"
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DRAIN_SECONDS = 25, FAREWELL_NS = 1000000000 };

/* ---- letters ------------------------------------------------------------------------------------ */

/* When it shuts down and all is said: out of the loop. Nobody waits for a thread that does not go on. */
static void end_when_done(infrt_server *s) {
    if (s->draining && !infrt_server_alive(s) && !infrt_conns_pending(s)) infrt_end_now(SIGTERM);
    if (s->draining && s->service->idle(s) && !infrt_conns_pending(s))
        event_base_loopbreak(s->base);
}

static void letters_take(infrt_server *s) {
    for (infrt_letter *letter = infrt_mailbox_take(&s->in, 0), *next; letter; letter = next) {
        next = letter->next;
        s->service->letter(s, letter);
    }
}

/* Below the half minute after which Kubernetes kills. */
static uint64_t drain_ns(const infrt_server *s) {
    return s->options->drain_ns ? s->options->drain_ns : DRAIN_SECONDS * UINT64_C(1000000000);
}

/* No more requests are taken, those that run go on. */
static void drain_begin(infrt_server *s) {
    static const struct timeval tick = {.tv_usec = 100000};
    if (event_add(s->tick, &tick) < 0) { /* no memory: again, until there is */
        infrt_mailbox_wake(&s->in);
        return;
    }
    s->draining = true;
    s->drained_ns = infrt_os_now_ns() + drain_ns(s);
}

static void on_mail(evutil_socket_t fd, short what, void *self) {
    infrt_server *s = self;
    (void)fd;
    (void)what;
    letters_take(s); /* first, as it takes what a signal wakes with */
    if (!s->draining && infrt_signals_came()) drain_begin(s);
}

/* The time to end is over: what is left fails, so that its clients hear of it. Who does not listen is left. */
static void drain_end(infrt_server *s) {
    infrt_refusal refusal = {.type = "unavailable_error", .code = "shutting_down"};
    if (infrt_os_now_ns() >= s->drained_ns + FAREWELL_NS) event_base_loopbreak(s->base);
    if (s->service->idle(s) || s->drain_told) return;
    s->drain_told = true;
    infrt_refuse(&refusal, 503, NULL, "the server is shutting down, and the time to end (--drain) is over");
    infrt_log_format(&s->log, "{\"event\":\"drain_over\",\"text\":\"what ran after %.3g s was cancelled\"}\n",
                     (double)drain_ns(s) / 1e9);
    s->service->fail(s, &refusal);
}

/* Ten times a second while it shuts down; what is left to be sent is nobody's event. */
static void on_tick(evutil_socket_t fd, short what, void *self) {
    infrt_server *s = self;
    (void)fd;
    (void)what;
    end_when_done(s);
    if (infrt_os_now_ns() >= s->drained_ns) drain_end(s);
}

static infrt_status hangup_watch(infrt_server *s, infrt_error *error) {
    s->hangup = evsignal_new(s->base, SIGHUP, infrt_on_hangup, s);
    if (s->hangup && evsignal_add(s->hangup, NULL) == 0) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
}

/* ---- start -------------------------------------------------------------------------------------- */

/* libevent ends the process where it gets none for its signals. */
static bool descriptors_left(int any) {
    enum { LEAST = 8 };
    int fds[LEAST], n = 0;
    while (n < LEAST && (fds[n] = dup(any)) >= 0) n++;
    for (int i = 0; i < n; i++) close(fds[i]);
    return n == LEAST;
}

/* As many as the connections need, where the system allows it; told where it does not. */
static void descriptors_raise(infrt_log *log, uint32_t connections) {
    enum {
        OTHERS = 384
    }; /* weights, folders of adapters that wait and sessions, what threads wake each other by */
    const rlim_t needed = (rlim_t)connections + OTHERS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == needed) return;
    infrt_log_format(
        log,
        "{\"event\":\"few_descriptors\",\"text\":\"--connections %u needs %llu open files, and "
        "%llu are allowed: "
        "further connections wait; raise ulimit -n, or give fewer\"}\n",
        connections, (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
}

static infrt_status loop_make(infrt_server *s, infrt_error *error) {
    struct event_config *config = event_config_new();
    bool good = infrt_mailbox_init(&s->in, true) && config;
    if (good && !descriptors_left(s->in.event_fd)) {
        event_config_free(config);
        return infrt_fail(error, INFRT_ERR_IO, "too few files may be open for a server; raise ulimit -n");
    }
    if (good) event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    if (good) s->base = event_base_new_with_config(config);
    if (config) event_config_free(config);
    good = good && s->base;
    if (good) s->mail = event_new(s->base, s->in.event_fd, EV_READ | EV_PERSIST, on_mail, s);
    if (good) s->tick = event_new(s->base, -1, EV_PERSIST, on_tick, s);
    good = good && s->mail && event_add(s->mail, NULL) == 0 && s->tick;
    return good ? INFRT_OK : infrt_fail(error, INFRT_ERR_IO, "no event loop: %s", strerror(errno));
}

infrt_status infrt_server_open(infrt_server *s, const infrt_service *service, const infc_model *model,
                               const infrt_serve_options *options, infrt_error *error) {
    s->service = service;
    s->model = model;
    s->options = options;
    s->created = (int64_t)infrt_os_date();
    signal(SIGPIPE, SIG_IGN);
    infrt_log_open(&s->log);
    infrt_libevent_begin(&s->log);
    descriptors_raise(&s->log, options->connections);
    infrt_status status = loop_make(s, error);
    if (status == INFRT_OK) status = infrt_watch_start(s, error);
    if (status == INFRT_OK && (options->tls_cert || options->tls_key))
        status = infrt_tls_open(options->tls_cert, options->tls_key, &s->tls, error);
    if (status == INFRT_OK) status = hangup_watch(s, error);
    if (status == INFRT_OK) status = infrt_keys_read(&s->keys, options->api_keys, error);
    if (status == INFRT_OK)
        status = infrt_quotas_init(&s->quotas, options, s->keys.n,
                                   model->llm && model->llm->adapters ? model->llm->adapters->max_loaded : 0,
                                   error);
    if (status == INFRT_OK && getrandom(&s->random, sizeof s->random, 0) != sizeof s->random)
        status = infrt_fail(error, INFRT_ERR_IO, "there are no random numbers");
    return status == INFRT_OK ? infrt_conns_listen(s, error) : status;
}

infrt_status infrt_server_run(infrt_server *s, infrt_error *error) {
    infrt_signals_take(s->in.event_fd);
    const infrt_status status = infrt_conns_open(s, error);
    if (status != INFRT_OK) return status;
    const bool good = event_base_dispatch(s->base) >= 0;
    return good ? INFRT_OK : infrt_fail(error, INFRT_ERR_IO, "the event loop failed");
}

/* ---- end ---------------------------------------------------------------------------------------- */

void infrt_server_free(infrt_server *s) {
    infrt_signals_give_back();
    if (s->base) letters_take(s); /* nobody waits for them any more */
    if (s->mail) event_free(s->mail);
    if (s->tick) event_free(s->tick);
    if (s->watch.look) event_free(s->watch.look);
    if (s->hangup) event_free(s->hangup);
    infrt_listen_close(s);
    if (s->base) event_base_free(s->base);
    infrt_mailbox_deinit(&s->in);
    infrt_keys_free(&s->keys);
    infrt_quotas_free(&s->quotas);
    infrt_tls_close(&s->tls);
    infrt_libevent_end();
    infrt_log_close(&s->log);
}
