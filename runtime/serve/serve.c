/* serve.c - see infrt_serve.h: the server from its start to its end. One thread has all connections, one the engine,
 * two do what takes long; they share nothing but letters and the board. */
#define _GNU_SOURCE 1
#include "serve_server.h"
#include "infrt_os.h"
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ---- letters ------------------------------------------------------------------------------------ */

/* When it shuts down and all is said: out of the loop. */
static void end_when_done(infrt_server *s) {
    if (s->draining && !s->n_answers && !s->n_changes && !infrt_conns_pending(s))
        event_base_loopbreak(s->base);
}

static void letters_take(infrt_server *s) {
    for (infrt_letter *letter = infrt_mailbox_take(&s->in, 0), *next; letter; letter = next) {
        next = letter->next;
        switch (letter->kind) {
        case INFRT_LETTER_PREPARE: infrt_job_letter(s, (infrt_serve_job *)letter, true); break;
        case INFRT_LETTER_JOB: infrt_job_letter(s, (infrt_serve_job *)letter, false); break;
        case INFRT_LETTER_PIECE: infrt_piece_letter(s, (infrt_piece *)letter); break;
        default: infrt_change_letter(s, (infrt_adapter_change *)letter);
        }
    }
}

static void on_mail(evutil_socket_t fd, short what, void *self) {
    (void)fd;
    (void)what;
    letters_take(self);
}

/* The first signal: no more requests are taken, those that run go on. The second: the end. */
static void on_signal(evutil_socket_t number, short what, void *self) {
    static const struct timeval tick = {.tv_usec = 100000};
    infrt_server *s = self;
    (void)what;
    if (s->draining) {
        s->signal = (int)number;
        event_base_loopbreak(s->base);
    }
    s->draining = true;
    event_add(s->tick, &tick);
}

/* Ten times a second while it shuts down; what is left to be sent is nobody's event. */
static void on_tick(evutil_socket_t fd, short what, void *self) {
    (void)fd;
    (void)what;
    end_when_done(self);
}

/* ---- start -------------------------------------------------------------------------------------- */

/* One short answer, so that what is needed of the weights is in memory and the first client does not wait for it. */
static infrt_status warm_up(infrt_llm *llm, const infc_model *model, infrt_error *error) {
    const int32_t first = model->llm->bos >= 0 ? model->llm->bos : 0, ids[4] = {first, first, first, first};
    const infrt_llm_request request = {.tokens = ids, .n_tokens = 4, .max_tokens = 2, .ignore_eos = true};
    infrt_llm_event event = {0};
    infrt_llm_id id;
    infrt_status status = infrt_llm_submit(llm, &request, &id, error);
    while (status == INFRT_OK && !event.finish) {
        status = infrt_llm_step(llm, NULL, error);
        while (infrt_llm_poll(llm, id, &event)) {}
    }
    return status;
}

static infrt_status root_open(infrt_server *s, infrt_error *error) {
    const char *root = s->options->adapter_root;
    s->root_fd = -1;
    if (!root) return INFRT_OK;
    s->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (s->root_fd >= 0) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_IO, "--adapter-root %s: %s", root, strerror(errno));
}

static infrt_status loop_make(infrt_server *s, infrt_error *error) {
    static const int numbers[] = {SIGTERM, SIGINT};
    struct event_config *config = event_config_new();
    bool good = infrt_mailbox_init(&s->in, true) && config;
    if (good) event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    if (good) s->base = event_base_new_with_config(config);
    if (config) event_config_free(config);
    good = good && s->base;
    if (good) s->mail = event_new(s->base, s->in.event_fd, EV_READ | EV_PERSIST, on_mail, s);
    if (good) s->tick = event_new(s->base, -1, EV_PERSIST, on_tick, s);
    for (int i = 0; i < 2 && good; i++) {
        s->signals[i] = evsignal_new(s->base, numbers[i], on_signal, s);
        good = s->signals[i] && evsignal_add(s->signals[i], NULL) == 0;
    }
    good = good && s->mail && event_add(s->mail, NULL) == 0 && s->tick;
    return good ? INFRT_OK : infrt_fail(error, INFRT_ERR_IO, "no event loop: %s", strerror(errno));
}

static infrt_status threads_start(infrt_server *s, infrt_llm *llm, infrt_error *error) {
    infrt_status status = infrt_worker_thread_start(&s->preparer, s->model, &s->in, error);
    if (status == INFRT_OK) status = infrt_worker_thread_start(&s->loader, s->model, &s->in, error);
    if (status == INFRT_OK)
        status = infrt_engine_thread_start(&s->engine, llm, s->model, &s->in, error);
    return status;
}

/* ---- end ---------------------------------------------------------------------------------------- */

static void server_free(infrt_server *s) {
    infrt_conns_close(s); /* their jobs are cancelled */
    infrt_worker_thread_stop(&s->preparer);
    infrt_worker_thread_stop(&s->loader);
    infrt_engine_thread_stop(&s->engine);
    if (s->base) letters_take(s); /* nobody waits for them any more */
    if (s->mail) event_free(s->mail);
    if (s->tick) event_free(s->tick);
    for (int i = 0; i < 2; i++)
        if (s->signals[i]) event_free(s->signals[i]);
    infrt_listen_close(s);
    if (s->base) event_base_free(s->base);
    infrt_mailbox_deinit(&s->in);
    infrt_keys_free(&s->keys);
    if (s->root_fd >= 0) close(s->root_fd);
    libevent_global_shutdown();
}

infrt_status infrt_serve(infrt_llm *llm, const infc_model *model,
                         const infrt_serve_options *options, int *out_signal, infrt_error *error) {
    infrt_server *s = calloc(1, sizeof *s);
    *out_signal = 0;
    if (!s) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the server");
    s->model = model;
    s->options = options;
    s->created = (int64_t)time(NULL);
    signal(SIGPIPE, SIG_IGN);
    infrt_llm_describe(llm, &s->facts);
    infrt_status status = root_open(s, error);
    if (status == INFRT_OK) status = infrt_keys_read(&s->keys, options->api_keys, error);
    if (status == INFRT_OK && getrandom(&s->random, sizeof s->random, 0) != sizeof s->random)
        status = infrt_fail(error, INFRT_ERR_IO, "there are no random numbers");
    if (status == INFRT_OK) status = loop_make(s, error);
    if (status == INFRT_OK) status = infrt_conns_listen(s, error);
    if (status == INFRT_OK) status = warm_up(llm, model, error);
    if (status == INFRT_OK) status = threads_start(s, llm, error);
    if (status == INFRT_OK) {
        infrt_conns_open(s);
        if (event_base_dispatch(s->base) < 0)
            status = infrt_fail(error, INFRT_ERR_IO, "the event loop failed");
        *out_signal = s->signal;
    }
    server_free(s);
    free(s);
    return status;
}
