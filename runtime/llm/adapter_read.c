/* adapter_read.c - a folder in PEFT's format as a slot of the model's pool. Every tensor must be A or B of a linear
 * layer that the model has, or its vector of magnitudes (DoRA), of the right shape, and have the others beside it. */
#include "adapter_pack.h"
#include "engine.h"
#include "infrt_os.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096, FILE_MOST = 1 << 30 };

typedef struct adapter_reader {
    const infc_model *model;
    const infc_adapter_info *info;
    char path[PATH_ROOM];
    infrt_adapter_config config;
    char *file;
    infrt_adapter_tensor *tensors;
    uint32_t n_tensors;
    infrt_adapter_pair *pairs; /* [layers][n_modules] */
    infrt_error *error;
} adapter_reader;

/* ---- files -------------------------------------------------------------------------------------- */

/* All of a file of the folder, read at once, so that it cannot change meanwhile. */
static infrt_status file_read(adapter_reader *r, const char *folder, const char *name, char **out, size_t *bytes) {
    infrt_os_file file;
    *out = NULL;
    if (snprintf(r->path, sizeof r->path, "%s/%s", folder, name) >= (int)sizeof r->path)
        return infrt_fail(r->error, INFRT_ERR_USAGE, "the path of an adapter is too long");
    infrt_status status = infrt_os_file_open(r->path, &file, r->error);
    if (status != INFRT_OK) return status;
    *bytes = (size_t)file.bytes;
    if (file.bytes == 0 || file.bytes > FILE_MOST)
        status = infrt_fail(r->error, INFRT_ERR_DATA, "%s has %" PRIu64 " bytes; 1 to %d are read",
                            r->path, file.bytes, (int)FILE_MOST);
    if (status == INFRT_OK && !(*out = malloc(*bytes)))
        status = infrt_fail(r->error, INFRT_ERR_NO_MEMORY, "no memory for %s", r->path);
    if (status == INFRT_OK && !infrt_os_file_read(&file, 0, *out, *bytes))
        status = infrt_fail(r->error, INFRT_ERR_IO, "%s cannot be read to its end", r->path);
    infrt_os_file_close(&file);
    return status;
}

static infrt_status config_read(adapter_reader *r, const char *folder) {
    char *text;
    size_t bytes;
    infrt_status status = file_read(r, folder, "adapter_config.json", &text, &bytes);
    if (status == INFRT_OK)
        status = infrt_adapter_config_read(r->path, text, bytes, &r->config, r->error);
    free(text);
    return status;
}

/* ---- which tensor is what ----------------------------------------------------------------------- */

static bool prefix_skip(const char **at, const char *prefix) {
    const size_t n = strlen(prefix);
    if (strncmp(*at, prefix, n) != 0) return false;
    *at += n;
    return true;
}

typedef enum tensor_part { PART_A, PART_B, PART_MAGNITUDE, N_PARTS } tensor_part;

/* As PEFT calls them; newer ones too, without the end that it takes off. */
static bool part_of(const char *end, tensor_part *part) {
    static const char *const ends[N_PARTS] = {".lora_A.weight", ".lora_B.weight", ".lora_magnitude_vector"};
    for (int i = 0; i < N_PARTS; i++)
        if (strcmp(end, ends[i]) == 0) {
            *part = (tensor_part)i;
            return true;
        }
    *part = PART_MAGNITUDE;
    return strcmp(end, ".lora_magnitude_vector.weight") == 0;
}

/* "base_model.model.model.layers.N.MODULE.lora_A.weight": number of the module, and which part. -1: it is not. */
static int64_t module_of(const infc_adapter_info *info, const char *name, tensor_part *part) {
    uint64_t layer = 0;
    size_t digits = 0;
    if (!prefix_skip(&name, "base_model.model.model.layers.")) return -1;
    for (; *name >= '0' && *name <= '9' && digits < 9; name++, digits++)
        layer = layer * 10 + (uint64_t)(*name - '0');
    if (digits == 0 || (digits > 1 && name[-(ptrdiff_t)digits] == '0') || layer >= info->layers || *name++ != '.')
        return -1;
    for (uint32_t m = 0; m < info->n_modules; m++) {
        const char *end = name;
        if (!prefix_skip(&end, info->modules[m].name)) continue;
        if (part_of(end, part)) return (int64_t)(layer * info->n_modules + m);
    }
    return -1;
}

