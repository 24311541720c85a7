/* infer_read.c - see infer_read.h. */
#include "infer_read.h"
#include "serve_fields.h"
#include "tensor_io.h"
#include "tensor_values.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 512, TYPE_ROOM = 32, PATH_ROOM = 48, SAID_NOT = -1 };

enum { INPUTS, OUTPUTS, PARAMETERS, ID, N_KEYS }; /* of the request */
static const char *const request_keys[] = {"inputs", "outputs", "parameters", "id"};
/* Of an input; an output has the first two. */
enum { NAME, ITS_PARAMETERS, N_OUTPUT_KEYS, TYPE = N_OUTPUT_KEYS, SHAPE, DATA, N_INPUT_KEYS };
static const char *const entry_keys[] = {"name", "parameters", "datatype", "shape", "data"};

/* One input as it is described; its data are looked at when all shapes are known. */
typedef struct given {
    bool is_there;
    uint32_t rank, number; /* number: in the request's list */
    int64_t dims[INFC_MAX_RANK];
    int64_t binary_bytes; /* SAID_NOT: its data are JSON */
    infrt_json_reader data;
} given;

typedef struct reading {
    const infc_model *model;
    infrt_infer *out;
    infrt_refusal *refusal;
    given *inputs;                     /* [n_inputs], the model's */
    uint32_t *order, n_given;          /* inputs as they come */
    uint8_t said[INFRT_INFER_OUTPUTS]; /* of each output asked for: whether it says itself if it is binary */
    bool has_inputs, all_binary; /* has_inputs: a list of them, perhaps empty */
    char path[PATH_ROOM];        /* "inputs[2]" */
    infrt_key_set request, parameters;
    /* Of the entry that is read: */
    infrt_key_set entry;
    infrt_json_take *parameter_take;
    char name[NAME_ROOM], type[TYPE_ROOM];
    bool binary, says_binary;
    given now;
} reading;

static bool wrong(const reading *r, const char *path, const char *format, const char *more) {
    char text[256];
    snprintf(text, sizeof text, format, more);
    return infrt_refuse(r->refusal, 400, path, "%s: %s", path, text);
}

/* ---- parameters --------------------------------------------------------------------------------- */

static bool flag_take(const reading *r, infrt_json_reader *json, const char *key, bool *out) {
    const char next = infrt_json_next(json);
    if (next != 't' && next != 'f') return wrong(r, key, "%s is needed", "true or false");
    *out = next == 't';
    return infrt_json_word(json, *out ? "true" : "false");
}

/* Microseconds, as Triton has them; 0: none. */
static bool timeout_take(const reading *r, infrt_json_reader *json, uint64_t *out_ns) {
    const uint64_t most = UINT64_C(86400) * 1000000;
    uint64_t us = 0;
    if (infrt_json_next(json) != '0' || !infrt_json_count(json, &us) || us > most)
        return wrong(r, "parameters.timeout", "%s", "microseconds are needed, a whole number up to a day");
    *out_ns = us * 1000;
    return true;
}

/* A key of `set`, or INFRT_NO_KEY. */
static bool once(const reading *r, infrt_key_set *set, const char *key, uint32_t *which) {
    return infrt_key_find(set, key, which) || wrong(r, r->path, "%s is there twice", key);
}

static bool request_parameter_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint32_t which;
    if (!once(r, &r->parameters, key, &which)) return false;
    if (which == 0 && infrt_json_next(json) != 'n')
        return timeout_take(r, json, &r->out->timeout_ns);
    if (which == 1) return flag_take(r, json, key, &r->all_binary);
    return infrt_json_skip(json); /* others are for others */
}

static bool input_parameter_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint64_t bytes;
    uint32_t which;
    if (!once(r, &r->parameters, key, &which)) return false;
    if (which == INFRT_NO_KEY) return infrt_json_skip(json);
    if (infrt_json_next(json) != '0' || !infrt_json_count(json, &bytes))
        return wrong(r, r->path, "%s: a number of bytes is needed", "parameters.binary_data_size");
    r->now.binary_bytes = (int64_t)bytes;
    return true;
}

