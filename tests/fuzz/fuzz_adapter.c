/* What adapters are read from, on any bytes: adapter_config.json, adapter_model.safetensors. Accepted tensors lie
 * within the file, each byte in one of them. */
#include "adapter_file.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infrt_adapter_config config;
    infrt_adapter_tensor *tensors;
    uint32_t n, rank;
    float scale;
    const char *text = (const char *)data;
    if (infrt_adapter_config_read("fuzz", text, size, &config, NULL) == INFRT_OK) {
        infrt_adapter_config_of(&config, "model.layers.0.self_attn.q_proj", &rank, &scale);
        if (rank == 0 || !(scale > 0)) abort();
    }
    infrt_adapter_config_free(&config);
    if (infrt_adapter_tensors_read("fuzz", text, size, &tensors, &n, NULL) == INFRT_OK) {
        uint64_t bytes = 0;
        unsigned sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t own =
                tensors[i].rows * tensors[i].columns * (tensors[i].type == INFRT_ADAPTER_F32 ? 4 : 2);
            for (uint64_t at = 0; at < own; at++) sum += (unsigned char)tensors[i].data[at];
            bytes += own;
        }
        if (bytes > size) abort();
        volatile unsigned used = sum;
        (void)used;
    }
    free(tensors);
    return 0;
}
