#include "onnx_ops.h"
#include "onnx_node.h"
#include <string.h>

static const infc_onnx_op ops[] = {
#define INFC_ONNX_OP(name, since, until, min_in, max_in, max_out, attrs, import, note) \
    {"", #name, since, until, min_in, max_in, max_out, attrs, infc_onnx_import_##import, note},
#include "onnx_ops.def"
#undef INFC_ONNX_OP
#define INFC_ONNX_OP(name, since, until, min_in, max_in, max_out, attrs, import, note) \
    {"com.microsoft",           #name, since, until, min_in, max_in, max_out, attrs,   \
     infc_onnx_import_##import, note},
#include "onnx_ops_microsoft.def"
#undef INFC_ONNX_OP
};

size_t infc_onnx_op_count(void) { return sizeof ops / sizeof *ops; }
const infc_onnx_op *infc_onnx_op_at(size_t i) { return &ops[i]; }

const infc_onnx_op *infc_onnx_op_find(const char *domain, const char *name, int64_t opset) {
    for (size_t i = 0; i < infc_onnx_op_count(); i++) {
        bool fits = opset >= ops[i].since && opset <= ops[i].until;
        if (fits && strcmp(ops[i].name, name) == 0 && strcmp(ops[i].domain, domain) == 0)
            return &ops[i];
    }
    return NULL;
}

static infc_onnx_attribute_type kind_type(const char *kind, size_t n) {
    static const struct {
        const char *name;
        infc_onnx_attribute_type type;
    } kinds[] = {
        {"int", INFC_ONNX_INT},       {"float", INFC_ONNX_FLOAT},   {"str", INFC_ONNX_STRING},
        {"ints", INFC_ONNX_INTS},     {"floats", INFC_ONNX_FLOATS}, {"strings", INFC_ONNX_STRINGS},
        {"tensor", INFC_ONNX_TENSOR}, {"sparse", INFC_ONNX_SPARSE}, {"graph", INFC_ONNX_GRAPH}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, kind, n) == 0) return kinds[i].type;
    return (infc_onnx_attribute_type)0;
}

/* The type of attribute `name` in "name:kind ...", or 0. */
static infc_onnx_attribute_type attribute_type(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; *p;) {
        size_t k = strcspn(p, ":"), kind = strcspn(p + k + 1, " ");
        if (k == n && memcmp(p, name, n) == 0) return kind_type(p + k + 1, kind);
        p += k + 1 + kind;
        p += *p == ' ';
    }
    return (infc_onnx_attribute_type)0;
}

static void check_attribute(infc_cx *cx, infc_loc loc, const infc_onnx_op *op,
                            const infc_onnx_node *node, size_t index, int64_t opset) {
    const infc_onnx_attribute *attribute = &node->attributes[index];
    infc_onnx_attribute_type type = attribute_type(op->attributes, attribute->name);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(node->attributes[i].name, attribute->name) != 0) continue;
        infc_fail(cx, INFC_ERR_MODEL, loc, "attribute \"%s\" is given twice", attribute->name);
        return;
    }
    if (attribute->ref_name)
        infc_fail(cx, INFC_ERR_MODEL, loc, "attribute \"%s\" refers to a parameter of a function",
                  attribute->name);
    else if (attribute->type == INFC_ONNX_GRAPHS || (attribute->type == INFC_ONNX_GRAPH && !type))
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc,
                  "attribute \"%s\" is a graph; sub-graphs are not supported", attribute->name);
    else if (!type)
        infc_fail(cx, INFC_ERR_UNSUPPORTED, loc, "attribute \"%s\" does not exist in opset %lld",
                  attribute->name, (long long)opset);
    else if (attribute->type != (int32_t)type)
        infc_fail(cx, INFC_ERR_MODEL, loc, "attribute \"%s\" is of the wrong type", attribute->name);
}

infc_status infc_onnx_op_check(infc_cx *cx, infc_loc loc, const infc_onnx_op *op,
                               const infc_onnx_node *node, int64_t opset) {
    size_t mark = cx->n_diags, n_in = node->n_inputs, n_out = node->n_outputs;
    if (n_in < (size_t)op->min_inputs || n_in > (size_t)op->max_inputs) {
        const char *range = infc_arena_printf(cx->arena, "%d", op->min_inputs);
        if (op->max_inputs > op->min_inputs)
            range = infc_arena_printf(cx->arena, "%d to %d", op->min_inputs, op->max_inputs);
        infc_fail(cx, INFC_ERR_MODEL, loc, "has %zu input%s; in opset %lld it takes %s", n_in,
                  n_in == 1 ? "" : "s", (long long)opset, range);
    }
    bool all_optional = op->import == infc_onnx_import_loop; /* a count or a condition, either or both */
    for (int i = 0; i < op->min_inputs && (size_t)i < n_in && !all_optional; i++)
        if (!*node->inputs[i])
            infc_fail(cx, INFC_ERR_MODEL, loc, "input %d must not be left out", i);
    if (n_out > (size_t)op->max_outputs)
        infc_fail(cx, INFC_ERR_MODEL, loc, "has %zu outputs; in opset %lld it gives at most %d",
                  n_out, (long long)opset, op->max_outputs);
    for (size_t i = 0; i < node->n_attributes; i++) check_attribute(cx, loc, op, node, i, opset);
    return infc_diags_status(cx, mark);
}
