/* Images of 64 floats from standard input to 10 floats each on standard output, through the library alone. */
#include "digits.h"
#include <stdio.h>

int main(void) {
    static _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES(1)];
    float image[64], answer[10];
    digits_inputs in = {image};
    digits_outputs out = {answer};
    while (fread(image, sizeof image, 1, stdin) == 1)
        if (digits_run(digits_weights_embedded(), arena, &in, &out) != 0 ||
            fwrite(answer, sizeof answer, 1, stdout) != 1)
            return 1;
    return 0;
}
