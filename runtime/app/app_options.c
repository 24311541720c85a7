/* app_options.c - parser and help, both from app_options.def. */
#include "app_options.h"
#include "tensor_io.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN = INFRT_COMMAND_RUN,
    BENCH = INFRT_COMMAND_BENCH,
    INFO = INFRT_COMMAND_INFO,
    VERIFY = INFRT_COMMAND_VERIFY
};

typedef enum option_id {
#define INFRT_OPTION(id, name, value, commands, help) OPTION_##id,
#include "app_options.def"
#undef INFRT_OPTION
    N_OPTIONS
} option_id;

static const struct {
    const char *name, *value, *help;
    unsigned commands;
} option_table[] = {
#define INFRT_OPTION(id, name, value, commands, help) {name, value, help, commands},
#include "app_options.def"
#undef INFRT_OPTION
};

static const struct {
    const char *name, *help;
    infrt_command command;
} command_table[] = {
    {"run", "run the model on given inputs and show the outputs", INFRT_COMMAND_RUN},
    {"bench", "measure: latency percentiles, time per step, GFLOP/s", INFRT_COMMAND_BENCH},
    {"info", "what this binary is: inputs, outputs, sizes, versions, provenance", INFRT_COMMAND_INFO},
    {"verify", "check weights, CPU and results with every number of workers", INFRT_COMMAND_VERIFY},
};
enum { N_COMMANDS = sizeof command_table / sizeof *command_table };

const char *infrt_command_name(infrt_command command) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (command_table[i].command == command) return command_table[i].name;
    return "";
}

static infrt_status count_parse(const char *name, const char *text, uint32_t most, uint32_t *out,
                                infrt_error *error) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || value < 1 || value > most)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a number from 1 to %u", name, text, most);
    *out = (uint32_t)value;
    return INFRT_OK;
}

static infrt_status seconds_parse(const char *text, double *out, infrt_error *error) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || !(value <= 3600))
        return infrt_fail(error, INFRT_ERR_USAGE, "--seconds %s: give a number above 0, at most 3600", text);
    *out = value;
    return INFRT_OK;
}

static infrt_status once(const char *name, const char *value, const char **out, infrt_error *error) {
    if (*out) return infrt_fail(error, INFRT_ERR_USAGE, "%s is given twice", name);
    *out = value;
    return INFRT_OK;
}

static infrt_status option_set(infrt_options *o, option_id id, const char *value, infrt_error *error) {
    const char *name = option_table[id].name;
    switch (id) {
    case OPTION_input: o->input[o->n_input++] = value; return INFRT_OK;
    case OPTION_dump: o->dump[o->n_dump++] = value; return INFRT_OK;
    case OPTION_inputs: return once(name, value, &o->inputs, error);
    case OPTION_output: return once(name, value, &o->output, error);
    case OPTION_outputs: return once(name, value, &o->outputs, error);
    case OPTION_dump_to: return once(name, value, &o->dump_to, error);
    case OPTION_profile: return once(name, value, &o->profile, error);
    case OPTION_weights: return once(name, value, &o->weights, error);
    case OPTION_repeat: return count_parse(name, value, 1000000, &o->repeat, error);
    case OPTION_threads: return count_parse(name, value, INFRT_MAX_WORKERS, &o->threads, error);
    case OPTION_seconds: return seconds_parse(value, &o->seconds, error);
    case OPTION_json: o->json = true; return INFRT_OK;
    case OPTION_help: o->help = true; return INFRT_OK;
    case N_OPTIONS: break;
    }
    return infrt_fail(error, INFRT_ERR_INTERNAL, "%s: known but not read", name);
}

static infrt_status option_unknown(infrt_command command, const char *word, infrt_error *error) {
    const char *names[N_OPTIONS], *near;
    char flag[128];
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (option_table[i].commands & command) names[n++] = option_table[i].name;
    snprintf(flag, sizeof flag, "%.*s", (int)strcspn(word, "="), word);
    near = infrt_nearest(flag, names, n);
    if (near)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s: unknown flag \"%s\"; did you mean %s?",
                          infrt_command_name(command), flag, near);
    return infrt_fail(error, INFRT_ERR_USAGE, "%s: unknown %s \"%s\"; see %s --help",
                      infrt_command_name(command), word[0] == '-' ? "flag" : "argument", flag,
                      infrt_command_name(command));
}

