/* cx.h - the context of one compile: arena, located diagnostics, progress, cache. */
#ifndef INFC_CX_H
#define INFC_CX_H
#include "buf.h"
#include "status.h"
#include <stdbool.h>

/* Where something is: a file position, a node of the model, or both. All fields may be empty. */
typedef struct infc_loc {
    const char *file;
    int line, col;    /* 1-based; 0 = unknown */
    const char *node; /* e.g. `node "conv_3" (Conv)` */
} infc_loc;
#define INFC_NO_LOC ((infc_loc){0})

typedef enum infc_severity { INFC_NOTE, INFC_WARNING, INFC_ERROR } infc_severity;

typedef struct infc_diag {
    infc_severity severity;
    infc_status status; /* of an error */
    infc_loc loc;
    const char *text; /* what, and what to do */
} infc_diag;

typedef struct infc_cx {
    infc_arena *arena; /* lives as long as the compile */
    infc_diag *diags;
    size_t n_diags, cap_diags, n_errors;
    void (*progress)(void *user, const char *what); /* null: silent */
    void *progress_user;
    void (*milestone)(void *user, const char *what); /* null: silent */
    const char *cache_dir;                           /* null: no cache */
    double run_limit;                 /* seconds that a run of what was built may take; 0: any */
    struct infc_mapping *mappings;    /* of infc_file_map */
    struct infc_digest_note *digests; /* of infc_digest_note */
    struct infc_stamp_seen *stamps;   /* of infc_stamp_keep */
} infc_cx;

infc_status infc_cx_init(infc_cx *cx); /* arena only; the driver fills the rest */
void infc_cx_deinit(infc_cx *cx);

/* Records one error and returns `status`: `return infc_fail(cx, INFC_ERR_MODEL, loc, "...")`. */
infc_status infc_fail(infc_cx *cx, infc_status status, infc_loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5), nonnull(4)));
void infc_warn(infc_cx *cx, infc_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What was done that the result does not show: a file that was written beside it. */
void infc_note(infc_cx *cx, infc_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The status of the first error recorded at or after diagnostic `mark` (a saved cx->n_diags), or OK:
 * how stages that collect all their problems end. */
infc_status infc_diags_status(const infc_cx *cx, size_t mark);
/* Records all of `from`'s here too: what an attempt in a context of its own found. */
void infc_diags_repeat(infc_cx *cx, const infc_cx *from);

/* The first error recorded at or after `mark`, with its location; then forgets all errors recorded there: for who goes
 * on without what failed. "" when there is none. */
const char *infc_diags_take(infc_cx *cx, size_t mark);
/* Gives the errors recorded at or after `mark` that have no place this one. */
void infc_diags_place(infc_cx *cx, size_t mark, infc_loc loc);
/* Makes warnings of the errors recorded at or after `mark`, "WHY: TEXT": for who goes on and says without what. */
void infc_diags_excuse(infc_cx *cx, size_t mark, const char *why);

/* One line each, `file:line:col: error: node: text`; and the same as a JSON array. */
void infc_diags_text(const infc_cx *cx, infc_buf *out);
void infc_diags_json(const infc_cx *cx, infc_buf *out);

/* What is being done: shown to who watches, until the next. */
void infc_progress(infc_cx *cx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A part of long work is done: a line that stays, in a log. */
void infc_milestone(infc_cx *cx, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
