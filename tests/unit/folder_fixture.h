/* folder_fixture.h - `cx` as in cx_fixture.h and a temporary folder `dir`, new for each test that FOLDER_TEST lists. */
#ifndef FOLDER_FIXTURE_H
#define FOLDER_FIXTURE_H
#include <stdlib.h>
#include <string.h>
#include "compiler/base/file.h"
#include "cx_fixture.h"

static char dir[64];

static inline int folder_setup(void **state) {
    strcpy(dir, "/tmp/infc-test-XXXXXX");
    return mkdtemp(dir) ? cx_setup(state) : -1;
}

static inline int folder_teardown(void **state) {
    cx_teardown(state);
    infc_dir_remove(dir);
    return 0;
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

static inline const char *in_dir(const char *name) { return infc_path_join(cx.arena, dir, name); }

/* Makes the folders that `name` goes through. */
static inline void put_file(const char *folder, const char *name, const char *content) {
    const infc_bytes bytes = {(const uint8_t *)content, strlen(content)};
    const char *path = infc_path_join(cx.arena, folder, name);
    assert_int_equal(infc_dir_create(&cx, infc_path_dir(cx.arena, path)), INFC_OK);
    assert_int_equal(infc_file_write(&cx, path, bytes, 0644), INFC_OK);
}

/* `name` in `dir`. */
static inline void expect_file(const char *name, const char *content) {
    infc_bytes bytes;
    assert_int_equal(infc_file_map(&cx, in_dir(name), &bytes), INFC_OK);
    assert_int_equal(bytes.len, strlen(content));
    assert_memory_equal(bytes.ptr, content, bytes.len);
}

#endif
