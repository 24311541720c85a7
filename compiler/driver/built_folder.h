/* built_folder.h - what an earlier compile left: its report, its binary, and how that runs here. */
#ifndef INFC_BUILT_FOLDER_H
#define INFC_BUILT_FOLDER_H
#include "../../targets/target.h"
#include "manifest.h"
#include "words.h"

typedef struct infc_built_folder {
    const char *dir;
    infc_manifest manifest;
    json_t *report;          /* report.json; released with the arena of cx */
    const char *binary;      /* path, or null: a library only */
    const char *binary_file; /* its name in the manifest */
    infc_target target;
} infc_built_folder;

/* Both files are there, well-formed, of one compile, and the manifest lists the artefacts of the report. Other files
 * have not been read: infc_manifest_check. */
infc_status infc_built_folder_open(infc_cx *cx, const char *dir, infc_built_folder *out);

/* The words that run a binary of `target` here: none, or an emulator. Refuses when neither will do. */
infc_status infc_runner_words(infc_cx *cx, const infc_target *target, infc_words *out);
/* What a program of several levels is told to run one: --level, or nothing. */
void infc_level_words(const infc_target *target, infc_words *out);
/* "natively", "under qemu-aarch64 -cpu max" */
const char *infc_runner_text(infc_arena *arena, const infc_target *target);

/* Refuses a file that is no program of infc, saying what it is and what to do, without running it. `target` is what
 * it runs as here: the host, or the oldest target of another architecture. */
infc_status infc_binary_identify(infc_cx *cx, const char *path, infc_target *target);
/* Runs a built binary: runner, binary, args[0..n), the target's level. Any exit code is a result;
 * one that takes over cx->run_limit is a failure. */
infc_status infc_binary_run(infc_cx *cx, const infc_target *target, const char *binary,
                            const char *const *args, size_t n, int *exit_code, const char **output);
/* The failure of a run that took longer than cx->run_limit. */
infc_status infc_run_late(infc_cx *cx, const infc_target *target, const char *binary);
/* Its messages become ours, when it ended with `exit_code` and was run with --json; else what it printed does. */
infc_status infc_binary_failed(infc_cx *cx, infc_loc loc, const char *command, int exit_code, const char *output);

/* A folder of its own below $TMPDIR or /tmp; goes with the arena of cx. Those of killed processes are removed. */
infc_status infc_temp_folder(infc_cx *cx, const char **out);

#endif
