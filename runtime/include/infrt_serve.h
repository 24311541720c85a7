/* infrt_serve.h - a model over HTTP. SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_H
#define INFRT_SERVE_H
#include "infrt_llm.h"

typedef struct infrt_serve_options {
    const char *host;
    uint32_t port;                  /* 0: any that is free */
    const char *api_keys;           /* "env:NAME", or a file; null: no key is asked for */
    uint32_t queue;                 /* answers that may wait for those that run */
    uint32_t connections;           /* most at a time */
    uint64_t max_body;              /* bytes of a request */
    const char *tls_cert, *tls_key; /* files, PEM; null: HTTP */
    const char *adapter_root; /* folder below which adapters may be loaded; null: from nowhere */
    const char *session_root; /* folder below which sessions are saved; null: nowhere */
    /* Of each key; without keys of all clients together. 0: any number. */
    uint32_t requests_per_minute;
    uint32_t key_adapters;  /* loaded at a time */
    uint64_t key_sessions;  /* bytes of sessions on the disk */
    uint64_t key_tokens;    /* of the cache, that answers under way may come to need */
    uint64_t timeout_ns;    /* from a request to the end of its answer; 0: any */
    uint64_t watchdog_ns;   /* a step that takes longer stands still; 0: a minute */
    uint64_t drain_ns;      /* that requests have to end after a signal; 0: 25 s */
    uint64_t batch_wait_ns; /* of tensors: how long a run may wait for rows of further requests */
} infrt_serve_options;

/* A language model, as OpenAI's API has it. Serves until SIGTERM or SIGINT and until what runs then has ended; a second
 * signal ends the process at once, as if it were not handled. Prints one line to stdout once it takes requests, and a
 * line of JSON to stderr for each, which is dropped where stderr takes no more. The engine is borrowed and has to have
 * been opened for `queue` more requests than the model answers in a step. INFRT_ERR_IO: the address cannot be had;
 * INFRT_ERR_USAGE: no keys. */
infrt_status infrt_serve_llm(infrt_llm *llm, const infc_model *model,
                             const infrt_serve_options *options, infrt_error *error);

/* A model of tensors, as the Open Inference Protocol, version 2, has it, and where it was compiled for texts as OpenAI
 * has embeddings. The same otherwise. Runs are by `workers` each, as many at a time as there are CPUs for. */
infrt_status infrt_serve_tensors(const infc_model *model, const infrt_weights *weights, uint32_t workers,
                                 const infrt_serve_options *options, infrt_error *error);

#endif
