/* Renames that can be taken back. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compiler/base/moves.h"
#include "folder_fixture.h"

static void all_is_taken_back(void **state) {
    (void)state;
    put_file(dir, "stage/a", "new a");
    put_file(dir, "stage/b", "new b");
    put_file(dir, "out/a", "old a");
    put_file(dir, "out/old/deep/c", "old c");
    infc_moves moves = {.arena = cx.arena, .kept_dir = in_dir("stage")};
    assert_int_equal(infc_moves_replace(&moves, in_dir("stage/a"), in_dir("out/a")), 0);
    assert_int_equal(infc_moves_take(&moves, in_dir("out/old/deep/c")), 0);
    infc_moves_prune(&moves, in_dir("out"), "old/deep/c");
    assert_false(infc_dir_exists(in_dir("out/old")));
    assert_int_equal(infc_moves_make_folders(&moves, in_dir("out"), "x/y/b"), 0);
    assert_int_equal(infc_moves_replace(&moves, in_dir("stage/b"), in_dir("out/x/y/b")), 0);
    expect_file("out/a", "new a");
    expect_file("out/x/y/b", "new b");
    assert_int_equal(infc_moves_replace(&moves, in_dir("none"), in_dir("out/a")), ENOENT);
    assert_int_equal(infc_moves_replace(&moves, in_dir("out/a"), in_dir("out/x")), EISDIR);
    assert_true(infc_moves_undo(&moves));
    expect_file("stage/a", "new a");
    expect_file("stage/b", "new b");
    expect_file("out/a", "old a");
    expect_file("out/old/deep/c", "old c");
    assert_false(infc_dir_exists(in_dir("out/x")));
}

/* What has the same file at both paths already is only made new. */
static void the_same_file_stays(void **state) {
    (void)state;
    struct stat info;
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    put_file(dir, "out/a", "a");
    put_file(dir, "stage/b", "b");
    assert_int_equal(link(in_dir("out/a"), in_dir("stage/a")), 0);
    assert_int_equal(utimensat(AT_FDCWD, in_dir("out/a"), old, 0), 0);
    infc_moves moves = {.arena = cx.arena, .kept_dir = in_dir("stage")};
    assert_int_equal(infc_moves_replace(&moves, in_dir("stage/a"), in_dir("out/a")), 0);
    assert_int_equal(stat(in_dir("out/a"), &info), 0);
    assert_true(info.st_mtime > 1000);
    assert_true(infc_moves_undo(&moves));
    expect_file("out/a", "a");
}

/* Folders with something else in them stay. */
static void only_empty_folders_go(void **state) {
    (void)state;
    put_file(dir, "out/a/mine", "mine");
    put_file(dir, "out/a/b/c/file", "made");
    infc_moves moves = {.arena = cx.arena, .kept_dir = dir};
    assert_int_equal(infc_moves_take(&moves, in_dir("out/a/b/c/file")), 0);
    infc_moves_prune(&moves, in_dir("out"), "a/b/c/file");
    assert_false(infc_dir_exists(in_dir("out/a/b")));
    expect_file("out/a/mine", "mine");
}

int main(void) {
    const struct CMUnitTest tests[] = {FOLDER_TEST(all_is_taken_back), FOLDER_TEST(the_same_file_stays),
                                       FOLDER_TEST(only_empty_folders_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
