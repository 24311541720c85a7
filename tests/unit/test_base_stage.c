/* The staged output folder: nothing appears under a final name before commit, nothing stays after a
 * failure, what a killed process left is removed, what a living one has is not. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "compiler/base/file.h"

static char dir[64];
static infc_cx cx;

static int setup(void **state) {
    (void)state;
    strcpy(dir, "/tmp/infc-test-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    return infc_cx_init(&cx) == INFC_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    infc_cx_deinit(&cx);
    infc_dir_remove(dir);
    return 0;
}

static const char *in_dir(const char *name) { return infc_path_join(cx.arena, dir, name); }

static void put(const char *folder, const char *name, const char *content) {
    infc_bytes bytes = {(const uint8_t *)content, strlen(content)};
    const char *path = infc_path_join(cx.arena, folder, name);
    assert_int_equal(infc_dir_create(&cx, infc_path_dir(cx.arena, path)), INFC_OK);
    assert_int_equal(infc_file_write(&cx, path, bytes, 0644), INFC_OK);
}

static void expect(const char *name, const char *content) {
    infc_bytes bytes;
    assert_int_equal(infc_file_map(&cx, in_dir(name), &bytes), INFC_OK);
    assert_int_equal(bytes.len, strlen(content));
    assert_memory_equal(bytes.ptr, content, bytes.len);
}

static int entries(const char *path) {
    int n = -2; /* . and .. */
    DIR *list = opendir(path);
    assert_non_null(list);
    while (readdir(list)) n++;
    closedir(list);
    return n;
}

static void commit_moves_and_replaces(void **state) {
    (void)state;
    infc_stage *stage;
    put(dir, "out/b", "old");
    put(dir, "out/kept.txt", "kept");
    assert_int_equal(infc_stage_open(&cx, in_dir("out"), &stage), INFC_OK);
    put(stage->dir, "a", "new");
    put(stage->dir, "b", "new");
    expect("out/b", "old");
    assert_false(infc_file_exists(in_dir("out/a")));
    assert_int_equal(infc_stage_commit(stage), INFC_OK);
    expect("out/a", "new");
    expect("out/b", "new");
    expect("out/kept.txt", "kept");
    assert_int_equal(entries(in_dir("out")), 3);
}

/* A user's folder, empty or not, is not replaced, and what was moved before it is taken back. */
static void commit_is_all_or_none(void **state) {
    (void)state;
    infc_stage *stage;
    put(dir, "out/b", "old");
    assert_int_equal(infc_dir_create(&cx, in_dir("out/c")), INFC_OK);
    assert_int_equal(infc_stage_open(&cx, in_dir("out"), &stage), INFC_OK);
    put(stage->dir, "a", "new");
    put(stage->dir, "b", "new");
    put(stage->dir, "c", "new");
    assert_int_equal(infc_stage_commit(stage), INFC_ERR_SPEC);
    assert_non_null(strstr(cx.diags[0].text, "a folder of this name is in the way"));
    expect("out/b", "old");
    assert_true(infc_dir_exists(in_dir("out/c")));
    assert_false(infc_file_exists(in_dir("out/a")));
}

static void discarded_with_the_arena(void **state) {
    (void)state;
    infc_cx inner;
    infc_stage *stage;
    put(dir, "there/kept.txt", "kept");
    assert_int_equal(infc_cx_init(&inner), INFC_OK);
    assert_int_equal(infc_stage_open(&inner, in_dir("there"), &stage), INFC_OK);
    put(stage->dir, "half", "written");
    assert_int_equal(infc_stage_open(&inner, in_dir("made/for/it"), &stage), INFC_OK);
    put(stage->dir, "half", "written");
    infc_cx_deinit(&inner);
    assert_int_equal(entries(in_dir("there")), 1);
    assert_false(infc_dir_exists(in_dir("made/for/it")));
}

/* A child opens a stage, writes, says so and waits for its end. */
static pid_t child_with_stage(const char *folder) {
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        infc_stage *stage;
        if (infc_stage_open(&cx, folder, &stage) != INFC_OK) _exit(1);
        put(stage->dir, "half", "written");
        if (write(ends[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void stale_stages_are_removed(void **state) {
    (void)state;
    infc_stage *stage;
    pid_t pid = child_with_stage(dir);
    assert_int_equal(infc_stage_open(&cx, dir, &stage), INFC_OK);
    assert_int_equal(entries(dir), 2); /* the child's and ours: it is alive */
    assert_int_equal(infc_stage_commit(stage), INFC_OK);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(entries(dir), 1);
    assert_int_equal(infc_stage_open(&cx, dir, &stage), INFC_OK);
    assert_int_equal(entries(dir), 1);
    assert_int_equal(infc_stage_commit(stage), INFC_OK);
    assert_int_equal(entries(dir), 0);
}

static void only_stages_are_removed(void **state) {
    (void)state;
    infc_stage *stage;
    put(dir, ".infc-notes", "a file");
    put(dir, ".infc-config/x", "a folder");
    put(dir, ".infc-stage-longer-one/x", "not ours");
    assert_int_equal(symlink("/tmp", in_dir(".infc-stage-abcdef")), 0);
    assert_int_equal(infc_stage_open(&cx, dir, &stage), INFC_OK);
    assert_true(infc_file_exists(in_dir(".infc-notes")));
    assert_true(infc_file_exists(in_dir(".infc-config/x")));
    assert_true(infc_file_exists(in_dir(".infc-stage-longer-one/x")));
    assert_true(infc_dir_exists("/tmp"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(commit_moves_and_replaces), TEST(commit_is_all_or_none),
        TEST(discarded_with_the_arena),  TEST(stale_stages_are_removed),
        TEST(only_stages_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
