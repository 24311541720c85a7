/* The WAV reader on any bytes. What it accepts must be finite samples of some rate. */
#include "wav_read.h"
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infrt_sound sound = {0};
    infrt_error error = {0};
    if (infrt_wav_read((infrt_bytes){data, size}, "fuzz", &sound, &error) == INFRT_OK) {
        if (!sound.rate || !sound.channels || !sound.n || sound.n > size) abort();
        for (size_t i = 0; i < sound.n; i++)
            if (!isfinite(sound.samples[i])) abort();
    } else if (sound.samples || !error.text[0]) {
        abort();
    }
    infrt_sound_free(&sound);
    return 0;
}
