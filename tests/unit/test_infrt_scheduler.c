/* The scheduler in worlds without a model: a million steps, and what has to hold after each. */
#include "scheduler_world.h"
#include <stdlib.h>

static world w; /* large */

/* Everything at random, also cancelling in every state and clients that do not read. */
static void world_shake(uint32_t arrivals, uint32_t cancels, uint32_t unread) {
    if (w.s.n_jobs < MOST_JOBS && draw(&w, 100) < arrivals) job_add(&w, draw(&w, w.n_tenants));
    if (cancels && draw(&w, 100) < cancels) {
        world_job *j = &w.jobs[draw(&w, MOST_JOBS)];
        if (lives(&j->job)) job_end(&w, j);
    }
    if (unread && draw(&w, 100) < unread) {
        infrt_job *job = &w.jobs[draw(&w, MOST_JOBS)].job;
        w.n_unread++; /* ever */
        job->ready = !job->ready;
    }
}

static void test_random(void **state) {
    (void)state;
    static const uint32_t chunks[] = {1, 2, 5, 16, 64}, blocks[] = {3, 3, 5, 16, 40, 100};
    for (uint64_t seed = 0; seed < 200; seed++) {
        const bool shares = seed % 4 != 0;
        world_open(&w, seed, blocks[seed % 6], shares, shares && seed % 3);
        w.s.chunk = chunks[seed % 5];
        w.s.sequences = 1 + draw(&w, MOST_SEQUENCES);
        w.s.target_ns = draw(&w, 2) ? 1000000 + draw(&w, 3000000) : 0;
        w.n_tenants = 1 + draw(&w, MOST_TENANTS);
        w.most_priority = draw(&w, 2) ? 1 : 1 + draw(&w, 200);
        const uint32_t arrivals = 2 + draw(&w, 98), cancels = draw(&w, 2) * draw(&w, 30),
                       unread = draw(&w, 3) ? 0 : draw(&w, 30);
        for (uint32_t i = 0; i < 4000; i++) {
            world_shake(arrivals, cancels, unread);
            world_step(&w);
        }
        world_close(&w);
    }
}

/* One tenant, one priority, blocks for all: rows are given out as an engine without any of this did. */
static void expect_in_order(const infrt_job *before, const infrt_job *const *after, uint32_t n) {
    uint32_t running = 0, answers = 0, prompts;
    for (uint32_t i = 0; i < n; i++) { /* in the order of arrival */
        const bool runs = running < w.s.sequences;
        running += runs;
        assert_int_equal(after[i]->state, runs ? INFRT_JOB_RUNNING : INFRT_JOB_WAITING);
        if (runs && infrt_job_answers(&before[i]) && answers < w.s.chunk) answers++;
    }
    prompts = w.s.chunk - answers;
    for (uint32_t i = 0; i < running; i++) {
        const uint32_t left = before[i].n - before[i].n_computed, rows = left < prompts ? left : prompts;
        if (left == 1) {
            assert_int_equal(after[i]->n_rows, answers > 0);
            answers -= answers > 0;
            continue;
        }
        assert_int_equal(after[i]->n_rows, rows);
        prompts -= rows;
    }
}

static int by_order(const void *a, const void *b) {
    const infrt_job *const *x = a, *const *y = b;
    return (*x)->order < (*y)->order ? -1 : 1;
}

static void test_defaults(void **state) {
    (void)state;
    static const uint32_t chunks[] = {1, 3, 16, 64};
    for (uint64_t seed = 0; seed < 8; seed++) {
        world_open(&w, seed, MOST_BLOCKS, false, false);
        w.s.chunk = chunks[seed % 4];
        w.s.sequences = 1 + (uint32_t)seed;
        for (uint32_t step = 0; step < 5000; step++) {
            infrt_job before[MOST_JOBS];
            const infrt_job *live[MOST_JOBS];
            world_shake(40, 3, 0);
            uint32_t n = w.s.n_jobs;
            for (uint32_t i = 0; i < n; i++) live[i] = w.s.jobs[i];
            qsort(live, n, sizeof *live, by_order);
            for (uint32_t i = 0; i < n; i++) before[i] = *live[i];
            infrt_scheduler_plan(&w.s, w.now);
            expect_in_order(before, live, n);
            expect_plan_right(&w);
            rows_compute(&w);
            w.now += 1000000;
        }
        world_close(&w);
    }
}

/* Tenants that all have something waiting are served alike, however much more the first ones send: the difference is
 * never more than twice what can run at a time, in hundreds of thousands of tokens. */