static infrt_status unmatched(const adapter_reader *r, const infrt_adapter_tensor *t) {
    const char *why = strstr(t->name, "lora_embedding") ? "adapters of embeddings are not supported"
                      : strstr(t->name, "lm_head")
                          ? "adapters of the head are not supported"
                          : "it is not A or B of a linear layer of this model, or its magnitudes";
    return infrt_fail(r->error, INFRT_ERR_DATA, "%s: tensor \"%s\": %s", r->path, t->name, why);
}

static infrt_status magnitude_check(const adapter_reader *r, const infrt_adapter_tensor *t, uint64_t outputs) {
    if (!r->config.dora)
        return infrt_fail(r->error, INFRT_ERR_DATA,
                          "%s: tensor \"%s\" is of DoRA, and the configuration has no use_dora",
                          r->path, t->name);
    if (t->vector && t->rows == outputs) return INFRT_OK;
    return infrt_fail(r->error, INFRT_ERR_DATA, "%s: tensor \"%s\" is not a vector of %" PRIu64 " elements",
                      r->path, t->name, outputs);
}

static infrt_status shape_check(const adapter_reader *r, const infrt_adapter_tensor *t,
                                tensor_part part, uint64_t rank, uint64_t inputs, uint64_t outputs) {
    if (part == PART_MAGNITUDE) return magnitude_check(r, t, outputs);
    const bool is_b = part == PART_B;
    const uint64_t rows = is_b ? outputs : rank, columns = is_b ? rank : inputs;
    const uint64_t its_rank = is_b ? t->columns : t->rows;
    if (its_rank > r->info->max_rank)
        return infrt_fail(r->error, INFRT_ERR_DATA,
                          "%s: tensor \"%s\" has rank %" PRIu64
                          "; %s was compiled for at most %u, see adapters.max_rank",
                          r->path, t->name, its_rank, r->model->name, r->info->max_rank);
    if (t->rows == rows && t->columns == columns) return INFRT_OK;
    return infrt_fail(r->error, INFRT_ERR_DATA,
                      "%s: tensor \"%s\" is %" PRIu64 " x %" PRIu64 ", not %" PRIu64 " x %" PRIu64
                      " as model and configuration say",
                      r->path, t->name, t->rows, t->columns, rows, columns);
}

static void full_name(const infc_adapter_info *info, uint64_t number, char *out, size_t room) {
    snprintf(out, room, "model.layers.%u.%s", (unsigned)(number / info->n_modules),
             info->modules[number % info->n_modules].name);
}

/* Only numbers: what is none would reach the cache that others read. */
static bool all_numbers(const infrt_adapter_tensor *t) {
    const uint64_t n = t->rows * t->columns;
    const uint16_t exponent = t->type == INFRT_ADAPTER_BF16 ? 0x7f80u : 0x7c00u;
    unsigned wrong = 0; /* to the end: a loop that may stop is done one by one */
    for (uint64_t i = 0; i < n && t->type == INFRT_ADAPTER_F32; i++) {
        uint32_t word;
        memcpy(&word, t->data + i * 4, 4);
        wrong |= (word & 0x7f800000u) == 0x7f800000u;
    }
    for (uint64_t i = 0; i < n && t->type != INFRT_ADAPTER_F32; i++) {
        uint16_t half;
        memcpy(&half, t->data + i * 2, 2);
        wrong |= (half & exponent) == exponent;
    }
    return !wrong;
}

static infrt_status tensor_match(adapter_reader *r, const infrt_adapter_tensor *t) {
    char module[INFRT_ADAPTER_NAME];
    tensor_part part = PART_A;
    const int64_t number = module_of(r->info, t->name, &part);
    if (number < 0) return unmatched(r, t);
    const infc_adapter_module *m = &r->info->modules[(uint64_t)number % r->info->n_modules];
    infrt_adapter_pair *pair = &r->pairs[number];
    full_name(r->info, (uint64_t)number, module, sizeof module);
    infrt_adapter_config_of(&r->config, module, &pair->rank, &pair->scale);
    infrt_status status = shape_check(r, t, part, pair->rank, m->inputs, m->outputs);
    const infrt_adapter_tensor **place = part == PART_A   ? &pair->a
                                         : part == PART_B ? &pair->b
                                                          : &pair->magnitude;
    if (status == INFRT_OK && *place)
        status = infrt_fail(r->error, INFRT_ERR_DATA, "%s: tensor \"%s\" is there twice", r->path, t->name);
    if (status == INFRT_OK && !all_numbers(t))
        status = infrt_fail(r->error, INFRT_ERR_DATA, "%s: tensor \"%s\" holds what is no number",
                            r->path, t->name);
    *place = t;
    return status;
}

