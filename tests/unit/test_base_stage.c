/* The staged output folder: nothing appears under a final name before commit, nothing stays after a
 * failure, what a killed process left is removed, what a living one has is not. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "folder_fixture.h"

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
    put_file(dir, "out/b", "old");
    put_file(dir, "out/kept.txt", "kept");
    assert_int_equal(infc_stage_open(&cx, in_dir("out"), &stage), INFC_OK);
    put_file(stage->dir, "a", "new");
    put_file(stage->dir, "b", "new");
    expect_file("out/b", "old");
    assert_false(infc_file_exists(in_dir("out/a")));
    assert_int_equal(infc_stage_commit(stage), INFC_OK);
    expect_file("out/a", "new");
    expect_file("out/b", "new");
    expect_file("out/kept.txt", "kept");
    assert_int_equal(entries(in_dir("out")), 3);
}

/* A user's folder, empty or not, is not replaced, and what was moved before it is taken back. */
static void commit_is_all_or_none(void **state) {
    (void)state;
    infc_stage *stage;
    put_file(dir, "out/b", "old");
    assert_int_equal(infc_dir_create(&cx, in_dir("out/c")), INFC_OK);
    assert_int_equal(infc_stage_open(&cx, in_dir("out"), &stage), INFC_OK);
    put_file(stage->dir, "a", "new");
    put_file(stage->dir, "b", "new");
    put_file(stage->dir, "c", "new");
    assert_int_equal(infc_stage_commit(stage), INFC_ERR_SPEC);
    assert_non_null(strstr(cx.diags[0].text, "a folder of this name is in the way"));
    expect_file("out/b", "old");
    assert_true(infc_dir_exists(in_dir("out/c")));
    assert_false(infc_file_exists(in_dir("out/a")));
}

static void discarded_with_the_arena(void **state) {
    (void)state;
    infc_cx inner;
    infc_stage *stage;
    put_file(dir, "there/kept.txt", "kept");
    assert_int_equal(infc_cx_init(&inner), INFC_OK);
    assert_int_equal(infc_stage_open(&inner, in_dir("there"), &stage), INFC_OK);
    put_file(stage->dir, "half", "written");
    assert_int_equal(infc_stage_open(&inner, in_dir("made/for/it"), &stage), INFC_OK);
    put_file(stage->dir, "half", "written");
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
        put_file(stage->dir, "half", "written");
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
    put_file(dir, ".infc-notes", "a file");
    put_file(dir, ".infc-config/x", "a folder");
    put_file(dir, ".infc-stage-longer-one/x", "not ours");
    assert_int_equal(symlink("/tmp", in_dir(".infc-stage-abcdef")), 0);
    assert_int_equal(infc_stage_open(&cx, dir, &stage), INFC_OK);
    assert_true(infc_file_exists(in_dir(".infc-notes")));
    assert_true(infc_file_exists(in_dir(".infc-config/x")));
    assert_true(infc_file_exists(in_dir(".infc-stage-longer-one/x")));
    assert_true(infc_dir_exists("/tmp"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(commit_moves_and_replaces), FOLDER_TEST(commit_is_all_or_none),
        FOLDER_TEST(discarded_with_the_arena),  FOLDER_TEST(stale_stages_are_removed),
        FOLDER_TEST(only_stages_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
