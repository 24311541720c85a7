/* Tensors in files: what numpy and onnx wrote is read as they meant it; what is damaged is refused. */
#include "infrt_test_files.h"

typedef infrt_status reader(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error);

static infrt_status npz_x(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error) {
    return infrt_npz_read(file, where, "x", out, error);
}
static infrt_status npz_mid(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error) {
    return infrt_npz_read(file, where, "/mid:0", out, error);
}

static void expect_x(const char *name, reader *read) {
    infrt_bytes file = test_file(name);
    infrt_tensor t = {0};
    infrt_error error = {0};
    char shape[INFRT_SHAPE_TEXT];
    if (read(file, name, &t, &error) != INFRT_OK) fail_msg("%s", error.text);
    assert_string_equal(infrt_shape_text(t.dtype, t.rank, t.dims, shape), "f32[2,3,4]");
    assert_int_equal(t.bytes, 96);
    for (size_t i = 0; i < 24; i++) assert_true(infrt_element(t.dtype, t.data, i) == (double)i / 4);
    infrt_tensor_free(&t);
    assert_null(t.data);
    test_file_free(file);
}

static void expect_values(const char *name, reader *read, const char *shape, size_t n, const double *values) {
    infrt_bytes file = test_file(name);
    infrt_tensor t = {0};
    infrt_error error = {0};
    char text[INFRT_SHAPE_TEXT];
    if (read(file, name, &t, &error) != INFRT_OK) fail_msg("%s", error.text);
    assert_string_equal(infrt_shape_text(t.dtype, t.rank, t.dims, text), shape);
    assert_int_equal(t.bytes, n * infrt_dtype_bytes(t.dtype));
    for (size_t i = 0; i < n; i++) assert_true(infrt_element(t.dtype, t.data, i) == values[i]);
    infrt_tensor_free(&t);
    test_file_free(file);
}

static void test_npy(void **state) {
    (void)state;
    expect_x("f32.npy", infrt_npy_read);
    expect_x("f32_v2.npy", infrt_npy_read);
    expect_values("scalar_i64.npy", infrt_npy_read, "i64[]", 1, (double[]){-7});
    expect_values("u8.npy", infrt_npy_read, "u8[5]", 5, (double[]){0, 1, 2, 3, 4});
    expect_values("bool.npy", infrt_npy_read, "bool[3]", 3, (double[]){1, 0, 1});
    expect_values("f16.npy", infrt_npy_read, "f16[5]", 5, (double[]){0, 1.5, -2, 65504, 0x1p-24});
}

static void npy_refused(const char *name, const char *words) {
    infrt_bytes file = test_file(name);
    infrt_tensor t = {0};
    infrt_error error = {0};
    expect_error(infrt_npy_read(file, name, &t, &error), &error, words);
    assert_null(t.data);
    test_file_free(file);
}

/* An .npy of this header and `n` zero bytes. */
static void npy_text_refused(const char *header, size_t n, const char *words) {
    unsigned char file[512] = "\x93NUMPY\x01\x00";
    infrt_tensor t = {0};
    infrt_error error = {0};
    file[8] = (unsigned char)strlen(header);
    memcpy(file + 10, header, strlen(header));
    expect_error(infrt_npy_read((infrt_bytes){file, 10 + strlen(header) + n}, "f", &t, &error), &error, words);
}

static void test_npy_refused(void **state) {
    (void)state;
    npy_refused("fortran.npy", "Fortran order");
    npy_refused("big_endian.npy", "big-endian elements (>f4)");
    npy_refused("complex.npy", "'<c8' are not supported");
    npy_refused("raw.pb", "not a .npy file");
#define HEAD "{'descr': '<f4', 'fortran_order': False, 'shape': "
    npy_text_refused(HEAD "(2,), }", 7, "f32[2] takes 8 bytes, 7 are there: truncated");
    npy_text_refused(HEAD "(2,), }", 9, "f32[2] takes 8 bytes, 9 are there");
    npy_text_refused(HEAD "(4294967296, 4294967296), }", 0, "larger than any file");
    npy_text_refused(HEAD "(9223372036854775807,), }", 0, "larger than any file");
    npy_text_refused(HEAD "(9223372036854775808,), }", 0, "not a .npy header that can be read");
    npy_text_refused(HEAD "(-1,), }", 4, "not a .npy header that can be read");
    npy_text_refused(HEAD "(1,1,1,1,1,1,1,1,1), }", 4, "at most 8 dimensions");
    npy_text_refused(HEAD "(1, }", 4, "not a .npy header");
    npy_text_refused(HEAD "(1", 4, "not a .npy header");
    npy_text_refused("{'descr': '<f4', 'fortran_order': False}", 4, "not a .npy header");
    npy_text_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "not a .npy");
    npy_text_refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "'|O' are not supported");
    npy_text_refused("", 0, "not a .npy header");
}

