/* Weights: the three places they come from, and every way in which a file can be wrong. */
#include "infrt_fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/infrt_weights_XXXXXX";

static void file_write(const void *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/* As a binary has it: something else, the payload on a page, the footer. */
static size_t binary_make(unsigned char *out, const fake_payload *payload, infc_payload_footer footer) {
    memset(out, 0x7f, 4096);
    memcpy(out + 4096, payload, sizeof *payload);
    memcpy(out + 4096 + sizeof *payload, &footer, sizeof footer);
    return 4096 + sizeof *payload + sizeof footer;
}

static const infc_payload_footer good_footer = {.magic = {'i', 'n', 'f', 'c', 'p', 'a', 'y', '1'},
                                                .offset = 4096,
                                                .bytes = sizeof(fake_payload),
                                                .layout_hash = FAKE_LAYOUT};

static void expect_ok(float bias) {
    infc_model model = fake_model_make();
    infrt_weights weights;
    infrt_error error = {0};
    assert_int_equal(infrt_weights_open(&model, path, &weights, &error), INFRT_OK);
    assert_int_equal((uintptr_t)weights.data % INFC_ALIGN, 0);
    assert_int_equal(weights.bytes, sizeof(fake_payload));
    const fake_payload *payload = weights.data;
    assert_true(payload->bias[0] == bias);
    assert_int_equal(infrt_weights_check_hash(&weights, &error), INFRT_OK);
    volatile const char *past = (const char *)weights.data + weights.bytes; /* may be read, by contract */
    for (int i = 0; i < INFC_OVER_READ; i++) (void)past[i];
    infrt_weights_close(&weights);
    assert_null(weights.data);
    infrt_weights_close(&weights);
}

static void expect_error(infrt_status status, const char *words) {
    infc_model model = fake_model_make();
    infrt_weights weights;
    infrt_error error = {0};
    assert_int_equal(infrt_weights_open(&model, path, &weights, &error), status);
    if (!strstr(error.text, words)) fail_msg("\"%s\" is not in: %s", words, error.text);
    assert_non_null(strstr(error.text, path));
    assert_null(weights.data);
}

static void test_weights_file(void **state) {
    (void)state;
    fake_payload payload = fake_payload_make(2);
    file_write(&payload, sizeof payload);
    expect_ok(2);
}

static void test_weights_end_on_a_page(void **state) {
    (void)state;
    unsigned char file[4096 + sizeof(fake_payload) + sizeof(infc_payload_footer)];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fake_payload payload = fake_payload_make(3);
    /* A payload whose last byte is the last of a page: what may be read after it is not in the file. */
    unsigned char *big = calloc(1, page);
    assert_non_null(big);
    infc_weights_header header = payload.header;
    header.bytes = page;
    header.hash = infrt_hash64(big + sizeof header, page - sizeof header);
    memcpy(big, &header, sizeof header);
    file_write(big, page);
    infc_model model = fake_model_make();
    model.weights_bytes = page;
    infrt_weights weights;
    assert_int_equal(infrt_weights_open(&model, path, &weights, NULL), INFRT_OK);
    volatile const char *past = (const char *)weights.data + page;
    for (int i = 0; i < INFC_OVER_READ; i++) assert_int_equal(past[i], 0);
    assert_int_equal(infrt_weights_check_hash(&weights, NULL), INFRT_OK);
    infrt_weights_close(&weights);
    free(big);

    file_write(file, binary_make(file, &payload, good_footer));
    expect_ok(3);
}

static _Alignas(64) fake_payload embedded;
static const void *embedded_get(void) { return &embedded; }
static void test_weights_embedded(void **state) {
    (void)state;
    embedded = fake_payload_make(4);
    infc_model model = fake_model_make();
    model.weights_embedded = embedded_get;
    infrt_weights weights;
    infrt_error error = {0};
    assert_int_equal(infrt_weights_open(&model, NULL, &weights, &error), INFRT_OK);
    assert_ptr_equal(weights.data, &embedded);
    assert_int_equal(infrt_weights_check_hash(&weights, &error), INFRT_OK);
    infrt_weights_close(&weights);

    fake_payload other = fake_payload_make(5); /* a file wins over what is embedded */
    file_write(&other, sizeof other);
    assert_int_equal(infrt_weights_open(&model, path, &weights, &error), INFRT_OK);
    assert_true(((const fake_payload *)weights.data)->bias[0] == 5);
    infrt_weights_close(&weights);
}

static void test_weights_none(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    infrt_weights weights;
    model.weights_bytes = 0;
    assert_int_equal(infrt_weights_open(&model, NULL, &weights, NULL), INFRT_OK);
    assert_null(weights.data);
    assert_int_equal(infrt_weights_check_hash(&weights, NULL), INFRT_OK);
    assert_int_equal(infrt_weights_open(&model, path, &weights, NULL), INFRT_ERR_DATA);
    model.weights_bytes = 10;
    assert_int_equal(infrt_weights_open(&model, NULL, &weights, NULL), INFRT_ERR_INTERNAL);
}

/* The program that runs this test has no payload; a file beside it serves. */
static void test_weights_of_this_program(void **state) {
    (void)state;
    infc_model model = fake_model_make();
    infrt_weights weights;
    infrt_error error = {0};
    char beside[4096], *slash;
    ssize_t n = readlink("/proc/self/exe", beside, sizeof beside - 64);
    assert_true(n > 0);
    beside[n] = 0;
    slash = strrchr(beside, '/');
    assert_non_null(slash);
    strcpy(slash + 1, "infrt_fake_beside.weights");
    model.name = "infrt_fake_beside";
    unlink(beside);
    assert_int_equal(infrt_weights_open(&model, NULL, &weights, &error), INFRT_ERR_DATA);
    assert_non_null(strstr(error.text, "this program: no weights at its end"));
    assert_non_null(strstr(error.text, "infrt_fake_beside.weights"));

    fake_payload payload = fake_payload_make(6);
    FILE *file = fopen(beside, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&payload, sizeof payload, 1, file), 1);
    fclose(file);
    infrt_status status = infrt_weights_open(&model, NULL, &weights, &error);
    unlink(beside);
    assert_int_equal(status, INFRT_OK);
    assert_true(((const fake_payload *)weights.data)->bias[0] == 6);
    infrt_weights_close(&weights);
}

