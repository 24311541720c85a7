/* serve_refusal.h - what is wrong with a request: the answer to it. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_REFUSAL_H
#define INFRT_SERVE_REFUSAL_H
#include <stdbool.h>

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

#endif
