/* stack_bound.h - the most stack that a function and what it calls can use: frames from the compiler (-fstack-usage),
 * who calls whom from the relocations of its objects. */
#ifndef INFC_STACK_BOUND_H
#define INFC_STACK_BOUND_H
#include "../base/cx.h"

typedef struct infc_stack_function {
    const char *name;
    size_t object, section; /* of which object, in which section: static functions of two may share a name */
    uint64_t frame; /* bytes; UINT64_MAX: not known */
    size_t first_call, n_calls;
    int depth;     /* 1 while it is being walked: recursion comes back to it; 2 when done */
    uint64_t most; /* with all that it calls */
} infc_stack_function;

typedef struct infc_stack_call { /* to a function of the same object, or to one of that name */
    size_t object, section;
    const char *name;
} infc_stack_call;

typedef struct infc_stack {
    infc_cx *cx;
    infc_stack_function *functions;
    infc_stack_call *calls;
    size_t n_functions, cap_functions, n_calls, cap_calls, n_objects;
    unsigned return_bytes; /* that a call pushes: 8 on x86-64, 0 elsewhere */
    unsigned red_zone;     /* that a function may use below its frame: 128 on x86-64 */
    bool unknown;          /* an object is none that can be looked into */
} infc_stack;

/* Takes the functions of an object (compiled with -ffunction-sections) and of the file that -fstack-usage wrote. */
infc_status infc_stack_add(infc_stack *stack, const char *object, const char *usage);
/* Of `entry` and all that it can reach, other libraries' functions left out: memcpy, memset. False: not known, as with
 * recursion, frames of variable size, objects other than ELF. */
bool infc_stack_bound(infc_stack *stack, const char *entry, uint64_t *out);

#endif
