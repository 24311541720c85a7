/* spec_inputs.c - the keys below `inputs`: which belong to which kind, and what they say. */
#include "spec_fill.h"
#include <string.h>

/* Keys, each between spaces: of audio whose features are mel; of each kind. */
#define MEL_KEYS \
    " n_fft hop mels window center power fmin fmax mel_scale mel_norm log floor range relative "

static const infc_spec_kind kinds[] = {
    {"image", " channels layout scale mean std "},
    {"constant", " value "},
    {"text", " tokenizer ids mask types "},
    {"audio", " rate features samples align fill normalize scale mean std" MEL_KEYS},
    {0},
};

const char *const infc_spec_windows[] = {"hann", "hamming", "none", NULL};
const char *const infc_spec_centers[] = {"none", "reflect", "zeros", NULL};
const char *const infc_spec_logs[] = {"none", "log10", "ln", NULL};

static const char *path_of(infc_spec_check *check, const infc_yaml_item *input, const char *key) {
    return infc_arena_printf(check->cx->arena, "inputs.%s%s%s", input->key, *key ? "." : "", key);
}

static void check_mel(infc_spec_check *check, infc_yaml_item *input) {
    const infc_yaml *map = input->value;
    if (infc_spec_is(infc_spec_get(map, "features"), "mel")) return;
    for (size_t i = 0; i < map->n; i++) {
        const infc_yaml_item *item = &map->items[i];
        if (!item->value->is_default && infc_spec_key_among(check->cx->arena, MEL_KEYS, item->key))
            infc_spec_problem(check, item->value, path_of(check, input, item->key),
                              "is a key of features: mel; add that, or remove this");
    }
}

/* One number for all channels or one for each. */
static void fill_per_channel(infc_spec_check *check, const infc_yaml_item *input, const char *key,
                             int channels, double out[4]) {
    infc_yaml *list = infc_spec_get(input->value, key);
    const char *path = path_of(check, input, key);
    if (list->n != 1 && list->n != (size_t)channels) {
        infc_spec_problem(check, list, path, "%zu numbers for %d channel%s; give one, or one per channel",
                          list->n, channels, channels == 1 ? "" : "s");
        return;
    }
    for (size_t c = 0; c < 4; c++) {
        out[c] = list->items[list->n == 1 ? 0 : c < list->n ? c : list->n - 1].value->number;
        if (strcmp(key, "std") == 0 && out[c] == 0) {
            infc_spec_problem(check, list, path, "must not be 0: values are divided by it");
            return;
        }
    }
}

static void fill_constant(infc_spec_check *check, infc_yaml_item *input, infc_spec *out) {
    const infc_yaml *value = infc_spec_get(input->value, "value");
    if (!value) {
        infc_spec_problem(check, input->value, path_of(check, input, ""),
                          "a constant needs a value, for example value: 16000");
        return;
    }
    out->constants[out->n_constants++] =
        (infc_spec_constant){.input = input->key, .value = value->number, .loc = input->key_loc};
}

static void fill_image(infc_spec_check *check, infc_yaml_item *input, infc_spec *out) {
    const infc_yaml *map = input->value;
    infc_spec_image *image = &out->images[out->n_images++];
    *image = (infc_spec_image){
        .input = input->key,
        .channels = infc_spec_is(infc_spec_get(map, "channels"), "gray") ? 1 : 3,
        .nhwc = infc_spec_is(infc_spec_get(map, "layout"), "nhwc"),
        .bgr = infc_spec_is(infc_spec_get(map, "channels"), "bgr"),
        .loc = input->key_loc,
    };
    fill_per_channel(check, input, "scale", image->channels, image->scale);
    fill_per_channel(check, input, "mean", image->channels, image->mean);
    fill_per_channel(check, input, "std", image->channels, image->std);
}

static int64_t integer(const infc_yaml *map, const char *key) {
    const infc_yaml *node = infc_spec_get(map, key);
    return node ? node->integer : 0;
}

static double number(const infc_yaml *map, const char *key, double otherwise) {
    const infc_yaml *node = infc_spec_get(map, key);
    return node ? node->number : otherwise;
}

/* What of a choice's names, in the order of the enum, the value is. */
static int choice(const infc_yaml *map, const char *key, const char *const *names) {
    for (int i = 0; names[i]; i++)
        if (infc_spec_is(infc_spec_get(map, key), names[i])) return i;
    return 0;
}

