/* stb_decode.c - the only file that sees stb_image; everything of it stays static in here. */
#include "stb_decode.h"
#include "jpeg_check.h"
#include <stdlib.h>
#include <string.h>
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
#define STBI_REALLOC(memory, bytes) realloc(memory, bytes)
#define STBI_FREE(memory) free(memory)
#include "stb_image.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif

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

bool infrt_pixels_decode(infrt_bytes file, infrt_pixels *out, const char **why) {
    *out = (infrt_pixels){0};
    *why = infrt_jpeg_wrong(file);
    if (*why) return false;
    int n = file.n > INT32_MAX ? 0 : (int)file.n;
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
    out->data = stbi_load_from_memory(file.data, n, &out->width, &out->height, &out->channels, 0);
    if (!out->data) *why = stbi_failure_reason();
    return out->data != NULL;
}

void infrt_pixels_free(infrt_pixels *pixels) {
    stbi_image_free(pixels->data);
    *pixels = (infrt_pixels){0};
}