static bool output_parameter_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint32_t which;
    if (!once(r, &r->parameters, key, &which)) return false;
    if (which == 0 && infrt_json_next(json) != 'n')
        return wrong(r, r->path, "%s is not supported; ask for the scores", "parameters.classification");
    if (which != 1) return infrt_json_skip(json);
    r->says_binary = true;
    return flag_take(r, json, key, &r->binary);
}

static bool parameters_take(reading *r, infrt_json_reader *json, infrt_json_take *take) {
    static const char *const of_request[] = {"timeout", "binary_data_output"}, *const of_input[] = {"binary_data_size"},
                             *const of_output[] = {"classification", "binary_data"};
    r->parameters = take == input_parameter_take    ? (infrt_key_set){.names = of_input, .n = 1}
                    : take == output_parameter_take ? (infrt_key_set){.names = of_output, .n = 2}
                                                    : (infrt_key_set){.names = of_request, .n = 2};
    if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
    return infrt_json_object(json, take, r);
}

/* ---- inputs ------------------------------------------------------------------------------------- */

static bool dim_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint64_t dim;
    (void)key;
    if (r->now.rank == INFC_MAX_RANK)
        return wrong(r, r->path, "%s", "shape: more axes than any input has");
    if (infrt_json_next(json) != '0' || !infrt_json_count(json, &dim))
        return wrong(r, r->path, "%s", "shape: whole numbers from 0 are needed");
    r->now.dims[r->now.rank++] = (int64_t)dim;
    return true;
}

static bool text_take(const reading *r, infrt_json_reader *json, const char *key, char *out, size_t room) {
    if (infrt_json_next(json) != '"') return wrong(r, r->path, "%s: a text is needed", key);
    return infrt_json_string_read(json, out, room);
}

static bool entry_key_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint32_t which;
    if (!once(r, &r->entry, key, &which)) return false;
    switch (which) {
    case NAME: return text_take(r, json, key, r->name, sizeof r->name);
    case ITS_PARAMETERS: return parameters_take(r, json, r->parameter_take);
    case TYPE: return text_take(r, json, key, r->type, sizeof r->type);
    case SHAPE:
        if (infrt_json_next(json) != '[') return wrong(r, r->path, "%s: a list is needed", key);
        return infrt_json_array(json, dim_take, r);
    case DATA: r->now.data = *json; break;
    default: break;
    }
    return infrt_json_skip(json);
}

static void entry_begin(reading *r, const char *list, uint32_t number, uint32_t n_keys,
                        infrt_json_take *parameter_take) {
    snprintf(r->path, sizeof r->path, "%s[%u]", list, number);
    r->entry = (infrt_key_set){.names = entry_keys, .n = n_keys};
    r->parameter_take = parameter_take;
    r->binary = r->says_binary = false;
    r->now = (given){.binary_bytes = SAID_NOT, .number = number};
}

static uint32_t find(const infc_tensor_info *infos, uint32_t n, const char *name) {
    uint32_t i = 0;
    while (i < n && strcmp(infos[i].name, name) != 0) i++;
    return i;
}

static bool type_check(const reading *r, const infc_tensor_info *info) {
    const char *needed = infrt_oip_type(info->dtype);
    if (!infrt_key_seen(&r->entry, TYPE))
        return wrong(r, r->path, "datatype is needed: %s", needed);
    if (strcmp(r->type, "BYTES") == 0)
        return wrong(r, r->path, "datatype BYTES is not supported: no input is of texts; this one is %s", needed);
    if (!infrt_oip_dtype(r->type))
        return wrong(r, r->path, "there is no datatype \"%.20s\"", r->type);
    if (infrt_oip_dtype(r->type) == info->dtype) return true;
    return infrt_refuse(r->refusal, 400, r->path, "%s: \"%.64s\" is %s, not %s", r->path,
                        info->name, needed, r->type);
}