static void test_fair(void **state) {
    (void)state;
    static const uint32_t blocks[] = {20, 40, 100};
    for (uint64_t seed = 0; seed < 6; seed++) {
        uint64_t both_since[MOST_TENANTS][MOST_TENANTS] = {{0}}, longest = 0;
        int64_t ahead[MOST_TENANTS][MOST_TENANTS];
        world_open(&w, seed, blocks[seed % 3], false, false);
        w.n_tenants = MOST_TENANTS;
        const int64_t bound = 2 * (int64_t)w.s.sequences * INFRT_ANSWER_WEIGHT * CONTEXT;
        for (uint64_t step = 1; step <= 20000; step++) {
            uint32_t waiting[MOST_TENANTS] = {0};
            while (w.s.n_jobs < MOST_JOBS) { /* Zipf: the k-th sends 1/k of what the first does */
                uint32_t of_them = draw(&w, 2283), tenant = 0;
                for (uint32_t k = 1; k < MOST_TENANTS && of_them >= 840 / k; k++)
                    of_them -= 840 / k, tenant = k;
                world_job *j = job_add(&w, tenant);
                if (tenant % 2) { /* short questions, long answers; the others the other way round */
                    j->job.n = j->job.n_prompt = 1 + j->job.n / 8;
                    j->limit = CONTEXT;
                } else j->limit = j->job.n + 1;
            }
            world_step(&w);
            for (uint32_t i = 0; i < MOST_JOBS; i++)
                waiting[w.jobs[i].tenant] += w.jobs[i].job.state == INFRT_JOB_WAITING;
            for (uint32_t a = 0; a < MOST_TENANTS; a++)
                for (uint32_t b = 0; b < a; b++) {
                    const int64_t now_ahead = (int64_t)w.served[a] - (int64_t)w.served[b];
                    if (!waiting[a] || !waiting[b]) both_since[a][b] = 0;
                    else if (!both_since[a][b]) both_since[a][b] = step, ahead[a][b] = now_ahead;
                    else assert_true(llabs(now_ahead - ahead[a][b]) <= bound);
                    if (both_since[a][b] && step - both_since[a][b] > longest)
                        longest = step - both_since[a][b];
                }
        }
        assert_true(longest > 300); /* so that it was put to the test */
        world_close(&w);
    }
}

static uint32_t jobs_of(uint32_t tenant) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < MOST_JOBS; i++)
        n += lives(&w.jobs[i].job) && w.jobs[i].tenant == tenant;
    return n;
}

/* Who had the engine alone owes nothing for it, whether the other comes while it is there or while nobody is. */
static void test_coming_later(void **state) {
    (void)state;
    for (int leaves = 0; leaves < 2; leaves++) {
        world_open(&w, 1, 100, false, false);
        for (int i = 0; i < 2000; i++) {
            if (w.s.n_jobs < 4) job_add(&w, 0);
            world_step(&w);
        }
        while (leaves && w.s.n_jobs > 0) world_step(&w);
        for (int i = 0; leaves && i < 20; i++) {
            if (w.s.n_jobs < 4) job_add(&w, 1);
            world_step(&w);
        }
        assert_true(w.served[0] > 5000);
        w.served[0] = w.served[1] = 0;
        for (int i = 0; i < 2000; i++) {
            for (uint32_t tenant = 0; tenant < 2; tenant++)
                while (jobs_of(tenant) < 6) job_add(&w, tenant);
            world_step(&w);
        }
        assert_true(llabs((int64_t)w.served[0] - (int64_t)w.served[1]) < 1500);
        world_close(&w);
    }
}

/* However many more urgent ones come, one that waits is let in once it is as old as it was less urgent. */
static void test_ageing(void **state) {
    (void)state;
    for (int32_t priority = 1; priority <= 64; priority *= 4) {
        world_open(&w, (uint64_t)priority, 40, false, false);
        for (int i = 0; i < 50; i++) { /* full */
            while (w.s.n_jobs < MOST_JOBS - 1) job_add(&w, 0);
            world_step(&w);
        }
        world_job *slow = job_add(&w, 0);
        slow->job.priority = priority;
        const uint64_t order = slow->job.order, ripe = w.now + (uint64_t)priority * w.s.age_ns;
        uint64_t begun = 0;
        while (!begun) {
            if (slow->job.state == INFRT_JOB_RUNNING) begun = w.now;
            assert_int_equal(slow->job.order, order);
            while (!begun && w.s.n_jobs < MOST_JOBS) job_add(&w, 0);
            world_step(&w);
        }
        assert_true(begun > ripe); /* strict until then */
        assert_true(begun < ripe + (uint64_t)MOST_JOBS * CONTEXT * 3000000);
        world_close(&w);
    }
}

/* Jobs that begin alike and come together: the first computes it, the others only what is their own. */
static void test_together(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= 6; n++)
        for (int cancelled = 0; cancelled < 2; cancelled++) {
            uint64_t computed = 0;
            world_open(&w, n, MOST_BLOCKS, true, true);
            w.s.sequences = MOST_SEQUENCES;
            for (uint32_t i = 0; i < n; i++) {
                job_add(&w, 0);
                w.jobs[i].job.n = w.jobs[i].job.n_prompt = 60;
                w.jobs[i].limit = 62;
                for (int32_t k = 0; k < 60; k++) w.jobs[i].tokens[k] = k;
            }
            for (uint32_t step = 0; w.s.n_jobs > 0; step++) {
                assert_true(step < 100);
                if (cancelled && step == 2)
                    job_end(&w, &w.jobs[0]); /* in its prompt: another one takes over */
                world_step(&w);
                computed += w.step_rows;
            }
            assert_true(computed <= 60 + (n - 1) * (60 % PER + PER) + n + (cancelled ? 2 * w.s.chunk : 0));
            world_close(&w);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_fair),   cmocka_unit_test(test_coming_later),
        cmocka_unit_test(test_ageing), cmocka_unit_test(test_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
