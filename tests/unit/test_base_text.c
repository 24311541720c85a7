/* buf.h, map.h, dtype.h, hash.h: the small facts about text and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "compiler/base/buf.h"
#include "compiler/base/c_text.h"
#include "compiler/base/dtype.h"
#include "compiler/base/hash.h"
#include "compiler/base/map.h"

static int setup(void **state) {
    *state = infc_arena_create();
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    infc_arena *arena = *state;
    infc_arena_destroy(&arena);
    return 0;
}

static void buf_grows(void **state) {
    infc_buf buf = {.arena = *state};
    assert_string_equal(infc_buf_str(&buf), "");
    assert_int_equal(infc_buf_bytes(&buf).len, 0);
    for (int i = 0; i < 1000; i++) infc_buf_printf(&buf, "%03d,", i);
    infc_buf_indent(&buf, 3);
    infc_buf_indent(&buf, 0);
    infc_buf_puts(&buf, "end");
    infc_buf_put(&buf, NULL, 0);
    assert_int_equal(buf.len, 4006);
    assert_memory_equal(infc_buf_str(&buf) + 3996, "999,   end", 11);
    assert_memory_equal(infc_buf_str(&buf), "000,001,", 8);
}

static void buf_writes_json_strings(void **state) {
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n\t\x01\x7f", "\"\\n\\t\\u0001\\u007f\""},
        {"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff|\xc0\x80|\xe2\x82", "\"\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* above U+10FFFF */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infc_buf buf = {.arena = *state};
        infc_buf_json_string(&buf, cases[i].text);
        assert_string_equal(infc_buf_str(&buf), cases[i].json);
    }
}

static void map_keeps_insertion_order(void **state) {
    infc_map map = {.arena = *state};
    char key[16];
    size_t value;
    assert_false(infc_map_find(&map, "k", &value));
    for (size_t i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k%zu", i * 7 % 5000);
        infc_map_put(&map, key, i);
    }
    infc_map_put(&map, "k7", 99);
    assert_int_equal(map.n, 5000);
    assert_true(infc_map_find(&map, "k7", &value));
    assert_int_equal(value, 99);
    assert_true(infc_map_find(&map, "k14", NULL));
    assert_false(infc_map_find(&map, "k5000", &value));
    for (size_t i = 0; i < map.n; i++) {
        snprintf(key, sizeof key, "k%zu", i * 7 % 5000);
        assert_string_equal(map.entries[i].key, key);
    }
}

static void nearest_name(void **state) {
    (void)state;
    static const char *const names[] = {"model",     "name",      "output",   "targets",
                                        "precision", "x86-64-v3", "x86-64-v4"};
    static const struct {
        const char *text, *nearest;
    } cases[] = {
        {"modle", "model"},
        {"Model", "model"},
        {"target", "targets"},
        {"nmae", "name"},
        {"x", NULL},
        {"frobnicate", NULL},
        {"", NULL},
        {"precison", "precision"},
        {"x86_64_v4", "x86-64-v4"},
        {"x86-64-v5", "x86-64-v3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = infc_nearest(cases[i].text, names, sizeof names / sizeof *names);
        if (cases[i].nearest) assert_string_equal(found, cases[i].nearest);
        else assert_null(found);
    }
    char big[4096];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assert_null(infc_nearest(big, names, 3));
}

static void dtypes(void **state) {
    (void)state;
    infc_dtype dtype;
    assert_true(infc_dtype_parse("bf16", &dtype));
    assert_int_equal(dtype, INFC_DTYPE_bf16);
    assert_true(infc_dtype_parse("bool", &dtype));
    assert_string_equal(infc_dtype_name(dtype), "bool");
    assert_string_equal(infc_dtype_c_type(dtype), "uint8_t");
    assert_string_equal(infc_dtype_c_type(INFC_DTYPE_f32), "float");
    assert_int_equal(infc_dtype_bytes(INFC_DTYPE_i64), 8);
    assert_false(infc_dtype_parse("none", &dtype));
    assert_false(infc_dtype_parse("f128", &dtype));
}

/* Published vectors: FIPS 180-2 for SHA-256; XXH3 of nothing, seed 0, from the xxHash specification. */
static void hashes(void **state) {
    infc_bytes none = {(const uint8_t *)"", 0}, abc = {(const uint8_t *)"abc", 3};
    assert_string_equal(infc_sha256_hex(*state, abc),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(infc_sha256_hex(*state, none),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_true(infc_hash64(none) == UINT64_C(0x2d06800538d394c2));
    assert_string_equal(infc_hash_hex(*state, none), "99aa06d3014798d86001c324468d497f");
}

/* C17 5.1.1.2: a comment is a space; within literals nothing is a comment. */
static void comments(void **state) {
    static const struct {
        const char *text, *without;
    } cases[] = {
        {"", ""},
        {"a/b/c", "a/b/c"},
        {"/", "/"},
        {"a/**/b", "a b"},
        {"/* one\n * two */ c /*/ d */;", " \n c  ;"},
        {"x // y\nz", "x  \nz"},
        {"x // y \\\nstill\nz", "x  \n\nz"},
        {"\"/* no */ \\\" // no\" /* yes */", "\"/* no */ \\\" // no\"  "},
        {"'\"' /* yes */ '\\'' // yes", "'\"'   '\\''  "},
        {"#error isn't /* no */\n/* yes */", "#error isn't /* no */\n "},
        {"/* open", " "},
        {"// open", " "},
        {"\"open\\", "\"open\\"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const infc_bytes text = {(const uint8_t *)cases[i].text, strlen(cases[i].text)};
        const infc_bytes got = infc_c_without_comments(*state, text);
        assert_int_equal(got.len, strlen(cases[i].without));
        assert_memory_equal(got.ptr, cases[i].without, got.len);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(buf_grows, setup, teardown),
        cmocka_unit_test_setup_teardown(buf_writes_json_strings, setup, teardown),
        cmocka_unit_test_setup_teardown(map_keeps_insertion_order, setup, teardown),
        cmocka_unit_test(nearest_name),
        cmocka_unit_test(dtypes),
        cmocka_unit_test_setup_teardown(hashes, setup, teardown),
        cmocka_unit_test_setup_teardown(comments, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
