/* scheduler_owner.h - whom the scheduler works for in its tests: jobs with made-up tokens and a real pool of blocks. It
 * does what it is asked to as the engine does, and looks at each decision. */
#ifndef SCHEDULER_OWNER_H
#define SCHEDULER_OWNER_H
#include "infc_abi.h"
#include "kv_pool.h"
#include "scheduler.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum {
    PER = 4,
    CONTEXT = 64,
    MOST_JOBS = 24,
    MOST_BLOCKS = 128,
    MOST_SEQUENCES = 8,
    MOST_TENANTS = 8
};

typedef struct world_job {
    infrt_job job; /* first */
    int32_t tokens[CONTEXT], table[CONTEXT / PER];
    uint32_t limit, n_named, n_served; /* n_served: positions that were computed once */
    uint32_t tenant;
    uint64_t name;
} world_job;

typedef struct world {
    uint64_t seed, drawn;
    infrt_scheduler s;
    infrt_kv_pool pool;
    world_job jobs[MOST_JOBS];
    infrt_job *places[MOST_JOBS], *running[MOST_SEQUENCES];
    infrt_tenant tenants[MOST_JOBS];
    uint64_t now, n_arrived, n_ended, step_rows;
    uint32_t n_refused_blocks, n_unread, most_priority, n_tenants;
    bool shares; /* blocks are named */
    uint64_t served[MOST_TENANTS];
} world;

static inline uint32_t draw(world *w, uint32_t n) {
    return (uint32_t)(infc_check_random(w->seed, w->drawn++, 0) >> 33) % n;
}

static inline bool lives(const infrt_job *job) {
    return job->state == INFRT_JOB_WAITING || job->state == INFRT_JOB_RUNNING;
}

/* ---- what the scheduler asks for ---- */

static uint32_t world_free(void *self) { return ((world *)self)->pool.n_free; }

static int32_t world_find(const world *w, const world_job *j, uint64_t name, uint32_t at) {
    const infrt_kv_key key = {name, 0, j->tokens + at * PER};
    if (!w->shares || (at + 1) * PER >= j->job.n) return INFRT_KV_NONE;
    return infrt_kv_pool_find(&w->pool, &key);
}

/* The level of a job, from its definition. */
static int64_t level_of(const world *w, const infrt_job *job) {
    int64_t lowest = INT64_MAX, own = job->priority - (int64_t)((w->now - job->arrived_ns) / w->s.age_ns);
    for (uint32_t i = 0; i < MOST_JOBS; i++)
        if (lives(&w->jobs[i].job) && w->jobs[i].job.priority < lowest)
            lowest = w->jobs[i].job.priority;
    return own > lowest ? own : lowest;
}

/* Nobody who waits was more urgent; nor, of the same tenant, has one been there that much longer. */
static void expect_right_choice(const world *w, const world_job *chosen) {
    const infrt_job *a = &chosen->job;
    for (uint32_t i = 0; i < MOST_JOBS && !w->s.owner.computes_for; i++) {
        const infrt_job *b = &w->jobs[i].job;
        const int64_t ahead = ((int64_t)b->priority - a->priority) * (int64_t)w->s.age_ns;
        if (b->state != INFRT_JOB_WAITING || !b->ready) continue;
        assert_true(level_of(w, a) <= level_of(w, b));
        if (w->jobs[i].tenant == chosen->tenant && a->n_preempted == 0 && b->order < a->order)
            assert_false((int64_t)b->arrived_ns + ahead <= (int64_t)a->arrived_ns);
    }
}

/* There are blocks for it and for those that run, with one to spare for each of these. */
static void expect_place(const world *w) {
    uint32_t need = 0;
    for (uint32_t i = 0; i < MOST_JOBS; i++)
        if (w->jobs[i].job.state == INFRT_JOB_RUNNING)
            need += (w->jobs[i].job.n + PER - 1) / PER - w->jobs[i].job.n_blocks + 1;
    assert_true(w->s.n_running == 1 || need - 1 <= w->pool.n_free);
}

static void world_begin(void *self, infrt_job *job) {
    world *w = self;
    world_job *j = (world_job *)job;
    assert_true(job->state == INFRT_JOB_RUNNING && job->ready && job->n_blocks == 0);
    expect_right_choice(w, j);
    expect_place(w);
    j->name = 0;
    for (int32_t block; (block = world_find(w, j, j->name, job->n_blocks)) != INFRT_KV_NONE;) {
        infrt_kv_pool_hold(&w->pool, block);
        j->name = w->pool.name[block];
        j->table[job->n_blocks++] = block;
    }
    j->n_named = job->n_blocks;
    job->n_computed = job->n_blocks * PER;
    if (job->n_computed > j->n_served) j->n_served = job->n_computed;
}

static bool world_take(void *self, infrt_job *job) {
    world *w = self;
    const int32_t block = infrt_kv_pool_take(&w->pool);
    assert_true(job->n_blocks < CONTEXT / PER);
    if (block == INFRT_KV_NONE) w->n_refused_blocks++;
    else ((world_job *)job)->table[job->n_blocks++] = block;
    return block != INFRT_KV_NONE;
}

static void world_give_back(void *self, infrt_job *job) {
    world *w = self;
    while (job->n_blocks > 0)
        infrt_kv_pool_drop(&w->pool, ((world_job *)job)->table[--job->n_blocks]);
    job->n_computed = ((world_job *)job)->n_named = 0;
}

static bool world_computes_for(void *self, const infrt_job *running, const infrt_job *waiting) {
    const world_job *first = (const world_job *)running, *j = (const world_job *)waiting;
    uint32_t at = 0;
    uint64_t name = 0;
    for (int32_t block; (block = world_find(self, j, name, at)) != INFRT_KV_NONE; at++)
        name = ((world *)self)->pool.name[block];
    const uint32_t end = (at + 1) * PER;
    return end < waiting->n && end <= running->n && running->n_computed < end &&
           memcmp(first->tokens, j->tokens, end * sizeof *j->tokens) == 0;
}

#endif
