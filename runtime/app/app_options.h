/* app_options.h - the command line: commands and flags. */
#ifndef INFRT_APP_OPTIONS_H
#define INFRT_APP_OPTIONS_H
#include "serve_flags.h"

/* Bits, so that a flag can belong to several commands. NONE: only help or version was asked for. */
typedef enum infrt_command {
    INFRT_COMMAND_NONE = 0,
    INFRT_COMMAND_RUN = 1,
    INFRT_COMMAND_BENCH = 2,
    INFRT_COMMAND_INFO = 4,
    INFRT_COMMAND_VERIFY = 8,
    INFRT_COMMAND_SERVE = 16,
} infrt_command;

typedef struct infrt_options {
    infrt_parsed parsed;
    uint32_t threads, repeat;                                                    /* 0: not given */
    double seconds;                                                              /* 0: not given */
    const char *inputs, *output, *outputs, *dump_to, *profile, *weights, *level; /* null: not given */
    infrt_words input, dump;
    infrt_serve_flags serve;
    uint64_t batch_wait; /* ns; 0: not given */
} infrt_options;

extern const infrt_command_line infrt_app_commands;

#endif