/* What the configuration says is adapted, and what is in the file, are the same modules. */
static infrt_status place_check(const adapter_reader *r, uint64_t number) {
    char module[INFRT_ADAPTER_NAME];
    const char *why;
    const infrt_adapter_tensor *a = r->pairs[number].a;
    full_name(r->info, number, module, sizeof module);
    const infrt_adapter_place place =
        infrt_adapter_config_place(&r->config, module, (uint32_t)(number / r->info->n_modules), &why);
    if (a && place == INFRT_ADAPTER_ELSEWHERE)
        return infrt_fail(r->error, INFRT_ERR_DATA,
                          "%s: tensor \"%s\" is of a module that %s of the configuration "
                          "leaves out",
                          r->path, a->name, why);
    if (!a && place == INFRT_ADAPTER_HERE)
        return infrt_fail(r->error, INFRT_ERR_DATA, "%s has no tensors of \"%s\", which %s of the configuration names",
                          r->path, module, why);
    return INFRT_OK;
}

/* A and B, and with DoRA magnitudes, or nothing. */
static infrt_status parts_match(const adapter_reader *r, uint64_t number) {
    const infrt_adapter_pair *pair = &r->pairs[number];
    const infrt_adapter_tensor *a = pair->a, *b = pair->b, *magnitude = pair->magnitude,
                               *there = a   ? a
                                        : b ? b
                                            : magnitude;
    const char *missing = !a                             ? "lora_A"
                          : !b                           ? "lora_B"
                          : r->config.dora && !magnitude ? "lora_magnitude_vector"
                                                         : NULL;
    if (!there || !missing) return place_check(r, number);
    return infrt_fail(r->error, INFRT_ERR_DATA, "%s: tensor \"%s\" has no %s beside it%s", r->path,
                      there->name, missing, a && b ? ", which use_dora asks for" : "");
}

static infrt_status tensors_match(adapter_reader *r) {
    infrt_status status = INFRT_OK;
    const uint64_t n = (uint64_t)r->info->layers * r->info->n_modules;
    for (uint32_t i = 0; i < r->n_tensors && status == INFRT_OK; i++)
        status = tensor_match(r, &r->tensors[i]);
    for (uint64_t i = 0; i < n && status == INFRT_OK; i++) status = parts_match(r, i);
    if (status == INFRT_OK && r->n_tensors == 0)
        status = infrt_fail(r->error, INFRT_ERR_DATA, "%s has no tensors", r->path);
    return status;
}

/* ---- folders ------------------------------------------------------------------------------------- */

static infrt_status folder_read(adapter_reader *r, const char *folder, uint32_t part, infrt_adapter_watch w) {
    size_t bytes = 0;
    r->pairs = calloc((size_t)r->info->layers * r->info->n_modules, sizeof *r->pairs);
    if (!r->pairs) return infrt_fail(r->error, INFRT_ERR_NO_MEMORY, "no memory for an adapter");
    infrt_status status = config_read(r, folder);
    if (status == INFRT_OK)
        status = file_read(r, folder, "adapter_model.safetensors", &r->file, &bytes);
    if (status == INFRT_OK && w.seen && !w.seen(w.self, part, r->path, r->file, bytes, r->error))
        status = r->error->status;
    if (status == INFRT_OK)
        status = infrt_adapter_tensors_read(r->path, r->file, bytes, &r->tensors, &r->n_tensors, r->error);
    return status == INFRT_OK ? tensors_match(r) : status;
}

static void reader_free(adapter_reader *r) {
    infrt_adapter_config_free(&r->config);
    free(r->tensors);
    free(r->file);
    free(r->pairs);
}

