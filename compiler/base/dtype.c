#include "dtype.h"
#include <string.h>

static const struct {
    const char *name, *c_type;
    size_t bytes;
} dtypes[] = {{"none", "void", 0},
#define INFC_X(name, id, bytes, ctype) [id] = {#name, #ctype, bytes},
              INFC_DTYPES(INFC_X)
#undef INFC_X
};
enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

const char *infc_dtype_name(infc_dtype dtype) {
    return (unsigned)dtype < N_DTYPES ? dtypes[dtype].name : "?";
}

const char *infc_dtype_c_type(infc_dtype dtype) {
    return (unsigned)dtype < N_DTYPES ? dtypes[dtype].c_type : "?";
}

size_t infc_dtype_bytes(infc_dtype dtype) {
    return (unsigned)dtype < N_DTYPES ? dtypes[dtype].bytes : 0;
}

bool infc_dtype_parse(const char *name, infc_dtype *out) {
    for (unsigned i = 1; i < N_DTYPES; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *out = (infc_dtype)i;
            return true;
        }
    }
    return false;
}