static void test_npz(void **state) {
    (void)state;
    double mid[300];
    for (int i = 0; i < 300; i++) mid[i] = i / 100;
    expect_x("stored.npz", npz_x);
    expect_x("deflated.npz", npz_x);
    expect_values("stored.npz", npz_mid, "i32[300]", 300, mid);
    expect_values("deflated.npz", npz_mid, "i32[300]", 300, mid);
}

static void test_npz_names(void **state) {
    (void)state;
    infrt_bytes file = test_file("stored.npz");
    infrt_tensor t = {0};
    infrt_error error = {0};
    expect_error(infrt_npz_read(file, "f", "y", &t, &error), &error, "no array \"y\"; it has: x, /mid:0");
    expect_error(infrt_npz_read(file, "f", NULL, &t, &error), &error, "has 2 arrays, not one: x, /mid:0");
    test_file_free(file);
}

/* Of each entry in the central directory, the field at `offset` gets `value`. */
static infrt_bytes directory_patched(infrt_bytes file, size_t offset, uint32_t value, size_t n) {
    for (size_t i = 0; i + 46 < file.n; i++)
        if (memcmp(file.data + i, "PK\1\2", 4) == 0)
            return test_patched(file, i + offset, &value, n);
    fail();
    return file;
}

static void npz_patch_refused(const char *name, size_t offset, uint32_t value, size_t n, const char *words) {
    infrt_bytes file = test_file(name), bad = directory_patched(file, offset, value, n);
    infrt_tensor t = {0};
    infrt_error error = {0};
    expect_error(infrt_npz_read(bad, "f", "x", &t, &error), &error, words);
    assert_null(t.data);
    test_file_free(bad);
    test_file_free(file);
}

static void test_npz_refused(void **state) {
    (void)state;
    infrt_bytes file = test_file("bzip2.npz");
    infrt_tensor t = {0};
    infrt_error error = {0};
    expect_error(infrt_npz_read(file, "f", "x", &t, &error), &error,
                 "compressions other than deflate are not supported");
    test_file_free(file);
    npz_patch_refused("stored.npz", 8, 1, 2, "encrypted");
    npz_patch_refused("stored.npz", 16, 1, 4, "\"x.npy\" is damaged");
    npz_patch_refused("deflated.npz", 16, 1, 4, "\"x.npy\" is damaged");
    npz_patch_refused("stored.npz", 20, 0x7fffffff, 4, "entry 0 of its directory is damaged");
    npz_patch_refused("stored.npz", 24, 5, 4, "5 bytes cannot come from");
    npz_patch_refused("deflated.npz", 24, 223, 4, "takes 96 bytes, 95 are there");
    npz_patch_refused("deflated.npz", 24, 0x7fffffff, 4, "bytes cannot come from");
    npz_patch_refused("stored.npz", 24, 0xffffffff, 4, "zip64");
    npz_patch_refused("stored.npz", 28, 0xffff, 2, "directory is damaged");
    npz_patch_refused("stored.npz", 42, 1, 4, "entry 0 of its directory is damaged");
    npz_patch_refused("stored.npz", 42, 0xfffffff0, 4, "entry 0 of its directory is damaged");
}

static void test_pb(void **state) {
    (void)state;
    expect_x("raw.pb", infrt_pb_read);
    expect_x("typed.pb", infrt_pb_read);
    expect_values("typed_i8.pb", infrt_pb_read, "i8[3]", 3, (double[]){-128, 0, 127});
    expect_values("typed_i64.pb", infrt_pb_read, "i64[2]", 2, (double[]){-1, 0x1p40});
    expect_values("typed_f64.pb", infrt_pb_read, "f64[2]", 2, (double[]){0.1, -2.5});
}

static void pb_refused(const char *bytes, size_t n, const char *words) {
    infrt_tensor t = {0};
    infrt_error error = {0};
    unsigned char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    expect_error(infrt_pb_read((infrt_bytes){exact, n}, "f", &t, &error), &error, words);
    assert_null(t.owned);
    free(exact);
}
#define PB_REFUSED(bytes, words) pb_refused(bytes, sizeof bytes - 1, words)

