/* command.h - what a command of infc is. commands.def lists them; each has one file, <name>_command.c. */
#ifndef INFC_COMMAND_H
#define INFC_COMMAND_H
#include "options.h"

typedef struct infc_call_cx { /* one call of a command */
    infc_cx *cx;
    infc_args args;
    bool json;        /* the result is to be JSON */
    infc_buf *out;    /* the result: stdout gets this, also when the command fails */
    const char *made; /* the folder or file that it has made, or null: this stays when stdout fails */
    const char *so_far; /* what is told of the work where it is interrupted, or null */
    const char *kept;   /* the folder that it was to make and that is as it was, or null */
} infc_call_cx;

typedef struct infc_command {
    const char *name;
    const char *operands; /* as usage shows them: "SPEC|MODEL" */
    size_t min_operands, max_operands;
    const char *about;          /* what it is for: a paragraph */
    const infc_option *options; /* null: only --json and --help */
    size_t n_options;
    size_t values_bytes;  /* of the struct that the options fill; its first member is `bool json` */
    const char *examples; /* lines of shell, indented by two */
    const char *exits;    /* what code 1 means here, or null */
    infc_status (*run)(infc_call_cx *call);
} infc_command;

/* Every values struct begins with it. */
typedef struct infc_json_only {
    bool json;
} infc_json_only;
#define INFC_OPTION_JSON \
    {"json", 0, INFC_OPTION_FLAG, NULL, 0, "the same facts as JSON, for programs"}

typedef struct infc_command_entry {
    const char *name, *summary;
    const infc_command *command; /* null: known, not implemented yet */
} infc_command_entry;
extern const infc_command_entry infc_commands[];
extern const size_t infc_n_commands;
const infc_command_entry *infc_command_find(const char *name);

void infc_help_program(infc_buf *out);
void infc_help_command(const infc_command_entry *entry, infc_buf *out);

#endif
