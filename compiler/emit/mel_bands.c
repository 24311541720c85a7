#include "mel_bands.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

double *infc_mel_window(infc_arena *arena, const infc_spec_audio *audio) {
    double *window = INFC_NEW(arena, double, (size_t)audio->n_fft);
    for (int64_t i = 0; i < audio->n_fft; i++) {
        const double turn = cos(2 * pi * (double)i / (double)audio->n_fft);
        window[i] = audio->window == INFC_WINDOW_hann      ? 0.5 - 0.5 * turn
                    : audio->window == INFC_WINDOW_hamming ? 0.54 - 0.46 * turn
                                                           : 1;
    }
    return window;
}

double *infc_mel_turns(infc_arena *arena, const infc_spec_audio *audio) {
    double *turns = INFC_NEW(arena, double, 2 * (size_t)audio->n_fft);
    for (int64_t i = 0; i < audio->n_fft; i++) {
        const double angle = 2 * pi * (double)i / (double)audio->n_fft;
        turns[2 * i] = cos(angle);
        turns[2 * i + 1] = -sin(angle);
    }
    return turns;
}

static double mel_of(const infc_spec_audio *audio, double hertz) {
    if (audio->htk) return 2595 * log10(1 + hertz / 700);
    return hertz < 1000 ? 3 * hertz / 200 : 15 + log(hertz / 1000) * (27 / log(6.4));
}

static double hertz_of(const infc_spec_audio *audio, double mel) {
    if (audio->htk) return 700 * (pow(10, mel / 2595) - 1);
    return mel < 15 ? 200 * mel / 3 : 1000 * exp((log(6.4) / 27) * (mel - 15));
}

/* Edges of the triangles: mels + 2, evenly spaced in mels. */
static double *edges(infc_arena *arena, const infc_spec_audio *audio) {
    const double low = mel_of(audio, audio->fmin), high = mel_of(audio, audio->fmax);
    const double step = (high - low) / (double)(audio->mels + 1);
    double *at = INFC_NEW(arena, double, (size_t)audio->mels + 2);
    for (int64_t i = 0; i < audio->mels + 2; i++) at[i] = hertz_of(audio, low + (double)i * step);
    at[audio->mels + 1] = hertz_of(audio, high);
    return at;
}

infc_mel_band *infc_mel_bands(infc_arena *arena, const infc_spec_audio *audio) {
    const int bins = (int)audio->n_fft / 2 + 1;
    const double *at = edges(arena, audio);
    infc_mel_band *bands = INFC_NEW(arena, infc_mel_band, (size_t)audio->mels);
    for (int64_t m = 0; m < audio->mels; m++) {
        const double area = audio->equal_areas ? 2 / (at[m + 2] - at[m]) : 1;
        double *weights = INFC_NEW(arena, double, (size_t)bins);
        infc_mel_band *band = &bands[m];
        band->weights = weights;
        for (int k = 0; k < bins; k++) {
            const double hertz = (double)k * (double)audio->rate / (double)audio->n_fft;
            const double up = (hertz - at[m]) / (at[m + 1] - at[m]);
            const double down = (at[m + 2] - hertz) / (at[m + 2] - at[m + 1]);
            const double weight = up < down ? up : down;
            if (!(weight > 0)) continue;
            if (band->n == 0) band->first = k;
            weights[band->n++] = weight * area;
        }
    }
    return bands;
}
