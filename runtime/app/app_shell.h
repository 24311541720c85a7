/* app_shell.h - what a model's program does around its commands: the command line, help and version, messages to the
 * user, the exit code. */
#ifndef INFRT_APP_SHELL_H
#define INFRT_APP_SHELL_H
#include "app_flags.h"
#include "app_json.h"

typedef struct infrt_shell {
    const infc_model *model;
    const infrt_command_line *line;
    infrt_parsed *parsed; /* what the command line is read into begins with it */
    infrt_error *error;
    const char *program; /* base name of argv[0] */
    infrt_json messages; /* open: some were written to stderr as JSON */
    bool serves;         /* stderr is the log of a server: notes are lines of it */
} infrt_shell;

/* Reads the command line. *done: all that was asked for was help or the version. */
infrt_status infrt_shell_begin(infrt_shell *shell, int argc, char **argv, bool *done);
/* What the user should know of a run that goes on: a line on stderr or, with --json, in the object there. Of a
 * server a line of JSON, as its log has them. */
void infrt_shell_note(infrt_shell *shell, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* At the end: the failure, if any, in the same way. Returns the exit code. */
int infrt_shell_end(infrt_shell *shell, infrt_status status);

#endif
