/* dtype.h - facts about element types; the list itself is INFC_DTYPES in infc_abi.h. */
#ifndef INFC_DTYPE_H
#define INFC_DTYPE_H
#include "infc_abi.h"
#include <stdbool.h>

const char *infc_dtype_name(infc_dtype dtype);   /* "f32" */
const char *infc_dtype_c_type(infc_dtype dtype); /* "float" */
size_t infc_dtype_bytes(infc_dtype dtype);
bool infc_dtype_parse(const char *name, infc_dtype *out);

#endif
