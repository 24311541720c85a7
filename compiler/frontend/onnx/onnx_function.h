/* onnx_function.h - a model's own functions, which are inlined before names are resolved. */
#ifndef INFC_ONNX_FUNCTION_H
#define INFC_ONNX_FUNCTION_H
#include "onnx_parse.h"

infc_status infc_onnx_parse_function(infc_onnx_parse *parse, infc_bytes body, infc_onnx_function *out);

/* Replaces each node that calls a function by the function's nodes, functions within functions too. Refused:
 * recursion, overloads, functions of another opset than the model's. */
infc_status infc_onnx_inline_functions(infc_cx *cx, const char *path, infc_onnx_model *model);

#endif
