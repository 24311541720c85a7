/* serve_reload.c - what SIGHUP asks for: the certificate with its key and the API keys are read again. What is there
 * stays when what comes is no good. */
#include "serve_server.h"
#include <string.h>

static void reload_log(infrt_server *s, const char *event, const infrt_error *error) {
    infrt_out line = {0};
    infrt_out_format(&line, "{\"event\":\"%s\",\"good\":%s", event, error->text[0] ? "false" : "true");
    if (error->text[0]) {
        infrt_out_text(&line, ",\"error\":");
        infrt_out_string(&line, error->text, strlen(error->text));
    }
    infrt_out_text(&line, "}\n");
    infrt_log_put(&s->log, &line);
    infrt_out_free(&line);
}

/* Connections that are there keep the old one. */
static void tls_read(infrt_server *s) {
    infrt_tls *fresh;
    infrt_error error = {0};
    const bool good = infrt_tls_open(s->options->tls_cert, s->options->tls_key, &fresh, &error) == INFRT_OK;
    if (good) {
        infrt_tls_close(&s->tls);
        s->tls = fresh;
    }
    s->metrics.tls_read[!good]++;
    reload_log(s, "tls_reload", &error);
}

/* Requests that are under way go on, whosever they are. */
static void keys_read(infrt_server *s) {
    infrt_error error = {0};
    infrt_keys fresh, old = s->keys;
    infrt_status status = infrt_keys_again(&old, s->options->api_keys, &fresh, &error);
    if (status == INFRT_OK) status = infrt_quotas_grow(&s->quotas, fresh.n, &error);
    if (status == INFRT_OK) s->keys = fresh;
    infrt_keys_free(status == INFRT_OK ? &old : &fresh);
    s->metrics.keys_read[status != INFRT_OK]++;
    reload_log(s, "keys_reload", &error);
}

void infrt_on_hangup(int number, short what, void *server) {
    infrt_server *s = server;
    (void)number;
    (void)what;
    const bool keys = infrt_keys_are_file(s->options->api_keys);
    if (s->tls) tls_read(s);
    if (keys) keys_read(s);
    if (!s->tls && !keys)
        infrt_log_format(
            &s->log,
            "{\"event\":\"hangup\",\"text\":\"only a TLS certificate and a file of API keys are "
            "read again, and "
            "there is neither; for other keys or settings start the server again\"}\n");
}
