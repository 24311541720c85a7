/* main.c - a program around libdigits.a: classifies one 8x8 picture. Valid C11 and C++17.
 *
 *   cc -std=c11 main.c -I DIR DIR/libdigits.a -o classify          DIR: where infc wrote the library
 *   c++ -std=c++17 -x c++ main.c -x none -I DIR DIR/libdigits.a -o classify
 *   ./classify [FILE.raw]                                          FILE.raw: f32 [1,1,8,8], 0..1
 *
 * Without a file it classifies the seven below. SPDX-License-Identifier: MIT */
#include "digits.h"

#include <stdio.h>
#ifndef __cplusplus
#include <stdalign.h>
#endif

#define PIXELS 64
#define CLASSES 10

/* 0 white to 16 black, as in scikit-learn's load_digits(). */
/* clang-format off */
static const unsigned char seven[PIXELS] = {
     0,  0,  3,  8, 12, 15, 16,  2,
     0,  0, 12, 14, 10, 13, 15,  0,
     0,  0,  1,  1,  2, 14,  6,  0,
     0,  0,  2,  8, 13, 16,  8,  0,
     0,  0,  9, 16, 16, 10,  5,  0,
     0,  0,  1,  8, 12,  1,  0,  0,
     0,  0,  0, 14,  8,  0,  0,  0,
     0,  0,  2, 16,  5,  0,  0,  0,
};
/* clang-format on */

static int read_image(const char *path, float *image) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t n = fread(image, sizeof *image, PIXELS, file);
    int more = fgetc(file) != EOF;
    fclose(file);
    return n == PIXELS && !more;
}

int main(int argc, char **argv) {
    /* The library allocates nothing: all its working memory for one worker is this block. */
    alignas(DIGITS_ARENA_ALIGN) static unsigned char arena[DIGITS_ARENA_BYTES(1)];
    float image[PIXELS], probabilities[CLASSES];

    if (argc > 1) {
        if (!read_image(argv[1], image)) {
            fprintf(stderr, "%s: not a file of %d floats\n", argv[1], PIXELS);
            return 2;
        }
    } else {
        for (int i = 0; i < PIXELS; i++) image[i] = (float)seven[i] / 16.0f;
    }

    digits_inputs inputs;
    digits_outputs outputs;
    inputs.image = image;
    outputs.probabilities = probabilities;
    int status = digits_run(digits_weights_embedded(), arena, &inputs, &outputs);
    if (status != 0) {
        fprintf(stderr, "digits_run: status %d\n", status);
        return 1;
    }

    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (probabilities[i] > probabilities[best]) best = i;
    printf("%d (%.2f %%)\n", best, 100.0 * (double)probabilities[best]);
    return 0;
}
