/* WAV files, good and hostile. Values are what the formats define, by hand. */
#include "infrt_test_files.h"
#include "wav_read.h"
#include <math.h>

typedef struct wav_text {
    unsigned char bytes[256];
    size_t n;
} wav_text;

static void put(wav_text *w, uint64_t value, int n) {
    for (int i = 0; i < n; i++) w->bytes[w->n++] = (unsigned char)(value >> (8 * i));
}
static void put_text(wav_text *w, const char *text) {
    memcpy(w->bytes + w->n, text, 4);
    w->n += 4;
}

static void begin(wav_text *w, unsigned code, unsigned channels, unsigned rate, unsigned bits) {
    *w = (wav_text){0};
    put_text(w, "RIFF"), put(w, 0, 4), put_text(w, "WAVE"), put_text(w, "fmt "), put(w, 16, 4);
    put(w, code, 2), put(w, channels, 2), put(w, rate, 4), put(w, (uint64_t)rate * channels * bits / 8, 4);
    put(w, channels * bits / 8, 2), put(w, bits, 2);
}
static void data(wav_text *w, uint64_t stated) { put_text(w, "data"), put(w, stated, 4); }

/* From a block of exactly its size, so that a sanitizer sees a read past its end. */
static infrt_status read_wav(const wav_text *w, size_t n, infrt_sound *out, infrt_error *error) {
    unsigned char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, w->bytes, n);
    infrt_status status = infrt_wav_read((infrt_bytes){exact, n}, "x.wav", out, error);
    free(exact);
    return status;
}

static void expect(const wav_text *w, uint32_t rate, size_t n, const float *samples) {
    infrt_sound sound;
    infrt_error error = {0};
    if (read_wav(w, w->n, &sound, &error) != INFRT_OK) fail_msg("%s", error.text);
    assert_int_equal(sound.rate, rate);
    assert_int_equal(sound.n, n);
    for (size_t i = 0; i < n; i++) assert_true(sound.samples[i] == samples[i]);
    infrt_sound_free(&sound);
}

static void refused(const wav_text *w, const char *words) {
    infrt_sound sound;
    infrt_error error = {0};
    expect_error(read_wav(w, w->n, &sound, &error), &error, words);
}

static void formats(void **state) {
    (void)state;
    wav_text w;
    begin(&w, 1, 1, 8000, 8), data(&w, 3), put(&w, 0xff0080, 3);
    expect(&w, 8000, 3, (float[]){0, -1, 127 / 128.0f});
    begin(&w, 1, 1, 16000, 16), data(&w, 6), put(&w, 0x7fff, 2), put(&w, 0x8000, 2), put(&w, 1, 2);
    expect(&w, 16000, 3, (float[]){32767 / 32768.0f, -1, 1 / 32768.0f});
    begin(&w, 1, 1, 44100, 24), data(&w, 6), put(&w, 0x800000, 3), put(&w, 0x400000, 3);
    expect(&w, 44100, 2, (float[]){-1, 0.5f});
    begin(&w, 1, 1, 1, 32), data(&w, 8), put(&w, 0xc0000000, 4), put(&w, 0x00000100, 4);
    expect(&w, 1, 2, (float[]){-0.5f, 256 / 2147483648.0f});
    begin(&w, 3, 1, 16000, 32), data(&w, 4), put(&w, 0x3e800000, 4);
    expect(&w, 16000, 1, (float[]){0.25f});
    begin(&w, 3, 1, 16000, 64), data(&w, 8), put(&w, UINT64_C(0xbfe0000000000000), 8);
    expect(&w, 16000, 1, (float[]){-0.5f});
}

static void mixed_down(void **state) {
    (void)state;
    wav_text w;
    begin(&w, 1, 2, 16000, 16), data(&w, 8), put(&w, 0x4000, 2), put(&w, 0, 2), put(&w, 0x8000, 2),
        put(&w, 0x8000, 2);
    expect(&w, 16000, 2, (float[]){0.25f, -1});
}

static void extensible_and_other_chunks(void **state) {
    (void)state;
    wav_text w = {0};
    put_text(&w, "RIFF"), put(&w, 0, 4), put_text(&w, "WAVE");
    put_text(&w, "LIST"), put(&w, 3, 4), put(&w, 0, 4); /* odd: padded */
    put_text(&w, "fmt "), put(&w, 40, 4), put(&w, 0xfffe, 2), put(&w, 1, 2), put(&w, 16000, 4);
    put(&w, 32000, 4), put(&w, 2, 2), put(&w, 16, 2), put(&w, 22, 2), put(&w, 16, 2), put(&w, 0, 4);
    put(&w, 1, 2), put(&w, 0, 8), put(&w, 0, 6);
    data(&w, UINT32_MAX), put(&w, 0x4000, 2), put(&w, 0xc0, 1); /* a stream: to the end, a part of a sample is none */
    expect(&w, 16000, 1, (float[]){0.5f});
}

static void hostile(void **state) {
    (void)state;
    wav_text w;
    begin(&w, 1, 0, 16000, 16), data(&w, 2), put(&w, 0, 2), refused(&w, "0 channels");
    begin(&w, 1, 65535, 16000, 16), data(&w, 2), put(&w, 0, 2), refused(&w, "65535 channels");
    begin(&w, 1, 1, 0, 16), data(&w, 2), put(&w, 0, 2), refused(&w, "at 0 Hz");
    begin(&w, 1, 1, 16000, 12), data(&w, 2), put(&w, 0, 2), refused(&w, "12 bits");
    begin(&w, 7, 1, 8000, 8), data(&w, 2), put(&w, 0, 2), refused(&w, "WAV format 7");
    begin(&w, 1, 1, 16000, 16), data(&w, 1000), put(&w, 0, 2), refused(&w, "truncated");
    begin(&w, 1, 1, 16000, 16), data(&w, 0xfffffffe), put(&w, 0, 2), refused(&w, "truncated");
    begin(&w, 1, 1, 16000, 16), data(&w, 0), refused(&w, "no samples");
    begin(&w, 1, 1, 16000, 16), refused(&w, "without data");
    begin(&w, 1, 1, 16000, 16), w.bytes[32] = 4, data(&w, 2), put(&w, 0, 2), refused(&w, "4 bytes per sample");
    begin(&w, 3, 1, 16000, 32), data(&w, 4), put(&w, 0x7fc00000, 4), refused(&w, "not a finite number");
    w = (wav_text){0};
    put_text(&w, "RIFF"), put(&w, 0, 4), put_text(&w, "WAVE"), data(&w, 2), put(&w, 0, 2),
        refused(&w, "its format");
    put_text(&w, "fmt "), put(&w, 8, 4), put(&w, 1, 8), refused(&w, "its format");
    begin(&w, 1, 1, 16000, 16), data(&w, 4), put(&w, 0, 4);
    for (size_t n = 0; n < w.n; n++) { /* cut anywhere */
        infrt_sound sound;
        infrt_error error = {0};
        assert_int_equal(read_wav(&w, n, &sound, &error), INFRT_ERR_DATA);
        assert_true(error.text[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(mixed_down),
        cmocka_unit_test(extensible_and_other_chunks),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
