/* app_dump.h - copies of intermediate tensors, taken while a run with one worker is under way. */
#ifndef INFRT_APP_DUMP_H
#define INFRT_APP_DUMP_H
#include "app.h"

typedef struct infrt_dump {
    uint32_t n;
    const infc_tensor_info **infos; /* the chosen ones */
    void **data;                    /* where each is copied to, row-major */
    const unsigned char *arena;
} infrt_dump;

/* Finds the tensors that --dump-tensor names and allocates room for them. */
infrt_status infrt_dump_create(infrt_app *app, infrt_dump *out);
/* Copies those that hold their value after `step`; allocates nothing. */
void infrt_dump_step(const infrt_dump *dump, uint32_t step);
/* Writes them to an .npz, or into a folder. */
infrt_status infrt_dump_write(const infrt_dump *dump, const char *path, infrt_error *error);
void infrt_dump_destroy(infrt_dump *dump);

#endif
