/* Bodies of requests on any bytes: what is taken keeps to the limits, what is not says why. */
#include "request_read.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const infrt_ask_route routes[] = {INFRT_ASK_CHAT,     INFRT_ASK_TEXT,
                                             INFRT_ASK_TOKENIZE, INFRT_ASK_DETOKENIZE,
                                             INFRT_ASK_SAVE,     INFRT_ASK_RESTORE};
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        infrt_ask ask;
        infrt_refusal refusal = {0};
        const bool good = infrt_ask_read((const char *)data, size, routes[i], 64, 1000, &ask, &refusal);
        if (good != (refusal.status == 0)) abort();
        if (!good && !refusal.text[0]) abort();
        const bool kept = ask.n >= 1 && ask.n <= INFRT_ASK_N &&
                          (ask.n_prompts >= 1 || routes[i] == INFRT_ASK_RESTORE) &&
                          ask.n_prompts * ask.n <= INFRT_ASK_CHOICES;
        if (good && !kept) abort();
        size_t sum = 0;
        for (uint32_t k = 0; k < ask.n_messages; k++)
            sum += strlen(ask.messages[k].role) + strlen(ask.messages[k].content);
        for (uint32_t k = 0; k < ask.n_prompts; k++)
            sum += ask.prompts[k].text ? strlen(ask.prompts[k].text) : 0;
        for (uint32_t k = 0; k < ask.n_stop; k++) sum += strlen(ask.stop[k]);
        if (sum > size) abort();
        infrt_ask_free(&ask);
    }
    return 0;
}
