/* manifest.h - manifest.json of an output folder: what a compile made there, with the SHA-256 of each file. */
#ifndef INFC_MANIFEST_H
#define INFC_MANIFEST_H
#include "../base/cx.h"
#include "../base/map.h"
#include <jansson.h>

typedef struct infc_manifest_file {
    const char *path, *sha256; /* path: from the folder, of plain components */
} infc_manifest_file;

typedef struct infc_manifest {
    const char *dir, *path; /* the folder, and its manifest.json */
    const json_t *json;     /* released with the arena of cx */
    bool unfinished; /* of a compile that was ended while it moved its files here: those before too */
    infc_manifest_file *files;
    size_t n;
    infc_map index; /* path to place in files */
} infc_manifest;

/* Fails, saying what to do, when it is missing, not what infc writes, or of a compile that did not end. */
infc_status infc_manifest_read(infc_cx *cx, const char *dir, infc_manifest *out);
/* Quietly, for who can do without: false when the folder has none of infc. Links are not followed. */
bool infc_manifest_try(infc_cx *cx, const char *dir, const char *path, infc_manifest *out);
/* A text of it, or "". */
const char *infc_manifest_text(const infc_manifest *manifest, const char *key);
/* Null when it is not listed. */
const infc_manifest_file *infc_manifest_find(const infc_manifest *manifest, const char *path);
/* The digest of the file that stands there, as manifests have it; follows no link. 0 or an errno. */
int infc_manifest_digest(infc_cx *cx, const char *dir, const char *path, const char **out_sha256);
/* Records what is wrong when `path` is not listed, not there or not what was compiled. */
infc_status infc_manifest_check(infc_cx *cx, const infc_manifest *manifest, const char *path);

/* A report.json, with a target and artefacts; released with the arena of cx. */
infc_status infc_report_read(infc_cx *cx, const char *path, json_t **out);
/* What `infc compare` writes as JSON. */
infc_status infc_comparison_read(infc_cx *cx, const char *path, json_t **out);
/* A text of a JSON object, or "". */
const char *infc_json_text_of(const json_t *object, const char *key);
/* As commands print it: indented, with a line's end. */
void infc_json_put(const json_t *json, infc_buf *out);

#endif