static bool input_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    const infc_model *m = r->model;
    (void)key;
    entry_begin(r, "inputs", r->n_given, N_INPUT_KEYS, input_parameter_take);
    if (infrt_json_next(json) != '{') return wrong(r, r->path, "%s is needed", "an object");
    if (!infrt_json_object(json, entry_key_take, r)) return false;
    if (!infrt_key_seen(&r->entry, NAME)) return wrong(r, r->path, "%s is needed", "name");
    const uint32_t i = find(m->inputs, m->n_inputs, r->name);
    if (i == m->n_inputs) return wrong(r, r->path, "the model has no input \"%.64s\"", r->name);
    if (r->inputs[i].is_there) return wrong(r, r->path, "input \"%.64s\" is there twice", r->name);
    if (!type_check(r, &m->inputs[i])) return false;
    if (!infrt_key_seen(&r->entry, SHAPE)) return wrong(r, r->path, "%s is needed", "shape");
    const bool has_data = infrt_key_seen(&r->entry, DATA);
    if (has_data && r->now.binary_bytes != SAID_NOT)
        return wrong(r, r->path, "%s", "data and parameters.binary_data_size: give one of them");
    if (!has_data && r->now.binary_bytes == SAID_NOT)
        return wrong(r, r->path, "%s is needed", "data, or parameters.binary_data_size");
    r->now.is_there = true;
    r->inputs[i] = r->now;
    r->order[r->n_given++] = i;
    return true;
}

/* ---- outputs ------------------------------------------------------------------------------------ */

static bool output_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    infrt_infer *out = r->out;
    (void)key;
    entry_begin(r, "outputs", out->n_outputs, N_OUTPUT_KEYS, output_parameter_take);
    if (infrt_json_next(json) != '{') return wrong(r, r->path, "%s is needed", "an object");
    if (!infrt_json_object(json, entry_key_take, r)) return false;
    if (!infrt_key_seen(&r->entry, NAME)) return wrong(r, r->path, "%s is needed", "name");
    const uint32_t i = find(r->model->outputs, r->model->n_outputs, r->name);
    if (i == r->model->n_outputs)
        return wrong(r, r->path, "the model has no output \"%.64s\"", r->name);
    for (uint32_t k = 0; k < out->n_outputs; k++)
        if (out->outputs[k].output == i)
            return wrong(r, r->path, "output \"%.64s\" is there twice", r->name);
    r->said[out->n_outputs] = r->says_binary;
    out->outputs[out->n_outputs++] = (infrt_infer_output){i, r->binary};
    return true;
}

/* An empty list, or none: all of them. */
static void outputs_complete(reading *r) {
    infrt_infer *out = r->out;
    const uint32_t n = out->n_outputs;
    if (!n) out->n_outputs = r->model->n_outputs;
    for (uint32_t i = 0; i < out->n_outputs; i++) {
        if (!n) out->outputs[i].output = i;
        if (!r->said[i]) out->outputs[i].binary = r->all_binary;
    }
}

/* ---- the request -------------------------------------------------------------------------------- */

static bool list_take(reading *r, infrt_json_reader *json, const char *key, infrt_json_take *take) {
    if (infrt_json_next(json) != '[') return wrong(r, key, "%s is needed", "a list");
    return infrt_json_array(json, take, r);
}

