/* tensor_job.c - see tensor_job.h. */
#include "tensor_job.h"
#include "tensor_io.h"
#include "tensor_values.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- in ----------------------------------------------------------------------------------------- */

static bool units_make(infrt_tensor_job *job, uint32_t n) {
    job->units = calloc(n, sizeof *job->units);
    if (!job->units) return infrt_refuse_memory(&job->refusal);
    job->n_units = n;
    return true;
}

static bool infer_units(const infc_model *model, infrt_tensor_job *job) {
    if (!infrt_infer_read(model, job->body.at ? job->body.at : "", job->body.n, job->json_bytes,
                          &job->infer, &job->refusal) ||
        !units_make(job, 1))
        return false;
    memcpy(job->units[0].sizes, job->infer.sizes, sizeof job->units[0].sizes);
    return true;
}

/* How many tokens a text is; refused when they are too many. */
static bool tokens_count(const infrt_embedder *e, infrt_tensor_job *job, uint32_t input, int64_t *out) {
    const infrt_embed_text *text = &job->embed.inputs[input];
    *out = text->text ? e->info->whole(text->text, text->bytes) : (int64_t)text->n_ids;
    if (*out > e->max) {
        job->refusal.code = "context_length_exceeded";
        return infrt_refuse(&job->refusal, 400, "input",
                            "input[%u]: %" PRId64 " tokens, and the model takes %" PRId64, input,
                            *out, e->max);
    }
    if (*out == e->max || e->tokens_size >= 0 || text->text || e->text->mask != UINT32_MAX)
        return true;
    return infrt_refuse(&job->refusal, 400, "input",
                        "input[%u]: %" PRId64
                        " token ids, and the model, which has no mask, takes %" PRId64,
                        input, *out, e->max);
}

static int by_tokens(const void *a, const void *b) {
    const infrt_unit *x = a, *y = b;
    const int sizes = memcmp(x->sizes, y->sizes, sizeof x->sizes);
    return sizes ? sizes : x->input < y->input ? -1 : 1;
}

/* Texts of one length are neighbours, so that they can share runs. */
static bool embed_units(const infc_model *model, const infrt_embedder *e, infrt_tensor_job *job) {
    const uint32_t most = e->max > INT32_MAX ? INT32_MAX : (uint32_t)e->max;
    if (!infrt_embed_read(job->body.at ? job->body.at : "", job->body.n, e->width, most, &job->embed, &job->refusal))
        return false;
    if (job->embed.model && strcmp(job->embed.model, model->name) != 0) {
        job->refusal.type = "not_found_error";
        job->refusal.code = "model_not_found";
        return infrt_refuse(&job->refusal, 404, "model", "there is no model \"%.128s\": this is \"%s\"",
                            job->embed.model, model->name);
    }
    job->vectors = calloc(job->embed.n_inputs * (size_t)e->width, sizeof *job->vectors);
    if (!job->vectors) return infrt_refuse_memory(&job->refusal);
    if (!units_make(job, job->embed.n_inputs)) return false;
    for (uint32_t i = 0; i < job->n_units; i++) {
        infrt_unit *unit = &job->units[i];
        int64_t tokens;
        if (!tokens_count(e, job, i, &tokens)) return false;
        unit->input = i;
        job->n_tokens += (uint64_t)tokens;
        for (uint32_t s = 0; s < model->n_sizes; s++) {
            const infc_size_info *size = &model->sizes[s];
            const int64_t fits =
                tokens < size->min ? size->min : (tokens + size->step - 1) / size->step * size->step;
            unit->sizes[s] = size->axis == e->text->axis ? fits : 1; /* the others count texts */
        }
    }
    qsort(job->units, job->n_units, sizeof *job->units, by_tokens);
    return true;
}

void infrt_tensor_job_read(const infc_model *model, const infrt_embedder *embedder, infrt_tensor_job *job) {
    const bool good = job->embeds ? embed_units(model, embedder, job) : infer_units(model, job);
    const uint64_t asked = job->embeds ? job->embed.timeout_ns : job->infer.timeout_ns;
    if (asked && (!job->timeout_ns || asked < job->timeout_ns))
        job->timeout_ns = asked; /* not more than the server gives */
    if (good) infrt_out_free(&job->body);
}

