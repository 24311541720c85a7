/* image_resize.h - resizing 8-bit images. */
#ifndef INFRT_IMAGE_RESIZE_H
#define INFRT_IMAGE_RESIZE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bilinear, over the area of an output pixel when shrinking (antialias): the pixels that Pillow's
 * Image.resize(size, BILINEAR) gives. from: [height][width][channels], to: [to_height][to_width][channels].
 * All sizes at least 1. False: no memory. */
bool infrt_image_resize(const uint8_t *from, int width, int height, int channels, uint8_t *to,
                        int to_width, int to_height);

#endif
