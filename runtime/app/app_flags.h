/* app_flags.h - a command line by tables: parser, help and suggestions all come from one list of commands and one of
 * flags. */
#ifndef INFRT_APP_FLAGS_H
#define INFRT_APP_FLAGS_H
#include "infrt.h"
#include <stdio.h>

typedef enum infrt_flag_kind {
    INFRT_FLAG_SWITCH,   /* bool; takes no value */
    INFRT_FLAG_TEXT,     /* const char *; not empty */
    INFRT_FLAG_ANY,      /* const char *; may be empty */
    INFRT_FLAG_WORDS,    /* infrt_words; not empty, as often as given; all others once */
    INFRT_FLAG_COUNT,    /* uint32_t in [least, most] */
    INFRT_FLAG_COUNT64,  /* uint64_t, any */
    INFRT_FLAG_BYTES,    /* uint64_t, at least `least`: 1048576, 512MiB, 2GB */
    INFRT_FLAG_NUMBER,   /* float in [least, most] */
    INFRT_FLAG_POSITIVE, /* float above 0, at most `most`; 1: off */
    INFRT_FLAG_SECONDS,  /* double above 0, at most `most` */
    INFRT_FLAG_TIME,     /* uint64_t, nanoseconds, at least `least`: 80ms, 2min */
} infrt_flag_kind;

/* Start from {0}. */
typedef struct infrt_words {
    const char **at; /* borrowed from argv */
    uint32_t n;
} infrt_words;

enum { INFRT_FLAGS_MOST = 128 }; /* of a program */

/* What every command line has; the first member of what is read into. */
typedef struct infrt_parsed {
    unsigned command; /* bit of the command; 0: only help or version was asked for */
    bool json, help, version;
    uint64_t given[INFRT_FLAGS_MOST / 64]; /* bit of each flag */
} infrt_parsed;

typedef struct infrt_flag {
    const char *name, *value, *help; /* value: how it is called; null for switches */
    infrt_flag_kind kind;
    double least, most;
    unsigned commands; /* bits of those it belongs to */
    size_t at;         /* its offset in what is read into */
} infrt_flag;

typedef struct infrt_command_info {
    const char *name, *help;
    unsigned bit;
    const char *more; /* shown after the flags: what there is to know, examples; may be null */
} infrt_command_info;

typedef struct infrt_command_line {
    const infrt_command_info *commands;
    const infrt_flag *flags;
    size_t n_commands, n_flags;
} infrt_command_line;

/* Reads argv into `out`, which begins with an infrt_parsed and is all zeros; strings are borrowed. INFRT_ERR_USAGE
 * names the nearest known word. To be freed in any case. */
infrt_status infrt_flags_parse(const infrt_command_line *line, int argc, char **argv, void *out,
                               infrt_error *error);
void infrt_flags_free(const infrt_command_line *line, void *out);
const char *infrt_flags_command(const infrt_command_line *line, unsigned bit); /* "" for 0 */
/* Help for one command, or for the binary (0). */
void infrt_flags_help(const infrt_command_line *line, unsigned bit, const char *program,
                      const char *model, FILE *out);

/* The candidate that is closest to `word` in edits, if any is close; else null. */
const char *infrt_nearest(const char *word, const char *const *candidates, size_t n);

#endif
