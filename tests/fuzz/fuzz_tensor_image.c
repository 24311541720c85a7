/* Image inputs from any bytes: decoded, converted, resized to a small input, or refused. */
#include "tensor_io.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const infc_tensor_info gray = {
        .name = "image", .dtype = INFC_DTYPE_f32, .rank = 4, .dims = {1, 1, 8, 8}, .bytes = 256};
    static const infc_tensor_info rgb = {
        .name = "image", .dtype = INFC_DTYPE_f32, .rank = 4, .dims = {1, 3, 5, 40}, .bytes = 2400};
    const infc_tensor_info *infos[] = {&gray, &rgb};
    for (size_t i = 0; i < 2; i++) {
        infrt_tensor t = {0};
        char note[256];
        if (infrt_image_read((infrt_bytes){data, size}, "fuzz", infos[i], NULL, &t, note, NULL) != INFRT_OK)
            continue;
        const float *values = t.data;
        for (size_t k = 0; k < t.bytes / sizeof *values; k++)
            if (!(values[k] >= 0 && values[k] <= 1)) abort();
        infrt_tensor_free(&t);
    }
    return 0;
}
