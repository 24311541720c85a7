/* made.h - the files that compiles made in a folder, as its manifests list them. */
#ifndef INFC_MADE_H
#define INFC_MADE_H
#include "manifest.h"

typedef struct infc_made { /* below the folder; those of its targets' folders too, each before its manifest.json */
    infc_manifest_file *files; /* a path may be there twice, with the digests of two compiles */
    size_t n, cap;
    infc_map paths, pairs; /* by path; by path and digest */
    infc_map targets;      /* the folders of targets */
} infc_made;

typedef enum infc_found { /* what stands at a path of an infc_made */
                          INFC_FOUND_NOTHING,
                          INFC_FOUND_MADE,    /* the file that a compile made */
                          INFC_FOUND_CHANGED, /* something else: changed since, or a user's own */
} infc_found;

/* What the manifests in `dir` list: of the folder, and of the targets' folders that are its own - listed unchanged, or
 * made anew by `now` (or null). */
void infc_made_find(infc_cx *cx, const char *dir, const infc_made *now, infc_made *out);
/* Compares the file with the digests that `made` and `also` (or null) have for it; follows no link. `digest`: of the
 * file, where it was looked at before; null: it is read. */
infc_found infc_made_look(infc_cx *cx, const char *dir, const char *path, const char *digest,
                          const infc_made *made, const infc_made *also);
/* Whether it belongs into the manifest of `target`, or of the folder itself when that is null; `out_path` is its path
 * there. */
bool infc_made_in(const infc_made *made, const char *path, const char *target, const char **out_path);

#endif
