#include "onnx_import.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_REASON = 1024 };

static infc_status record(infc_onnx_at *at, infc_status status, const char *format, va_list args) {
    char text[MAX_REASON];
    vsnprintf(text, sizeof text, format, args);
    return infc_fail(at->import->cx, status, at->loc, "%s", text);
}

infc_status infc_onnx_refuse(infc_onnx_at *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    infc_status status = record(at, INFC_ERR_UNSUPPORTED, format, args);
    va_end(args);
    return status;
}

infc_status infc_onnx_invalid(infc_onnx_at *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    infc_status status = record(at, INFC_ERR_MODEL, format, args);
    va_end(args);
    return status;
}

/* ---- inputs and outputs ------------------------------------------------------------------------------ */

static size_t input_id(const infc_onnx_at *at, size_t i) {
    return i < at->node->n_inputs ? at->import->net.node_inputs[at->index][i] : INFC_ONNX_ABSENT;
}

bool infc_onnx_has(const infc_onnx_at *at, size_t i) { return input_id(at, i) != INFC_ONNX_ABSENT; }

infc_onnx_operand infc_onnx_any(const infc_onnx_at *at, size_t i) {
    infc_onnx_operand in = at->import->operands[input_id(at, i)];
    return at->wide ? infc_onnx_widened(at, &in) : in;
}

infc_status infc_onnx_input(infc_onnx_at *at, size_t i, infc_onnx_operand *out) {
    *out = infc_onnx_any(at, i);
    if (out->type.dtype != INFC_DTYPE_f32)
        return infc_onnx_refuse(at, "input %zu, \"%s\", is %s; only f32 is computed with so far; Cast it before",
                                i, at->node->inputs[i], infc_dtype_name(out->type.dtype));
    if (infc_type_count(&out->type) == 0)
        return infc_onnx_refuse(at, "input %zu, \"%s\", has no elements", i, at->node->inputs[i]);
    return INFC_OK;
}

infc_status infc_onnx_number(infc_onnx_at *at, size_t i, infc_onnx_operand *out) {
    *out = infc_onnx_any(at, i);
    infc_dtype dtype = out->type.dtype;
    if (!infc_dtype_is_integer(dtype) && dtype != INFC_DTYPE_bool)
        return infc_onnx_input(at, i, out);
    if (infc_type_count(&out->type) == 0)
        return infc_onnx_refuse(at, "input %zu, \"%s\", has no elements", i, at->node->inputs[i]);
    return INFC_OK;
}

/* Who made a value that should have been a constant: `node "x" (Concat)`, or the graph input. */
static const char *producer_text(infc_onnx_at *at, size_t id) {
    infc_onnx_import *import = at->import;
    const infc_onnx_value *value = &import->net.values[id];
    if (value->origin != INFC_ONNX_FROM_NODE) return "the caller, as a graph input";
    return infc_onnx_node_loc(import->cx, import->path, &import->model.graph, value->index).node;
}

/* Input i as constant integers. */
static infc_status check_integers(infc_onnx_at *at, size_t i) {
    infc_onnx_operand in = infc_onnx_any(at, i);
    const char *name = at->node->inputs[i];
    if (!in.constant)
        return infc_onnx_refuse(
            at,
            "input %zu, \"%s\", must be a constant, but is computed by %s; export the "
            "model with fixed shapes or fold its constants",
            i, name, producer_text(at, input_id(at, i)));
    if (in.type.dtype != INFC_DTYPE_i64 && in.type.dtype != INFC_DTYPE_i32)
        return infc_onnx_invalid(at, "input %zu, \"%s\", is %s, not int64", i, name,
                                 infc_dtype_name(in.type.dtype));
    return INFC_OK;
}

infc_status infc_onnx_input_integers(infc_onnx_at *at, size_t i, int64_t **out, int64_t *out_n) {
    infc_onnx_operand in = infc_onnx_any(at, i);
    INFC_TRY(check_integers(at, i));
    int64_t n = infc_type_count(&in.type);
    *out = INFC_NEW(at->arena, int64_t, (size_t)n + 1);
    for (int64_t k = 0; k < n; k++) (*out)[k] = infc_weight_i64(in.constant, k);
    *out_n = n;
    return INFC_OK;
}

infc_status infc_onnx_input_ints(infc_onnx_at *at, size_t i, int64_t *out, int max, int *out_n) {
    infc_onnx_operand in = infc_onnx_any(at, i);
    const char *name = at->node->inputs[i];
    *out_n = 0;
    INFC_TRY(check_integers(at, i));
    if (in.type.rank > 1)
        return infc_onnx_invalid(at, "input %zu, \"%s\", has %d dimensions, not 1", i, name, in.type.rank);
    int64_t n = infc_type_count(&in.type);
    if (n > max)
        return infc_onnx_refuse(at, "input %zu, \"%s\", has %lld elements; at most %d are supported",
                                i, name, (long long)n, max);
    for (int64_t k = 0; k < n; k++) out[k] = infc_weight_i64(in.constant, k);
    *out_n = (int)n;
    return INFC_OK;
}

