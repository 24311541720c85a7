/* guards.h - which ops a run may leave out: those whose results reach nothing but the side of an infc.choose that is
 * not taken. So branches are computed only when they are needed, though the IR is straight-line. */
#ifndef INFC_GUARDS_H
#define INFC_GUARDS_H
#include "../base/map.h"
#include "ir.h"

/* Holds where its parent holds and `condition`, one bool that is known before the ops it guards, is `taken`. */
typedef struct infc_guard {
    int parent; /* -1: none. Always before this one in the list */
    int depth;  /* how many must hold, this one included */
    MlirValue condition;
    bool taken;
} infc_guard;

typedef struct infc_guards {
    infc_guard *items;
    size_t n, cap;
    infc_map known;  /* parent, condition, taken -> index */
    infc_ptr_map of; /* op -> its infc_guard's index + 1 */
} infc_guards;

/* Of @main's ops, before or after they became calls. All memory is on `arena`. */
void infc_guards_find(const infc_ir *ir, infc_arena *arena, infc_guards *out);
/* The guard of an op, or -1: it always runs. */
int infc_guards_of(const infc_guards *guards, MlirOperation op);

#endif
