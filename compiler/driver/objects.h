/* objects.h - C files to objects: in parallel, and from the cache where the same text was compiled before. */
#ifndef INFC_OBJECTS_H
#define INFC_OBJECTS_H
#include "toolchain.h"

/* Below the folder that is compiled in: objects, and what compilers put into $TMPDIR. Removed by who made it. */
#define INFC_OBJECTS_FOLDER ".obj"
#define INFC_OBJECTS_TEMP INFC_OBJECTS_FOLDER "/temp"

typedef struct infc_objects { /* sources that are compiled alike */
    const infc_words *cc;     /* compiler, target flags, other flags */
    const char *folder;       /* where the objects go, below the folder compiled in */
    const char *const *sources;
    size_t n;
    bool with_frames;    /* -fstack-usage */
    const char **names;  /* result: one object per source, relative like them */
    const char **frames; /* result, with_frames: what -fstack-usage wrote */
    size_t n_cached;     /* result */
} infc_objects;

/* Compiles all sets in one go. Names are relative to `dir`, where the compiler runs; INFC_EMIT_INCLUDES are added. */
infc_status infc_objects_compile(infc_cx *cx, const infc_compiler *cc, const char *dir,
                                 infc_objects *sets, size_t n_sets);
/* What to do about a tool that said this and failed for want of space: begins with "; ", or "". */
const char *infc_full_hint(const char *output);

#endif