static void test_weights_wrong(void **state) {
    (void)state;
    fake_payload good = fake_payload_make(1), bad;
    bad = good, bad.header.magic[0] = 'x';
    file_write(&bad, sizeof bad);
    expect_error(INFRT_ERR_DATA, "no weights at its end");
    bad = good, bad.header.layout_hash++;
    file_write(&bad, sizeof bad);
    expect_error(INFRT_ERR_DATA,
                 "another layout: 1234567890abcdf0, but fake needs 1234567890abcdef");
    bad = good, bad.header.bytes++;
    file_write(&bad, sizeof bad);
    expect_error(INFRT_ERR_DATA, "129 bytes of weights, fake has 128");
    for (size_t i = 32; i < 64; i++) { /* every reserved byte of the header */
        bad = good, ((unsigned char *)&bad)[i] ^= 1;
        file_write(&bad, sizeof bad);
        expect_error(INFRT_ERR_DATA, "bytes 32 to 63 are reserved and must be zero");
    }
    file_write(&good, sizeof good - 1);
    expect_error(INFRT_ERR_DATA, "truncated: 128 bytes of weights stated, 127 there");
    file_write(&good, 63);
    expect_error(INFRT_ERR_DATA, "63 bytes are too few");
    file_write(&good, 0);
    expect_error(INFRT_ERR_DATA, "0 bytes are too few");
    unlink(path);
    expect_error(INFRT_ERR_IO, "cannot open: No such file");
}

static void test_weights_binary_wrong(void **state) {
    (void)state;
    unsigned char file[4096 + sizeof(fake_payload) + sizeof(infc_payload_footer)];
    fake_payload good = fake_payload_make(1), bad = good;
    infc_payload_footer footer = good_footer;
    size_t n = binary_make(file, &good, footer);
    file_write(file, n - 1); /* a truncated binary has lost its footer */
    expect_error(INFRT_ERR_DATA, "no weights at its end");
    footer.bytes = UINT64_MAX - 4095;
    file_write(file, binary_make(file, &good, footer));
    expect_error(INFRT_ERR_DATA, "cannot hold");
    footer = good_footer, footer.offset = UINT64_MAX - 63;
    file_write(file, binary_make(file, &good, footer));
    expect_error(INFRT_ERR_DATA, "cannot hold");
    footer = good_footer, footer.bytes = sizeof good + 1;
    file_write(file, binary_make(file, &good, footer));
    expect_error(INFRT_ERR_DATA, "cannot hold");
    footer = good_footer, footer.offset -= 1;
    file_write(file, binary_make(file, &good, footer));
    expect_error(INFRT_ERR_DATA, "cannot hold");
    footer = good_footer, footer.bytes = 64;
    file_write(file, binary_make(file, &good, footer));
    expect_error(INFRT_ERR_DATA, "truncated: 128 bytes of weights stated, 64 there");
    bad.header.magic[7] = '2';
    file_write(file, binary_make(file, &bad, good_footer));
    expect_error(INFRT_ERR_DATA, "does not start with \"infcwts1\"");
}

static void test_weights_damaged(void **state) {
    (void)state;
    fake_payload payload = fake_payload_make(1);
    infrt_weights weights;
    infrt_error error = {0};
    infc_model model = fake_model_make();
    payload.bias[15] = 1e-30f;
    file_write(&payload, sizeof payload);
    assert_int_equal(infrt_weights_open(&model, path, &weights, &error), INFRT_OK);
    assert_int_equal(infrt_weights_check_hash(&weights, &error), INFRT_ERR_DATA);
    assert_non_null(strstr(error.text, "the weights are damaged"));
    infrt_weights_close(&weights);
}

/* Known answers of XXH64 with seed 0, from the specification's sanity checks. */
static void test_hash(void **state) {
    (void)state;
    assert_true(infrt_hash64("", 0) == 0xef46db3751d8e999u);
    assert_true(infrt_hash64("abc", 3) == 0x44bc2cf5ad770999u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_file),
        cmocka_unit_test(test_weights_end_on_a_page),
        cmocka_unit_test(test_weights_embedded),
        cmocka_unit_test(test_weights_none),
        cmocka_unit_test(test_weights_of_this_program),
        cmocka_unit_test(test_weights_wrong),
        cmocka_unit_test(test_weights_binary_wrong),
        cmocka_unit_test(test_weights_damaged),
        cmocka_unit_test(test_hash),
    };
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
