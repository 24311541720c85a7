/* stale.h - what an earlier compile made in a folder and this one does not make: it would be taken for ours. */
#ifndef INFC_STALE_H
#define INFC_STALE_H
#include "manifest.h"

typedef struct infc_made { /* files below the folder, those of its targets' folders included */
    infc_manifest_file *files;
    size_t n, cap;
    infc_map index;
} infc_made;

/* What the manifests in `dir` list: of the folder, and of the targets' folders that it lists unchanged. */
void infc_made_find(infc_cx *cx, const char *dir, infc_made *out);
/* After a commit: removes what `before` lists and the manifests no longer do. A file that has changed since it was
 * made stays, with a warning: it may be a user's own. Never leaves `dir`, follows no link. */
void infc_stale_remove(infc_cx *cx, const char *dir, const infc_made *before);

#endif
