/* Renames that can be taken back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "compiler/base/file.h"
#include "compiler/base/moves.h"

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

static void put(const char *name, const char *content) {
    const char *path = in_dir(name);
    assert_int_equal(infc_dir_create(&cx, infc_path_dir(cx.arena, path)), INFC_OK);
    infc_bytes bytes = {(const uint8_t *)content, strlen(content)};
    assert_int_equal(infc_file_write(&cx, path, bytes, 0644), INFC_OK);
}

static void expect(const char *name, const char *content) {
    infc_bytes bytes;
    assert_int_equal(infc_file_map(&cx, in_dir(name), &bytes), INFC_OK);
    assert_int_equal(bytes.len, strlen(content));
    assert_memory_equal(bytes.ptr, content, bytes.len);
}

static void all_is_taken_back(void **state) {
    (void)state;
    put("stage/a", "new a");
    put("stage/b", "new b");
    put("out/a", "old a");
    put("out/old/deep/c", "old c");
    infc_moves moves = {.arena = cx.arena, .kept_dir = in_dir("stage")};
    assert_int_equal(infc_moves_replace(&moves, in_dir("stage/a"), in_dir("out/a")), 0);
    assert_int_equal(infc_moves_take(&moves, in_dir("out/old/deep/c")), 0);
    infc_moves_prune(&moves, in_dir("out"), "old/deep/c");
    assert_false(infc_dir_exists(in_dir("out/old")));
    assert_int_equal(infc_moves_make_folders(&moves, in_dir("out"), "x/y/b"), 0);
    assert_int_equal(infc_moves_replace(&moves, in_dir("stage/b"), in_dir("out/x/y/b")), 0);
    expect("out/a", "new a");
    expect("out/x/y/b", "new b");
    assert_int_equal(infc_moves_replace(&moves, in_dir("none"), in_dir("out/a")), ENOENT);
    assert_int_equal(infc_moves_replace(&moves, in_dir("out/a"), in_dir("out/x")), EISDIR);
    assert_true(infc_moves_undo(&moves));
    expect("stage/a", "new a");
    expect("stage/b", "new b");
    expect("out/a", "old a");
    expect("out/old/deep/c", "old c");
    assert_false(infc_dir_exists(in_dir("out/x")));
}

/* Folders with something else in them stay. */
static void only_empty_folders_go(void **state) {
    (void)state;
    put("out/a/mine", "mine");
    put("out/a/b/c/file", "made");
    infc_moves moves = {.arena = cx.arena, .kept_dir = dir};
    assert_int_equal(infc_moves_take(&moves, in_dir("out/a/b/c/file")), 0);
    infc_moves_prune(&moves, in_dir("out"), "a/b/c/file");
    assert_false(infc_dir_exists(in_dir("out/a/b")));
    expect("out/a/mine", "mine");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(all_is_taken_back), TEST(only_empty_folders_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
