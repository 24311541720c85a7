#include "spec_fill.h"
#include <stdio.h>
#include <stdlib.h>

static const char *weights_name(infc_spec_format format) {
    return infc_spec_formats[format == INFC_FORMAT_NONE ? INFC_FORMAT_f32 : format];
}

/* The shortest text that reads back as the same number. */
static void put_number(infc_buf *out, double value) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    infc_buf_puts(out, text);
}

static void put_numbers(infc_buf *out, const char *key, const double *values, int n) {
    bool same = true;
    for (int i = 1; i < n; i++) same &= values[i] == values[0];
    infc_buf_printf(out, "    %s: %s", key, same ? "" : "[");
    for (int i = 0; i < (same ? 1 : n); i++) {
        if (i) infc_buf_puts(out, ", ");
        put_number(out, values[i]);
    }
    infc_buf_puts(out, same ? "\n" : "]\n");
}

static void put_output(const infc_spec *spec, infc_buf *out) {
    infc_buf_printf(out, "output:\n  kinds: [%s%s%s]\n", spec->binary ? "binary" : "",
                    spec->binary && spec->static_library ? ", " : "",
                    spec->static_library ? "static-library" : "");
    infc_buf_printf(out, "  weights: %s\n  license: ", spec->weights_file ? "file" : "embed");
    infc_buf_json_string(out, spec->license);
    infc_buf_puts(out, "\ntargets: [");
    for (size_t i = 0; i < spec->n_targets; i++)
        infc_buf_printf(out, "%s%s", i ? ", " : "", spec->targets[i].name);
    infc_buf_puts(out, "]\n");
}

const char *infc_spec_dim_text(infc_arena *arena, const infc_spec_dim *dim) {
    long long min = (long long)dim->min, max = (long long)dim->max, step = (long long)dim->step;
    if (dim->value) return infc_arena_printf(arena, "%lld", (long long)dim->value);
    if (step == 1) return infc_arena_printf(arena, "%lld..%lld", min, max);
    return infc_arena_printf(arena, "{min: %lld, max: %lld, multiple: %lld}", min, max, step);
}

static void put_shapes(const infc_spec *spec, infc_buf *out) {
    if (spec->n_dims) infc_buf_puts(out, "shapes:\n");
    for (size_t i = 0; i < spec->n_dims; i++) {
        infc_buf_puts(out, "  ");
        infc_buf_json_string(out, spec->dims[i].name);
        infc_buf_puts(out, ": ");
        if (spec->dims[i].same) infc_buf_json_string(out, spec->dims[i].same);
        else infc_buf_puts(out, infc_spec_dim_text(out->arena, &spec->dims[i]));
        infc_buf_puts(out, "\n");
    }
}

static void put_precision(const infc_spec *spec, infc_buf *out) {
    infc_buf_puts(out, "precision:\n");
    if (spec->weights != INFC_FORMAT_NONE || (!spec->llm && !spec->fast)) /* fast: f32 is not the default */
        infc_buf_printf(out, "  weights: %s\n", weights_name(spec->weights));
    if (spec->llm) infc_buf_printf(out, "  kv: %s\n", spec->kv == INFC_KV_f16 ? "f16" : "int8");
    else infc_buf_puts(out, "  activations: f32\n");
    infc_buf_printf(out, "  float: %s\n", spec->fast ? "fast" : "exact");
    if (spec->calibrates) {
        infc_buf_puts(out, "  calibration: {");
        if (spec->calibration) {
            infc_buf_puts(out, "data: ");
            infc_buf_json_string(out, spec->calibration_text);
            infc_buf_puts(out, ", ");
        }
        infc_buf_printf(out, "tokens: %lld}\n", (long long)spec->calibration_tokens);
    }
    if (spec->n_rules) infc_buf_puts(out, "  rules:\n");
    for (size_t i = 0; i < spec->n_rules; i++) {
        infc_buf_puts(out, "    - {match: ");
        infc_buf_json_string(out, spec->rules[i].match);
        infc_buf_printf(out, ", weights: %s}\n", weights_name(spec->rules[i].weights));
    }
}

static void put_audios(const infc_spec *spec, infc_buf *out) {
    for (size_t i = 0; i < spec->n_audios; i++) {
        const infc_spec_audio *a = &spec->audios[i];
        infc_buf_puts(out, "  ");
        infc_buf_json_string(out, a->input);
        infc_buf_printf(out, ":\n    kind: audio\n    rate: %lld\n    features: %s\n",
                        (long long)a->rate, a->mel ? "mel" : "samples");
        if (a->samples) infc_buf_printf(out, "    samples: %lld\n", (long long)a->samples);
        infc_buf_printf(out, "    align: %s\n    fill: %s\n    normalize: %s\n", a->at_end ? "end" : "start",
                        a->repeat ? "repeat" : "silence", a->normalize ? "true" : "false");
        put_numbers(out, "scale", &a->scale, 1);
        put_numbers(out, "mean", &a->mean, 1);
        put_numbers(out, "std", &a->std, 1);
        if (!a->mel) continue;
        infc_buf_printf(out, "    n_fft: %lld\n    hop: %lld\n    mels: %lld\n    power: %lld\n",
                        (long long)a->n_fft, (long long)a->hop, (long long)a->mels, (long long)a->power);
        infc_buf_printf(out, "    window: %s\n    center: %s\n    mel_scale: %s\n    mel_norm: %s\n    log: %s\n",
                        infc_spec_windows[a->window], infc_spec_centers[a->center], a->htk ? "htk" : "slaney",
                        a->equal_areas ? "slaney" : "none", infc_spec_logs[a->log]);
        put_numbers(out, "fmin", &a->fmin, 1);
        put_numbers(out, "fmax", &a->fmax, 1);
        put_numbers(out, "floor", &a->floor, 1);
        if (a->range != 0) put_numbers(out, "range", &a->range, 1);
        infc_buf_printf(out, "    relative: %s\n", a->relative ? "true" : "false");
    }
}

