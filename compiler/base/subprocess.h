/* subprocess.h - running compilers and built programs. */
#ifndef INFC_SUBPROCESS_H
#define INFC_SUBPROCESS_H
#include "cx.h"

typedef struct infc_job {
    const char *const *argv; /* null-terminated; argv[0] is looked up on PATH */
    const char *cwd;         /* null: here */
    const char *temp;        /* its $TMPDIR, as seen from cwd; null: ours */
    double limit;            /* seconds after which it is killed; 0: any */
    bool late;               /* result: it was */
    int exit_code;           /* result; 128 + n when killed by signal n; 127 when it cannot start */
    const char *output;      /* result: stdout and stderr, on the arena of cx */
    double seconds;          /* result: wall time */
} infc_job;

/* Runs all jobs, at most `parallel` at a time (0: one per core). OK when all could be run and waited
 * for, whatever their exit codes. An interrupt ends them; no child outlives infc. */
infc_status infc_jobs_run(infc_cx *cx, infc_job *jobs, size_t n, int parallel);
/* The full path of `program` on PATH, or null. */
const char *infc_program_find(infc_arena *arena, const char *program);
int infc_core_count(void); /* respects affinity */

#endif
