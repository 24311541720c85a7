/* llm_import.h - from a language model's files to IR. */
#ifndef INFC_LLM_IMPORT_H
#define INFC_LLM_IMPORT_H
#include "../../ir/ir.h"
#include "../spec.h"

/* Reads the model of `spec` and builds its step, with ir->llm. Formats are chosen by the spec. */
infc_status infc_llm_import(infc_cx *cx, const infc_spec *spec, infc_ir *out);

#endif
