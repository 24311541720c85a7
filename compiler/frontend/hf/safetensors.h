/* safetensors.h - one .safetensors file: 8 bytes of length, a JSON directory, bytes. Layout: the README of the
 * safetensors project. The bytes are borrowed. */
#ifndef INFC_SAFETENSORS_H
#define INFC_SAFETENSORS_H
#include "../llm/checkpoint.h"

/* Adds the tensors of the file. INFC_ERR_MODEL when it is damaged: bytes beyond the end, shared or unused, names
 * twice, sizes that do not fit the shape; INFC_ERR_UNSUPPORTED for an unknown type. */
infc_status infc_safetensors_read(infc_cx *cx, const char *path, infc_bytes file, infc_checkpoint *checkpoint);

#endif
