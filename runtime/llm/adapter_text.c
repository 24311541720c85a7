/* adapter_text.c - where an adapter comes from, as people write it: DIR, or 0.7*DIR,0.3*DIR, a weighted sum. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

/* Where "WEIGHT*" ends that `text` begins with; null: it does not. */
static const char *weight_skip(const char *text, float *out) {
    const size_t n = strspn(text, "0123456789.-");
    char number[16];
    char *end;
    if (n == 0 || n >= sizeof number || text[n] != '*') return NULL;
    memcpy(number, text, n);
    number[n] = 0;
    *out = strtof(number, &end);
    return *end ? NULL : text + n + 1;
}

/* "0.7*DIR,0.3*DIR": the folders are cut out of `text`. 0: that is not what it is, or there are too many. */
static uint32_t sum_split(char *text, infrt_llm_adapter_part *parts) {
    uint32_t n = 0;
    for (char *part = text; part; n++) {
        const char *folder = n < INFRT_LLM_ADAPTER_PARTS ? weight_skip(part, &parts[n].weight) : NULL;
        if (!folder || !*folder) return 0;
        parts[n].folder = folder;
        part = strchr(part, ',');
        if (part) *part++ = 0;
    }
    return n;
}

infrt_status infrt_llm_adapter_load_text(infrt_llm *llm, const char *name, const char *text, infrt_error *error) {
    infrt_llm_adapter_part parts[INFRT_LLM_ADAPTER_PARTS];
    infrt_llm_adapter *adapter = NULL;
    if (!weight_skip(text, &parts[0].weight)) return infrt_llm_adapter_load(llm, name, text, error);
    char *copy = malloc(strlen(text) + 1);
    if (!copy) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for an adapter");
    const uint32_t n = sum_split(strcpy(copy, text), parts);
    infrt_status status = INFRT_OK;
    if (n == 0)
        status = infrt_fail(error, INFRT_ERR_USAGE,
                            "adapter %.128s: %.512s: a sum is WEIGHT*DIR,WEIGHT*DIR of at most %u",
                            name, text, INFRT_LLM_ADAPTER_PARTS);
    if (status == INFRT_OK) status = infrt_llm_adapter_sum(llm, parts, n, &adapter, error);
    if (status == INFRT_OK) status = infrt_llm_adapter_add(llm, name, adapter, error);
    infrt_llm_adapter_free(&adapter);
    free(copy);
    return status;
}
