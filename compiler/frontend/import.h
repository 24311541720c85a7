/* import.h - from a model, whatever its format, to IR. */
#ifndef INFC_IMPORT_H
#define INFC_IMPORT_H
#include "../ir/ir.h"
#include "spec.h"

/* Reads the model of `spec` by its kind: .onnx, or a language model. Collects all problems of the model. Marks the
 * dims of the spec that it used. Weights are borrowed from the mapped model until the arena of cx goes. */
infc_status infc_frontend_import(infc_cx *cx, const infc_spec *spec, infc_ir *out);

#endif
