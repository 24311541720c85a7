/* The parser of requests: what is taken, what is refused and with which status, in pieces of any size. */
#include "http_parse.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { BODY_MOST = 64 };

/* What became of a request that came in pieces of `step` bytes. */
typedef struct outcome {
    infrt_http_event event; /* END, BAD or, when it goes on, MORE */
    int status;
    char body[256];
    size_t body_bytes, used;
} outcome;

static infrt_http http;

static outcome feed(const char *text, size_t n, size_t step) {
    outcome out = {.event = INFRT_HTTP_MORE};
    infrt_http_begin(&http, BODY_MOST);
    while (out.event != INFRT_HTTP_END && out.event != INFRT_HTTP_BAD) {
        const size_t left = n - out.used, piece = left < step ? left : step;
        infrt_http_piece body;
        size_t used;
        out.event = infrt_http_feed(&http, text + out.used, piece, &used, &body);
        assert_true(used <= piece);
        if (out.event == INFRT_HTTP_BODY) {
            assert_ptr_equal(body.at, text + out.used + used - body.bytes);
            memcpy(out.body + out.body_bytes, body.at, body.bytes);
            out.body_bytes += body.bytes;
        }
        out.used += used;
        if (out.event == INFRT_HTTP_MORE && out.used == n) break;
    }
    out.status = http.status;
    return out;
}

static outcome feed_all_ways(const char *text, size_t n) {
    const outcome whole = feed(text, n, n);
    for (size_t step = 1; step < n && step < 40; step++) {
        const outcome pieces = feed(text, n, step);
        assert_int_equal(pieces.event, whole.event);
        assert_int_equal(pieces.status, whole.status);
        assert_int_equal(pieces.body_bytes, whole.body_bytes);
        assert_memory_equal(pieces.body, whole.body, whole.body_bytes);
        assert_int_equal(pieces.used, whole.used);
    }
    return whole;
}

#define POST "POST /v1/completions HTTP/1.1\r\nHost: h\r\n"

