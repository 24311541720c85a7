/* emit_audio.c - inputs of kind audio: that they fit the model, and the tables of NAME_prepare.c. */
#include "../../runtime/prepare/audio_features.h"
#include "emit_prepare.h"
#include "mel_bands.h"

/* The sound that an input takes. */
typedef struct sound {
    const infc_spec_audio *audio;
    int input, axis;
    bool time_first;
    int64_t min, max, step; /* of the axis */
    int64_t more, hop;
} sound;

static infc_status refuse(const infc_emit_unit *u, const sound *s, const char *why) {
    const infc_type *type = &u->plan->buffers[u->plan->inputs[s->input]].type;
    return infc_fail(u->cx, INFC_ERR_SPEC, s->audio->loc, "input \"%s\" is %s; %s", s->audio->input,
                     infc_type_text(u->cx->arena, type), why);
}

/* The axis of time; -1: there is none. */
static int time_axis(const infc_spec_audio *audio, const infc_type *type, bool *time_first) {
    int axis = -1;
    *time_first = false;
    if (audio->mel && type->rank < 2) return -1;
    if (audio->mel) {
        const bool mels_first = type->dims[type->rank - 2] == audio->mels;
        *time_first = !mels_first && type->dims[type->rank - 1] == audio->mels;
        if (!mels_first && !*time_first) return -1;
        axis = mels_first ? type->rank - 1 : type->rank - 2;
    }
    for (int d = 0; d < (audio->mel ? type->rank - 2 : type->rank); d++) {
        if (type->dims[d] == 1) continue;
        if (axis >= 0) return -1;
        axis = d;
    }
    return axis >= 0 ? axis : type->rank - 1;
}

static infc_status frames_check(const infc_emit_unit *u, sound *s) {
    const infc_spec_audio *audio = s->audio;
    const bool centred = audio->center != INFC_CENTER_none;
    s->hop = audio->mel ? audio->hop : 1;
    s->more = !audio->mel || centred ? 0 : audio->n_fft - audio->hop;
    if (audio->samples && s->min != s->max)
        return refuse(u, s, "`samples` needs an axis of time of one size");
    if (audio->samples) s->more = audio->samples - s->hop * s->max;
    if (!audio->mel)
        return s->more == 0 ? INFC_OK : refuse(u, s, "`samples` is not its number of samples; remove it");
    const int64_t least = s->hop * s->min + s->more, most = s->hop * s->max + s->more;
    const int64_t sides = centred ? audio->n_fft / 2 * 2 : 0;
    if (most > INT32_MAX || least < 1) return refuse(u, s, "that is too much or too little sound");
    if ((s->max - 1) * s->hop + audio->n_fft > most + sides)
        return refuse(u, s, "`samples` are too few for its frames");
    if (audio->center == INFC_CENTER_reflect && least <= audio->n_fft / 2)
        return refuse(u, s, "that is too little sound to reflect at its ends; use center: zeros");
    return INFC_OK;
}

static infc_status sound_find(const infc_emit_unit *u, const infc_spec_audio *audio, sound *s) {
    *s = (sound){.audio = audio};
    INFC_TRY(infc_emit_input(u, audio->loc, audio->input, "", &s->input));
    const infc_type *type = &u->plan->buffers[u->plan->inputs[s->input]].type;
    s->axis = type->rank ? time_axis(audio, type, &s->time_first) : -1;
    if (type->dtype != INFC_DTYPE_f32 || s->axis < 0)
        return refuse(
            u, s,
            audio->mel ? "features mel need f32 [mels,frames] or [frames,mels], axes before them 1"
                       : "samples need f32, and one axis that is not 1");
    if (!infc_emit_axis_sizes(u, s->input, s->axis, &s->min, &s->max, &s->step))
        return refuse(u, s, "its axis of time is computed from others; fix it under `shapes`");
    return frames_check(u, s);
}

static void put_doubles(infc_buf *out, const char *name, const double *values, size_t n) {
    infc_buf_printf(out, "static const double %s[] = {", name);
    for (size_t i = 0; i < n; i++) infc_buf_printf(out, "%s%a,", i % 4 ? " " : "\n    ", values[i]);
    infc_buf_puts(out, n ? "\n};\n" : "0};\n");
}

static void put_tables(const infc_emit_unit *u, const sound *s, const char *field, infc_buf *out) {
    infc_arena *arena = u->cx->arena;
    const infc_mel_band *bands = infc_mel_bands(arena, s->audio);
    double *weights = INFC_NEW(arena, double, (size_t)(s->audio->mels * (s->audio->n_fft / 2 + 1)));
    size_t n = 0;
    infc_buf_printf(out, "static const uint16_t %s_bands[] = {", field);
    for (int64_t m = 0; m < s->audio->mels; m++) {
        infc_buf_printf(out, "%s%d, %d,", m % 8 ? " " : "\n    ", bands[m].first, bands[m].n);
        for (int k = 0; k < bands[m].n; k++) weights[n++] = bands[m].weights[k];
    }
    infc_buf_puts(out, "\n};\n");
    put_doubles(out, infc_arena_printf(arena, "%s_weights", field), weights, n);
    put_doubles(out, infc_arena_printf(arena, "%s_window", field), infc_mel_window(arena, s->audio),
                (size_t)s->audio->n_fft);
    put_doubles(out, infc_arena_printf(arena, "%s_turns", field), infc_mel_turns(arena, s->audio),
                2 * (size_t)s->audio->n_fft);
}