static void check_audio(infc_spec_check *check, infc_yaml_item *input, const infc_spec_audio *audio) {
    const infc_yaml *map = input->value;
    infc_yaml *floor = infc_spec_get(map, "floor"), *range = infc_spec_get(map, "range"),
              *fmax = infc_spec_get(map, "fmax"), *fmin = infc_spec_get(map, "fmin");
    if (audio->rate == 0)
        infc_spec_problem(check, input->value, path_of(check, input, ""),
                          "audio needs the rate that the model takes, for example rate: 16000");
    if (!audio->mel) return;
    if (audio->log != INFC_LOG_none && !(audio->floor >= 1e-300))
        infc_spec_problem(check, floor, path_of(check, input, "floor"), "must be above 0: it has a logarithm");
    if (range && !(audio->range > 0))
        infc_spec_problem(check, range, path_of(check, input, "range"), "must be above 0");
    if (audio->rate == 0 ||
        (audio->fmin >= 0 && audio->fmin < audio->fmax && audio->fmax * 2 <= (double)audio->rate))
        return;
    infc_spec_problem(check, fmax ? fmax : fmin, path_of(check, input, fmax ? "fmax" : "fmin"),
                      "0 <= fmin < fmax <= rate / 2 does not hold");
}

static void fill_audio(infc_spec_check *check, infc_yaml_item *input, infc_spec *out) {
    const infc_yaml *map = input->value;
    double scale[4], mean[4], std[4] = {1};
    infc_spec_audio *audio = &out->audios[out->n_audios++];
    *audio = (infc_spec_audio){
        .input = input->key,
        .rate = integer(map, "rate"),
        .samples = integer(map, "samples"),
        .mel = infc_spec_is(infc_spec_get(map, "features"), "mel"),
        .at_end = infc_spec_is(infc_spec_get(map, "align"), "end"),
        .repeat = infc_spec_is(infc_spec_get(map, "fill"), "repeat"),
        .normalize = integer(map, "normalize") != 0,
        .n_fft = integer(map, "n_fft"),
        .hop = integer(map, "hop"),
        .mels = integer(map, "mels"),
        .power = integer(map, "power"),
        .window = (infc_spec_window)choice(map, "window", infc_spec_windows),
        .center = (infc_spec_center)choice(map, "center", infc_spec_centers),
        .log = (infc_spec_log)choice(map, "log", infc_spec_logs),
        .fmin = number(map, "fmin", 0),
        .fmax = number(map, "fmax", (double)integer(map, "rate") / 2),
        .htk = infc_spec_is(infc_spec_get(map, "mel_scale"), "htk"),
        .equal_areas = infc_spec_is(infc_spec_get(map, "mel_norm"), "slaney"),
        .relative = integer(map, "relative") != 0,
        .floor = number(map, "floor", 0),
        .range = number(map, "range", 0),
        .loc = input->key_loc,
    };
    fill_per_channel(check, input, "scale", 1, scale);
    fill_per_channel(check, input, "mean", 1, mean);
    fill_per_channel(check, input, "std", 1, std);
    audio->scale = scale[0], audio->mean = mean[0], audio->std = std[0];
    check_audio(check, input, audio);
}

static const char *text_at(const infc_yaml *map, const char *key) {
    const infc_yaml *node = infc_spec_get(map, key);
    return node ? node->text : NULL;
}

static void fill_text(infc_spec_check *check, infc_yaml_item *input, infc_spec *out) {
    infc_yaml *path = infc_spec_get(input->value, "tokenizer");
    const size_t letters =
        strspn(input->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (input->key[letters] || strspn(input->key, "0123456789") || letters > 48)
        infc_spec_problem(
            check, input->value, path_of(check, input, ""),
            "a text is named by a C identifier of at most 48 characters, for example  text");
    if (!path) {
        infc_spec_problem(check, input->value, path_of(check, input, ""),
                          "text needs its tokenizer, for example  tokenizer: tokenizer.json");
        return;
    }
    out->texts[out->n_texts++] = (infc_spec_text){
        .name = input->key,
        .ids = text_at(input->value, "ids"),
        .mask = text_at(input->value, "mask"),
        .types = text_at(input->value, "types"),
        .tokenizer_text = path->text,
        .tokenizer = infc_spec_tokenizer(check, path, path_of(check, input, "tokenizer")),
        .loc = input->key_loc,
    };
}

void infc_spec_fill_inputs(infc_spec_check *check, const infc_yaml *inputs, infc_spec *out) {
    out->images = INFC_NEW(check->cx->arena, infc_spec_image, inputs->n);
    out->audios = INFC_NEW(check->cx->arena, infc_spec_audio, inputs->n);
    out->texts = INFC_NEW(check->cx->arena, infc_spec_text, inputs->n);
    out->constants = INFC_NEW(check->cx->arena, infc_spec_constant, inputs->n);
    for (size_t i = 0; i < inputs->n; i++) {
        infc_yaml_item *input = &inputs->items[i];
        if (input->value->bad) continue;
        const char *kind = infc_spec_get(input->value, "kind")->text;
        infc_spec_check_kind(check, kinds, "inputs", input);
        if (strcmp(kind, "audio") == 0) check_mel(check, input);
        if (strcmp(kind, "constant") == 0) fill_constant(check, input, out);
        else if (strcmp(kind, "audio") == 0) fill_audio(check, input, out);
        else if (strcmp(kind, "text") == 0) fill_text(check, input, out);
        else fill_image(check, input, out);
    }
}
