/* stb_decode.c - the only file that sees stb_image; everything of it stays static in here. */
#include "stb_decode.h"
/* Not restored at the end: GCC reports unused statics there. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_SIMD /* one code path, the same pixels everywhere */
#define STBI_FAILURE_USERMSG
#include "stb_image.h"

enum { PIXELS_MAX = 64 << 20, SIDE_MAX = 65535 };

bool infrt_inflate(infrt_bytes packed, void *out, size_t bytes) {
    if (packed.n > INT32_MAX || bytes > INT32_MAX) return false;
    return stbi_zlib_decode_noheader_buffer(out, (int)bytes, (const char *)packed.data, (int)packed.n) ==
           (int)bytes;
}

bool infrt_pixels_decode(infrt_bytes file, infrt_pixels *out, const char **why) {
    *out = (infrt_pixels){0};
    int n = file.n > INT32_MAX ? 0 : (int)file.n;
    if (!stbi_info_from_memory(file.data, n, &out->width, &out->height, &out->channels)) {
        *why = stbi_failure_reason();
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
