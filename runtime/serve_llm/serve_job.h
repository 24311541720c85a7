/* serve_job.h - what the server's threads work on: requests for answers (jobs), pieces of answers, changes of adapters.
 * Each is owned by the network thread but between the letter that hands it on and the one that brings it back.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_SERVE_JOB_H
#define INFRT_SERVE_JOB_H
#include "mailbox.h"
#include "request_read.h"
#include "serve_text.h"
#include <stdatomic.h>

typedef enum infrt_letter_kind {
    INFRT_LETTER_PREPARE = 1, /* job: to the preparing thread and back */
    INFRT_LETTER_JOB,         /* job: to the engine, and back when all of its answers have ended */
    INFRT_LETTER_PIECE,       /* from the engine */
    INFRT_LETTER_ADAPTER,     /* adapter change: to the loading thread, the engine, and back */
    INFRT_LETTER_SESSION, /* task: to the loading thread and the engine in turns, and back from each */
    INFRT_LETTER_STOP,    /* the thread that gets it ends */
} infrt_letter_kind;

typedef struct infrt_choice { /* one answer */
    uint32_t prompt;          /* index */
    infrt_llm_id id;          /* the engine's; 0: it has ended */
} infrt_choice;

typedef struct infrt_serve_job {
    infrt_letter letter;
    void *owner; /* of the network thread: who waits for it; null: nobody any more */
    infrt_ask ask;
    const char *adapter; /* in ask.texts; null: the base */
    uint64_t seed, salt;
    char tenant[17];       /* of the key; empty: there are no keys */
    infrt_choice *choices; /* [n_choices], prompt by prompt */
    uint32_t n_choices;
    /* Set by the network thread while the engine has it: it is no longer wanted; its reader is slow, so that nothing
     * more shall be sent. */
    _Atomic bool cancelled, stalled;
    infrt_error error;                    /* why it could not begin */
    bool adapter_gone;                    /* that is why */
    uint64_t begin_ns, queued_ns;         /* when it came, and when it went to the engine */
    uint64_t deadline_ns;                 /* 0: none */
    uint32_t key;                         /* whose it is; 0: nobody's in particular */
    uint64_t held;                        /* tokens of that key's quota */
    struct infrt_serve_job *next_running; /* the engine's */
    uint32_t n_running;
} infrt_serve_job;

/* One event of one answer. The receiver frees it. */
typedef struct infrt_piece {
    infrt_letter letter;
    infrt_serve_job *job;
    uint32_t choice;
    infrt_llm_event event; /* text and top lie behind it */
} infrt_piece;

/* A folder that is read, times its weight. */
typedef struct infrt_adapter_part {
    char folder[64]; /* of /proc/self/fd */
    char path[256];  /* as the client said it, for messages */
    char sha256[65]; /* that its weights have to have, in hexadecimal; empty: any */
    float weight;
    int fd; /* open until it has been read; -1: none */
} infrt_adapter_part;

enum { INFRT_CHANGES_MOST = 32 }; /* that wait at a time */

typedef struct infrt_adapter_change {
    infrt_letter letter;
    void *owner;
    bool removes, in_place; /* in_place: one of that name is replaced */
    bool told;              /* to the engine */
    _Atomic bool abandoned; /* its client has left: folders that have not been read need not be */
    char name[INFRT_LLM_ADAPTER_NAME];
    infrt_adapter_part parts[INFRT_LLM_ADAPTER_PARTS];
    uint32_t n_parts; /* 0: it is removed */
    uint32_t key;     /* who loads it */
    infrt_llm_adapter *adapter;
    infrt_error error;
    int http_status; /* of the answer, when `error` says something */
    /* For the log: */
    const char *result; /* what became of it */
    infrt_out source;   /* of its folders, in a string of JSON */
    char request_id[65];
    uint64_t begin_ns, bytes;             /* bytes: of memory; 0: it was not read */
    char evicted[INFRT_LLM_ADAPTER_NAME]; /* who gave way; empty: nobody */
    uint64_t evicted_bytes;
} infrt_adapter_change;

void infrt_adapter_parts_close(infrt_adapter_part *parts, uint32_t n);

#endif
