/* model_digest.h - which model it was. */
#ifndef INFC_MODEL_DIGEST_H
#define INFC_MODEL_DIGEST_H
#include "../frontend/spec.h"
#include "../ir/ir.h"

/* SHA-256 of the model's file; of several, of lines `<digest>  <name>`, as sha256sum prints them. */
infc_status infc_model_digest(infc_cx *cx, const infc_spec *spec, const infc_ir *ir, const char **out);

#endif