/* Takes argv[*i], and argv[*i + 1] if that is its value; accepts --flag VALUE and --flag=VALUE. */
static infrt_status option_parse(infrt_options *o, int argc, char **argv, int *i, infrt_error *error) {
    const char *word = argv[*i];
    size_t n = strcspn(word, "=");
    for (option_id id = 0; id < N_OPTIONS; id++) {
        const char *name = option_table[id].name, *value = NULL;
        if (!(option_table[id].commands & o->command) || strlen(name) != n || strncmp(word, name, n) != 0)
            continue;
        if (!option_table[id].value && word[n])
            return infrt_fail(error, INFRT_ERR_USAGE, "%s takes no value", name);
        if (option_table[id].value) {
            value = word[n] ? word + n + 1 : *i + 1 < argc ? argv[++*i] : NULL;
            if (!value || !*value)
                return infrt_fail(error, INFRT_ERR_USAGE, "%s needs a value: %s %s", name, name,
                                  option_table[id].value);
        }
        return option_set(o, id, value, error);
    }
    return option_unknown(o->command, word, error);
}

static infrt_status command_parse(infrt_options *o, const char *word, infrt_error *error) {
    const char *names[N_COMMANDS], *near;
    o->help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
    o->version = strcmp(word, "--version") == 0;
    if (o->help || o->version) return INFRT_OK;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = command_table[i].name;
        if (strcmp(word, names[i]) == 0) {
            o->command = command_table[i].command;
            return INFRT_OK;
        }
    }
    if (strcmp(word, "--json") == 0)
        return infrt_fail(error, INFRT_ERR_USAGE, "--json comes after a command: run, bench, info or verify");
    near = infrt_nearest(word, names, N_COMMANDS);
    if (near)
        return infrt_fail(error, INFRT_ERR_USAGE, "unknown command \"%s\"; did you mean %s?", word, near);
    return infrt_fail(error, INFRT_ERR_USAGE, "unknown command \"%s\"; there are run, bench, info, verify", word);
}

infrt_status infrt_options_parse(int argc, char **argv, infrt_options *out, infrt_error *error) {
    *out = (infrt_options){0};
    if (argc < 2)
        return infrt_fail(error, INFRT_ERR_USAGE, "give a command: run, bench, info or verify; see --help");
    out->input = calloc((size_t)argc, sizeof *out->input);
    out->dump = calloc((size_t)argc, sizeof *out->dump);
    if (!out->input || !out->dump)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the command line");
    for (int i = 1; i < argc; i++)
        out->json = out->json || strcmp(argv[i], "--json") == 0; /* also for complaints about the others */
    infrt_status status = command_parse(out, argv[1], error);
    for (int i = 2; i < argc && status == INFRT_OK && out->command; i++)
        status = option_parse(out, argc, argv, &i, error);
    return status;
}

void infrt_options_free(infrt_options *options) {
    free(options->input);
    free(options->dump);
    *options = (infrt_options){0};
}

void infrt_options_help(infrt_command command, const char *program, const char *model, FILE *out) {
    if (command == INFRT_COMMAND_NONE) {
        fprintf(out, "%s: the model \"%s\" as a program, compiled by infc\n\nusage: %s COMMAND [flags]\n\n",
                program, model, program);
        for (size_t i = 0; i < N_COMMANDS; i++)
            fprintf(out, "  %-8s %s\n", command_table[i].name, command_table[i].help);
        fprintf(out,
                "\n%s COMMAND --help shows its flags; %s --version the versions.\n"
                "With --json the result is one object on stdout and messages are one on stderr.\n"
                "Exit codes: 0 fine, 1 a check did not hold, 2 usage, 3 bad data, 4 I/O or a "
                "missing CPU feature, 70 a bug.\n",
                program, program);
        return;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (command_table[i].command == command)
            fprintf(out, "usage: %s %s [flags]\n%s\n\n", program, command_table[i].name,
                    command_table[i].help);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        char flag[64];
        if (!(option_table[i].commands & (unsigned)command)) continue;
        snprintf(flag, sizeof flag, "%s%s%s", option_table[i].name, option_table[i].value ? " " : "",
                 option_table[i].value ? option_table[i].value : "");
        fprintf(out, "  %-24s %s\n", flag, option_table[i].help);
    }
}