static void store(uint32_t dtype, void *to, int64_t at, int64_t value) {
    const int32_t narrow = (int32_t)value;
    if (!to) return;
    if (dtype == INFC_DTYPE_i64) memcpy((char *)to + at * 8, &value, 8);
    else memcpy((char *)to + at * 4, &narrow, 4);
}

static void ids_fill(const infc_model *model, const infrt_embedder *e, const infrt_tensor_job *job,
                     const infrt_embed_text *text, int64_t steps, void *const to[3]) {
    const uint32_t dtype = model->inputs[e->text->ids].dtype;
    for (int64_t i = 0; i < steps; i++) {
        const bool there = i < (int64_t)text->n_ids;
        store(dtype, to[0], i, there ? job->embed.ids[text->first + i] : e->info->pad);
        store(dtype, to[1], i, there);
        store(dtype, to[2], i, 0);
    }
}

void infrt_tensor_unit_fill(const infc_model *model, const infrt_embedder *e, const infrt_tensor_job *job,
                            const infrt_unit *unit, int64_t row, void *const *inputs) {
    if (!job->embeds) {
        for (uint32_t i = 0; i < model->n_inputs; i++) {
            const uint64_t bytes = infrt_bytes_at(model, unit->sizes, INFC_TABLE_INPUTS, i);
            int64_t dims[INFC_MAX_RANK];
            infrt_shape_at(model, unit->sizes, INFC_TABLE_INPUTS, i, dims);
            const uint64_t one = row ? bytes / (uint64_t)dims[0] : 0;
            memcpy((char *)inputs[i] + (uint64_t)row * one, job->infer.inputs[i], bytes);
        }
        return;
    }
    const infrt_embed_text *text = &job->embed.inputs[unit->input];
    const uint32_t fed[] = {e->text->ids, e->text->mask, e->text->types};
    const int64_t steps = e->tokens_size < 0 ? e->max : unit->sizes[e->tokens_size];
    void *to[3] = {NULL};
    for (int i = 0; i < 3; i++)
        if (fed[i] != UINT32_MAX)
            to[i] = (char *)inputs[fed[i]] +
                    (uint64_t)(row * steps) * infrt_dtype_bytes(model->inputs[fed[i]].dtype);
    if (text->text) e->text->prepare(text->text, text->bytes, steps, to[0], to[1], to[2]);
    else ids_fill(model, e, job, text, steps, to);
}

/* ---- out ---------------------------------------------------------------------------------------- */

static void shape_put(const infc_model *model, const infrt_unit *unit, uint32_t output, infrt_out *out) {
    int64_t dims[INFC_MAX_RANK];
    infrt_shape_at(model, unit->sizes, INFC_TABLE_OUTPUTS, output, dims);
    infrt_out_text(out, ",\"shape\":[");
    for (uint32_t i = 0; i < model->outputs[output].rank; i++)
        infrt_out_format(out, "%s%" PRId64, i ? "," : "", dims[i]);
    infrt_out_text(out, "]");
}

/* The unit's own elements of an output of the run. */
static const char *own_rows(const infc_model *model, const infrt_unit *unit, uint32_t output,
                            int64_t row, const void *from, uint64_t *bytes) {
    int64_t dims[INFC_MAX_RANK];
    *bytes = infrt_bytes_at(model, unit->sizes, INFC_TABLE_OUTPUTS, output);
    infrt_shape_at(model, unit->sizes, INFC_TABLE_OUTPUTS, output, dims);
    return (const char *)from + (row ? (uint64_t)row * (*bytes / (uint64_t)dims[0]) : 0);
}

static bool output_put(const infc_model *model, infrt_tensor_job *job, const infrt_unit *unit,
                       const infrt_infer_output *asked, const char *from, uint64_t bytes) {
    const infc_tensor_info *info = &model->outputs[asked->output];
    infrt_out *out = &job->reply;
    infrt_out_text(out, "{\"name\":");
    infrt_out_string(out, info->name, strlen(info->name));
    infrt_out_format(out, ",\"datatype\":\"%s\"", infrt_oip_type(info->dtype));
    shape_put(model, unit, asked->output, out);
    if (asked->binary)
        infrt_out_format(out, ",\"parameters\":{\"binary_data_size\":%" PRIu64 "}", bytes);
    else {
        infrt_out_text(out, ",\"data\":");
        if (!infrt_values_put(info->dtype, from, bytes / infrt_dtype_bytes(info->dtype), out)) {
            infrt_refuse(&job->refusal, 400, NULL,
                         "output \"%.64s\" holds NaN or an infinity, for which JSON has no word: "
                         "ask for it with "
                         "parameters: {\"binary_data\": true}",
                         info->name);
            return false;
        }
    }
    infrt_out_text(out, "}");
    return true;
}

