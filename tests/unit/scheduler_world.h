/* scheduler_world.h - a world without a model for the scheduler's tests: jobs come, go and are computed, a clock moves
 * with each step, and what has to hold after it is checked. */
#ifndef SCHEDULER_WORLD_H
#define SCHEDULER_WORLD_H
#include "scheduler_owner.h"

static inline void world_open(world *w, uint64_t seed, uint32_t n_blocks, bool shares, bool follows) {
    *w = (world){.seed = seed, .shares = shares, .now = 1000, .n_tenants = 1, .most_priority = 1};
    assert_true(infrt_kv_pool_init(&w->pool, n_blocks, PER));
    w->s = (infrt_scheduler){.chunk = 16,
                             .sequences = 4,
                             .block_positions = PER,
                             .age_ns = 20000000,
                             .most = MOST_JOBS,
                             .jobs = w->places,
                             .running = w->running,
                             .tenants = w->tenants};
    w->s.owner =
        (infrt_job_owner){w,          world_free,      world_begin,
                          world_take, world_give_back, follows ? world_computes_for : NULL};
}

/* No more of them than the pool holds. */
static inline world_job *job_add(world *w, uint32_t tenant) {
    world_job *j = w->jobs;
    const uint32_t room = w->pool.n_blocks * PER < CONTEXT ? w->pool.n_blocks * PER : CONTEXT;
    const uint32_t alike = draw(w, 2) ? draw(w, room) : 0, like = draw(w, 3);
    while (lives(&j->job)) j++;
    *j = (world_job){.tenant = tenant};
    j->job.n = j->job.n_prompt = 1 + draw(w, draw(w, 3) ? room / 3 : room - 1);
    j->limit = j->job.n + 1 + draw(w, room - j->job.n);
    for (uint32_t i = 0; i < j->job.n; i++)
        j->tokens[i] = (int32_t)(i < alike ? infc_check_random(like, i, 1) % 1000 : draw(w, 1000));
    j->job.priority = (int32_t)draw(w, w->most_priority) - (int32_t)w->most_priority / 2;
    j->job.order = ++w->n_arrived;
    j->job.arrived_ns = w->now;
    j->job.ready = true;
    infrt_scheduler_add(&w->s, &j->job, infc_check_random(9, tenant, 9));
    return j;
}

static inline void job_end(world *w, world_job *j) {
    infrt_scheduler_remove(&w->s, &j->job);
    j->job.state = INFRT_JOB_FREE;
    w->n_ended++;
}

static inline void expect_blocks_right(world *w) {
    uint32_t *holders = w->pool.counted;
    memset(holders, 0, w->pool.n_blocks * sizeof *holders);
    for (uint32_t i = 0; i < MOST_JOBS; i++)
        for (uint32_t b = 0; lives(&w->jobs[i].job) && b < w->jobs[i].job.n_blocks; b++)
            holders[w->jobs[i].table[b]]++;
    assert_true(infrt_kv_pool_check(&w->pool));
}

static inline void expect_plan_right(world *w) {
    uint32_t n_live = 0, n_running = 0, rows = 0, n_ready = 0, idle_answers = 0, answers = 0;
    for (uint32_t i = 0; i < MOST_JOBS; i++) {
        const infrt_job *job = &w->jobs[i].job;
        if (!lives(job)) continue;
        n_live++;
        n_ready += job->ready;
        assert_ptr_equal(w->s.jobs[job->place], job);
        if (job->state == INFRT_JOB_WAITING) assert_true(job->n_blocks == 0 && job->n_rows == 0);
        if (job->state != INFRT_JOB_RUNNING) continue;
        n_running++;
        rows += job->n_rows;
        answers += infrt_job_answers(job) && job->n_rows;
        idle_answers += infrt_job_answers(job) && job->ready && !job->n_rows;
        assert_true(job->ready || job->n_rows == 0);
        assert_true(job->n_computed + job->n_rows <= job->n);
        assert_true(job->n_blocks * PER >= job->n_computed + job->n_rows);
    }
    assert_int_equal(n_live, w->s.n_jobs);
    assert_int_equal(n_running, w->s.n_running);
    assert_true(n_running <= w->s.sequences && rows <= w->s.chunk);
    assert_int_equal(rows, w->s.n_answers + w->s.n_prompts);
    assert_true((rows > 0) == (n_ready > 0));                /* nobody stalls */
    if (idle_answers) assert_int_equal(answers, w->s.chunk); /* whoever has blocks goes on */
    w->step_rows = rows;
}

