/* audio_features.h - sound as an input of a model: cut or filled to the length that the input stands for, brought
 * to mean 0 and variance 1, as samples or as a (log) mel spectrogram.
 *
 * Static functions: generated code and tests include it; the tables are made at compile time. No memory but the
 * caller's, no libc, no libm; doubles and sums in a fixed order, so that every target gives the same bits (compile
 * with -ffp-contract=off).
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_AUDIO_FEATURES_H
#define INFRT_AUDIO_FEATURES_H
#include "fourier.h"

typedef enum infrt_audio_center {
    INFRT_CENTER_none, /* frame t begins at sample t * hop; others: it is centred there */
    INFRT_CENTER_reflect,
    INFRT_CENTER_zeros,
} infrt_audio_center;

typedef enum infrt_audio_log { INFRT_LOG_none, INFRT_LOG_log10, INFRT_LOG_ln } infrt_audio_log;

typedef struct infrt_audio_form {
    uint8_t at_end; /* what is too long loses its beginning, what is short is filled there; 0: its end */
    uint8_t repeat;     /* filled with itself; 0: with silence */
    uint8_t normalize;  /* after that, to mean 0 and variance 1 */
    int64_t more;       /* samples: hop * steps + more */
    uint32_t hop, mels; /* mels 0: the samples themselves, hop 1 */
    uint32_t n_fft, power;
    infrt_audio_center center;
    infrt_audio_log log;
    uint8_t time_first; /* [steps][mels]; 0: [mels][steps] */
    uint8_t relative;   /* to the greatest value of all */
    double floor;       /* before the logarithm; smaller ones become it */
    double range; /* after it: values that are this far below the greatest are raised; 0: none are */
    double scale, mean, std; /* then (value * scale - mean) / std */
    const double *window;    /* n_fft */
    const double *turns;     /* of the Fourier transform */
    const uint16_t *bands;   /* of each mel: its first bin, and how many */
    const double *weights;   /* of those, one mel after the other */
} infrt_audio_form;

/* The sound as the model takes it: a view. */
typedef struct infrt_audio_view {
    const infrt_audio_form *form;
    const float *samples;
    int64_t n, total;
    double mean, deviation;
} infrt_audio_view;

static inline double infrt_audio_raw(const infrt_audio_view *v, int64_t i) {
    const int64_t at = v->form->at_end ? i + v->n - v->total : i;
    if (at >= 0 && at < v->n) return v->samples[at];
    if (!v->form->repeat || v->n == 0) return 0;
    return v->samples[(at % v->n + v->n) % v->n];
}

static inline double infrt_audio_sample(const infrt_audio_view *v, int64_t i) {
    return (infrt_audio_raw(v, i) - v->mean) / v->deviation;
}

static inline infrt_audio_view infrt_audio_look(const infrt_audio_form *form, const float *samples,
                                                size_t n, int64_t steps) {
    infrt_audio_view v = {form, samples, (int64_t)n, steps * (int64_t)form->hop + form->more, 0, 1};
    if (!form->normalize) return v;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < v.total; i++) sum += infrt_audio_raw(&v, i);
    const double mean = sum / (double)v.total;
    for (int64_t i = 0; i < v.total; i++) {
        const double d = infrt_audio_raw(&v, i) - mean;
        squares += d * d;
    }
    v.mean = mean;
    v.deviation = __builtin_sqrt(squares / (double)v.total + 1e-7);
    return v;
}

