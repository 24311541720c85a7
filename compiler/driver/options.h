/* options.h - command-line options as tables: one line declares, parses, documents and suggests. */
#ifndef INFC_OPTIONS_H
#define INFC_OPTIONS_H
#include "../base/cx.h"

typedef struct infc_texts { /* what a repeated option collected, in order */
    const char **items;
    size_t n, cap;
} infc_texts;

typedef enum infc_option_kind {
    INFC_OPTION_FLAG,   /* bool */
    INFC_OPTION_TEXT,   /* const char *; given twice is an error */
    INFC_OPTION_LIST,   /* infc_texts */
    INFC_OPTION_NUMBER, /* double > 0; 0 when not given */
} infc_option_kind;

typedef struct infc_option {
    const char *name; /* without dashes: "target" */
    char letter;      /* 'o' also accepts -o; 0: none */
    infc_option_kind kind;
    const char *value; /* what follows it, as help shows it; null for a flag */
    size_t offset;     /* of the field in the command's values */
    const char *help;
} infc_option;

typedef struct infc_args {
    const char **operands;
    size_t n_operands;
    void *values; /* the command's struct, zeroed, then filled from the options */
    bool help;    /* --help was among them: nothing else has been checked */
} infc_args;

/* Parses argv[0..argc). `--name value`, `--name=value`, `-o value`; `--` ends the options. Refuses what it does
 * not know with the nearest name, records every problem, and returns the first. */
infc_status infc_args_parse(infc_cx *cx, const char *command, const infc_option *options,
                            size_t n_options, int argc, char **argv, infc_args *out);
/* Two columns, one option per line. */
void infc_options_help(const infc_option *options, size_t n_options, infc_buf *out);

#endif
