/* scheduler.c - lets jobs in, shares the rows of a step, takes blocks away where they are short. */
#include "scheduler.h"
#include <assert.h>
#include <stddef.h>

static uint32_t blocks_of(const infrt_scheduler *s, uint32_t positions) {
    return positions / s->block_positions + (positions % s->block_positions != 0);
}

/* ---- who comes first ---- */

static void levels_set(infrt_scheduler *s, uint64_t now_ns) {
    int32_t lowest = INT32_MAX;
    for (uint32_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i]->priority < lowest) lowest = s->jobs[i]->priority;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        infrt_job *job = s->jobs[i];
        uint64_t above = (uint64_t)((int64_t)job->priority - lowest);
        uint64_t age = now_ns > job->arrived_ns ? (now_ns - job->arrived_ns) / s->age_ns : 0;
        job->level = age < above ? (int32_t)(job->priority - (int64_t)age) : lowest;
    }
}

static bool has_begun(const infrt_job *job) {
    if (job->state == INFRT_JOB_WAITING)
        return job->n_preempted > 0 && job->n_preempted <= INFRT_BOOSTS;
    return job->begun || infrt_job_answers(job);
}

static bool goes_before(const infrt_scheduler *s, const infrt_job *a, const infrt_job *b) {
    const uint64_t served_a = s->tenants[a->tenant].served, served_b = s->tenants[b->tenant].served;
    if (a->level != b->level) return a->level < b->level;
    if (has_begun(a) != has_begun(b)) return has_begun(a);
    if (served_a != served_b) return served_a < served_b;
    return a->order < b->order;
}

/* Whether blocks are rather taken from `a` than from `b`. */
static bool is_worse(const infrt_job *a, const infrt_job *b) {
    if (a->ready != b->ready) return b->ready;
    if (a->level != b->level) return a->level > b->level;
    return a->order > b->order;
}

/* ---- coming and going ---- */

void infrt_scheduler_add(infrt_scheduler *s, infrt_job *job, uint64_t tenant) {
    assert(s->n_jobs < s->most);
    job->state = INFRT_JOB_WAITING;
    job->n_rows = job->n_preempted = job->n_yielded = 0;
    job->begun = false;
    job->tenant = infrt_tenant_hold(s, tenant);
    job->place = s->n_jobs;
    s->jobs[s->n_jobs++] = job;
}

static void stop(infrt_scheduler *s, infrt_job *job) {
    uint32_t i = 0;
    while (s->running[i] != job) i++;
    for (s->n_running--; i < s->n_running; i++) s->running[i] = s->running[i + 1];
    s->owner.give_back(s->owner.self, job);
    job->state = INFRT_JOB_WAITING;
    job->n_rows = 0;
    job->begun = false;
}

void infrt_scheduler_remove(infrt_scheduler *s, infrt_job *job) {
    if (job->state == INFRT_JOB_RUNNING) stop(s, job);
    s->jobs[job->place] = s->jobs[--s->n_jobs];
    s->jobs[job->place]->place = job->place;
    infrt_tenant_drop(s, job->tenant);
}

static void preempt(infrt_scheduler *s, infrt_job *job) {
    stop(s, job);
    job->n_preempted++;
    s->n_preempted++;
}

/* ---- letting in ---- */

/* Someone who runs computes what it could use, and is not to wait for it in turn. */
static bool is_to_follow(const infrt_scheduler *s, const infrt_job *job) {
    for (uint32_t i = 0; s->owner.computes_for && i < s->n_running; i++) {
        const infrt_job *first = s->running[i];
        if (first->ready && first->level <= job->level && (first->begun || first->tenant == job->tenant) &&
            s->owner.computes_for(s->owner.self, first, job))
            return true;
    }
    return false;
}

/* The first of those that wait; one whose client does not read is left out. */
static infrt_job *next_waiting(infrt_scheduler *s) {
    infrt_job *next = NULL;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        infrt_job *job = s->jobs[i];
        if (job->state == INFRT_JOB_WAITING && job->ready && (!next || goes_before(s, job, next)) &&
            !is_to_follow(s, job))
            next = job;
    }
    return next;
}

static bool gives_way(const infrt_job *running, const infrt_job *to) {
    return !running->ready || (running->level > to->level && running->n_yielded < INFRT_BOOSTS);
}

/* Blocks for all tokens of the job and of those that run, and one more for each of these; `way_given`: as it would be
 * without those that give way to it. */
static bool has_place(const infrt_scheduler *s, const infrt_job *job, bool way_given) {
    uint32_t n_running = 0, need = blocks_of(s, job->n), n_free = s->owner.blocks_free(s->owner.self);
    for (uint32_t i = 0; i < s->n_running; i++) {
        const infrt_job *other = s->running[i];
        if (way_given && gives_way(other, job)) {
            n_free += other->n_blocks;
            continue;
        }
        n_running++;
        need += blocks_of(s, other->n) - other->n_blocks + 1;
    }
    return n_running == 0 || (n_running < s->sequences && need <= n_free);
}

