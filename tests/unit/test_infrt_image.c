/* Images as inputs, against Pillow's pixels (tests/unit/tensors/make.py). */
#include "image_pixels.h"
#include "infrt_test_files.h"
#include "stb_decode.h"

static infc_tensor_info input_of(uint32_t dtype, int64_t d1, int64_t d2, int64_t d3) {
    infc_tensor_info info = {.name = "image", .dtype = dtype, .rank = 4, .dims = {1, d1, d2, d3}};
    info.bytes = (uint64_t)(d1 * d2 * d3) * infrt_dtype_bytes(dtype);
    return info;
}

static const infc_image_info rgb_plain = {.channels = 3, .scale = {1, 1, 1}};

/* `file` read as [1,C,H,W] u8 has the pixels [H][W][C] of `raw`. */
static void expect_pixels(const char *file, const char *raw, int64_t c, int64_t h, int64_t w) {
    infrt_bytes bytes = test_file(file), expected = test_file(raw);
    infc_tensor_info info = input_of(INFC_DTYPE_u8, c, h, w);
    infc_image_info image = rgb_plain;
    infrt_tensor t = {0};
    infrt_error error = {0};
    char note[256];
    image.channels = (uint32_t)c;
    if (infrt_image_read(bytes, file, &info, &image, &t, note, &error) != INFRT_OK)
        fail_msg("%s", error.text);
    assert_int_equal(t.bytes, expected.n);
    for (int64_t i = 0; i < h * w; i++)
        for (int64_t k = 0; k < c; k++)
            if (((const uint8_t *)t.data)[k * h * w + i] != expected.data[i * c + k])
                fail_msg("%s: pixel %d channel %d is %d, not %d", file, (int)i, (int)k,
                         ((const uint8_t *)t.data)[k * h * w + i], expected.data[i * c + k]);
    infrt_tensor_free(&t);
    test_file_free(bytes);
    test_file_free(expected);
}

static void test_decoded(void **state) {
    (void)state;
    expect_pixels("rgb.png", "rgb.raw", 3, 5, 7);
    expect_pixels("rgb.bmp", "rgb.raw", 3, 5, 7);
    expect_pixels("palette.png", "palette.raw", 3, 5, 7);
    expect_pixels("alpha.png", "rgb.raw", 3, 5, 7); /* alpha is dropped, not blended */
    expect_pixels("gray.png", "gray.raw", 1, 5, 7);
    expect_pixels("rgb.png", "gray.raw", 1, 5, 7); /* converted as Pillow's "L" */
}

static void test_resized_as_pillow_does(void **state) {
    (void)state;
    expect_pixels("rgb.png", "rgb_3x2.raw", 3, 2, 3);
    expect_pixels("rgb.png", "rgb_12x9.raw", 3, 9, 12);
    expect_pixels("gray.png", "gray_7x3.raw", 1, 3, 7);
}

static void test_jpeg(void **state) {
    (void)state;
    infrt_bytes file = test_file("flat.jpeg");
    infrt_pixels pixels;
    const char *why = NULL;
    assert_true(infrt_pixels_decode(file, &pixels, &why));
    assert_int_equal(pixels.width, 16);
    assert_int_equal(pixels.height, 16);
    assert_int_equal(pixels.channels, 3);
    for (int i = 0; i < 16 * 16; i++) { /* of one colour: lossy by a level or two */
        assert_in_range(pixels.data[3 * i], 198, 202);
        assert_in_range(pixels.data[3 * i + 1], 98, 102);
        assert_in_range(pixels.data[3 * i + 2], 48, 52);
    }
    infrt_pixels_free(&pixels);
    test_file_free(file);
}

static void test_scale_mean_order(void **state) {
    (void)state;
    infrt_bytes file = test_file("rgb.png"), pixels = test_file("rgb.raw");
    infc_tensor_info info = input_of(INFC_DTYPE_f32, 5, 7, 3);
    infc_image_info image = {.channels = 3, .nhwc = 1, .bgr = 1, .scale = {0.1f, 0.2f, 0.3f}, .mean = {1, 2, 3}};
    infrt_tensor t = {0};
    infrt_error error = {0};
    char note[256];
    assert_int_equal(infrt_image_read(file, "f", &info, &image, &t, note, &error), INFRT_OK);
    assert_string_equal(note, "");
    const float *values = t.data;
    for (int i = 0; i < 35; i++)
        for (int k = 0; k < 3; k++) {
            volatile float scaled = (float)pixels.data[i * 3 + 2 - k] * image.scale[k]; /* rounded on its own */
            assert_true(values[i * 3 + k] == scaled - image.mean[k]);
        }
    infrt_tensor_free(&t);
    test_file_free(file);
    test_file_free(pixels);
}

