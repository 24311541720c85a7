#include "embedded.h"
#include <string.h>

const infc_bytes *infc_embedded(const char *path) {
    for (size_t i = 0; i < infc_embedded_n; i++)
        if (strcmp(infc_embedded_files[i].path, path) == 0) return &infc_embedded_files[i].bytes;
    return NULL;
}
