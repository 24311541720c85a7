/* onnx_classes.c - outputs of kind `classes` (spec key outputs): whether the model makes confidences of its scores
 * itself, so that the binary calls them so and a second softmax is refused. Values are shown the same either way. */
#include "onnx_import.h"
#include <string.h>

/* Between operators of this list and what they read, each value stays what it is. */
static const char *const passing[] = {"Cast",      "DequantizeLinear", "Dropout", "Flatten",
                                      "Identity",  "QuantizeLinear",   "Reshape", "Squeeze",
                                      "Transpose", "Unsqueeze"};
static const char *const making[] = {"QLinearSigmoid", "QLinearSoftmax", "Sigmoid", "Softmax"};

#define AMONG(list, op) among(list, sizeof(list) / sizeof *(list), op)
static bool among(const char *const *list, size_t n, const char *op) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], op) == 0) return true;
    return false;
}

/* The node that makes confidences of value `id`; null when none does. The graph has no cycles. */
static const infc_onnx_node *maker(const infc_onnx_import *import, size_t id) {
    while (id != INFC_ONNX_ABSENT && import->net.values[id].origin == INFC_ONNX_FROM_NODE) {
        const size_t n = import->net.values[id].index;
        const infc_onnx_node *node = &import->model.graph.nodes[n];
        if (AMONG(making, node->op)) return node;
        if (!AMONG(passing, node->op) || infc_onnx_n_reads(node) == 0) return NULL;
        id = import->net.node_inputs[n][0];
    }
    return NULL;
}

infc_status infc_onnx_classes(infc_onnx_import *import, const char *name, size_t id) {
    for (size_t i = 0; i < import->spec->n_classes; i++) {
        infc_spec_classes *classes = &import->spec->classes[i];
        const infc_onnx_node *node = strcmp(classes->output, name) == 0 ? maker(import, id) : NULL;
        if (!node) continue;
        if (classes->scores > INFC_SCORES_probabilities)
            return infc_fail(import->cx, INFC_ERR_SPEC, classes->loc,
                             "output \"%s\" comes from %s in the model already; remove scores: %s",
                             name, node->op, infc_spec_scores[classes->scores]);
        classes->scores = INFC_SCORES_probabilities;
    }
    return INFC_OK;
}
