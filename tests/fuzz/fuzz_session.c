/* Files of sessions, on any bytes. Of what is accepted, all tokens and blocks lie within the file. The hash is made
 * right first, so that what is behind it is reached. */
#include "infrt_hash.h"
#include "session_file.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t hashed = offsetof(infrt_session_header, bytes);
    infrt_session_header own = {0}, h;
    char *file = malloc(size + 1);
    if (!file) return 0;
    memcpy(file, data, size);
    if (size >= sizeof own) {
        const uint64_t bytes = size, hash = (memcpy(file + hashed, &bytes, sizeof bytes),
                                             infrt_hash64(file + hashed, size - hashed));
        memcpy(file, INFRT_SESSION_MAGIC, 8);
        memcpy(file + offsetof(infrt_session_header, hash), &hash, sizeof hash);
        memcpy(&own, file, sizeof own);
    }
    if (infrt_session_file_check("fuzz", file, size, &own, 50, NULL) == INFRT_OK) {
        memcpy(&h, file, sizeof h);
        const char *tokens = file + sizeof h, *blocks = tokens + (size_t)h.n_blocks * h.positions * 4;
        if ((uint64_t)(file + size - blocks) != h.n_blocks * h.block_bytes + h.text_bytes) abort();
        const char *text = file + size - h.text_bytes;
        for (uint64_t i = 0; i < 2 * (uint64_t)h.n_messages; i++) text += strlen(text) + 1;
        if (text != file + size) abort();
    }
    free(file);
    return 0;
}
