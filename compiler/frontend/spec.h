/* spec.h - the deployment spec: YAML in, one plain struct out. Reference: docs/spec.md (generated from
 * spec_keys.def, as is the JSON Schema). */
#ifndef INFC_SPEC_H
#define INFC_SPEC_H
#include "../base/cx.h"
#include "../base/dtype.h"
#include "../../targets/target.h"
#include "spec_tokenizer.h"

typedef struct infc_spec_dim { /* shapes: a dimension's name, or input.axis */
    const char *name;
    int64_t value;          /* fixed; 0: known at run time, within the bounds */
    int64_t min, max, step; /* bounds, multiples of step */
    const char *same; /* the dimension that this one is by the spec, which gave the rest; or null */
    infc_loc loc;
    bool used; /* set by the front end; a binding that binds nothing is an error */
} infc_spec_dim;

/* How weights are stored. NONE: the spec does not say; f32, or what suits a language model. */
typedef enum infc_spec_format {
    INFC_FORMAT_NONE,
    INFC_FORMAT_f32,
    INFC_FORMAT_int8,
    INFC_FORMAT_f16, /* this and the next: language models */
    INFC_FORMAT_bf16,
    INFC_FORMAT_int4,
    INFC_FORMAT_keep
} infc_spec_format;
extern const char *const infc_spec_formats[]; /* their names; null at the end */
typedef enum infc_kv_format {
    INFC_KV_int8,
    INFC_KV_f16
} infc_kv_format; /* as kv_dims.def numbers them */

typedef struct infc_spec_adapter { /* adapters.preload */
    const char *name, *path;
} infc_spec_adapter;

typedef struct infc_spec_rule { /* precision.rules */
    const char *match;          /* PCRE2 over weight names */
    infc_spec_format weights;
    infc_loc loc;
    const void *code; /* compiled match */
} infc_spec_rule;

typedef struct infc_spec_image { /* inputs.NAME */
    const char *input;
    int channels; /* 1 or 3 */
    bool nhwc, bgr;
    double scale[4], mean[4], std[4]; /* value = (pixel * scale - mean) / std */
    infc_loc loc;
} infc_spec_image;

typedef enum infc_spec_window {
    INFC_WINDOW_hann,
    INFC_WINDOW_hamming,
    INFC_WINDOW_none
} infc_spec_window;
typedef enum infc_spec_center {
    INFC_CENTER_none,
    INFC_CENTER_reflect,
    INFC_CENTER_zeros
} infc_spec_center;
typedef enum infc_spec_log { INFC_LOG_none, INFC_LOG_log10, INFC_LOG_ln } infc_spec_log;

typedef struct infc_spec_audio { /* inputs.NAME of kind audio */
    const char *input;
    int64_t rate, samples; /* samples 0: as many as the input's shape says */
    bool mel, at_end, repeat, normalize;
    int64_t n_fft, hop, mels, power; /* the rest: of mel */
    infc_spec_window window;
    infc_spec_center center;
    infc_spec_log log;
    double fmin, fmax;
    bool htk, equal_areas, relative;
    double floor, range; /* range 0: none */
    double scale, mean, std;
    infc_loc loc;
} infc_spec_audio;

typedef struct infc_spec_text { /* inputs.NAME of kind text */
    const char *name;           /* a C identifier; what is given to the binary */
    const char *ids, *mask, *types; /* inputs of the model; null: by their usual names, if it has them */
    const char *tokenizer_text; /* its path as the spec says it */
    const infc_wordpiece *tokenizer;
    infc_loc loc;
} infc_spec_text;

typedef struct infc_spec_constant { /* inputs.NAME of kind constant: no input of what is made */
    const char *input;
    double value; /* of every element */
    infc_loc loc;
    bool used; /* as infc_spec_dim */
} infc_spec_constant;

typedef struct infc_spec_classes { /* outputs.NAME */
    const char *output;
    const char **labels;
    size_t n_labels;
    int top;
    uint32_t scores; /* INFC_SCORES_; the front end makes values that are confidences probabilities */
    infc_loc loc;
} infc_spec_classes;

typedef enum infc_spec_pooling {
    INFC_POOLING_mean,
    INFC_POOLING_first,
    INFC_POOLING_none
} infc_spec_pooling;
/* outputs.NAME of kind embedding */
typedef struct infc_spec_embedding {
    const char *output;
    infc_spec_pooling pooling;
    const char *mask; /* an input; null: by its usual name, if there is one */
    bool normalize;
    infc_loc loc;
    bool used; /* as infc_spec_dim */
} infc_spec_embedding;

typedef enum infc_metric { /* of infc compare */
#define INFC_METRIC(name, unit, meaning) INFC_METRIC_##name,
#include "spec_metrics.def"
#undef INFC_METRIC
                           INFC_N_METRICS
} infc_metric;

