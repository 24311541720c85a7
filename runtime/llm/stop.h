/* stop.h - strings that end an answer, found in text that comes piece by piece.
 *
 * For each string an automaton (Knuth, Morris, Pratt) knows how many of its first bytes the text ends in. That many
 * bytes are held back: they may turn out to be the beginning of a stop string. */
#ifndef INFRT_STOP_H
#define INFRT_STOP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INFRT_STOP_STRINGS = 8, INFRT_STOP_BYTES = 128 }; /* most strings, and bytes of one */

typedef struct infrt_stop {
    uint32_t n;
    uint32_t found; /* after infrt_stop_feed has returned true: which one */
    uint32_t bytes[INFRT_STOP_STRINGS];
    uint32_t matched[INFRT_STOP_STRINGS]; /* how many first bytes the text ends in */
    unsigned char text[INFRT_STOP_STRINGS][INFRT_STOP_BYTES];
    /* [k]: of the first k + 1 bytes, the longest proper beginning that is also their end */
    unsigned char border[INFRT_STOP_STRINGS][INFRT_STOP_BYTES];
} infrt_stop;

/* False when there are too many, or one is empty or too long. */
bool infrt_stop_init(infrt_stop *stop, const char *const *strings, uint32_t n);
/* Reads on. Returns whether a stop string ended in these bytes; *used is then how many were read, and *cut how many
 * bytes of the text so far, counted from its end at *used, are the stop string. Else *used is n, and *cut how many of
 * the last bytes may still be the beginning of one. */
bool infrt_stop_feed(infrt_stop *stop, const char *bytes, size_t n, size_t *used, size_t *cut);

#endif
