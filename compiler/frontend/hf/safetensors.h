/* safetensors.h - one .safetensors file: 8 bytes of length, a JSON directory, bytes. Layout: the README of the
 * safetensors project. The bytes are borrowed. */
#ifndef INFC_SAFETENSORS_H
#define INFC_SAFETENSORS_H
#include "../llm/checkpoint.h"
#include <jansson.h>

/* Adds the tensors of the file. INFC_ERR_MODEL when it is damaged: bytes beyond the end, shared or unused, names
 * twice, sizes that do not fit the shape; INFC_ERR_UNSUPPORTED for an unknown type. */
infc_status infc_safetensors_read(infc_cx *cx, const char *path, infc_bytes file, infc_checkpoint *checkpoint);
/* The same of a file that ends with its directory: tensors have sizes, but no bytes (ptr null). */
infc_status infc_safetensors_read_head(infc_cx *cx, const char *path, infc_bytes file, infc_checkpoint *checkpoint);
/* Its "__metadata__", null when there is none, and the data behind the directory. */
infc_status infc_safetensors_metadata(infc_cx *cx, const char *path, infc_bytes file,
                                      const json_t **out, infc_bytes *data);

#endif
