#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "compiler/base/interrupt.h"
#include "compiler/base/subprocess.h"
#include "cx_fixture.h"

#define SHELL(text) ((const char *const[]){"sh", "-c", (text), NULL})

static void exit_codes_and_output(void **state) {
    (void)state;
    infc_job jobs[] = {
        {.argv = SHELL("echo out; echo err >&2; exit 3")},
        {.argv = SHELL("kill -TERM $$")},
        {.argv = (const char *const[]){"no-such-program-here", NULL}},
        {.argv = (const char *const[]){"/etc/passwd", NULL}},
        {.argv = SHELL("pwd; cat"), .cwd = "/"}, /* stdin is empty, not ours */
        {.argv = SHELL("true"), .cwd = "/no/such/folder"},
    };
    assert_int_equal(infc_jobs_run(&cx, jobs, 6, 2), INFC_OK);
    assert_int_equal(jobs[0].exit_code, 3);
    assert_string_equal(jobs[0].output, "out\nerr\n");
    assert_true(jobs[0].seconds > 0 && jobs[0].seconds < 5);
    assert_int_equal(jobs[1].exit_code, 128 + SIGTERM);
    assert_int_equal(jobs[2].exit_code, 127);
    assert_string_equal(jobs[2].output, "no-such-program-here: not found on PATH\n");
    assert_int_equal(jobs[3].exit_code, 127);
    assert_int_equal(jobs[4].exit_code, 0);
    assert_string_equal(jobs[4].output, "/\n");
    assert_int_equal(jobs[5].exit_code, 127);
    assert_string_equal(jobs[5].output, "cannot enter the folder /no/such/folder\n");
    assert_int_equal(cx.n_errors, 0);
}

/* One that takes too long is killed, with what it started; the others are not. */
static void limit(void **state) {
    (void)state;
    infc_job jobs[] = {
        {.argv = SHELL("sleep 300; true"), .limit = 0.2},
        {.argv = SHELL("sleep 0.5; echo done")},
        {.argv = SHELL("echo quick"), .limit = 200},
    };
    assert_int_equal(infc_jobs_run(&cx, jobs, 3, 3), INFC_OK);
    assert_true(jobs[0].late && jobs[0].seconds < 100);
    assert_int_equal(jobs[0].exit_code, 128 + SIGKILL);
    assert_false(jobs[1].late || jobs[2].late);
    assert_string_equal(jobs[1].output, "done\n");
    assert_string_equal(jobs[2].output, "quick\n");
}

/* Each prints far more than a pipe holds, all at once. */
static void no_deadlock(void **state) {
    (void)state;
    enum { N = 8, BYTES = 300000 };
    infc_job jobs[N];
    for (int i = 0; i < N; i++) {
        const char *text =
            infc_arena_printf(cx.arena, "head -c %d /dev/zero | tr '\\0' %c; exit %d", BYTES, 'a' + i, i);
        const char **argv = INFC_NEW(cx.arena, const char *, 4);
        argv[0] = "sh";
        argv[1] = "-c";
        argv[2] = text;
        jobs[i] = (infc_job){.argv = argv};
    }
    assert_int_equal(infc_jobs_run(&cx, jobs, N, N), INFC_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(jobs[i].exit_code, i);
        assert_int_equal(strlen(jobs[i].output), BYTES);
        assert_int_equal(jobs[i].output[BYTES - 1], 'a' + i);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A job's background child holds the pipe open; the job's own end is what counts. */
static void background_children_are_not_waited_for(void **state) {
    (void)state;
    double start = now();
    infc_job job = {.argv = SHELL("sleep 20 & echo done")};
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 0), INFC_OK);
    assert_true(now() - start < 10);
    assert_string_equal(job.output, "done\n");
}

static void output_is_bounded(void **state) {
    (void)state;
    infc_job job = {.argv = SHELL("head -c 30000000 /dev/zero | tr '\\0' x")};
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 1), INFC_OK);
    size_t n = strlen(job.output);
    assert_true(n >= (16u << 20) && n < (17u << 20));
    assert_non_null(strstr(job.output + n - 40, "[the rest is cut off]"));
}

static int interrupted_child(void) {
    signal(SIGALRM, infc_interrupt_request);
    alarm(1);
    double start = now();
    infc_job jobs[] = {{.argv = SHELL("sleep 30")}, {.argv = SHELL("trap '' TERM; sleep 30; sleep 30")}};
    if (infc_jobs_run(&cx, jobs, 2, 2) != INFC_ERR_IO) return 1;
    if (now() - start > 15) return 2;
    if (jobs[0].exit_code != 128 + SIGTERM) return 3;
    if (jobs[1].exit_code != 128 + SIGKILL) return 4;
    return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : 5; /* all reaped */
}

static void interrupt_ends_the_jobs(void **state) {
    (void)state;
    pid_t pid = fork(); /* the interrupt lasts */
    assert_true(pid >= 0);
    if (pid == 0) _exit(interrupted_child());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* What runs the jobs is killed outright: the job ends, so its end of the pipe closes. */
static void jobs_die_with_a_killed_parent(void **state) {
    (void)state;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const char *text = infc_arena_printf(cx.arena, "printf x >&%d; exec sleep 30", ends[1]);
        infc_job job = {.argv = (const char *const[]){"sh", "-c", text, NULL}};
        infc_jobs_run(&cx, &job, 1, 1);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    double start = now();
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    assert_true(now() - start < 10);
    close(ends[0]);
}

static void programs(void **state) {
    (void)state;
    const char *found = infc_program_find(cx.arena, "sh");
    assert_non_null(found);
    assert_int_equal(*found, '/');
    assert_null(infc_program_find(cx.arena, "no-such-program-here"));
    assert_null(infc_program_find(cx.arena, ""));
    assert_null(infc_program_find(cx.arena, "/etc"));
    assert_true(infc_core_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(exit_codes_and_output),
        CX_TEST(limit),
        CX_TEST(no_deadlock),
        CX_TEST(background_children_are_not_waited_for),
        CX_TEST(output_is_bounded),
        CX_TEST(interrupt_ends_the_jobs),
        CX_TEST(jobs_die_with_a_killed_parent),
        CX_TEST(programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