static void put_texts(const infc_spec *spec, infc_buf *out) {
    for (size_t i = 0; i < spec->n_texts; i++) {
        const infc_spec_text *text = &spec->texts[i];
        const char *const keys[] = {"tokenizer", "ids", "mask", "types"}, *const values[] = {
                                                                              text->tokenizer_text, text->ids,
                                                                              text->mask, text->types};
        infc_buf_printf(out, "  %s:\n    kind: text\n", text->name);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            if (!values[k]) continue;
            infc_buf_printf(out, "    %s: ", keys[k]);
            infc_buf_json_string(out, values[k]);
            infc_buf_puts(out, "\n");
        }
    }
}

static void put_inputs(const infc_spec *spec, infc_buf *out) {
    if (spec->n_images || spec->n_constants || spec->n_audios || spec->n_texts)
        infc_buf_puts(out, "inputs:\n");
    put_audios(spec, out);
    put_texts(spec, out);
    for (size_t i = 0; i < spec->n_constants; i++) {
        infc_buf_puts(out, "  ");
        infc_buf_json_string(out, spec->constants[i].input);
        infc_buf_printf(out, ":\n    kind: constant\n    value: %.17g\n", spec->constants[i].value);
    }
    for (size_t i = 0; i < spec->n_images; i++) {
        const infc_spec_image *image = &spec->images[i];
        infc_buf_puts(out, "  ");
        infc_buf_json_string(out, image->input);
        infc_buf_printf(out, ":\n    kind: image\n    channels: %s\n    layout: %s\n",
                        image->channels == 1 ? "gray"
                        : image->bgr         ? "bgr"
                                             : "rgb",
                        image->nhwc ? "nhwc" : "nchw");
        put_numbers(out, "scale", image->scale, image->channels);
        put_numbers(out, "mean", image->mean, image->channels);
        put_numbers(out, "std", image->std, image->channels);
    }
}

static void put_embedding(const infc_spec_embedding *embedding, infc_buf *out) {
    infc_buf_puts(out, "  ");
    infc_buf_json_string(out, embedding->output);
    infc_buf_printf(out, ":\n    kind: embedding\n    pooling: %s\n", infc_spec_poolings[embedding->pooling]);
    if (embedding->mask) infc_buf_puts(out, "    mask: ");
    if (embedding->mask) infc_buf_json_string(out, embedding->mask);
    infc_buf_printf(out, "%s    normalize: %s\n", embedding->mask ? "\n" : "",
                    embedding->normalize ? "true" : "false");
}

static void put_outputs(const infc_spec *spec, infc_buf *out) {
    if (spec->n_classes + spec->n_embeddings) infc_buf_puts(out, "outputs:\n");
    for (size_t i = 0; i < spec->n_embeddings; i++) put_embedding(&spec->embeddings[i], out);
    for (size_t i = 0; i < spec->n_classes; i++) {
        const infc_spec_classes *classes = &spec->classes[i];
        infc_buf_puts(out, "  ");
        infc_buf_json_string(out, classes->output);
        infc_buf_puts(out, ":\n    kind: classes\n    labels: [");
        for (size_t k = 0; k < classes->n_labels; k++) {
            if (k) infc_buf_puts(out, ", ");
            infc_buf_json_string(out, classes->labels[k]);
        }
        infc_buf_printf(out, "]\n    top: %d\n    scores: %s\n", classes->top,
                        infc_spec_scores[classes->scores]);
    }
}

/* Of language models; what the spec does not say is the model's, or decided later. */
static void put_llm(const infc_spec *spec, infc_buf *out) {
    const long long context = spec->context, sequences = spec->max_sequences, itl = spec->target_itl / 1000;
    if (context) infc_buf_printf(out, "context: %lld\n", context);
    if (sequences || itl) infc_buf_puts(out, "batch:\n");
    if (sequences) infc_buf_printf(out, "  max_sequences: %lld\n", sequences);
    if (itl) infc_buf_printf(out, "  target_itl: %lldus\n", itl);
    if (spec->kv_memory || spec->no_prefix_cache) infc_buf_puts(out, "kv:\n");
    if (spec->kv_memory) infc_buf_printf(out, "  memory: %lld\n", (long long)spec->kv_memory);
    if (spec->no_prefix_cache) infc_buf_puts(out, "  prefix_cache: false\n");
    infc_spec_print_adapters(spec, out);
}

void infc_spec_print(const infc_spec *spec, infc_buf *out) {
    infc_buf_puts(out, "infc: 1\nmodel: ");
    infc_buf_json_string(out, spec->model_text);
    infc_buf_printf(out, "\nname: %s\n", spec->name);
    put_output(spec, out);
    put_shapes(spec, out);
    if (spec->max_trips)
        infc_buf_printf(out, "loops:\n  max_trips: %lld\n", (long long)spec->max_trips);
    put_precision(spec, out);
    put_llm(spec, out);
    put_inputs(spec, out);
    put_outputs(spec, out);
    infc_spec_print_serve(&spec->serve, out);
    if (spec->budget_file || spec->budget_memory) infc_buf_puts(out, "budgets:\n");
    if (spec->budget_file)
        infc_buf_printf(out, "  file: %llu\n", (unsigned long long)spec->budget_file);
    if (spec->budget_memory)
        infc_buf_printf(out, "  memory: %llu\n", (unsigned long long)spec->budget_memory);
}
