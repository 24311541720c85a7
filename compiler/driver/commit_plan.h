/* commit_plan.h - what a commit will do to an output folder, decided before anything is touched. */
#ifndef INFC_COMMIT_PLAN_H
#define INFC_COMMIT_PLAN_H
#include "made.h"

typedef struct infc_commit_aside { /* a file that does not stay where it is */
    const char *path;
    const char *kept; /* its new name in the folder; null: it goes */
    bool there;       /* false: only its folders may be */
} infc_commit_aside;

typedef struct infc_commit_plan {
    infc_cx *cx;
    const char *dir, *staged;      /* the folder; where the new files stand */
    const infc_made *now, *before; /* of this compile, of earlier ones */
    infc_commit_aside *asides;
    size_t n, cap;
    infc_map gone, folders_gone; /* what is no longer at its path after the asides */
    infc_map large;              /* by path: which of `digests` */
    const char **digests;
    infc_diag *warnings; /* for when it is done */
    size_t n_warnings, cap_warnings;
} infc_commit_plan;

/* Fails, naming the first, when something that no compile made, a user's own, stands where this one puts a file; one
 * with the same bytes does not count. A file made and changed since gets another name when its place is taken, and is
 * left as it is else, both with a warning. */
infc_status infc_commit_plan_make(infc_commit_plan *plan);

#endif
