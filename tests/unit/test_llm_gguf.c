/* GGUF: what a file says, and that a damaged one is refused with the place. */
#include <string.h>
#include "compiler/frontend/gguf/gguf.h"
#include "llm_file_bytes.h"
#include "cx_fixture.h"

static infc_buf file;
static infc_gguf gguf;

static int setup(void **state) {
    if (cx_setup(state) != 0) return -1;
    file = (infc_buf){.arena = cx.arena};
    return 0;
}

static infc_status read_it(void) {
    return infc_gguf_read(&cx, "m.gguf", infc_buf_bytes(&file), &gguf);
}

static void expect_refused(infc_status status, const char *text) {
    assert_int_equal(read_it(), status);
    assert_non_null(strstr(cx.diags[cx.n_diags - 1].text, text));
}

static const uint64_t q4_dims[] = {64, 3, 0}, f32_dims[] = {5, 0};

/* Two tensors: Q4_0 of 3 rows of 64 (3 x 2 blocks of 18 bytes) and F32 of 5. */
static void put_two(uint64_t second_offset) {
    put_head(&file, 3, 2, 2);
    put_text(&file, "general.architecture", "llama");
    put_string(&file, "words");
    put_number(&file, 9, 4); /* array */
    put_number(&file, 8, 4); /* of strings */
    put_number(&file, 2, 8);
    put_string(&file, "a");
    put_string(&file, "");
    put_tensor(&file, "w", q4_dims, 2, 0);
    put_tensor(&file, "b", f32_dims, 0, second_offset);
    put_data(&file, 128 + 20);
}

static void a_whole_file(void **state) {
    (void)state;
    put_two(128);
    assert_int_equal(read_it(), INFC_OK);
    assert_int_equal(gguf.version, 3);
    assert_int_equal(gguf.n_values, 2);
    assert_string_equal(infc_gguf_text(cx.arena, infc_gguf_find(&gguf, "general.architecture")),
                        "llama");
    const infc_gguf_value *words = infc_gguf_find(&gguf, "words");
    assert_int_equal(words->count, 2);
    infc_bytes rest = words->bytes, text = infc_gguf_next_string(&rest);
    assert_int_equal(text.len, 1);
    assert_int_equal(text.ptr[0], 'a');
    assert_int_equal(infc_gguf_next_string(&rest).len, 0);
    assert_int_equal(rest.len, 0);
    const infc_stored_tensor *w = infc_checkpoint_find(&gguf.tensors, "w");
    assert_int_equal(w->rank, 2);
    assert_int_equal(w->dims[0], 3); /* outermost first */
    assert_int_equal(w->dims[1], 64);
    assert_int_equal(w->bytes.len, 3 * 2 * 18);
    assert_int_equal(w->bytes.ptr[1], 1);
    const infc_stored_tensor *b = infc_checkpoint_find(&gguf.tensors, "b");
    assert_int_equal(b->bytes.len, 20);
    assert_int_equal(b->bytes.ptr[0], 128);
    assert_null(infc_checkpoint_find(&gguf.tensors, "c"));
}

/* Wherever it ends, it is refused. */
static void every_cut(void **state) {
    (void)state;
    put_two(128);
    infc_bytes whole = infc_buf_bytes(&file);
    for (size_t n = 0; n < whole.len; n++) {
        size_t errors = cx.n_errors;
        assert_int_equal(infc_gguf_read(&cx, "m.gguf", (infc_bytes){whole.ptr, n}, &gguf), INFC_ERR_MODEL);
        assert_true(cx.n_errors == errors + 1);
    }
}

static void overlaps(void **state) {
    (void)state;
    put_two(96); /* the first one ends at 108 */
    expect_refused(INFC_ERR_MODEL, "tensors \"w\" and \"b\" overlap");
}

static void crooked_offset(void **state) {
    (void)state;
    put_two(120);
    expect_refused(INFC_ERR_MODEL, "is no multiple of 32");
}

static void one_tensor(const uint64_t *dims, uint32_t type, uint64_t offset) {
    put_head(&file, 3, 1, 0);
    put_tensor(&file, "w", dims, type, offset);
    put_data(&file, 64);
}

/* CVE-2026-27940, CVE-2026-33298 */
static void sizes_that_overflow(void **state) {
    (void)state;
    one_tensor((const uint64_t[]){UINT64_C(1) << 62, UINT64_C(1) << 62, 0}, 0, 0);
    expect_refused(INFC_ERR_MODEL, "must fit 64 bits");
}

/* CVE-2026-7482 */
static void beyond_the_end(void **state) {
    (void)state;
    one_tensor((const uint64_t[]){16, 2, 0}, 0, 0); /* 128 bytes of 64 */
    expect_refused(INFC_ERR_MODEL, "128 bytes at offset 0 go beyond the end");
}

static void offset_that_overflows(void **state) {
    (void)state;
    one_tensor((const uint64_t[]){16, 0}, 0, UINT64_MAX - 31);
    expect_refused(INFC_ERR_MODEL, "go beyond the end");
}

