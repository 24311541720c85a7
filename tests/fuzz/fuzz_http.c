/* The parser of HTTP requests on any bytes: in pieces it says the same as at once, and what it points to is there. */
#include "http_parse.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
    infrt_http_event event;
    int status;
    uint64_t sum;
    size_t used;
} outcome;

static outcome run(infrt_http *http, const char *text, size_t n, size_t step) {
    outcome out = {.event = INFRT_HTTP_MORE};
    infrt_http_begin(http, 4096);
    for (;;) {
        infrt_http_piece body;
        size_t used, piece = n - out.used < step ? n - out.used : step;
        out.event = infrt_http_feed(http, text + out.used, piece, &used, &body);
        if (used > piece) abort();
        if (out.event == INFRT_HTTP_BODY)
            for (size_t i = 0; i < body.bytes; i++)
                out.sum = out.sum * 31 + (unsigned char)body.at[i] + 1;
        out.used += used;
        if (out.event == INFRT_HTTP_END || out.event == INFRT_HTTP_BAD) break;
        if (out.event == INFRT_HTTP_MORE && out.used == n) break;
    }
    out.status = http->status;
    if (http->body_bytes > 4096 || http->n_fields > INFRT_HTTP_FIELDS || http->n_head > INFRT_HTTP_HEAD)
        abort();
    for (uint32_t i = 0; i < http->n_fields; i++)
        if (http->fields[i].value + http->fields[i].value_bytes > http->n_head) abort();
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static infrt_http whole, pieces;
    const outcome a = run(&whole, (const char *)data, size, size + 1),
                  b = run(&pieces, (const char *)data, size, 3);
    if (a.event != b.event || a.status != b.status || a.sum != b.sum || a.used != b.used) abort();
    return 0;
}
