/* serve_refusal.h - what is wrong with a request: the answer to it. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_REFUSAL_H
#define INFRT_SERVE_REFUSAL_H
#include "json_read.h"

enum { INFRT_REFUSAL_PATH = 96 };

typedef struct infrt_refusal {
    int status;                     /* of HTTP; 0: nothing is wrong */
    const char *type, *code;        /* null: by the status, none */
    unsigned retry_after;           /* with 429 and 503: seconds; 0: one */
    char param[INFRT_REFUSAL_PATH]; /* path of the field; empty: none */
    char text[512];
    char allow[40]; /* of 405: the methods that the path has */
} infrt_refusal;

/* False. Does nothing when something is wrong already. */
bool infrt_refuse(infrt_refusal *refusal, int status, const char *param, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool infrt_refuse_memory(infrt_refusal *refusal); /* 503: there is none for the request */
/* A body that is one object, whose members `take` takes. False: it refused one of them, or the JSON is wrong. */
bool infrt_body_read(infrt_json_reader *json, const char *body, size_t bytes, infrt_json_take *take,
                     void *self, infrt_refusal *refusal);

#endif
