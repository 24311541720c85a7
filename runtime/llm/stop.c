/* stop.c - finds stop strings in a stream of bytes. */
#include "stop.h"
#include <string.h>

static void borders_find(infrt_stop *stop, uint32_t s) {
    const unsigned char *text = stop->text[s];
    unsigned char *border = stop->border[s], k = 0;
    border[0] = 0;
    for (uint32_t i = 1; i < stop->bytes[s]; i++) {
        while (k > 0 && text[i] != text[k]) k = border[k - 1];
        if (text[i] == text[k]) k++;
        border[i] = k;
    }
}

bool infrt_stop_init(infrt_stop *stop, const char *const *strings, uint32_t n) {
    stop->n = 0;
    if (n > INFRT_STOP_STRINGS) return false;
    for (uint32_t s = 0; s < n; s++) {
        size_t bytes = strlen(strings[s]);
        if (bytes == 0 || bytes > INFRT_STOP_BYTES) return false;
        stop->bytes[s] = (uint32_t)bytes;
        stop->matched[s] = 0;
        memcpy(stop->text[s], strings[s], bytes);
        borders_find(stop, s);
    }
    stop->n = n;
    return true;
}

bool infrt_stop_feed(infrt_stop *stop, const char *bytes, size_t n, size_t *used, size_t *cut) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        uint32_t longest = 0;
        for (uint32_t s = 0; s < stop->n; s++) {
            uint32_t k = stop->matched[s];
            while (k > 0 && c != stop->text[s][k]) k = stop->border[s][k - 1];
            if (c == stop->text[s][k]) k++;
            stop->matched[s] = k;
            if (k < stop->bytes[s] || k <= longest) continue;
            longest = k;
            stop->found = s;
        }
        if (longest) {
            *used = i + 1;
            *cut = longest;
            return true;
        }
    }
    *used = n;
    *cut = 0;
    for (uint32_t s = 0; s < stop->n; s++)
        if (stop->matched[s] > *cut) *cut = stop->matched[s];
    return false;
}
