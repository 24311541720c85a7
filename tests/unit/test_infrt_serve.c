/* The server in this process over the fake model, with clients on threads: for the thread sanitizer above all.
 * What answers say is tested from outside, over models with text. */
#include "infrt_fake_llm.h"
#include "infrt_serve.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { CLIENTS = 6, REQUESTS = 15, REPLY_ROOM = 1 << 16 };

typedef struct serving {
    infrt_serve_options options;
    infrt_status status;
    infrt_error error;
} serving;

static void *serve(void *self) {
    serving *s = self;
    infrt_llm *llm;
    s->status = infrt_llm_open(&fake_llm, &(infrt_llm_config){.workers = 2, .requests = 12}, &llm, &s->error);
    if (s->status == INFRT_OK) s->status = infrt_serve_llm(llm, &fake_llm, &s->options, &s->error);
    infrt_llm_close(&llm);
    return NULL;
}

/* A port that was free a moment ago. */
static uint32_t port_find(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static int client_connect(uint32_t port) {
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t)port)};
    for (int i = 0; i < 2000; i++) { /* until it listens */
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
        close(fd);
        usleep(5000);
    }
    return -1;
}

#define FIELDS "Host: h\r\nConnection: close\r\nContent-Type: application/json\r\n"

/* The reply to `body`, or to a GET without one; *n bytes. Null: the client left at once. */
static bool ask(uint32_t port, const char *path, const char *body, bool leaves, char *reply) {
    char text[1024];
    const int fd = client_connect(port);
    size_t n = 0;
    ssize_t more = -1;
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\n" FIELDS "Content-Length: %zu\r\n\r\n%s",
             body ? "POST" : "GET", path, body ? strlen(body) : 0, body ? body : "");
    if (fd < 0) return false;
    const bool sent = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    while (sent && !leaves && n < REPLY_ROOM - 1 && (more = read(fd, reply + n, REPLY_ROOM - 1 - n)) > 0)
        n += (size_t)more;
    reply[n] = 0;
    close(fd);
    return sent && (leaves || (more == 0 && n > 0));
}

typedef struct client {
    pthread_t thread;
    uint32_t port, number, n_wrong;
} client;

static void *client_run(void *self) {
    static const struct {
        const char *path, *body, *status;
    } asked[] = {
        {"/v1/completions", "{\"prompt\": [1, 2, 3], \"max_tokens\": 30, \"ignore_eos\": true}", "HTTP/1.1 200 "},
        {"/v1/completions", "{\"prompt\": [[1, 2], [3]], \"n\": 2, \"stream\": true, \"logprobs\":2}", "HTTP/1.1 200 "},
        {"/v1/completions", "{\"prompt\": [4], \"max_tokens\": 150, \"stream\": true}", "HTTP/1.1 200 "},
        {"/v1/completions", "{\"prompt\": [99]}", "HTTP/1.1 400 "},
        {"/metrics", NULL, "HTTP/1.1 200 "},
    };
    client *c = self;
    char *reply = malloc(REPLY_ROOM);
    for (uint32_t i = 0; reply && i < REQUESTS; i++) {
        const uint32_t kind = (i + c->number) % 5;
        const bool leaves = i % 4 == 3;
        const bool good = ask(c->port, asked[kind].path, asked[kind].body, leaves, reply);
        const bool told = !strncmp(reply, asked[kind].status, 13) || !strncmp(reply, "HTTP/1.1 429 ", 13);
        if (!good || (!leaves && !told)) c->n_wrong++;
    }
    free(reply);
    return NULL;
}

static void clients_come_and_go(void **state) {
    (void)state;
    serving s = {.options = {.host = "127.0.0.1", .queue = 8, .connections = 100, .max_body = 4096}};
    client clients[CLIENTS];
    pthread_t thread;
    static char reply[REPLY_ROOM];
    s.options.port = port_find();
    assert_int_equal(pthread_create(&thread, NULL, serve, &s), 0);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){.port = s.options.port, .number = i};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, client_run, &clients[i]), 0);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) pthread_join(clients[i].thread, NULL);
    for (uint32_t i = 0; i < CLIENTS; i++) assert_int_equal(clients[i].n_wrong, 0);
    assert_true(ask(s.options.port, "/v1/completions",
                    "{\"prompt\": [1], \"max_tokens\": 5, \"temperature\": 0}", false, reply));
    assert_non_null(strstr(reply, "\"completion_tokens\":"));
    kill(getpid(), SIGTERM);
    pthread_join(thread, NULL);
    if (s.status != INFRT_OK) fail_msg("%s", s.error.text);
    assert_int_equal(fake_wrongs, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(clients_come_and_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