static bool request_key_take(void *self, infrt_json_reader *json, const char *key) {
    reading *r = self;
    uint32_t which;
    if (!infrt_key_find(&r->request, key, &which))
        return infrt_refuse(r->refusal, 400, key, "%s is there twice", key);
    if (infrt_json_next(json) == 'n') return infrt_json_word(json, "null");
    switch (which) {
    case INPUTS: r->has_inputs = true; return list_take(r, json, key, input_take);
    case OUTPUTS: return list_take(r, json, key, output_take);
    case PARAMETERS:
        snprintf(r->path, sizeof r->path, "%s", key);
        return parameters_take(r, json, request_parameter_take);
    case ID:
        if (infrt_json_next(json) != '"') return wrong(r, key, "%s is needed", "a text");
        r->out->has_id = true;
        return infrt_json_string_read(json, r->out->id, sizeof r->out->id);
    default: return infrt_json_skip(json);
    }
}

/* The sizes that the shapes say, and whether all shapes are what follows from them. */
static bool shapes_check(reading *r) {
    const infc_model *m = r->model;
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        char shape[INFRT_SHAPE_ROOM];
        if (!r->inputs[i].is_there)
            return infrt_refuse(r->refusal, 400, "inputs", "inputs: \"%.64s\" is not there: %s %s",
                                m->inputs[i].name, infrt_oip_type(m->inputs[i].dtype),
                                infrt_shape_open(m, INFC_TABLE_INPUTS, i, shape));
        if (r->inputs[i].rank != m->inputs[i].rank)
            return infrt_refuse(r->refusal, 400, "inputs", "inputs[%u].shape: \"%.64s\" has %u axes: %s",
                                r->inputs[i].number, m->inputs[i].name, m->inputs[i].rank,
                                infrt_shape_open(m, INFC_TABLE_INPUTS, i, shape));
    }
    for (uint32_t i = 0; i < m->n_sizes; i++) {
        const infc_size_info *size = &m->sizes[i];
        const int64_t value = r->inputs[size->input].dims[size->axis];
        r->out->sizes[i] = value;
        if (value >= size->min && value <= size->max && value % size->step == 0) continue;
        char step[40] = "";
        if (size->step > 1) snprintf(step, sizeof step, ", in steps of %" PRId64, size->step);
        return infrt_refuse(r->refusal, 400, "inputs",
                            "inputs[%u].shape[%u]: %" PRId64 ", but %.40s is from %" PRId64
                            " to %" PRId64 "%s in this model",
                            r->inputs[size->input].number, size->axis, value, size->name, size->min,
                            size->max, step);
    }
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        int64_t dims[INFC_MAX_RANK];
        infrt_shape_at(m, r->out->sizes, INFC_TABLE_INPUTS, i, dims);
        for (uint32_t k = 0; k < m->inputs[i].rank; k++)
            if (dims[k] != r->inputs[i].dims[k])
                return infrt_refuse(
                    r->refusal, 400, "inputs",
                    "inputs[%u].shape[%u]: %" PRId64 ", but \"%.64s\" needs %" PRId64 " there",
                    r->inputs[i].number, k, r->inputs[i].dims[k], m->inputs[i].name, dims[k]);
    }
    return true;
}

static size_t padded(uint64_t bytes) {
    return ((size_t)bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN;
}

static bool inputs_create(reading *r) {
    const infc_model *m = r->model;
    size_t bytes = padded((m->n_inputs + (uint64_t)1) * sizeof(void *)), at = bytes;
    for (uint32_t i = 0; i < m->n_inputs; i++)
        if (__builtin_add_overflow(bytes, padded(infrt_bytes_at(m, r->out->sizes, INFC_TABLE_INPUTS, i)), &bytes))
            return infrt_refuse_memory(r->refusal);
    r->out->inputs = aligned_alloc(INFC_ALIGN, bytes);
    if (!r->out->inputs) return infrt_refuse_memory(r->refusal);
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        r->out->inputs[i] = (char *)r->out->inputs + at;
        at += padded(infrt_bytes_at(m, r->out->sizes, INFC_TABLE_INPUTS, i));
    }
    return true;
}