static void infer_take(const infc_model *model, infrt_tensor_job *job, const infrt_unit *unit,
                       int64_t row, void *const *outputs) {
    const infrt_infer *infer = &job->infer;
    infrt_out *out = &job->reply;
    uint64_t bytes;
    infrt_out_format(out, "{\"model_name\":\"%s\",\"model_version\":\"1\"", model->name);
    if (infer->has_id) {
        infrt_out_text(out, ",\"id\":");
        infrt_out_string(out, infer->id, strlen(infer->id));
    }
    infrt_out_text(out, ",\"outputs\":[");
    for (uint32_t i = 0; i < infer->n_outputs; i++) {
        const uint32_t output = infer->outputs[i].output;
        const char *from = own_rows(model, unit, output, row, outputs[output], &bytes);
        if (i) infrt_out_text(out, ",");
        if (!output_put(model, job, unit, &infer->outputs[i], from, bytes)) return;
        job->binary = job->binary || infer->outputs[i].binary;
    }
    infrt_out_text(out, "]}");
    if (!job->binary) return;
    snprintf(job->more, sizeof job->more, "Inference-Header-Content-Length: %zu\r\n", out->n);
    for (uint32_t i = 0; i < infer->n_outputs; i++) {
        const uint32_t output = infer->outputs[i].output;
        const char *from = own_rows(model, unit, output, row, outputs[output], &bytes);
        if (infer->outputs[i].binary) infrt_out_add(out, from, bytes);
    }
}

void infrt_tensor_unit_take(const infc_model *model, const infrt_embedder *e, infrt_tensor_job *job,
                            const infrt_unit *unit, int64_t row, void *const *outputs) {
    if (!job->embeds) infer_take(model, job, unit, row, outputs);
    else
        memcpy(job->vectors + unit->input * e->width,
               (const float *)outputs[e->output] + (uint64_t)row * e->width, e->width * sizeof(float));
}

static void base64_put(const unsigned char *from, size_t n, infrt_out *out) {
    static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    infrt_out_text(out, "\"");
    for (size_t i = 0; i < n; i += 3) {
        const unsigned more = n - i < 3 ? (unsigned)(n - i) : 3;
        const uint32_t bits = (uint32_t)from[i] << 16 | (more > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                              (more > 2 ? from[i + 2] : 0u);
        char four[4];
        for (unsigned k = 0; k < 4; k++)
            four[k] = k <= more ? signs[bits >> (18 - 6 * k) & 63] : '=';
        infrt_out_add(out, four, 4);
    }
    infrt_out_text(out, "\"");
}

void infrt_tensor_job_end(const infc_model *model, const infrt_embedder *e, infrt_tensor_job *job) {
    infrt_out *out = &job->reply;
    if (!job->embeds) return;
    infrt_out_text(out, "{\"object\":\"list\",\"data\":[");
    for (uint32_t i = 0; i < job->embed.n_inputs; i++) {
        const float *vector = job->vectors + i * e->width;
        infrt_out_format(out, "%s{\"object\":\"embedding\",\"index\":%u,\"embedding\":", i ? "," : "", i);
        if (job->embed.base64)
            base64_put((const unsigned char *)vector, e->width * sizeof *vector, out);
        else if (!infrt_values_put(INFC_DTYPE_f32, vector, e->width, out)) {
            job->refusal.type = "server_error";
            infrt_refuse(&job->refusal, 500, NULL, "the vector of input[%u] holds NaN or an infinity", i);
            return;
        }
        infrt_out_text(out, "}");
    }
    infrt_out_format(out, "],\"model\":\"%s\",\"usage\":{\"prompt_tokens\":%" PRIu64, model->name, job->n_tokens);
    infrt_out_format(out, ",\"total_tokens\":%" PRIu64 "}}\n", job->n_tokens);
}

void infrt_tensor_job_free(infrt_tensor_job *job) {
    infrt_out_free(&job->body);
    infrt_out_free(&job->reply);
    infrt_infer_free(&job->infer);
    infrt_embed_free(&job->embed);
    free(job->vectors);
    free(job->units);
    free(job);
}
