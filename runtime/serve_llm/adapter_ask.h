/* adapter_ask.h - the bodies of POST /v1/load_lora_adapter and /v1/unload_lora_adapter. SPDX-License-Identifier: MIT */
#ifndef INFRT_ADAPTER_ASK_H
#define INFRT_ADAPTER_ASK_H
#include "infrt_llm.h"
#include "serve_refusal.h"
#include "serve_text.h"

typedef struct infrt_asked_part { /* a folder times its weight */
    char path[1024], sha256[65]; /* sha256: that its weights have to have, in hexadecimal; empty: any */
    double weight;
} infrt_asked_part;

typedef struct infrt_adapter_ask {
    char name[INFRT_LLM_ADAPTER_NAME];
    infrt_asked_part parts[INFRT_LLM_ADAPTER_PARTS]; /* lora_path: one */
    uint32_t n;
    bool path, sum, in_place; /* path, sum: it was given as such */
} infrt_adapter_ask;

/* `loads`: a folder is needed; else only the name counts. False: `refusal` says why, and what had been read by then is
 * there. Safe for any bytes. */
bool infrt_adapter_ask_read(const char *body, size_t bytes, bool loads, infrt_adapter_ask *out,
                            infrt_refusal *refusal);
/* Its folders as --adapter has them: "sql", or "0.7*sql,0.3*poems" of a sum; without quotes, of a string of JSON. */
void infrt_adapter_source_put(const infrt_adapter_ask *ask, infrt_out *out);

#endif