/* The step is done: keys and values are there, answers have one token more. */
static inline void rows_compute(world *w) {
    for (uint32_t i = 0; i < MOST_JOBS; i++) {
        world_job *j = &w->jobs[i];
        infrt_job *job = &j->job;
        if (job->state != INFRT_JOB_RUNNING || !job->n_rows) continue;
        job->n_computed += job->n_rows;
        for (; w->shares && (j->n_named + 1) * PER <= job->n_computed; j->n_named++) {
            const infrt_kv_key key = {j->name, 0, j->tokens + j->n_named * PER};
            j->name = infrt_kv_pool_give_name(&w->pool, j->table[j->n_named], &key);
        }
        if (job->n_computed > j->n_served && j->n_served < job->n_prompt)
            w->served[j->tenant] +=
                (job->n_computed < job->n_prompt ? job->n_computed : job->n_prompt) - j->n_served;
        if (job->n_computed > j->n_served) j->n_served = job->n_computed;
        if (job->n_computed < job->n) continue;
        w->served[j->tenant] += 2;
        j->tokens[job->n] = (int32_t)draw(w, 1000);
        if (++job->n == j->limit) job_end(w, j);
    }
}

/* The first of all by level and arrival; null if it does not run. */
static inline infrt_job *best_running(world *w) {
    infrt_job *best = NULL;
    for (uint32_t i = 0; i < MOST_JOBS; i++) {
        infrt_job *job = &w->jobs[i].job;
        if (!lives(job) || !job->ready) continue;
        const int64_t ahead = best ? level_of(w, best) - level_of(w, job) : 1;
        if (ahead > 0 || (ahead == 0 && job->order < best->order)) best = job;
    }
    return best && best->state == INFRT_JOB_RUNNING ? best : NULL;
}

static inline void world_step(world *w) {
    const infrt_job *best = best_running(w);
    const uint32_t before = w->s.n_preempted, refused = w->n_refused_blocks;
    uint32_t yielded = 0;
    for (uint32_t i = 0; i < MOST_JOBS; i++) yielded -= w->jobs[i].job.n_yielded;
    infrt_scheduler_plan(&w->s, w->now);
    for (uint32_t i = 0; i < MOST_JOBS; i++) {
        yielded += w->jobs[i].job.n_yielded;
        assert_true(w->jobs[i].job.n_yielded <= INFRT_BOOSTS);
    }
    if (w->n_unread == 0) /* blocks are taken away for blocks or for the more urgent, never without need */
        assert_true(w->s.n_preempted - before <= w->n_refused_blocks - refused + yielded);
    if (best) assert_int_equal(best->state, INFRT_JOB_RUNNING); /* whatever others need */
    expect_plan_right(w);
    expect_blocks_right(w);
    rows_compute(w);
    expect_blocks_right(w);
    const uint64_t ns = 1000000 + 100000 * w->step_rows + draw(w, 100000);
    infrt_scheduler_took(&w->s, ns);
    w->now += ns;
}

/* Nobody comes any more, all read: all end, and every block is free. */
static inline void world_close(world *w) {
    for (uint32_t i = 0; i < MOST_JOBS; i++) w->jobs[i].job.ready = true;
    w->n_unread = 0;
    for (uint32_t steps = 0; w->s.n_jobs > 0; steps++) {
        assert_true(steps < 20000);
        world_step(w);
    }
    assert_int_equal(w->n_ended, w->n_arrived);
    assert_int_equal(w->pool.n_free, w->pool.n_blocks);
    infrt_kv_pool_deinit(&w->pool);
}

#endif
