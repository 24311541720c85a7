/* scheduler.h - which requests run, and how many rows each has in the next step. Knows requests as numbers, so that it
 * can be tested without a model; cache and sequences are its owner's, who does what it decides.
 *
 * In a step every running job with one token left to compute (an answer) has one row; prompts fill up what is left of
 * the chunk, or of the time that a step may take. Who comes first, of those that wait and of prompts:
 *   1. the lower level: the priority, one less for each second since arrival, but never below the lowest priority there
 *      is; so every job reaches the first level, and there waits only for its tenant's turn;
 *   2. what has begun: prompts that had rows; of those that wait, the ones that gave blocks back, 3 times at most;
 *   3. the tenant that was served least. A token of a prompt counts 1, of an answer 2; a tenant that comes (back) is
 *      moved up to the least served of those present (virtual token counters, Sheng et al., OSDI 2024);
 *   4. the earlier arrival.
 *
 * A job is let in when there are blocks for all of its tokens and of those that run, and one more for each of
 * these. When a running job needs a block and there is none, the worst of those that run gives all of its back, and
 * is computed again from its tokens later: one whose client does not read, else the one of the highest level, else
 * the last that came. The best of those that run never is, and any job fits alone, so all come to their end. A job
 * also gives way to one of a lower level that waits for its place, 3 times at most. A job that begins like a prompt
 * which is being computed waits for that one's blocks, and meanwhile others pass it. */
#ifndef INFRT_SCHEDULER_H
#define INFRT_SCHEDULER_H
#include "step_time.h"
#include <stdbool.h>

#define INFRT_AGE_NS UINT64_C(1000000000)
enum { INFRT_BOOSTS = 3, INFRT_PROMPT_WEIGHT = 1, INFRT_ANSWER_WEIGHT = 2 };

typedef enum infrt_job_state {
    INFRT_JOB_FREE = 0,
    INFRT_JOB_WAITING,
    INFRT_JOB_RUNNING,
    INFRT_JOB_DONE, /* its owner still has something to tell */
} infrt_job_state;

/* A request. The owner says: */
typedef struct infrt_job {
    int32_t priority;
    uint64_t order, arrived_ns; /* order: of arrival, never the same */
    uint32_t n, n_prompt;       /* tokens so far, and those of its prompt */
    uint32_t n_computed;        /* of these in the cache */
    uint32_t n_blocks;          /* that it holds */
    bool ready;                 /* room for a further token */
    /* The scheduler says: */
    infrt_job_state state; /* waiting or running, as long as it is the scheduler's */
    uint32_t n_rows;       /* in this step */
    uint32_t n_preempted;  /* how often it gave its blocks back */
    uint32_t n_yielded;    /* of these, to one of a lower level */
    int32_t level;
    bool begun;
    uint32_t tenant, place; /* indexes */
} infrt_job;

/* What the owner does. */
typedef struct infrt_job_owner {
    void *self;
    uint32_t (*blocks_free)(void *self);
    /* It runs: gives it the blocks that the cache has of its beginning; at least one token is left. */
    void (*begin)(void *self, infrt_job *job);
    bool (*take_block)(void *self, infrt_job *job); /* one more; false: there is none */
    void (*give_back)(void *self, infrt_job *job); /* all of them; nothing of it is computed any more */
    /* Whether `running` is about to compute a full block that `waiting` could use; may be null. */
    bool (*computes_for)(void *self, const infrt_job *running, const infrt_job *waiting);
} infrt_job_owner;

typedef struct infrt_tenant {
    uint64_t key, served;
    uint32_t n_jobs; /* waiting or running */
    bool known;
} infrt_tenant;

typedef struct infrt_scheduler {
    uint32_t chunk, sequences, block_positions; /* most rows of a step, most that run */
    uint64_t target_ns, age_ns; /* of a step with answers, 0: no limit; of one level */
    infrt_job_owner owner;
    infrt_step_time time;
    uint32_t most, n_jobs, n_running; /* jobs: waiting and running ones; most: of them */
    uint32_t n_answers, n_prompts;    /* rows of this step */
    uint32_t n_preempted;             /* in all */
    uint64_t last_served;             /* by the tenant that left last, when all had left */
    infrt_job **jobs;                 /* [most] */
    infrt_job **running;              /* [sequences], in the order of their turns */
    infrt_tenant *tenants;            /* [most] */
} infrt_scheduler;

/* `jobs`, `running` and `tenants` are the caller's, zeroed; so are the numbers above them that the owner chooses. */
void infrt_scheduler_add(infrt_scheduler *s, infrt_job *job, uint64_t tenant);
/* The job, waiting or running, is no longer the scheduler's; a running one gives back what it holds. */
void infrt_scheduler_remove(infrt_scheduler *s, infrt_job *job);
/* Decides the next step: state and n_rows of all jobs. */
void infrt_scheduler_plan(infrt_scheduler *s, uint64_t now_ns);
/* The step took so long. */
void infrt_scheduler_took(infrt_scheduler *s, uint64_t ns);

/* Whether one row completes what is known of it, as for each token of an answer. */
static inline bool infrt_job_answers(const infrt_job *job) { return job->n - job->n_computed == 1; }

/* scheduler_tenants.c: the place of a tenant, which has one job more; one less. */
uint32_t infrt_tenant_hold(infrt_scheduler *s, uint64_t key);
void infrt_tenant_drop(infrt_scheduler *s, uint32_t place);

#endif
