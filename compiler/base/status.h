/* status.h - the few ways a call can fail. The text and place go to the diagnostics (cx.h). */
#ifndef INFC_STATUS_H
#define INFC_STATUS_H

typedef enum infc_status {
    INFC_OK = 0,
    INFC_ERR_CHECK,       /* the check the user asked for did not hold: exit 1 */
    INFC_ERR_SPEC,        /* usage or spec: exit 2 */
    INFC_ERR_MODEL,       /* invalid model: exit 3 */
    INFC_ERR_UNSUPPORTED, /* valid, but not something infc does: exit 3 */
    INFC_ERR_TOOLCHAIN,   /* compiler or linker missing or failing: exit 4 */
    INFC_ERR_IO,          /* files, disk, permissions: exit 4 */
    INFC_ERR_NO_MEMORY,   /* exit 4 */
    INFC_ERR_INTERNAL,    /* our own bug: exit 70 */
} infc_status;

/* The process exit code that documents `status`. */
int infc_status_exit_code(infc_status status);
/* What a binary that infc made meant by its exit code; INFC_ERR_INTERNAL when it was killed. */
infc_status infc_status_of_exit_code(int code);

/* Forwards a failure; the only control-flow macro. */
#define INFC_TRY(call)                                          \
    do {                                                        \
        infc_status infc_try_status = (call);                   \
        if (infc_try_status != INFC_OK) return infc_try_status; \
    } while (0)

#endif
