/* serve_text.h - text that grows: bodies as they come in, JSON and other answers as they are made.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_TEXT_H
#define INFRT_SERVE_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start from {0}. When memory runs out `failed` is set, what is there is freed, and nothing is added any more. */
typedef struct infrt_out {
    char *at; /* without a NUL */
    size_t n, room;
    bool failed;
} infrt_out;

void infrt_out_free(infrt_out *out); /* leaves {0} */
void infrt_out_add(infrt_out *out, const char *bytes, size_t n);
void infrt_out_text(infrt_out *out, const char *text);
void infrt_out_format(infrt_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A string of JSON with its quotes; bytes that are not UTF-8 become U+FFFD. */
void infrt_out_string(infrt_out *out, const char *text, size_t n);
/* The same without quotes, for one that is written in parts; parts end between characters. */
void infrt_out_escaped(infrt_out *out, const char *text, size_t n);
/* A finite number that reads back as the same float; what is lower than -9999 or not finite: -9999, as JSON has no
 * infinities. */
void infrt_out_logprob(infrt_out *out, float value);

#endif
