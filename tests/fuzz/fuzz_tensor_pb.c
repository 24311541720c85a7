/* The TensorProto reader on any bytes. What it accepts must be as large as it says, all of it readable. */
#include "tensor_io.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infrt_tensor t = {0};
    infrt_error error = {0};
    uint64_t bytes;
    double sum = 0;
    if (infrt_pb_read((infrt_bytes){data, size}, "fuzz", &t, &error) == INFRT_OK) {
        if (!infrt_shape_bytes(t.dtype, t.rank, t.dims, &bytes) || bytes != t.bytes) abort();
        size_t n = (size_t)bytes / infrt_dtype_bytes(t.dtype);
        for (size_t i = 0; i < n; i++) sum += infrt_element(t.dtype, t.data, i);
    } else if (t.data || t.owned || !error.text[0]) {
        abort();
    }
    volatile double used = sum;
    (void)used;
    infrt_tensor_free(&t);
    return 0;
}
