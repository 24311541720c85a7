/* The .npz and .npy readers on any bytes. What they accept must be as large as it says, all of it readable. */
#include "tensor_io.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(infrt_status status, infrt_tensor *t) {
    uint64_t bytes;
    double sum = 0;
    if (status == INFRT_OK) {
        if (!infrt_shape_bytes(t->dtype, t->rank, t->dims, &bytes) || bytes != t->bytes) abort();
        size_t n = (size_t)bytes / infrt_dtype_bytes(t->dtype);
        for (size_t i = 0; i < n; i++) sum += infrt_element(t->dtype, t->data, i);
    } else if (t->data || t->owned) {
        abort();
    }
    volatile double used = sum;
    (void)used;
    infrt_tensor_free(t);
}

typedef struct reading {
    infrt_bytes file;
} reading;

/* Reads each array by its name, as `run --inputs` does. */
static void visit(void *self, const char *name, size_t n) {
    const reading *r = self;
    infrt_tensor t = {0};
    char text[64];
    if (n >= sizeof text) return;
    for (size_t i = 0; i < n; i++) text[i] = name[i];
    text[n] = 0;
    check(infrt_npz_read(r->file, "fuzz", text, &t, NULL), &t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    reading r = {{data, size}};
    infrt_tensor t = {0};
    infrt_error error = {0};
    check(infrt_npy_read(r.file, "fuzz", &t, &error), &t);
    error = (infrt_error){0};
    check(infrt_npz_read(r.file, "fuzz", NULL, &t, &error), &t);
    infrt_npz_names(r.file, "fuzz", visit, &r, NULL);
    return 0;
}