/* Natural logarithm of a normal number > 0, within 2 units in the last place. */
static inline double infrt_audio_ln(double x) {
    union {
        double d;
        uint64_t u;
    } bits = {x};
    int exponent = (int)(bits.u >> 52) - 1023;
    bits.u = (bits.u & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    if (bits.d > 1.4142135623730951) bits.d *= 0.5, exponent++;
    const double s = (bits.d - 1) / (bits.d + 1), q = s * s; /* ln m = 2 artanh s, |s| < 0.172 */
    double sum = 0;
    for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * q;
    return (double)exponent * 0.69314718055994531 + (2 * s + 2 * s * sum);
}

static inline double infrt_audio_log_of(const infrt_audio_form *form, double x) {
    if (form->log == INFRT_LOG_none) return x;
    const double ln = infrt_audio_ln(x > form->floor ? x : form->floor);
    return form->log == INFRT_LOG_ln ? ln : ln * 0.43429448190325183;
}

/* Element j of frame t, under the window. */
static inline double infrt_audio_windowed(const infrt_audio_view *v, int64_t t, uint32_t j) {
    const infrt_audio_form *form = v->form;
    int64_t i = t * (int64_t)form->hop + (int64_t)j;
    if (form->center != INFRT_CENTER_none) i -= form->n_fft / 2;
    if (i < 0 || i >= v->total) {
        if (form->center != INFRT_CENTER_reflect) return 0;
        i = i < 0 ? -i : 2 * (v->total - 1) - i;
    }
    return infrt_audio_sample(v, i) * form->window[j];
}

/* Powers of frames t and t + 1, n_fft / 2 + 1 each: one transform, as real and imaginary part. */
static inline void infrt_audio_powers(const infrt_audio_view *v, int64_t t, int64_t steps,
                                      double *scratch, double *a, double *b) {
    const uint32_t n = v->form->n_fft;
    const infrt_fourier fourier = {n, v->form->turns};
    double *in = scratch, *z = in + 2 * (size_t)n, *room = z + 2 * (size_t)n;
    for (uint32_t j = 0; j < n; j++) {
        in[2 * j] = infrt_audio_windowed(v, t, j);
        in[2 * j + 1] = t + 1 < steps ? infrt_audio_windowed(v, t + 1, j) : 0;
    }
    infrt_fourier_run(&fourier, n, in, 1, z, room);
    for (uint32_t k = 0; k <= n / 2; k++) {
        const double *p = z + 2 * (size_t)k, *m = z + 2 * (size_t)(k ? n - k : 0);
        const double ar = p[0] + m[0], ai = p[1] - m[1], br = p[1] + m[1], bi = m[0] - p[0];
        a[k] = (ar * ar + ai * ai) * 0.25;
        b[k] = (br * br + bi * bi) * 0.25;
        if (v->form->power == 1) a[k] = __builtin_sqrt(a[k]), b[k] = __builtin_sqrt(b[k]);
    }
}

static inline void infrt_audio_frame(const infrt_audio_form *form, const double *powers, int64_t t,
                                     int64_t steps, float *to) {
    const double *weight = form->weights;
    for (uint32_t m = 0; m < form->mels; m++) {
        const uint32_t first = form->bands[2 * m], n = form->bands[2 * m + 1];
        double sum = 0;
        for (uint32_t k = 0; k < n; k++) sum += weight[k] * powers[first + k];
        weight += n;
        const int64_t at = form->time_first ? t * (int64_t)form->mels + m : m * steps + t;
        to[at] = (float)infrt_audio_log_of(form, sum);
    }
}

/* Range, and (value * scale - mean) / std. */
static inline void infrt_audio_finish(const infrt_audio_form *form, size_t n, float *to) {
    float most = to[0];
    for (size_t i = 1; i < n; i++) most = to[i] > most ? to[i] : most;
    for (size_t i = 0; i < n; i++) {
        double value = to[i];
        const double least = (double)most - form->range;
        if (form->range != 0 && value < least) value = least;
        if (form->relative) value -= (double)most;
        to[i] = (float)((value * form->scale - form->mean) / form->std);
    }
}

/* Doubles of scratch that infrt_audio_prepare needs. */
#define INFRT_AUDIO_SCRATCH(n_fft) (6 * (size_t)(n_fft) + 2 * ((size_t)(n_fft) / 2 + 1))

/* Fills an input of `steps` along its axis of time from n samples, at the rate that the model takes. */
static inline void infrt_audio_prepare(const infrt_audio_form *form, const float *samples, size_t n,
                                       int64_t steps, float *to, double *scratch) {
    const infrt_audio_view v = infrt_audio_look(form, samples, n, steps);
    if (form->mels == 0) {
        for (int64_t i = 0; i < v.total; i++)
            to[i] = (float)((infrt_audio_sample(&v, i) * form->scale - form->mean) / form->std);
        return;
    }
    double *a = scratch + 6 * (size_t)form->n_fft, *b = a + form->n_fft / 2 + 1;
    for (int64_t t = 0; t < steps; t += 2) {
        infrt_audio_powers(&v, t, steps, scratch, a, b);
        infrt_audio_frame(form, a, t, steps, to);
        if (t + 1 < steps) infrt_audio_frame(form, b, t + 1, steps, to);
    }
    infrt_audio_finish(form, (size_t)steps * form->mels, to);
}

#endif
