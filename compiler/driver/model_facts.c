#include "model_facts.h"
#include "../base/file.h"
#include <string.h>

static uint64_t saturating_product(const infc_onnx_tensor *tensor) {
    uint64_t count = 1;
    for (size_t i = 0; i < tensor->rank && i < INFC_MAX_RANK; i++) {
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, (uint64_t)tensor->dims[i], &count))
            return UINT64_MAX;
    }
    return count;
}

static void add_saturating(uint64_t *sum, uint64_t more) {
    if (__builtin_add_overflow(*sum, more, sum)) *sum = UINT64_MAX;
}

static void measure_parameters(infc_model_facts *facts) {
    const infc_onnx_graph *graph = &facts->model.graph;
    for (size_t i = 0; i < graph->n_initializers; i++) {
        const infc_onnx_tensor *tensor = &graph->initializers[i];
        uint64_t count = saturating_product(tensor), bytes;
        infc_dtype dtype = infc_onnx_stored_dtype(tensor->data_type);
        uint64_t each = dtype == INFC_DTYPE_NONE ? 0 : infc_dtype_bytes(dtype);
        if (__builtin_mul_overflow(count, each, &bytes)) bytes = UINT64_MAX;
        add_saturating(&facts->parameters, count);
        add_saturating(&facts->parameter_bytes, bytes);
    }
}

static void find_inputs(infc_cx *cx, infc_model_facts *facts) {
    const infc_onnx_graph *graph = &facts->model.graph;
    infc_map constants = {.arena = cx->arena};
    for (size_t i = 0; i < graph->n_initializers; i++)
        infc_map_put(&constants, graph->initializers[i].name, i);
    facts->inputs = INFC_NEW(cx->arena, const infc_onnx_value_info *, graph->n_inputs);
    for (size_t i = 0; i < graph->n_inputs; i++) {
        if (!infc_map_find(&constants, graph->inputs[i].name, NULL))
            facts->inputs[facts->n_inputs++] = &graph->inputs[i];
    }
}

infc_status infc_model_facts_read(infc_cx *cx, const char *path, const infc_spec_set *sets,
                                  size_t n_sets, infc_model_facts *out) {
    infc_bytes bytes;
    *out = (infc_model_facts){0};
    INFC_TRY(infc_spec_read(cx, path, sets, n_sets, &out->spec));
    INFC_TRY(infc_file_map(cx, out->spec.model, &bytes));
    out->file_bytes = bytes.len;
    INFC_TRY(infc_onnx_model_parse(cx, out->spec.model, bytes, &out->model));
    for (size_t i = 0; i < out->model.n_opsets; i++) {
        if (!*out->model.opsets[i].domain) out->opset = out->model.opsets[i].version;
    }
    find_inputs(cx, out);
    measure_parameters(out);
    return INFC_OK;
}

bool infc_model_facts_dim_open(const infc_onnx_dim *dim) {
    return !dim->has_value || dim->value == -1;
}

const char *infc_model_facts_type(infc_arena *arena, const infc_onnx_value_info *info) {
    infc_buf text = {.arena = arena};
    if (!info->is_tensor) return info->has_type ? "not a tensor" : "unknown";
    infc_buf_puts(&text, infc_onnx_type_name(arena, info->elem_type));
    if (!info->has_shape) return infc_arena_printf(arena, "%s, rank unknown", infc_buf_str(&text));
    infc_buf_puts(&text, "[");
    for (size_t i = 0; i < info->rank && i < INFC_MAX_RANK; i++) {
        const infc_onnx_dim *dim = &info->dims[i];
        if (i) infc_buf_puts(&text, ",");
        if (!infc_model_facts_dim_open(dim)) infc_buf_printf(&text, "%lld", (long long)dim->value);
        else infc_buf_puts(&text, dim->param && *dim->param ? dim->param : "?");
    }
    if (info->rank > INFC_MAX_RANK) infc_buf_puts(&text, ",...");
    infc_buf_puts(&text, "]");
    return infc_buf_str(&text);
}
