/* The reader of .infw on any bytes, with version and checksum set right, so that these are not what refuses them: it
 * must return, and what it accepts must have sizes that the configuration has, and a tokenizer that is read or
 * refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/base/hash.h"
#include "compiler/frontend/hf/safetensors.h"
#include "compiler/frontend/llm/llm_pack.h"
#include "compiler/frontend/tokenizer/bpe_tokenizer.h"
#include "compiler/ir/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In the directory [at, end), what follows the first `key`. */
static void set(uint8_t *at, const uint8_t *end, const char *key, const char *text) {
    const size_t n_key = strlen(key), n = strlen(text);
    at = memmem(at, (size_t)(end - at), key, n_key);
    if (at && (size_t)(end - at) >= n_key + n) memcpy(at + n_key, text, n);
}

static void set_right(uint8_t *bytes, size_t size) {
    if (size < 8) return;
    const uint64_t n = infc_little_endian(bytes, 8);
    if (n > size - 8) return;
    uint8_t *end = bytes + 8 + n;
    char digits[17];
    infc_xxh64 hash;
    set(bytes + 8, end, "\"infw\":\"", INFC_PACKED_VERSION);
    set(bytes + 8, end, "\"xxh64\":\"", "0000000000000000");
    infc_xxh64_begin(&hash);
    infc_xxh64_put(&hash, bytes, size);
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)infc_xxh64_end(&hash));
    set(bytes + 8, end, "\"xxh64\":\"", digits);
}

static infc_status use(infc_cx *cx, const infc_llm_model *model) {
    const infc_loc loc = {.file = model->path};
    const infc_tokenizer *tokenizer;
    const infc_spec spec = {.model = model->path};
    const char *calibration;
    infc_spec made;
    INFC_TRY(infc_llm_config_check(cx, loc, &model->config));
    INFC_TRY(infc_llm_check_tensors(cx, loc, &model->config, &model->checkpoint, model->gguf.path != NULL));
    for (size_t i = 0; i < model->checkpoint.n; i++)
        if (!model->checkpoint.tensors[i].bytes.ptr != (model->checkpoint.tensors[i].rank > 1))
            abort();
    INFC_TRY(infc_llm_pack_spec(cx, model->pack, &spec, &made, &calibration));
    return infc_tokenizer_read(cx, model, &tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infc_cx cx;
    infc_llm_model model = {0};
    if (infc_cx_init(&cx) != INFC_OK) return 0;
    uint8_t *bytes = malloc(size + !size);
    if (size) memcpy(bytes, data, size);
    set_right(bytes, size);
    infc_status status = infc_llm_pack_read_bytes(&cx, "m.infw", (infc_bytes){bytes, size}, &model);
    if (status == INFC_OK) status = use(&cx, &model);
    if (status == INFC_ERR_INTERNAL || (status == INFC_OK) != (cx.n_errors == 0)) abort();
    infc_cx_deinit(&cx);
    free(bytes);
    return 0;
}
