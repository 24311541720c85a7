/* app_nearest.c - "did you mean". */
#include "app_flags.h"
#include <string.h>

enum { WORD_MAX = 64 };

/* Levenshtein distance, one row at a time. */
static size_t distance(const char *a, const char *b) {
    size_t n = strlen(b), row[WORD_MAX + 1];
    if (n > WORD_MAX) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t above = row[j + 1], least = diagonal + (a[i] != b[j]);
            if (above + 1 < least) least = above + 1;
            if (row[j] + 1 < least) least = row[j] + 1;
            diagonal = above;
            row[j + 1] = least;
        }
    }
    return row[n];
}

const char *infrt_nearest(const char *word, const char *const *candidates, size_t n) {
    const char *best = NULL;
    size_t length = strlen(word), least = (length > WORD_MAX ? 0 : length / 3 + 1) + 1;
    for (size_t i = 0; i < n && length <= WORD_MAX; i++) {
        size_t d = distance(word, candidates[i]);
        if (d < least) least = d, best = candidates[i];
    }
    return best;
}
