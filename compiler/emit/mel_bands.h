/* mel_bands.h - the tables of a mel spectrogram, as NumPy and librosa define them, in double precision. */
#ifndef INFC_MEL_BANDS_H
#define INFC_MEL_BANDS_H
#include "../frontend/spec.h"

typedef struct infc_mel_band { /* a mel is the sum of weights[k] * spectrum[first + k] */
    int first, n;
    const double *weights;
} infc_mel_band;

/* n_fft values, of period n_fft. */
double *infc_mel_window(infc_arena *arena, const infc_spec_audio *audio);
/* e^(-2 pi i k / n_fft), n_fft pairs. */
double *infc_mel_turns(infc_arena *arena, const infc_spec_audio *audio);
/* audio->mels triangles; one that is narrower than the bins of the spectrum may have none. */
infc_mel_band *infc_mel_bands(infc_arena *arena, const infc_spec_audio *audio);

#endif