static size_t output_id(const infc_onnx_at *at, size_t i) {
    return i < at->node->n_outputs ? at->import->net.node_outputs[at->index][i] : INFC_ONNX_ABSENT;
}

bool infc_onnx_output_used(const infc_onnx_at *at, size_t i) {
    size_t id = output_id(at, i);
    return id != INFC_ONNX_ABSENT && at->import->net.values[id].used;
}

infc_status infc_onnx_no_statistics(infc_onnx_at *at, size_t last) {
    for (size_t i = 1; i <= last && i < at->node->n_outputs; i++)
        if (infc_onnx_output_used(at, i))
            return infc_onnx_refuse(at, "output %zu exists for training only; export the model for inference", i);
    return INFC_OK;
}

/* Nodes of a sub-graph are built once per trip, and branches may use the same names: from the second on they are
 * numbered, past what else has such a name. */
static const char *unique_name(infc_onnx_import *import, const char *name) {
    const char *unique = name;
    size_t n = 0;
    if (import->depth == 0) return name;
    (void)infc_map_find(&import->inner_names, name, &n);
    if (n++ > 0) unique = infc_arena_printf(import->cx->arena, "%s.%zu", name, n);
    while (infc_map_find(&import->top_names, unique, NULL) ||
           (n > 1 && infc_map_find(&import->inner_names, unique, NULL)))
        unique = infc_arena_printf(import->cx->arena, "%s.%zu", name, ++n);
    infc_map_put(&import->inner_names, name, n);
    if (unique != name) infc_map_put(&import->inner_names, unique, 1);
    return unique;
}

/* The first name of a value stays, but one of the main graph is better than one of a sub-graph. */
static void name_value(infc_onnx_import *import, MlirValue value, const char *name) {
    if (mlirValueIsNull(value) || mlirOperationIsNull(infc_ir_def(value))) return;
    const char *now = infc_ir_name(import->ir, value);
    if (now && (import->depth > 0 || infc_map_find(&import->top_names, now, NULL))) return;
    infc_ir_set_name(import->ir, value, unique_name(import, name));
}

infc_status infc_onnx_output(infc_onnx_at *at, size_t i, const infc_onnx_operand *operand) {
    infc_onnx_import *import = at->import;
    size_t id = output_id(at, i);
    if (id == INFC_ONNX_ABSENT) return INFC_OK;
    const infc_onnx_value *value = &import->net.values[id];
    INFC_TRY(infc_onnx_declared_check(import, at->loc, value->declared, &operand->type));
    name_value(import, operand->value, value->name);
    import->operands[id] = *operand;
    import->ready[id] = true;
    return INFC_OK;
}

/* ---- attributes ---------------------------------------------------------------------------------------- */

const infc_onnx_attribute *infc_onnx_attr(const infc_onnx_at *at, const char *name) {
    for (size_t i = 0; i < at->node->n_attributes; i++)
        if (strcmp(at->node->attributes[i].name, name) == 0) return &at->node->attributes[i];
    return NULL;
}

int64_t infc_onnx_attr_int(const infc_onnx_at *at, const char *name, int64_t otherwise) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    return attribute ? attribute->i : otherwise;
}

float infc_onnx_attr_float(const infc_onnx_at *at, const char *name, float otherwise) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    return attribute ? attribute->f : otherwise;
}

bool infc_onnx_attr_is(const infc_onnx_at *at, const char *name, const char *text) {
    const infc_onnx_attribute *attribute = infc_onnx_attr(at, name);
    size_t n = strlen(text);
    return attribute && attribute->s.len == n && memcmp(attribute->s.ptr, text, n) == 0;
}

infc_status infc_onnx_attr_flag(infc_onnx_at *at, const char *name, int64_t otherwise, bool *out) {
    int64_t value = infc_onnx_attr_int(at, name, otherwise);
    *out = value != 0;
    if (value != 0 && value != 1)
        return infc_onnx_invalid(at, "attribute \"%s\" is %lld, not 0 or 1", name, (long long)value);
    return INFC_OK;
}

infc_status infc_onnx_axis(infc_onnx_at *at, int64_t axis, int rank, int *out) {
    if (axis < -rank || axis >= rank)
        return infc_onnx_invalid(at, "axis %lld is out of range for %d dimensions", (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return INFC_OK;
}