static void test_guessed(void **state) {
    (void)state;
    infrt_bytes file = test_file("alpha.png"), pixels = test_file("rgb.raw");
    infc_tensor_info info = input_of(INFC_DTYPE_f32, 3, 5, 7);
    infrt_tensor t = {0};
    infrt_error error = {0};
    char note[256];
    assert_int_equal(infrt_tensor_read(file, "a.png", &info, NULL, &t, note, &error), INFRT_OK);
    assert_non_null(strstr(note, "pixel / 255"));
    assert_non_null(strstr(note, "transparency ignored"));
    assert_true(((const float *)t.data)[35 + 6] == (float)pixels.data[6 * 3 + 1] / 255.0f);
    infrt_tensor_free(&t);
    info = input_of(INFC_DTYPE_f32, 3, 2, 3);
    assert_int_equal(infrt_tensor_read(file, "a.png", &info, NULL, &t, note, &error), INFRT_OK);
    assert_non_null(strstr(note, "resized from 7x5 to 3x2"));
    infrt_tensor_free(&t);

    info = input_of(INFC_DTYPE_f32, 2, 5, 7); /* two channels: not an image */
    expect_error(infrt_tensor_read(file, "a.png", &info, NULL, &t, note, &error), &error,
                 "\"image\" is f32[1,2,5,7], which is not one image");
    info = input_of(INFC_DTYPE_i64, 3, 5, 7);
    expect_error(infrt_tensor_read(file, "a.png", &info, NULL, &t, note, &error), &error, "not one image");
    info.rank = 2;
    expect_error(infrt_tensor_read(file, "a.png", &info, NULL, &t, note, &error), &error, "not one image");
    test_file_free(file);
    test_file_free(pixels);
}

/* A PNG that claims 60000 x 60000 pixels, and every cut of a good one. */
static void test_hostile(void **state) {
    (void)state;
    infc_tensor_info info = input_of(INFC_DTYPE_f32, 3, 5, 7);
    infrt_tensor t = {0};
    infrt_error error = {0};
    char note[256];
    infrt_bytes file = test_file("rgb.png");
    infrt_bytes huge = test_patched(file, 16, "\x00\x00\xea\x60\x00\x00\xea\x60", 8);
    expect_error(infrt_image_read(huge, "f", &info, NULL, &t, note, &error), &error, "too large");
    infrt_bytes many = test_patched(file, 16, "\x00\x00\x40\x00\x00\x00\x20\x00", 8); /* 16384 x 8192 */
    expect_error(infrt_image_read(many, "f", &info, NULL, &t, note, &error), &error, "64 million pixels");
    infrt_bytes wide = test_patched(file, 16, "\x00\x02\x00\x00\x00\x00\x00\x01", 8);
    expect_error(infrt_image_read(wide, "f", &info, NULL, &t, note, &error), &error, "not a PNG, JPEG or BMP");
    infrt_bytes none = {(const unsigned char *)"", 0};
    expect_error(infrt_image_read(none, "f", &info, NULL, &t, note, &error), &error, "not a PNG, JPEG or BMP");
    for (size_t n = 0; n + 12 < file.n; n++) { /* the end chunk alone is not missed */
        unsigned char *cut = malloc(n ? n : 1);
        assert_non_null(cut);
        memcpy(cut, file.data, n);
        if (infrt_image_read((infrt_bytes){cut, n}, "f", &info, NULL, &t, note, NULL) == INFRT_OK)
            infrt_tensor_free(&t);
        free(cut);
    }
    test_file_free(huge);
    test_file_free(wide);
    test_file_free(many);
    test_file_free(file);
}