typedef struct infc_spec_serve { /* null and 0: not said */
    bool asked;                  /* the binary has to have a server */
    infc_loc loc;
#define INFC_SERVE_TEXT(key) const char *key;
#define INFC_SERVE_SWITCH(key) bool key;
#define INFC_SERVE_NUMBER(key) int64_t key;
#define INFC_SERVE_TIME(key) int64_t key;
#include "spec_serve.def"
    infc_loc batch_wait_loc;
} infc_spec_serve;

typedef struct infc_spec {
    const char *path;  /* null: made from a bare model */
    const char *model; /* path, relative to the working directory or absolute */
    const char *model_text; /* as the spec says it; the file's name alone where that would say a machine's path */
    infc_loc model_loc;
    const char *name;            /* C identifier */
    bool binary, static_library; /* output.kinds */
    bool weights_file;           /* output.weights: file instead of embed */
    const char *license;         /* SPDX id for emitted files */
    infc_target *targets;
    size_t n_targets;
    infc_spec_dim *dims;
    size_t n_dims;
    int64_t max_trips;                          /* loops.max_trips; 0: not said */
    infc_spec_format weights;                   /* precision.weights */
    infc_kv_format kv;                          /* precision.kv */
    bool calibrates;                            /* precision.calibration */
    const char *calibration, *calibration_text; /* its data: path, and as the spec says it; null: what infc brings */
    int64_t calibration_tokens;
    infc_loc calibration_loc;
    int64_t context, max_sequences; /* of language models; 0: not said */
    int64_t kv_memory, target_itl;  /* bytes, nanoseconds; 0: not said */
    infc_loc kv_memory_loc;
    bool no_prefix_cache;
    int64_t max_adapters, max_rank;   /* 0: no adapters */
    infc_spec_format adapter_weights; /* int8, keep; NONE: the spec does not say */
    infc_spec_adapter *preload;
    size_t n_preload;
    infc_spec_serve serve;
    bool llm;         /* the model is no .onnx file */
    infc_loc llm_loc; /* of a key that only language models have; line 0: none */
    const char *llm_key;
    bool fast; /* precision.float */
    infc_spec_rule *rules;
    size_t n_rules;
    infc_spec_image *images;
    size_t n_images;
    infc_spec_audio *audios;
    size_t n_audios;
    infc_spec_text *texts;
    size_t n_texts;
    infc_spec_constant *constants;
    size_t n_constants;
    infc_spec_classes *classes;
    size_t n_classes;
    infc_spec_embedding *embeddings;
    size_t n_embeddings;
    double thresholds[INFC_N_METRICS]; /* compare: per cent that each may grow; NAN: any */
    double run_seconds;                /* compare: that one run may take */
    infc_target *required;             /* compare: to be run */
    size_t n_required;
    uint64_t budget_file, budget_memory; /* bytes; 0: none */
} infc_spec;

/* One key given on the command line: --set key.path=value; its errors are located as "--set". */
typedef struct infc_spec_set {
    const char *assignment;
} infc_spec_set;

/* Names of the values of the enums above, null at the end. */
extern const char *const infc_spec_windows[], *const infc_spec_centers[], *const infc_spec_logs[];
extern const char *const infc_spec_poolings[], *const infc_spec_scores[];

/* Reads a spec, or, when `path` is a model, makes the default spec for it. Collects all problems. */
infc_status infc_spec_read(infc_cx *cx, const char *path, const infc_spec_set *sets, size_t n_sets,
                           infc_spec *out);
/* The same for the text of a spec; `path` locates problems and is what paths are relative to. */
infc_status infc_spec_read_bytes(infc_cx *cx, const char *path, infc_bytes text,
                                 const infc_spec_set *sets, size_t n_sets, infc_spec *out);
/* The code of a rule's pattern, as long as the arena. Null: *why says what is wrong at character *at, from 1. */
const void *infc_spec_pattern(infc_arena *arena, const char *text, const char **why, size_t *at);
/* How a weight is stored: as the first rule says that matches its name, else precision.weights. `matched`, one per
 * rule, is set for all that match. Fails when matching takes too long. */
infc_status infc_spec_weight_format(infc_cx *cx, const infc_spec *spec, const char *name,
                                    bool *matched, infc_spec_format *out);
/* The same facts in other forms, from spec_keys.def. */
void infc_spec_schema_json(infc_buf *out);
void infc_spec_reference_markdown(infc_buf *out);
/* The spec as read, defaults included, as YAML: printed when a bare model is compiled, hashed for provenance. */
/* `8`, `1..128` or `{min: 32, max: 960, multiple: 32}`. */
const char *infc_spec_dim_text(infc_arena *arena, const infc_spec_dim *dim);
void infc_spec_print(const infc_spec *spec, infc_buf *out);

#endif
