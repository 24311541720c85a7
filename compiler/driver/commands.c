#include "command.h"
#include <string.h>

#define INFC_COMMAND(name, summary) extern const infc_command infc_command_##name;
#define INFC_COMMAND_LATER(name, summary)
#include "commands.def"
#undef INFC_COMMAND
#undef INFC_COMMAND_LATER

const infc_command_entry infc_commands[] = {
#define INFC_COMMAND(name, summary) {#name, summary, &infc_command_##name},
#define INFC_COMMAND_LATER(name, summary) {#name, summary, NULL},
#include "commands.def"
#undef INFC_COMMAND
#undef INFC_COMMAND_LATER
};
const size_t infc_n_commands = sizeof infc_commands / sizeof *infc_commands;

const infc_command_entry *infc_command_find(const char *name) {
    for (size_t i = 0; i < infc_n_commands; i++) {
        if (strcmp(infc_commands[i].name, name) == 0) return &infc_commands[i];
    }
    return NULL;
}

void infc_help_program(infc_buf *out) {
    infc_buf_puts(out,
                  "infc " INFC_VERSION " - compiles a model into one binary or a static library\n\n"
                  "Usage: infc COMMAND [OPTION]...\n\nCommands:\n");
    for (size_t i = 0; i < infc_n_commands; i++) {
        const infc_command_entry *entry = &infc_commands[i];
        infc_buf_printf(out, "  %-9s %s%s\n", entry->name, entry->summary,
                        entry->command ? "" : " (not implemented yet)");
    }
    infc_buf_puts(
        out, "\nStart here:\n"
             "  infc compile model.onnx -o build    then: build/model run --help\n"
             "  infc init model.onnx                a spec to adapt: shapes, targets, budgets\n"
             "  infc doctor                         what is missing on this machine\n"
             "\ninfc COMMAND --help explains a command; infc --version prints the version.\n");
}

static void help_exits(const infc_command *c, infc_buf *out) {
    infc_buf_puts(out, "\nExit codes:\n  0   fine\n");
    if (c->exits) infc_buf_printf(out, "  1   %s\n", c->exits);
    infc_buf_puts(
        out,
        "  2   the command line or the spec is wrong\n"
        "  3   what a model or data file holds is invalid, does not fit, or is not supported\n"
        "  4   a file is missing or cannot be read or written; a compiler is missing or failed\n"
        "  70  a bug of infc; please report it\n"
        "  128 + N  ended by signal N: 130 SIGINT, 143 SIGTERM, 129 SIGHUP\n"
        "\nThe result goes to stdout, messages to stderr; with --json each is one JSON object, "
        "the messages as\n{\"command\", \"exit\", \"diagnostics\": [...]}, and nothing where "
        "there is none.\n");
}

void infc_help_command(const infc_command_entry *entry, infc_buf *out) {
    const infc_command *c = entry->command;
    if (!c) {
        infc_buf_printf(out, "infc %s - %s\n\nNot implemented yet.\n", entry->name, entry->summary);
        return;
    }
    infc_buf_printf(out, "infc %s - %s\n\nUsage: infc %s%s%s [OPTION]...\n\n%s\n", c->name,
                    entry->summary, c->name, *c->operands ? " " : "", c->operands, c->about);
    static const infc_option help = {"help", 'h', INFC_OPTION_FLAG, NULL, 0, "this text"};
    infc_buf_puts(out, "\nOptions:\n");
    infc_options_help(c->options, c->n_options, out);
    infc_options_help(&help, 1, out);
    infc_buf_printf(out, "\nExamples:\n%s", c->examples);
    help_exits(c, out);
}