/* Takes the place of those that run, the worst first, if they have enough between them. */
static bool place_make(infrt_scheduler *s, const infrt_job *job) {
    if (!has_place(s, job, true)) return false;
    while (!has_place(s, job, false)) {
        infrt_job *worst = NULL;
        for (uint32_t i = 0; i < s->n_running; i++)
            if (gives_way(s->running[i], job) && (!worst || is_worse(s->running[i], worst)))
                worst = s->running[i];
        if (!worst) return false; /* what they held is shared */
        worst->n_yielded += worst->ready;
        preempt(s, worst);
    }
    return true;
}

static bool admit_one(infrt_scheduler *s) {
    infrt_job *job = next_waiting(s);
    if (!job || !place_make(s, job)) return false;
    job->state = INFRT_JOB_RUNNING;
    s->running[s->n_running++] = job;
    s->owner.begin(s->owner.self, job);
    assert(job->n_computed < job->n);
    if (job->n_preempted == 0) /* what the cache had costs nothing */
        s->tenants[job->tenant].served += (uint64_t)(job->n - job->n_computed) * INFRT_PROMPT_WEIGHT;
    return true;
}

/* ---- rows ---- */

static void running_sort(infrt_scheduler *s) {
    for (uint32_t i = 1; i < s->n_running; i++) {
        infrt_job *job = s->running[i];
        uint32_t k = i;
        for (; k > 0 && goes_before(s, job, s->running[k - 1]); k--)
            s->running[k] = s->running[k - 1];
        s->running[k] = job;
    }
}

/* Blocks for `rows` more of its positions. False: the job itself had to give its blocks back. */
static bool blocks_get(infrt_scheduler *s, infrt_job *job, uint32_t rows) {
    const uint32_t need = blocks_of(s, job->n_computed + rows);
    while (job->n_blocks < need) {
        if (s->owner.take_block(s->owner.self, job)) continue;
        infrt_job *worst = job;
        for (uint32_t i = 0; i < s->n_running; i++)
            if (is_worse(s->running[i], worst)) worst = s->running[i];
        preempt(s, worst);
        if (worst == job) return false;
    }
    return true;
}

/* The next one without rows, of the answers or of the prompts. */
static infrt_job *next_turn(const infrt_scheduler *s, bool answers) {
    for (uint32_t i = 0; i < s->n_running; i++) {
        infrt_job *job = s->running[i];
        if (job->ready && job->n_rows == 0 && infrt_job_answers(job) == answers) return job;
    }
    return NULL;
}

static uint32_t rows_given(const infrt_scheduler *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_running; i++) n += s->running[i]->n_rows;
    return n;
}

/* Up to `most` rows in all. Each job either has rows then or no longer runs; one that had rows may lose them, with its
 * blocks, to a better one. */
static void rows_give(infrt_scheduler *s, bool answers, uint32_t most) {
    for (infrt_job *job; rows_given(s) < most && (job = next_turn(s, answers));) {
        const uint32_t left = job->n - job->n_computed, room = most - rows_given(s),
                       rows = left < room ? left : room;
        if (blocks_get(s, job, rows)) job->n_rows = rows;
    }
}

static void rows_share(infrt_scheduler *s) {
    for (uint32_t i = 0; i < s->n_running; i++) s->running[i]->n_rows = 0;
    rows_give(s, true, s->chunk);
    const uint32_t answers = rows_given(s);
    uint32_t prompts = s->chunk - answers;
    if (s->target_ns && answers) prompts = infrt_step_time_rows(&s->time, s->target_ns, prompts);
    rows_give(s, false, answers + prompts);
}

static void rows_count(infrt_scheduler *s) {
    s->n_answers = s->n_prompts = 0;
    for (uint32_t i = 0; i < s->n_running; i++) {
        infrt_job *job = s->running[i];
        *(infrt_job_answers(job) ? &s->n_answers : &s->n_prompts) += job->n_rows;
        if (job->n_rows == 0) continue;
        job->begun = true;
        if (job->n_computed + job->n_rows == job->n)
            s->tenants[job->tenant].served += INFRT_ANSWER_WEIGHT;
    }
}

void infrt_scheduler_plan(infrt_scheduler *s, uint64_t now_ns) {
    levels_set(s, now_ns);
    while (admit_one(s)) {}
    running_sort(s);
    rows_share(s);
    rows_count(s);
}

void infrt_scheduler_took(infrt_scheduler *s, uint64_t ns) {
    infrt_step_time_learn(&s->time, s->n_answers, s->n_prompts, ns);
}
