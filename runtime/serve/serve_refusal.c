/* serve_refusal.c - see serve_refusal.h. */
#include "serve_refusal.h"
#include <stdarg.h>
#include <stdio.h>

/* Of a body: it is read beside streams, which wait for it. Room for many messages, and some milliseconds. */
enum { KEYS_MOST = 1 << 15 };

bool infrt_refuse(infrt_refusal *refusal, int status, const char *param, const char *format, ...) {
    va_list args;
    if (refusal->status) return false;
    refusal->status = status;
    snprintf(refusal->param, sizeof refusal->param, "%s", param ? param : "");
    va_start(args, format);
    vsnprintf(refusal->text, sizeof refusal->text, format, args);
    va_end(args);
    return false;
}

bool infrt_refuse_memory(infrt_refusal *refusal) {
    return infrt_refuse(refusal, 503, NULL, "there is no memory for the request");
}

bool infrt_body_read(infrt_json_reader *json, const char *body, size_t bytes, infrt_json_take *take,
                     void *self, infrt_refusal *refusal) {
    infrt_json_reader_init(json, body, bytes);
    json->spare = KEYS_MOST;
    if (infrt_json_object(json, take, self) && infrt_json_end(json)) return true;
    return infrt_refuse(refusal, 400, NULL, "the body is not JSON as it is needed: %s, at byte %zu",
                        json->wrong ? json->wrong : "no value", (size_t)(json->at - json->begin));
}