static void put_form(const sound *s, const char *field, infc_buf *out) {
    const infc_spec_audio *a = s->audio;
    infc_buf_printf(out, "static const infrt_audio_form %s_form = {\n    .hop = %lld,\n    .more = %lld,\n",
                    field, (long long)s->hop, (long long)s->more);
    infc_buf_printf(out, "    .at_end = %d,\n    .repeat = %d,\n    .normalize = %d,\n", a->at_end,
                    a->repeat, a->normalize);
    infc_buf_printf(out, "    .scale = %a,\n    .mean = %a,\n    .std = %a,\n", a->scale, a->mean, a->std);
    if (a->mel) {
        infc_buf_printf(out, "    .mels = %lld,\n    .n_fft = %lld,\n    .power = %lld,\n",
                        (long long)a->mels, (long long)a->n_fft, (long long)a->power);
        infc_buf_printf(out, "    .center = INFRT_CENTER_%s,\n    .log = INFRT_LOG_%s,\n",
                        infc_spec_centers[a->center], infc_spec_logs[a->log]);
        infc_buf_printf(out, "    .time_first = %d,\n    .relative = %d,\n    .floor = %a,\n    .range = %a,\n",
                        s->time_first, a->relative, a->floor, a->range);
        infc_buf_printf(out,
                        "    .window = %s_window,\n    .turns = %s_turns,\n    .bands = %s_bands,\n"
                        "    .weights = %s_weights,\n",
                        field, field, field, field);
    }
    infc_buf_puts(out, "};\n\n");
}

/* NAME.h: the function and its macros. */
static void put_header(const infc_emit_unit *u, const sound *s, const char *field, size_t scratch, infc_buf *out) {
    const char *macro = infc_arena_printf(u->cx->arena, "%s_PREPARE_%s", u->upper, field);
    infc_buf_printf(out, "#define %s_RATE %lld\n#define %s_SCRATCH %zu\n#define %s_STEPS %lld\n",
                    macro, (long long)s->audio->rate, macro, scratch, macro, (long long)s->max);
    infc_buf_printf(out,
                    "/* The input %s from n samples of sound, mono, full scale 1, %s_RATE per "
                    "second. `steps`: size of\n"
                    " * axis %d, %s_STEPS%s. `scratch`: %s_SCRATCH bytes, 8 aligned. */\n"
                    "int %s_prepare_%s(const float *samples, size_t n, int64_t steps, float *to, "
                    "void *scratch);\n",
                    field, macro, s->axis, macro, s->min == s->max ? "" : " at most", macro, u->name, field);
}

static infc_status emit_one(infc_emit_unit *u, const infc_spec_audio *audio, infc_emit_prepare *out) {
    sound s;
    INFC_TRY(sound_find(u, audio, &s));
    const char *field = u->input_fields[s.input];
    const size_t scratch = audio->mel ? 8 * INFRT_AUDIO_SCRATCH(audio->n_fft) : 1;
    if (audio->mel) put_tables(u, &s, field, &out->code);
    put_form(&s, field, &out->code);
    infc_buf_printf(
        &out->code,
        "int %s_prepare_%s(const float *samples, size_t n, int64_t steps, float *to, void "
        "*scratch) {\n"
        "    if ((!samples && n) || !to || !scratch || (uintptr_t)scratch %% 8 || n > SIZE_MAX / "
        "8)\n"
        "        return INFC_RUN_BAD_ARGUMENT;\n"
        "    if (steps < %lld || steps > %lld || steps %% %lld) return INFC_RUN_BAD_SIZE;\n"
        "    const infrt_fpenv saved = infrt_fpenv_enter();\n"
        "    infrt_audio_prepare(&%s_form, samples, n, steps, to, (double *)scratch);\n"
        "    infrt_fpenv_leave(saved);\n"
        "    return INFC_RUN_OK;\n}\n",
        u->name, field, (long long)s.min, (long long)s.max, (long long)s.step, field);
    put_header(u, &s, field, scratch, &out->header);
    infc_buf_printf(&out->audio_infos, "    {%d, %lld, %lld, %d, %lld, %zu, %s_prepare_%s},\n",
                    s.input, (long long)audio->rate, (long long)s.hop, s.axis, (long long)s.more,
                    scratch, u->name, field);
    return INFC_OK;
}

infc_status infc_emit_audio(infc_emit_unit *u, infc_emit_prepare *out) {
    for (size_t i = 0; u->spec && i < u->spec->n_audios; i++)
        INFC_TRY(emit_one(u, &u->spec->audios[i], out));
    return INFC_OK;
}
