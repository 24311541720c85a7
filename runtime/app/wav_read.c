/* wav_read.c - RIFF/WAVE: finds the format and the data among the chunks, mixes the channels down. */
#include "wav_read.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PCM = 1, FLOAT = 3, EXTENSIBLE = 0xfffe, MAX_CHANNELS = 256 };

typedef struct wav {
    infrt_bytes data;
    bool has_format, has_data;
    uint32_t code, channels, rate, block, bits;
} wav;

static uint32_t le(const unsigned char *p, int n) {
    uint32_t value = 0;
    for (int i = n; i-- > 0;) value = value << 8 | p[i];
    return value;
}

static bool is_riff(infrt_bytes file) {
    return file.n >= 12 && memcmp(file.data, "RIFF", 4) == 0 && memcmp(file.data + 8, "WAVE", 4) == 0;
}

bool infrt_is_wav(infrt_bytes file, const char *path) {
    return is_riff(file) && !infrt_tensor_ending(path);
}

static infrt_status format_read(infrt_bytes chunk, const char *where, wav *out, infrt_error *error) {
    const unsigned char *p = chunk.data;
    if (out->has_format) return infrt_fail(error, INFRT_ERR_DATA, "%s: two format chunks", where);
    if (chunk.n < 16)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: the format chunk is too short", where);
    out->has_format = true;
    out->code = le(p, 2), out->channels = le(p + 2, 2), out->rate = le(p + 4, 4);
    out->block = le(p + 12, 2), out->bits = le(p + 14, 2);
    if (out->code == EXTENSIBLE && chunk.n >= 40)
        out->code = le(p + 24, 2); /* the GUID begins with it */
    const uint32_t bits = out->bits;
    const bool pcm = out->code == PCM && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
    if (!pcm && !(out->code == FLOAT && (bits == 32 || bits == 64)))
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: WAV format %u with %u bits; PCM of 8, 16, 24 or 32 bits and floats "
                          "of 32 or 64 are "
                          "read: convert it, for example to 16-bit PCM",
                          where, out->code, bits);
    if (out->channels == 0 || out->channels > MAX_CHANNELS || out->rate == 0)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %u channels at %u Hz is no sound that can be read",
                          where, out->channels, out->rate);
    if (out->block != out->channels * (bits / 8))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %u bytes per sample of %u channels with %u bits",
                          where, out->block, out->channels, bits);
    return INFRT_OK;
}

/* A size of 2^32 - 1 is what programs write that could not go back to correct it: then to the end of the file. */
static infrt_status chunks_read(infrt_bytes file, const char *where, wav *out, infrt_error *error) {
    for (size_t at = 12; file.n - at >= 8 && !out->has_data;) {
        const unsigned char *p = file.data + at;
        const size_t left = file.n - at - 8, stated = le(p + 4, 4);
        const bool is_data = memcmp(p, "data", 4) == 0;
        const size_t n = is_data && stated == UINT32_MAX ? left : stated;
        if (n > left)
            return infrt_fail(error, INFRT_ERR_DATA, "%s: %zu bytes of a chunk of %zu: truncated",
                              where, left, n);
        const infrt_bytes chunk = {p + 8, n};
        if (is_data) out->data = chunk, out->has_data = true;
        else if (memcmp(p, "fmt ", 4) == 0) {
            const infrt_status status = format_read(chunk, where, out, error);
            if (status != INFRT_OK) return status;
        }
        at += 8 + n;
        if (n % 2 && at < file.n) at++; /* chunks are padded to even sizes */
    }
    if (!out->has_format || !out->has_data)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: a WAV file without %s", where,
                          !out->has_format ? "its format" : "data");
    return INFRT_OK;
}

static double sample(const wav *w, const unsigned char *p) {
    float f;
    double d;
    if (w->code == FLOAT) {
        if (w->bits == 64) return memcpy(&d, p, sizeof d), d;
        return memcpy(&f, p, sizeof f), (double)f;
    }
    if (w->bits == 8) return ((int)p[0] - 128) / 128.0;
    const uint32_t top = le(p, (int)w->bits / 8) << (32 - w->bits);
    return (double)(int32_t)top / 2147483648.0;
}

infrt_status infrt_wav_read(infrt_bytes file, const char *where, infrt_sound *out, infrt_error *error) {
    wav w = {0};
    if (!is_riff(file)) return infrt_fail(error, INFRT_ERR_DATA, "%s: not a WAV file", where);
    const infrt_status status = chunks_read(file, where, &w, error);
    if (status != INFRT_OK) return status;
    const size_t n = w.data.n / w.block, width = w.bits / 8;
    if (n == 0) return infrt_fail(error, INFRT_ERR_DATA, "%s: no samples", where);
    float *samples = malloc(n * sizeof *samples);
    if (!samples)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for %zu samples", where, n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t c = 0; c < w.channels; c++)
            sum += sample(&w, w.data.data + i * w.block + c * width);
        samples[i] = (float)(sum / w.channels);
        if (isfinite(samples[i])) continue;
        free(samples);
        return infrt_fail(error, INFRT_ERR_DATA, "%s: sample %zu is not a finite number", where, i);
    }
    *out = (infrt_sound){.rate = w.rate, .channels = w.channels, .n = n, .samples = samples};
    return INFRT_OK;
}

void infrt_sound_free(infrt_sound *sound) {
    free(sound->samples);
    *sound = (infrt_sound){0};
}