static void taken(void **state) {
    (void)state;
    static const struct {
        const char *text, *body;
        bool keep_alive;
    } cases[] = {
        {"GET /health HTTP/1.1\r\nHost: h\r\n\r\n", "", true},
        {"\r\nGET /health HTTP/1.1\r\nHost: h\r\n\r\n", "", true},
        {"GET /health?a=b%20c HTTP/1.1\r\nhOST:h\r\nConnection: Close\r\n\r\n", "", false},
        {"GET / HTTP/1.0\r\n\r\n", "", false},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "", true},
        {"GET / HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n", "", true},
        {"GET / HTTP/1.1\r\nHost: a_b.c-d:80\r\n\r\n", "", true},
        {"GET / HTTP/1.0\r\nConnection: x, keep-alive\r\n\r\n", "", true},
        {POST "Content-Length: 5\r\n\r\nhello", "hello", true},
        {POST "Content-Length: 0\r\n\r\n", "", true},
        {POST "X: \t a\tb \t\r\nContent-Length:5\r\n\r\nhello", "hello", true},
        {POST "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n00002\r\nlo\r\n0\r\n\r\n", "hello", true},
        {POST "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "", true},
        {POST "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n",
         "01234567890123456789", true},
        {POST "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", "x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = strlen(cases[i].text);
        const outcome out = feed_all_ways(cases[i].text, n);
        if (out.event != INFRT_HTTP_END)
            fail_msg("%s: %d %s", cases[i].text, out.status, http.wrong);
        assert_int_equal(out.used, n);
        assert_int_equal(out.body_bytes, strlen(cases[i].body));
        assert_memory_equal(out.body, cases[i].body, out.body_bytes);
        assert_int_equal(http.keep_alive, cases[i].keep_alive);
    }
}

/* What comes after a request is left for the next. */
static void pipelined(void **state) {
    (void)state;
    static const char text[] = POST "Content-Length: 2\r\n\r\nab" POST "\r\n";
    const outcome out = feed_all_ways(text, sizeof text - 1);
    assert_int_equal(out.event, INFRT_HTTP_END);
    assert_string_equal(text + out.used, POST "\r\n");
}

static const struct {
    const char *text;
    int status;
} refused_cases[] = {
    {"GET / HTTP/1.1\nHost: h\r\n\r\n", 400}, /* CVE-2026-45372: bare LF */
    {"GET / HTTP/1.1\r\nHost: h\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400}, /* obs-fold */
    {"GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n", 400},    /* bare CR */
    {"GET / HTTP/1.1\r\nHost: h\r\nA: b\x7f\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", 400}, /* a space before the colon */
    {"GET / HTTP/1.1\r\nHost: h\r\nA\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\n\r\n", 400}, /* no Host */
    {"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400}, /* RFC 9112 3.2: an invalid one */
    {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
    {"GET / HTTP/1.0\r\nHost: a@b\r\n\r\n", 400},
    {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET /\tx HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400},
    {"GET / http/1.1\r\nHost: h\r\n\r\n", 400},
    {"GET /\r\nHost: h\r\n\r\n", 400}, /* HTTP/0.9 */
    {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
    {"\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"\x16\x03\x01\x02\x01", 400},                                         /* TLS */
    {POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400}, /* CVE-2026-45372: both */
    {POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
    {POST "Content-Length: +5\r\n\r\n", 400},
    {POST "Content-Length: 5, 5\r\n\r\n", 400},
    {POST "Content-Length: 0x5\r\n\r\n", 400},
    {POST "Content-Length: -1\r\n\r\n", 400},
    {POST "Content-Length:\r\n\r\n", 400},
    {POST "Content-Length: 18446744073709551617\r\n\r\n", 400},
    {POST "Content-Length: 65\r\n\r\n", 413},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
    {POST "Transfer-Encoding: xchunked\r\n\r\n", 501},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    {POST "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 415}, /* GHSA-xvfx-w463-6fpp */
    {POST "Expect: 200-maybe\r\nContent-Length: 1\r\n\r\n", 417},
    {POST "Transfer-Encoding: chunked\r\n\r\n;a\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413},
    {POST "Transfer-Encoding: chunked\r\n\r\n000000005\r\n", 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n", 400}, /* trailers */
};

static void refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused_cases / sizeof *refused_cases; i++) {
        const outcome out = feed_all_ways(refused_cases[i].text, strlen(refused_cases[i].text));
        if (out.event != INFRT_HTTP_BAD || out.status != refused_cases[i].status)
            fail_msg("%s: event %d status %d, not %d", refused_cases[i].text, out.event, out.status,
                     refused_cases[i].status);
    }
    assert_int_equal(feed_all_ways("GET / HTTP/1.1\r\nHost: h\r\nA: b\0c\r\n\r\n", 37).event, INFRT_HTTP_BAD);
}

/* CVE-2025-46728: the limit counts what has come, whatever chunks say. */
static void chunks_are_counted(void **state) {
    (void)state;
    char text[2048] = POST "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 65; i++) strcat(text, "1\r\nx\r\n");
    const outcome out = feed_all_ways(text, strlen(text));
    assert_int_equal(out.event, INFRT_HTTP_BAD);
    assert_int_equal(out.status, 413);
    assert_int_equal(out.body_bytes, BODY_MOST);
}

/* CVE-2025-48956, CVE-2025-52887: bytes and count of fields have limits. */
static void heads_are_limited(void **state) {
    (void)state;
    static char text[4 * INFRT_HTTP_HEAD];
    size_t n = (size_t)sprintf(text, "GET / HTTP/1.1\r\nHost: h\r\n");
    for (int i = 0; i < INFRT_HTTP_FIELDS; i++) n += (size_t)sprintf(text + n, "A: b\r\n");
    outcome out = feed(text, n, 7);
    assert_int_equal(out.event, INFRT_HTTP_BAD);
    assert_int_equal(out.status, 431);
    n = (size_t)sprintf(text, "GET / HTTP/1.1\r\nHost: h\r\nA: ");
    memset(text + n, 'x', INFRT_HTTP_HEAD);
    out = feed(text, n + INFRT_HTTP_HEAD, 1000);
    assert_int_equal(out.status, 431);
    assert_int_equal(out.used, INFRT_HTTP_HEAD + 1);
    n = (size_t)sprintf(text, "GET /");
    memset(text + n, 'x', INFRT_HTTP_TARGET);
    n += INFRT_HTTP_TARGET;
    n += (size_t)sprintf(text + n, " HTTP/1.1\r\n");
    assert_int_equal(feed(text, n, n).status, 414);
}

static void fields_are_found(void **state) {
    (void)state;
    static const char text[] = "GET /a?b HTTP/1.1\r\nHost: h\r\nAuthorization:  Bearer  k "
                               "\r\nX-Request-Id: %0d%0a\r\n\r\n";
    size_t n;
    assert_int_equal(feed(text, sizeof text - 1, 3).event, INFRT_HTTP_END);
    const char *value = infrt_http_find(&http, "authorization", &n);
    assert_int_equal(n, 9);
    assert_memory_equal(value, "Bearer  k", 9);
    value = infrt_http_find(&http, "x-request-id", &n); /* nothing is decoded */
    assert_memory_equal(value, "%0d%0a", n);
    assert_null(infrt_http_find(&http, "x-request", &n));
    assert_true(infrt_http_is_method(&http, "GET"));
    assert_false(infrt_http_is_method(&http, "GE"));
    assert_memory_equal(http.head + http.target, "/a?b", http.target_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(taken),
                                       cmocka_unit_test(pipelined),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(chunks_are_counted),
                                       cmocka_unit_test(heads_are_limited),
                                       cmocka_unit_test(fields_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
