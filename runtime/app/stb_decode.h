/* stb_decode.h - deflate and images, decoded by stb_image. */
#ifndef INFRT_STB_DECODE_H
#define INFRT_STB_DECODE_H
#include "tensor_io.h"

/* Raw deflate; true when `packed` gives exactly `bytes` bytes. Both below 2 GiB. */
bool infrt_inflate(infrt_bytes packed, void *out, size_t bytes);

typedef struct infrt_pixels {
    uint8_t *data;               /* [height][width][channels]; null: none */
    int width, height, channels; /* 1 gray, 2 gray + alpha, 3 rgb, 4 rgb + alpha */
} infrt_pixels;

/* PNG, JPEG, BMP of at most 64 Mpixel, to 8 bits per channel. `why` names the problem on failure. */
bool infrt_pixels_decode(infrt_bytes file, infrt_pixels *out, const char **why);
void infrt_pixels_free(infrt_pixels *pixels);

#endif