static infrt_status parts_check(const infc_model *model, const infrt_llm_adapter_part *parts,
                                uint32_t n, infrt_error *error) {
    const infrt_status status = infrt_adapters_needed(model, "", error);
    if (status != INFRT_OK) return status;
    if (n < 1 || n > INFRT_LLM_ADAPTER_PARTS)
        return infrt_fail(error, INFRT_ERR_USAGE, "a sum of %u adapters; 1 to %u are possible", n,
                          INFRT_LLM_ADAPTER_PARTS);
    for (uint32_t i = 0; i < n; i++)
        if (!(fabsf(parts[i].weight) <= (float)INFRT_ADAPTER_WEIGHT))
            return infrt_fail(error, INFRT_ERR_USAGE, "the weight of an adapter is not from -%g to %g",
                              INFRT_ADAPTER_WEIGHT, INFRT_ADAPTER_WEIGHT);
    return INFRT_OK;
}

/* What DoRA divides by is the norm of the base and one adapter. */
static infrt_status alone_check(const adapter_reader *r, const char *folder, float weight, uint32_t n) {
    if (!r->config.dora || (n == 1 && weight == 1.0f)) return INFRT_OK;
    return infrt_fail(r->error, INFRT_ERR_DATA,
                      "%s/adapter_config.json: use_dora: an adapter with DoRA can be no part of a "
                      "sum, and has no other "
                      "weight than 1; load it by itself",
                      folder);
}

infrt_status infrt_adapter_sum_watched(const infrt_llm *llm, const infrt_llm_adapter_part *parts,
                                       uint32_t n, infrt_adapter_watch watch,
                                       infrt_llm_adapter **out, infrt_error *error) {
    const infc_model *model = llm->model;
    adapter_reader readers[INFRT_LLM_ADAPTER_PARTS];
    const infrt_adapter_pair *pairs[INFRT_LLM_ADAPTER_PARTS] = {NULL};
    float weights[INFRT_LLM_ADAPTER_PARTS] = {0};
    uint32_t n_read = 0;
    *out = NULL;
    infrt_status status = parts_check(model, parts, n, error);
    if (status != INFRT_OK) return status;
    *out = calloc(1, sizeof **out);
    if (!*out) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an adapter");
    (*out)->model = model;
    for (; n_read < n && status == INFRT_OK; n_read++) {
        adapter_reader *r = &readers[n_read];
        *r = (adapter_reader){.model = model, .info = model->llm->adapters, .error = error};
        status = folder_read(r, parts[n_read].folder, n_read, watch);
        if (status == INFRT_OK)
            status = alone_check(r, parts[n_read].folder, parts[n_read].weight, n);
        pairs[n_read] = r->pairs;
        if (!(*out)->base[0] && infrt_adapter_base_is_foreign(model, r->config.base))
            memcpy((*out)->base, r->config.base, sizeof r->config.base);
        weights[n_read] = parts[n_read].weight;
    }
    const infrt_adapter_base base = {model, llm->weights.data, readers[0].path, watch.unwanted};
    if (status == INFRT_OK) status = infrt_adapter_pack(&base, pairs, weights, n, *out, error);
    for (uint32_t i = 0; i < n_read; i++) reader_free(&readers[i]);
    if (status != INFRT_OK) infrt_llm_adapter_free(out);
    return status;
}

infrt_status infrt_llm_adapter_sum(const infrt_llm *llm, const infrt_llm_adapter_part *parts,
                                   uint32_t n, infrt_llm_adapter **out, infrt_error *error) {
    return infrt_adapter_sum_watched(llm, parts, n, (infrt_adapter_watch){0}, out, error);
}

infrt_status infrt_llm_adapter_read(const infrt_llm *llm, const char *folder,
                                    infrt_llm_adapter **out, infrt_error *error) {
    const infrt_llm_adapter_part part = {.folder = folder, .weight = 1.0f};
    return infrt_llm_adapter_sum(llm, &part, 1, out, error);
}

void infrt_llm_adapter_free(infrt_llm_adapter **adapter) {
    if (!adapter || !*adapter) return;
    free((*adapter)->slot);
    free(*adapter);
    *adapter = NULL;
}
