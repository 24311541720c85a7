/* adapter_file.h - the two files of an adapter in PEFT's format, adapter_config.json and adapter_model.safetensors, as
 * structs. What would change results and is not handled is refused by name. */
#ifndef INFRT_ADAPTER_FILE_H
#define INFRT_ADAPTER_FILE_H
#include "infrt.h"

enum {
    INFRT_ADAPTER_LAYERS = 1024,
    INFRT_ADAPTER_PATTERNS = 256,
    INFRT_ADAPTER_TENSORS = 1 << 14,
    INFRT_ADAPTER_NAME = 256
};

/* rank_pattern, alpha_pattern: a module's name, or how it ends after a dot. */
typedef struct infrt_adapter_pattern {
    char name[128];
    double value;
} infrt_adapter_pattern;

/* target_modules, exclude_modules: names of modules, or how they end after a dot. */
typedef struct infrt_adapter_names {
    char (*at)[INFRT_ADAPTER_NAME];
    uint32_t n, room;
    bool said, text; /* there is such a key; it is one text, of which nothing is known here .. */
    bool all;        /* .. but that it is "all-linear" */
} infrt_adapter_names;

typedef struct infrt_adapter_config {
    double alpha;
    char base[128]; /* base_model_name_or_path; empty: not said, or longer */
    uint32_t rank;
    bool rslora, dora, has_alpha;
    infrt_adapter_pattern *ranks, *alphas; /* [INFRT_ADAPTER_PATTERNS] each, in the order of the file */
    uint32_t n_ranks, n_alphas;
    infrt_adapter_names targets, excluded;
    bool layers_said, pattern_said, pattern_fits; /* layers_to_transform; layers_pattern, and that fits */
    uint64_t layers[INFRT_ADAPTER_LAYERS / 64]; /* bit of each */
} infrt_adapter_config;

/* Of a text that is `path`'s. `out` is freed by infrt_adapter_config_free, whatever comes back. */
infrt_status infrt_adapter_config_read(const char *path, const char *text, size_t bytes,
                                       infrt_adapter_config *out, infrt_error *error);
void infrt_adapter_config_free(infrt_adapter_config *config);
/* Rank and factor (alpha / rank, or alpha / sqrt(rank)) of the module of that name. */
void infrt_adapter_config_of(const infrt_adapter_config *config, const char *module, uint32_t *rank, float *scale);

/* Whether the configuration has the module of that name, in that layer, or only tensors say it; *why: the key. */
typedef enum infrt_adapter_place {
    INFRT_ADAPTER_ELSEWHERE,
    INFRT_ADAPTER_HERE,
    INFRT_ADAPTER_ANYWHERE,
} infrt_adapter_place;
infrt_adapter_place infrt_adapter_config_place(const infrt_adapter_config *config,
                                               const char *module, uint32_t layer, const char **why);

typedef enum infrt_adapter_type { /* as adapter_dims.def numbers them */
                                  INFRT_ADAPTER_F32,
                                  INFRT_ADAPTER_BF16,
                                  INFRT_ADAPTER_F16,
} infrt_adapter_type;

typedef struct infrt_adapter_tensor {
    char name[INFRT_ADAPTER_NAME];
    infrt_adapter_type type;
    uint64_t rows, columns; /* of a vector, which only magnitudes of DoRA are: all of it, and 1 */
    bool vector;
    uint64_t begin, end; /* bytes of the data */
    const char *data;
} infrt_adapter_tensor;

/* The tensors of a safetensors file that is in memory: sizes fit types and shapes, and together they are all of the
 * data, each byte once. *out is the caller's to free and points into `file`. */
infrt_status infrt_adapter_tensors_read(const char *path, const char *file, size_t bytes,
                                        infrt_adapter_tensor **out, uint32_t *n, infrt_error *error);
/* Element i, row by row. */
float infrt_adapter_element(const infrt_adapter_tensor *tensor, uint64_t i);
/* Elements [first, first + n), all of them numbers. */
void infrt_adapter_elements(const infrt_adapter_tensor *tensor, uint64_t first, uint64_t n, float *out);

#endif