static void half_a_block(void **state) {
    (void)state;
    one_tensor((const uint64_t[]){48, 0}, 2, 0);
    expect_refused(INFC_ERR_MODEL, "must be a multiple of 32");
}

static void unknown_type(void **state) {
    (void)state;
    one_tensor(f32_dims, 4, 0); /* Q4_2, which was removed */
    expect_refused(INFC_ERR_UNSUPPORTED, "tensor \"w\" has type 4");
}

static void no_dimension(void **state) {
    (void)state;
    one_tensor((const uint64_t[]){0}, 0, 0);
    expect_refused(INFC_ERR_MODEL, "tensor \"w\" has 0 dimensions");
}

static void names_twice(void **state) {
    (void)state;
    put_head(&file, 3, 2, 0);
    put_tensor(&file, "w", f32_dims, 0, 0);
    put_tensor(&file, "w", f32_dims, 0, 32);
    put_data(&file, 64);
    expect_refused(INFC_ERR_MODEL, "tensor \"w\" is there twice");
}

static void keys_twice(void **state) {
    (void)state;
    put_head(&file, 3, 0, 2);
    put_u32(&file, "k", 1);
    put_u32(&file, "k", 2);
    expect_refused(INFC_ERR_MODEL, "key \"k\" is there twice");
}

/* CVE-2024-21802, CVE-2024-21825, CVE-2024-21836, CVE-2024-23496, CVE-2024-23605 */
static void absurd_counts(void **state) {
    (void)state;
    put_head(&file, 3, UINT64_MAX, UINT64_MAX);
    expect_refused(INFC_ERR_MODEL, "do not fit into a file of 24 bytes");
}

static void absurd_array(void **state) {
    (void)state;
    put_head(&file, 3, 0, 1);
    put_string(&file, "k");
    put_number(&file, 9, 4);
    put_number(&file, 12, 4);                /* f64 */
    put_number(&file, UINT64_C(1) << 61, 8); /* times 8 is 0 */
    expect_refused(INFC_ERR_MODEL, "the array of key \"k\"");
}

static void nested_array(void **state) {
    (void)state;
    put_head(&file, 3, 0, 1);
    put_string(&file, "k");
    put_number(&file, 9, 4);
    put_number(&file, 9, 4);
    put_number(&file, 0, 8);
    expect_refused(INFC_ERR_MODEL, "an array of type 9");
}

static void other_versions(void **state) {
    (void)state;
    put_head(&file, 1, 0, 0);
    expect_refused(INFC_ERR_UNSUPPORTED, "version 1 is not read");
    file.len = 0;
    put_head(&file, 0x03000000, 0, 0);
    expect_refused(INFC_ERR_UNSUPPORTED, "big-endian");
}

static void crooked_alignment(void **state) {
    (void)state;
    put_head(&file, 3, 1, 1);
    put_u32(&file, "general.alignment", 24);
    put_tensor(&file, "w", f32_dims, 0, 0);
    put_data(&file, 64);
    expect_refused(INFC_ERR_MODEL, "general.alignment must be a power of two");
}

static void numbers_of_every_type(void **state) {
    (void)state;
    uint64_t u;
    double f;
    put_head(&file, 2, 0, 4);
    put_u32(&file, "u", 4000000000u);
    put_string(&file, "minus");
    put_number(&file, 5, 4);
    put_number(&file, 0xfffffffe, 4); /* i32 -2 */
    put_string(&file, "f");
    put_number(&file, 6, 4);
    put_number(&file, 0x3fc00000, 4); /* 1.5f */
    put_string(&file, "d");
    put_number(&file, 12, 4);
    put_number(&file, UINT64_C(0xc004000000000000), 8); /* -2.5 */
    assert_int_equal(read_it(), INFC_OK);
    assert_true(infc_gguf_u64(infc_gguf_find(&gguf, "u"), &u) && u == 4000000000u);
    assert_false(infc_gguf_u64(infc_gguf_find(&gguf, "minus"), &u));
    assert_false(infc_gguf_u64(infc_gguf_find(&gguf, "f"), &u));
    assert_true(infc_gguf_f64(infc_gguf_find(&gguf, "f"), &f) && f == 1.5);
    assert_true(infc_gguf_f64(infc_gguf_find(&gguf, "d"), &f) && f == -2.5);
    assert_null(infc_gguf_text(cx.arena, infc_gguf_find(&gguf, "u")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, cx_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_whole_file),
        TEST(every_cut),
        TEST(overlaps),
        TEST(crooked_offset),
        TEST(half_a_block),
        TEST(beyond_the_end),
        TEST(sizes_that_overflow),
        TEST(offset_that_overflows),
        TEST(unknown_type),
        TEST(no_dimension),
        TEST(names_twice),
        TEST(keys_twice),
        TEST(absurd_counts),
        TEST(absurd_array),
        TEST(nested_array),
        TEST(other_versions),
        TEST(crooked_alignment),
        TEST(numbers_of_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