static bool binary_take(const reading *r, uint32_t input, const char *bytes, size_t *left) {
    const given *g = &r->inputs[input];
    const uint64_t needed = infrt_bytes_at(r->model, r->out->sizes, INFC_TABLE_INPUTS, input);
    if ((uint64_t)g->binary_bytes != needed)
        return infrt_refuse(r->refusal, 400, "inputs",
                            "inputs[%u].parameters.binary_data_size: %" PRId64
                            ", but its shape has %" PRIu64 " bytes",
                            g->number, g->binary_bytes, needed);
    if (needed > *left)
        return infrt_refuse(r->refusal, 400, "inputs", "inputs[%u]: %" PRIu64 " bytes are needed, and %zu are left",
                            g->number, needed, *left);
    memcpy(r->out->inputs[input], bytes, needed);
    uint8_t *flags = r->out->inputs[input];
    for (uint64_t i = 0; r->model->inputs[input].dtype == INFC_DTYPE_bool && i < needed; i++)
        flags[i] = flags[i] != 0;
    *left -= needed;
    return true;
}

static bool data_take(reading *r, const char *binary, size_t bytes) {
    const infc_model *m = r->model;
    size_t left = bytes;
    for (uint32_t k = 0; k < r->n_given; k++) {
        const uint32_t i = r->order[k];
        given *g = &r->inputs[i];
        if (g->binary_bytes != SAID_NOT) {
            if (!binary_take(r, i, binary + (bytes - left), &left)) return false;
            continue;
        }
        char path[PATH_ROOM];
        snprintf(path, sizeof path, "inputs[%u].data", g->number);
        infrt_values values = {.dtype = m->inputs[i].dtype,
                               .rank = g->rank,
                               .n = infrt_elements_at(m, r->out->sizes, INFC_TABLE_INPUTS, i),
                               .to = r->out->inputs[i],
                               .path = path};
        memcpy(values.dims, g->dims, sizeof values.dims);
        if (!infrt_values_read(&values, &g->data, r->refusal))
            return infrt_refuse(r->refusal, 400, path, "%s: %s", path, g->data.wrong ? g->data.wrong : "no value");
    }
    if (!left) return true;
    return infrt_refuse(
        r->refusal, 400, NULL,
        "%zu bytes after the JSON belong to no input: "
        "inputs say parameters.binary_data_size, and the field Inference-Header-Content-Length how "
        "long the JSON is",
        left);
}

static bool all_read(reading *r, const char *body, size_t bytes, size_t json_bytes) {
    infrt_json_reader json;
    if (!infrt_body_read(&json, body, json_bytes, request_key_take, r, r->refusal)) return false;
    if (!r->has_inputs)
        return infrt_refuse(r->refusal, 400, "inputs", "inputs is needed: a list of tensors");
    outputs_complete(r);
    return shapes_check(r) && inputs_create(r) && data_take(r, body + json_bytes, bytes - json_bytes);
}

bool infrt_infer_read(const infc_model *model, const char *body, size_t bytes, size_t json_bytes,
                      infrt_infer *out, infrt_refusal *refusal) {
    reading *r = calloc(1, sizeof *r);
    *out = (infrt_infer){0};
    if (r) {
        *r = (reading){
            .model = model, .out = out, .refusal = refusal, .request = {.names = request_keys, .n = N_KEYS}};
        r->inputs = calloc(model->n_inputs + (size_t)1, sizeof *r->inputs);
        r->order = calloc(model->n_inputs + (size_t)1, sizeof *r->order);
        out->outputs = calloc(model->n_outputs + (size_t)1, sizeof *out->outputs);
    }
    const bool memory = r && r->inputs && r->order && out->outputs;
    const bool good = memory ? all_read(r, body, bytes, json_bytes) : infrt_refuse_memory(refusal);
    if (r) {
        free(r->inputs);
        free(r->order);
    }
    free(r);
    return good;
}

void infrt_infer_free(infrt_infer *infer) {
    free(infer->outputs);
    free(infer->inputs);
    *infer = (infrt_infer){0};
}