/* The JPEG with its first segment of `marker` changed. */
static void jpeg_refused(int marker, size_t offset, const char *bytes, size_t n, const char *words) {
    infrt_bytes file = test_file("flat.jpeg"), bad;
    infc_tensor_info info = input_of(INFC_DTYPE_f32, 3, 16, 16);
    infrt_tensor t = {0};
    infrt_error error = {0};
    char note[256];
    size_t at = 0;
    while (at + 1 < file.n && (file.data[at] != 0xff || file.data[at + 1] != marker)) at++;
    assert_true(at + 1 < file.n);
    bad = test_patched(file, at + offset, bytes, n);
    expect_error(infrt_image_read(bad, "f", &info, NULL, &t, note, &error), &error, words);
    test_file_free(bad);
    test_file_free(file);
}

/* Each of these made the decoder write or read outside of its tables. */
static void test_hostile_jpeg(void **state) {
    (void)state;
    static const char many_codes[16] = {0, 0, 0, 0, 0, 0, 0, 127, 127, 127, 127};
    jpeg_refused(0xc4, 5, many_codes, 16, "bad Huffman table"); /* more than 256 codes */
    jpeg_refused(0xc4, 5, "\x03", 1, "bad Huffman table");      /* three codes of one bit */
    jpeg_refused(0xc4, 21, "\x10", 1, "bad Huffman table");     /* DC differences of 16 bits */
    jpeg_refused(0xc4, 4, "\x05", 1, "bad Huffman table");      /* table 5 */
    jpeg_refused(0xc4, 1, "\xfe", 1, "a table that it needs is missing"); /* a comment instead */
    jpeg_refused(0xdb, 1, "\xfe", 1, "a table that it needs is missing");
    jpeg_refused(0xdb, 2, "\xff\xff", 2, "truncated JPEG");
    jpeg_refused(0xda, 5, "\x09", 1, "bad scan header");                 /* an unknown component */
    jpeg_refused(0xc0, 1, "\xc3", 1, "a kind of JPEG that is not read"); /* lossless */
    jpeg_refused(0xc0, 9, "\x05", 1, "bad frame header");                /* five components */
    jpeg_refused(0xd9, 1, "\xd7", 1, "truncated JPEG");
    jpeg_refused(0xd8, 1, "\xff", 1, "not a JPEG");
}

/* [h][w][3] as [h][w][3] of another size. */
static void resize(const uint8_t *from, int w, int h, uint8_t *to, int to_w, int to_h) {
    const infrt_image image = {from, w, h, 3, (size_t)w * 3};
    const infrt_image_form form = {
        .width = to_w, .height = to_h, .channels = 3, .nhwc = 1, .u8 = 1, .scale = {1, 1, 1}};
    void *scratch = malloc(INFRT_IMAGE_SCRATCH(w, h, to_w, to_h, 3)); /* a sanitizer sees what is beyond it */
    infrt_image_prepare(&form, &image, to, scratch);
    free(scratch);
}

static void test_resize_extremes(void **state) {
    (void)state;
    uint8_t one[3] = {10, 20, 30}, many[4 * 6 * 3], back[3];
    resize(one, 1, 1, many, 6, 4); /* one pixel grown: everywhere the same */
    for (int i = 0; i < 24; i++) assert_memory_equal(many + 3 * i, one, 3);
    resize(many, 6, 4, back, 1, 1); /* and shrunk again */
    assert_memory_equal(back, one, 3);
    memset(many, 255, sizeof many);
    resize(many, 6, 4, back, 1, 1);
    assert_int_equal(back[0], 255);
}

/* All pairs of small sizes stay within the scratch that is asked for, and a flat image stays flat. */
static void test_scratch_is_enough(void **state) {
    (void)state;
    enum { MOST = 9 };
    uint8_t from[MOST * MOST * 3], to[MOST * MOST * 3];
    memset(from, 77, sizeof from);
    for (int i = 0; i < MOST * MOST * MOST * MOST; i++) {
        const int w = 1 + i % MOST, h = 1 + i / MOST % MOST, to_w = 1 + i / (MOST * MOST) % MOST,
                  to_h = 1 + i / (MOST * MOST * MOST);
        memset(to, 0, sizeof to);
        resize(from, w, h, to, to_w, to_h);
        for (int k = 0; k < to_w * to_h * 3; k++) assert_int_equal(to[k], 77);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoded),
        cmocka_unit_test(test_resized_as_pillow_does),
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_scale_mean_order),
        cmocka_unit_test(test_guessed),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_jpeg),
        cmocka_unit_test(test_resize_extremes),
        cmocka_unit_test(test_scratch_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
