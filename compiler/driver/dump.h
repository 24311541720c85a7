/* dump.h - `--dump STAGE`: what each stage made, as text. */
#ifndef INFC_DUMP_H
#define INFC_DUMP_H
#include "../../passes/pass.h"
#include "options.h"

/* Stages in order: spec, import, every pass by its name, plan, emit. */
size_t infc_stage_count(void);
const char *infc_stage_name(size_t i);
size_t infc_stage_index(const char *name); /* infc_stage_count() when there is none */
/* Refuses a name that is no stage, with the nearest. `option` is for the message: "--dump". */
infc_status infc_stage_name_check(infc_cx *cx, const char *option, const char *name, bool all_too);

typedef struct infc_dumps {
    infc_cx *cx;
    const infc_texts *wanted; /* stage names, "all" among them */
    const char *dir;          /* null: appended to *out */
    const char *final_dir;    /* where the files of dir go in the end */
    infc_buf *out;
    size_t n_files;    /* written to dir */
    bool refused;      /* one would have replaced what is no dump: none is kept */
    bool many_targets; /* names of files and headings carry the target */
} infc_dumps;

bool infc_dump_wanted(const infc_dumps *dumps, const char *stage);
/* Text that `stage` made: into DIR/NN-STAGE[.TARGET].EXT, or after a heading to *out; a single stage that is dumped
 * to *out comes without heading. Target is null before it is known. A file that is there is replaced only when it is a
 * dump itself, which its first line tells: INFC_ERR_SPEC. */
infc_status infc_dump_text(infc_dumps *dumps, const char *stage, const infc_target *target,
                           const char *extension, infc_bytes text);

#endif
