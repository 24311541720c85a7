/* onnx_types.c - the element types of a node's inputs, against onnx_types.def. */
#include "onnx_node.h"
#include <string.h>

static const struct row {
    const char *domain, *op;
    int since, until, input;
    const char *types;
} rows[] = {
#define INFC_ONNX_TYPES(domain, op, since, until, input, types) \
    {domain, #op, since, until, input, types},
#include "onnx_types.def"
#undef INFC_ONNX_TYPES
};

static bool is(const char *word, size_t n, const char *text) {
    return strlen(text) == n && memcmp(text, word, n) == 0;
}

/* Whether the `n` letters of `word` name the type, or a group that it is in. */
static bool names(const char *word, size_t n, infc_dtype dtype) {
    if (is(word, n, "number")) return dtype != INFC_DTYPE_bool;
    if (is(word, n, "float")) return dtype == INFC_DTYPE_f32 || dtype == INFC_DTYPE_f64;
    return is(word, n, infc_dtype_name(dtype));
}

static bool among(const char *types, infc_dtype dtype) {
    for (const char *p = types; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (names(p, n, dtype)) return true;
        p += n;
    }
    return false;
}

infc_status infc_onnx_types_check(infc_onnx_at *at) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct row *row = &rows[r];
        bool here = at->opset >= row->since && at->opset <= row->until && strcmp(row->op, at->node->op) == 0;
        if (!here || strcmp(row->domain, at->node->domain) != 0) continue;
        for (size_t i = 0; i < at->node->n_inputs; i++) {
            if (!infc_onnx_has(at, i) || (row->input >= 0 && (size_t)row->input != i)) continue;
            infc_dtype dtype = infc_onnx_any(at, i).type.dtype;
            if (!among(row->types, dtype))
                return infc_onnx_invalid(at, "input %zu, \"%s\", is %s; in opset %lld it takes %s",
                                         i, at->node->inputs[i], infc_dtype_name(dtype),
                                         (long long)at->opset, row->types);
        }
    }
    return INFC_OK;
}
