/* stb_decode.c - the only file that sees stb_image; everything of it stays static in here. */
#include "stb_decode.h"
#include "jpeg_check.h"
#include <stdlib.h>
#include <string.h>

/* What stb may let a buffer grow to: it inflates a PNG to the end, however little its header said there is. */
static _Thread_local size_t grow_most;
static _Thread_local bool grow_refused;
static void *grow(void *memory, size_t bytes) {
    grow_refused = bytes > grow_most;
    return grow_refused ? NULL : realloc(memory, bytes);
}

/* Not restored at the end: GCC reports unused statics there. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#if defined(__clang__) /* harmless in it: wrapping JPEG arithmetic on damaged files, copies of no bytes from null */
#pragma clang attribute push(__attribute__((no_sanitize("signed-integer-overflow", "shift",         \
                                                        "nonnull-attribute", "pointer-overflow"))), \
                             apply_to = function)
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_SIMD /* one code path, the same pixels everywhere */
#define STBI_FAILURE_USERMSG
/* Zeros: a damaged file, of which parts are never decoded, gives the same pixels each time. */
#define STBI_MALLOC(bytes) calloc(1, bytes)
#define STBI_REALLOC(memory, bytes) grow(memory, bytes)
#define STBI_FREE(memory) free(memory)
#include "stb_image.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif

enum { FILE_MAX = 256 << 20, DECODED_MAX = 160 << 20 };
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PIXELS_MAX = 1 << 16, SIDE_MAX = 65535 }; /* many small images a second */
#else
enum { PIXELS_MAX = 64 << 20, SIDE_MAX = 65535 };
#endif

/* With zeros after it: stb 2.27 looks up to 16 bits ahead and fails where the file ends within them, as raw deflate
 * data, which has no trailer, may. Whoever calls checks length and CRC, so the zeros cannot pass for data. */
bool infrt_inflate(infrt_bytes packed, void *out, size_t bytes) {
    enum { AHEAD = 16 };
    if (packed.n > INT32_MAX - AHEAD || bytes > INT32_MAX) return false;
    char *padded = calloc(1, packed.n + AHEAD);
    if (!padded) return false;
    if (packed.n > 0) memcpy(padded, packed.data, packed.n);
    int n = stbi_zlib_decode_noheader_buffer(out, (int)bytes, padded, (int)packed.n + AHEAD);
    free(padded);
    return n == (int)bytes;
}

static bool decode(infrt_bytes file, infrt_pixels *out, const char **why) {
    *why = infrt_jpeg_wrong(file);
    if (*why) return false;
    int n = (int)file.n;
    grow_refused = false;
    grow_most = 2 * file.n + 65536;
    if (!stbi_info_from_memory(file.data, n, &out->width, &out->height, &out->channels)) {
        /* It ends with the last format tried; loading stays with the format it is and tells what is wrong. */
        int ignored;
        stbi_image_free(stbi_load_from_memory(file.data, n, &ignored, &ignored, &ignored, 0));
        *why = stbi_failure_reason();
        return false;
    }
    if (out->width < 1 || out->height < 1) {
        *why = "no pixels";
        return false;
    }
    if (out->width > SIDE_MAX || out->height > SIDE_MAX || (int64_t)out->width * out->height > PIXELS_MAX) {
        *why = "more than 64 million pixels";
        return false;
    }
    const size_t row = (size_t)out->width * (size_t)out->channels;
    if (row * (size_t)out->height > DECODED_MAX) {
        *why = "more than 160 MiB of pixels";
        return false;
    }
    grow_most += 2 * (2 * row + 1) * (size_t)out->height; /* twice what pixels of 16 bits take */
    out->data = stbi_load_from_memory(file.data, n, &out->width, &out->height, &out->channels, 0);
    if (!out->data) *why = grow_refused ? "more data than its size has" : stbi_failure_reason();
    return out->data != NULL;
}

/* From a copy: what was checked must not change under the decoder, and `file` may be mapped. */
bool infrt_pixels_decode(infrt_bytes file, infrt_pixels *out, const char **why) {
    *out = (infrt_pixels){0};
    if (file.n > FILE_MAX) {
        *why = "a file of more than 256 MiB";
        return false;
    }
    unsigned char *copy = malloc(file.n + 1);
    if (!copy) {
        *why = "no memory";
        return false;
    }
    memcpy(copy, file.data, file.n);
    bool ok = decode((infrt_bytes){copy, file.n}, out, why);
    free(copy);
    return ok;
}

void infrt_pixels_free(infrt_pixels *pixels) {
    stbi_image_free(pixels->data);
    *pixels = (infrt_pixels){0};
}
