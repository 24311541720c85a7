/* infrt_fake_program.h - the fake model as a program: its command line run in a child, its output caught. */
#ifndef INFRT_FAKE_PROGRAM_H
#define INFRT_FAKE_PROGRAM_H
#include "infrt_app.h"
#include "infrt_fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char work_dir[] = "/tmp/infrt_app_XXXXXX"; /* the child's working directory */
static char caught_out[65536], caught_err[65536];
static _Alignas(64) fake_payload program_weights;

static int (*program_main)(const infc_model *model, int argc, char **argv) = infrt_app_main;
static const char *program_input; /* what standard input has; null: it is that of the test */

static const void *program_weights_get(void) { return &program_weights; }

/* bias 0.5 embedded */
static inline infc_model fake_program_make(void) {
    infc_model model = fake_model_make();
    program_weights = fake_payload_make(0.5f);
    model.weights_embedded = program_weights_get;
    model.weights_hash = program_weights.header.hash;
    return model;
}

static inline void slurp(FILE *file, char *out, size_t room) {
    rewind(file);
    size_t n = fread(out, 1, room - 1, file);
    out[n] = 0;
    fclose(file);
}

/* Runs `fake WORDS...` (separated by blanks) on `model`; returns its exit code, or 1000 + signal. */
static inline int program_run(const infc_model *model, const char *words) {
    char text[4096], *argv[64] = {(char[]){"./bin/fake"}};
    int argc = 1, status = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word && argc < 63; word = strtok(NULL, " "))
        argv[argc++] = word;
    FILE *in = tmpfile(), *out = tmpfile(), *err = tmpfile();
    assert_non_null(in);
    assert_non_null(out);
    assert_non_null(err);
    if (program_input) fputs(program_input, in);
    rewind(in);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(work_dir) != 0 || dup2(fileno(out), 1) < 0 || dup2(fileno(err), 2) < 0 ||
            (program_input && dup2(fileno(in), 0) < 0))
            _exit(99);
        int code = program_main(model, argc, argv);
        fflush(NULL);
        _exit(code);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    fclose(in);
    slurp(out, caught_out, sizeof caught_out);
    slurp(err, caught_err, sizeof caught_err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline void expect_has(const char *text, const char *words) {
    if (!strstr(text, words)) fail_msg("\"%s\" is not in: %s", words, text);
}
/* The command ends with `code`, says `words` on stderr and nothing on stdout. */
static inline void expect_refused(const infc_model *model, const char *command, int code, const char *words) {
    int got = program_run(model, command);
    if (got != code) fail_msg("%s: exit %d, not %d: %s", command, got, code, caught_err);
    expect_has(caught_err, words);
    assert_string_equal(caught_out, "");
}
static inline void expect_fine(const infc_model *model, const char *command) {
    int got = program_run(model, command);
    if (got != 0) fail_msg("%s: exit %d: %s%s", command, got, caught_out, caught_err);
}

/* A file in work_dir. */
static inline void put_file(const char *name, const void *bytes, size_t n) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", work_dir, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static inline int program_tests_end(int failed) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", work_dir);
    return system(command) == 0 ? failed : 1;
}

#endif
