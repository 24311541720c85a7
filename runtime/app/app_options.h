/* app_options.h - the command line: commands and flags. */
#ifndef INFRT_APP_OPTIONS_H
#define INFRT_APP_OPTIONS_H
#include "infrt.h"
#include <stdio.h>

/* Bits, so that a flag can belong to several commands. NONE: only help or version was asked for. */
typedef enum infrt_command {
    INFRT_COMMAND_NONE = 0,
    INFRT_COMMAND_RUN = 1,
    INFRT_COMMAND_BENCH = 2,
    INFRT_COMMAND_INFO = 4,
    INFRT_COMMAND_VERIFY = 8,
} infrt_command;

typedef struct infrt_options {
    infrt_command command;
    bool json, help, version;
    uint32_t threads, repeat;                                            /* 0: not given */
    double seconds;                                                      /* 0: not given */
    const char *inputs, *output, *outputs, *dump_to, *profile, *weights; /* null: not given */
    const char **input, **dump;                                          /* as often as given */
    uint32_t n_input, n_dump;
} infrt_options;

/* Reads argv; strings are borrowed from it. INFRT_ERR_USAGE names the nearest known word. */
infrt_status infrt_options_parse(int argc, char **argv, infrt_options *out, infrt_error *error);
const char *infrt_command_name(infrt_command command); /* "" for NONE */
void infrt_options_free(infrt_options *options);
/* Help for one command, or for the binary (NONE). */
void infrt_options_help(infrt_command command, const char *program, const char *model, FILE *out);

/* The candidate that is closest to `word` in edits, if any is close; else null. */
const char *infrt_nearest(const char *word, const char *const *candidates, size_t n);

#endif