static void test_pb_refused(void **state) {
    (void)state;
    infrt_bytes file = test_file("strings.pb");
    pb_refused((const char *)file.data, file.n, "holds strings");
    test_file_free(file);
    file = test_file("external.pb");
    pb_refused((const char *)file.data, file.n, "data in another file");
    test_file_free(file);
    PB_REFUSED("", "not an ONNX TensorProto");
    PB_REFUSED("\x08", "truncated"); /* a dim without value */
    PB_REFUSED("\x08\x02\x10\x01\x4a\x09"
               "12345678",
               "truncated"); /* raw_data of 9 bytes */
    PB_REFUSED("\x08\x02\x10\x01\x4a\x07"
               "1234567",
               "f32[2] takes 8 bytes, 7 are there");
    PB_REFUSED("\x08\x02\x10\x01", "takes 2 elements, 0 are there");
    PB_REFUSED("\x08\x02\x10\x01\x22\x05"
               "12345",
               "takes 2 elements, 1 are there"); /* 5 bytes of floats */
    PB_REFUSED("\x08\x02\x10\x03\x2a\x01\x80", "takes 2 elements, 0 are there"); /* an endless varint */
    PB_REFUSED("\x08\x02\x10\x63\x4a\x02"
               "12",
               "data type 99 is not supported");
    PB_REFUSED("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01", "impossible shape f32[-1]");
    PB_REFUSED("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x10\x01", "impossible shape"); /* 2^62 floats */
    PB_REFUSED("\x08\x80\x80\x80\x80\x80\x20\x10\x03", "takes 1099511627776 elements, 0 are there");
    PB_REFUSED(
        "\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x10\x03\x4a\x01"
        "1",
        "more than 8 dimensions");
    PB_REFUSED("\x0f\x01", "truncated"); /* wire type 7 */
}

/* Cut anywhere, a file is refused or, where what is left is whole, read: never more. */
static void truncate_all(const char *name, reader *read) {
    infrt_bytes file = test_file(name);
    for (size_t n = 0; n < file.n; n++) {
        unsigned char *cut = malloc(n ? n : 1);
        infrt_tensor t = {0};
        assert_non_null(cut);
        memcpy(cut, file.data, n);
        assert_int_not_equal(read((infrt_bytes){cut, n}, "f", &t, NULL), INFRT_OK);
        infrt_tensor_free(&t);
        free(cut);
    }
    test_file_free(file);
}

static void test_truncated(void **state) {
    (void)state;
    truncate_all("f32.npy", infrt_npy_read);
    truncate_all("f32_v2.npy", infrt_npy_read);
    truncate_all("stored.npz", npz_x);
    truncate_all("deflated.npz", npz_mid);
    truncate_all("raw.pb", infrt_pb_read);
}

static const infc_tensor_info x_info = {
    .name = "x", .dtype = INFC_DTYPE_f32, .rank = 3, .dims = {2, 3, 4}, .bytes = 96};

static void test_by_ending_and_by_content(void **state) {
    (void)state;
    static const struct {
        const char *file, *path;
    } cases[] = {{"f32.npy", "a.npy"}, {"f32.npy", "a.NPY"},    {"f32.npy", "noending"},
                 {"raw.pb", "a.pb"},   {"stored.npz", "a.npz"}, {"deflated.npz", "/dev/fd/63"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        infrt_bytes file = test_file(cases[i].file);
        infrt_tensor t = {0};
        infrt_error error = {0};
        char note[256];
        if (infrt_tensor_read(file, cases[i].path, &x_info, NULL, &t, note, &error) != INFRT_OK)
            fail_msg("%s", error.text);
        assert_string_equal(note, "");
        assert_true(infrt_element(t.dtype, t.data, 23) == 5.75);
        infrt_tensor_free(&t);
        test_file_free(file);
    }
    infrt_tensor t = {0};
    infrt_error error = {0};
    char note[256];
    infrt_bytes text = {(const unsigned char *)"hello", 5};
    expect_error(infrt_tensor_read(text, "a.txt", &x_info, NULL, &t, note, &error), &error, "not a kind of file");
    expect_error(infrt_tensor_read(text, "a.raw", &x_info, NULL, &t, note, &error), &error,
                 "5 bytes, but \"x\" is f32[2,3,4], 96 bytes");
}

static void test_mismatch_names_both(void **state) {
    (void)state;
    infrt_bytes file = test_file("f32.npy");
    infrt_tensor t = {0};
    infrt_error error = {0};
    infc_tensor_info info = x_info;
    char note[256];
    info.dims[2] = 5;
    expect_error(infrt_tensor_read(file, "a.npy", &info, NULL, &t, note, &error), &error,
                 "a.npy: is f32[2,3,4], but \"x\" is f32[2,3,5]; reshape it");
    info = x_info, info.dtype = INFC_DTYPE_i32;
    expect_error(infrt_tensor_read(file, "a.npy", &info, NULL, &t, note, &error), &error,
                 "a.npy: is f32[2,3,4], but \"x\" is i32[2,3,4]; convert it");
    info = x_info, info.rank = 2;
    expect_error(infrt_tensor_read(file, "a.npy", &info, NULL, &t, note, &error), &error, "is f32[2,3]; reshape");
    test_file_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy),
        cmocka_unit_test(test_npy_refused),
        cmocka_unit_test(test_npz),
        cmocka_unit_test(test_npz_names),
        cmocka_unit_test(test_npz_refused),
        cmocka_unit_test(test_pb),
        cmocka_unit_test(test_pb_refused),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_by_ending_and_by_content),
        cmocka_unit_test(test_mismatch_names_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
