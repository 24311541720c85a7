/* wav_read.h - sound from a WAV file. The file is hostile input. */
#ifndef INFRT_WAV_READ_H
#define INFRT_WAV_READ_H
#include "tensor_io.h"

typedef struct infrt_sound {
    uint32_t rate; /* samples per second */
    uint32_t channels;
    size_t n;       /* of each channel */
    float *samples; /* mono: the mean of the channels, full scale is 1; owned */
} infrt_sound;

/* Whether the bytes begin as a WAV file does, and `path` does not end as a file of a tensor. */
bool infrt_is_wav(infrt_bytes file, const char *path);
/* PCM of 8, 16, 24 or 32 bits, floats of 32 or 64; any rate and up to 256 channels. Set on success only. */
infrt_status infrt_wav_read(infrt_bytes file, const char *where, infrt_sound *out, infrt_error *error);
void infrt_sound_free(infrt_sound *sound); /* leaves {0} */

#endif
