/* tokenizer.json and the tokenizer of GGUF of any bytes; what is accepted works on texts within its memory, and
 * decoding gives whole characters. */
#include <stdlib.h>
#include <string.h>
#include "compiler/frontend/tokenizer/bpe_tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const infrt_tokenizer *t, const char *text, size_t n) {
    const infrt_text_part parts[] = {{n / 2, 1}, {n - n / 2, 0}};
    void *scratch = malloc(infrt_encode_scratch(t, text, n));
    const size_t n_ids = infrt_encode(t, text, n, parts, 2, 1, scratch, NULL, 0);
    int32_t *ids = malloc((n_ids + !n_ids) * sizeof *ids);
    if (infrt_encode(t, text, n, parts, 2, 1, scratch, ids, n_ids) != n_ids) abort();
    for (size_t i = 0; i < n_ids; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= t->n_tokens) abort();
    const size_t bytes = infrt_decode(t, ids, n_ids, 1, NULL, 0);
    char *out = malloc(bytes + !bytes);
    if (infrt_decode(t, ids, n_ids, 1, out, bytes) != bytes || !infc_text_is_utf8(out, bytes))
        abort();
    free(out);
    free(ids);
    free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char text[] = " Hello's <s>\xff\xe2\x96\x81"
                               "12a\r\n\xf0\x9f\x98\x80  ab<unk>\xed\xa0\x80";
    infc_cx cx;
    infc_gguf gguf;
    infc_tokenizer made;
    if (infc_cx_init(&cx) != INFC_OK) return 0;
    const infc_bytes bytes = {data, size};
    const bool is_gguf = size > 4 && memcmp(data, "GGUF", 4) == 0;
    infc_status status = is_gguf ? infc_gguf_read(&cx, "m.gguf", bytes, &gguf) : INFC_OK;
    if (status == INFC_OK)
        status = is_gguf ? infc_tokenizer_gguf(&cx, &gguf, &made)
                         : infc_tokenizer_json(&cx, "t.json", bytes, &made);
    if (status == INFC_ERR_INTERNAL || (status == INFC_OK) != (cx.n_errors == 0)) abort();
    if (status == INFC_OK) {
        use(&made.tables, text, sizeof text - 1);
        use(&made.tables, (const char *)data, size < 300 ? size : 300);
    }
    infc_cx_deinit(&cx);
    return 0;
}
