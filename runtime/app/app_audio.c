/* app_audio.c - a WAV file as an input: mixed down to mono, then what the model's own code makes of it. */
#include "app_prepare.h"
#include "wav_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const infc_audio_info *audio_of(const infc_model *model, uint32_t input) {
    for (uint32_t i = 0; i < model->n_audios; i++)
        if (model->audios[i].input == input) return &model->audios[i];
    return NULL;
}

static infrt_status sound_read(const infc_model *model, uint32_t input, infrt_bytes file,
                               const char *where, infrt_sound *out, infrt_error *error) {
    const infc_audio_info *audio = audio_of(model, input);
    if (!audio)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: the model does not say how \"%s\" is made of sound; "
                          "say it under `inputs` in the spec",
                          where, model->inputs[input].name);
    const infrt_status status = infrt_wav_read(file, where, out, error);
    if (status != INFRT_OK || out->rate == audio->rate) return status;
    const uint32_t rate = out->rate;
    infrt_sound_free(out);
    return infrt_fail(error, INFRT_ERR_DATA,
                      "%s: %u samples per second; the model takes %u: resample it, for example with"
                      "  ffmpeg -i %s -ar %u out.wav",
                      where, rate, audio->rate, where, audio->rate);
}

infrt_status infrt_audio_steps(const infc_model *model, uint32_t input, infrt_bytes file,
                               const char *where, infrt_tensor *out, infrt_error *error) {
    const infc_audio_info *audio = audio_of(model, input);
    infrt_sound sound = {0};
    infrt_status status = sound_read(model, input, file, where, &sound, error);
    if (status != INFRT_OK) return status;
    const infc_tensor_info *info = &model->inputs[input];
    *out = (infrt_tensor){.dtype = info->dtype, .rank = info->rank};
    memcpy(out->dims, info->dims, sizeof out->dims);
    int64_t steps = ((int64_t)sound.n - audio->more + audio->hop - 1) / audio->hop;
    for (uint32_t i = 0; i < model->n_sizes; i++) { /* more is cut, less is filled, as where the size is fixed */
        const infc_size_info *size = &model->sizes[i];
        if (size->input != input || size->axis != audio->axis) continue;
        steps = (steps + size->step - 1) / size->step * size->step;
        if (steps > size->max) steps = size->max / size->step * size->step;
        if (steps < size->min) steps = (size->min + size->step - 1) / size->step * size->step;
        out->dims[audio->axis] = steps;
    }
    infrt_sound_free(&sound);
    return INFRT_OK;
}

static void note_write(const infrt_sound *sound, double wanted, char note[256]) {
    size_t n = 0;
    note[0] = 0;
    if (sound->channels > 1)
        n = (size_t)snprintf(note, 256, "%u channels mixed down", sound->channels);
    const double seconds = (double)sound->n / sound->rate;
    if ((double)sound->n > wanted)
        snprintf(note + n, 256 - n, "%scut from %.3f to %.3f s", n ? "; " : "", seconds,
                 wanted / sound->rate);
}

infrt_status infrt_audio_read(const infc_model *model, uint32_t input, infrt_bytes file,
                              const char *where, void *to, char note[256], infrt_error *error) {
    const infc_audio_info *audio = audio_of(model, input);
    infrt_sound sound = {0};
    infrt_status status = sound_read(model, input, file, where, &sound, error);
    if (status != INFRT_OK) return status;
    const int64_t steps = model->inputs[input].dims[audio->axis];
    void *scratch = malloc((size_t)audio->scratch_bytes + 1);
    note_write(&sound, (double)steps * audio->hop + (double)audio->more, note);
    if (!scratch)
        status = infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for the sound", where);
    else if (audio->prepare(sound.samples, sound.n, steps, to, scratch) != INFC_RUN_OK)
        status = infrt_fail(error, INFRT_ERR_INTERNAL, "%s: the model's own size is refused", where);
    free(scratch);
    infrt_sound_free(&sound);
    return status;
}
