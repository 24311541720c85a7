/* request_values.h - one value of a request each: its type and range, and where it goes.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_REQUEST_VALUES_H
#define INFRT_REQUEST_VALUES_H
#include "json_read.h"
#include "request_read.h"

typedef struct infrt_reading {
    infrt_json_reader json;
    infrt_ask *ask;
    infrt_refusal *refusal;
    uint32_t most_ids, n_vocab;
    bool *seen;                    /* of each field */
    char path[INFRT_REFUSAL_PATH]; /* of the value that is read */
    /* Of the message that is read: */
    const char *role, *content;
    size_t parts;
} infrt_reading;

/* Takes the value that comes next, in [least, most], to `out`; false, and the refusal says why. */
typedef bool infrt_take_value(infrt_reading *r, void *out, double least, double most);
infrt_take_value infrt_take_NAME, infrt_take_MESSAGES, infrt_take_PROMPT, infrt_take_COUNT,
    infrt_take_BOOL, infrt_take_OPTIONS, infrt_take_STOP, infrt_take_SEED, infrt_take_NUMBER,
    infrt_take_TOP_K, infrt_take_BIAS, infrt_take_LOGPROBS, infrt_take_IDS, infrt_take_SIGNED;

/* "messages[1].content: a text is needed, not a number" */
bool infrt_take_wrong(infrt_reading *r, const char *needed);
/* "messages[1].role is there twice": what two readers could take differently. */
bool infrt_take_twice(infrt_reading *r);
/* A string into the request's texts; null and the refusal when it is none. */
const char *infrt_take_text(infrt_reading *r, const char *needed);
/* The path goes on by this; returns what to cut it back to. */
size_t infrt_path_key(infrt_reading *r, const char *key);
size_t infrt_path_index(infrt_reading *r, uint32_t index);

#endif
