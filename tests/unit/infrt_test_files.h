/* infrt_test_files.h - the files of tests/unit/tensors, which numpy, onnx and Pillow made (make.py). */
#ifndef INFRT_TEST_FILES_H
#define INFRT_TEST_FILES_H
#include "input_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A malloc of exactly the file's size, so that a sanitizer sees a read past its end. */
static inline infrt_bytes test_bytes(const char *path) {
    infrt_input_file file;
    infrt_error error = {0};
    if (infrt_input_open(path, &file, &error) != INFRT_OK) fail_msg("%s", error.text);
    const size_t n = file.bytes.n;
    unsigned char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, file.bytes.data, n);
    infrt_input_close(&file);
    return (infrt_bytes){exact, n};
}
static inline infrt_bytes test_file(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/unit/tensors/%s", INFC_SOURCE_DIR, name);
    return test_bytes(path);
}
static inline void test_file_free(infrt_bytes bytes) { free((void *)(uintptr_t)bytes.data); }

static inline void expect_error(infrt_status status, infrt_error *error, const char *words) {
    if (status == INFRT_OK) fail_msg("accepted, but: %s", words);
    if (status != INFRT_ERR_DATA || !strstr(error->text, words))
        fail_msg("status %d, \"%s\" is not in: %s", (int)status, words, error->text);
    *error = (infrt_error){0};
}

/* Bytes at `at` replaced by `n` of `bytes`, in a copy. */
static inline infrt_bytes test_patched(infrt_bytes from, size_t at, const void *bytes, size_t n) {
    unsigned char *copy = malloc(from.n);
    assert_non_null(copy);
    memcpy(copy, from.data, from.n);
    assert_true(at + n <= from.n);
    memcpy(copy + at, bytes, n);
    return (infrt_bytes){copy, from.n};
}

#endif
