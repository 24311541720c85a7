/* embed_read.h - the body of POST /v1/embeddings, as OpenAI's API has it. Limits are checked before memory is taken.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_EMBED_READ_H
#define INFRT_EMBED_READ_H
#include "serve_refusal.h"
#include <stddef.h>
#include <stdint.h>

enum { INFRT_EMBED_TEXTS = 2048 /* of one request */ };

typedef struct infrt_embed_text {
    const char *text; /* null: ids */
    size_t bytes;
    uint32_t first, n_ids; /* in `ids` */
} infrt_embed_text;

typedef struct infrt_embed {
    char *texts;              /* all of them, each with a NUL */
    int32_t *ids;             /* all of them */
    infrt_embed_text *inputs; /* [n_inputs], at least one */
    uint32_t n_inputs;
    bool base64;
    uint64_t timeout_ns; /* 0: not said */
    const char *model;   /* in `texts`; null: not said */
} infrt_embed;

/* `width`: of the vectors, the only `dimensions` that can be had; `most_ids`: of one text. False: `refusal` says why.
 * To be freed in any case. Safe for any bytes. */
bool infrt_embed_read(const char *body, size_t bytes, uint64_t width, uint32_t most_ids,
                      infrt_embed *out, infrt_refusal *refusal);
void infrt_embed_free(infrt_embed *embed);

#endif
