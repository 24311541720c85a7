/* stamp.h - a file that was digested is not read again as long as it is the same file, of the same size, with the same
 * times of change. The cache keeps what was seen; without a cache each process reads it. */
#ifndef INFC_STAMP_H
#define INFC_STAMP_H
#include "cx.h"

struct stat; /* of <sys/stat.h> */

typedef struct infc_stamp {
    uint64_t words[7]; /* device, inode, size, and when content (seconds, ns) and entry (seconds, ns) changed */
    bool still;   /* a later change will have another time, where clocks tick as they should */
    bool settled; /* it will everywhere: the content changed 2 seconds ago or more */
} infc_stamp;

/* To be taken before the file is read. */
infc_stamp infc_stamp_of(const struct stat *info);
bool infc_stamp_same(const infc_stamp *a, const infc_stamp *b);
/* Its SHA-256 when it was read, 64 digits; null when that is not known. */
const char *infc_stamp_find(infc_cx *cx, const infc_stamp *stamp);
/* For infc_stamp_find, from now on: `before` was taken before the file was read, `after` is told of it since. Nothing
 * is kept where they differ, or where the file has just changed: what changes within the same tick of the file
 * system's clock cannot be told. What is settled goes into the cache, what is still is for this process. True when it
 * is kept. */
bool infc_stamp_keep(infc_cx *cx, const infc_stamp *before, const struct stat *after, const char *digest);

#endif
