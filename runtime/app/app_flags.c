/* app_flags.c - parser and help of a command line, both from its tables. */
#include "app_flags.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64 };

static void *field_of(void *out, const infrt_flag *flag) { return (char *)out + flag->at; }

const char *infrt_flags_command(const infrt_command_line *line, unsigned bit) {
    for (size_t i = 0; i < line->n_commands; i++)
        if (line->commands[i].bit == bit) return line->commands[i].name;
    return "";
}

/* "run, bench, info or verify" */
static const char *commands_text(const infrt_command_line *line, const char *last, char out[256]) {
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < line->n_commands && used < 200; i++)
        used += (size_t)snprintf(out + used, 256 - used, "%s%s", line->commands[i].name,
                                 i + 2 < line->n_commands    ? ", "
                                 : i + 2 == line->n_commands ? last
                                                             : "");
    return out;
}

static bool whole_number(const char *text, uint64_t *out, char **end) {
    errno = 0;
    *out = strtoull(text, end, 10);
    return !errno && *text >= '0' && *text <= '9';
}

static infrt_status count_read(const infrt_flag *flag, const char *text, uint32_t *out, infrt_error *error) {
    uint64_t value;
    char *end;
    if (!whole_number(text, &value, &end) || *end || value < (uint64_t)flag->least ||
        value > (uint64_t)flag->most)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a number from %.0f to %.0f",
                          flag->name, text, flag->least, flag->most);
    *out = (uint32_t)value;
    return INFRT_OK;
}

static infrt_status count64_read(const infrt_flag *flag, const char *text, uint64_t *out, infrt_error *error) {
    char *end;
    if (whole_number(text, out, &end) && !*end) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_USAGE,
                      "%s %s: give a whole number from 0 to 18446744073709551615", flag->name, text);
}

static infrt_status bytes_read(const infrt_flag *flag, const char *text, uint64_t *out, infrt_error *error) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"KB", 1000},
                 {"MB", 1000000},
                 {"GB", 1000000000},
                 {"KiB", 1u << 10},
                 {"MiB", 1u << 20},
                 {"GiB", 1u << 30},
                 {"TB", UINT64_C(1000000000000)},
                 {"TiB", UINT64_C(1) << 40}};
    uint64_t value;
    char *end;
    if (whole_number(text, &value, &end))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(end, units[i].name) == 0 && value) {
                if (__builtin_mul_overflow(value, units[i].bytes, out))
                    return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give at most 16777215TiB",
                                      flag->name, text);
                if (*out >= (uint64_t)flag->least) return INFRT_OK;
                return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give at least %.0f bytes: with less nothing works",
                                  flag->name, text, flag->least);
            }
    return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a size such as 512MiB or 2GiB", flag->name, text);
}

static infrt_status time_read(const infrt_flag *flag, const char *text, uint64_t *out, infrt_error *error) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};
    uint64_t value;
    char *end;
    if (whole_number(text, &value, &end))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(end, units[i].name) == 0 && value && value <= INT64_MAX / units[i].ns) {
                *out = value * units[i].ns;
                if (*out >= (uint64_t)flag->least) return INFRT_OK;
                return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give at least %gms: with less nothing works",
                                  flag->name, text, flag->least / 1e6);
            }
    return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a time such as 80ms, 30s or 2min", flag->name, text);
}

static infrt_status number_read(const infrt_flag *flag, const char *text, float *out, infrt_error *error) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= flag->least && value <= flag->most))
        return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a number from %g to %g", flag->name,
                          text, flag->least, flag->most);
    *out = (float)value;
    return INFRT_OK;
}

static infrt_status positive_read(const infrt_flag *flag, const char *text, float *out, infrt_error *error) {
    char *end;
    *out = strtof(text, &end); /* what is above 0 stays so, or is refused */
    if (end == text || *end || !(*out > 0) || !((double)*out <= flag->most))
        return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a number above 0, at most %g; 1 turns it off",
                          flag->name, text, flag->most);
    return INFRT_OK;
}

static infrt_status seconds_read(const infrt_flag *flag, const char *text, double *out, infrt_error *error) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || !(value <= flag->most))
        return infrt_fail(error, INFRT_ERR_USAGE, "%s %s: give a number above 0, at most %g",
                          flag->name, text, flag->most);
    *out = value;
    return INFRT_OK;
}

/* Two values of a flag that takes one: which of them counts is nobody's guess. */
static infrt_status once(const infrt_command_line *line, const infrt_flag *flag, infrt_parsed *out,
                         infrt_error *error) {
    const uint64_t bit = UINT64_C(1) << (flag - line->flags) % 64;
    uint64_t *given = &out->given[(flag - line->flags) / 64];
    if (flag->kind != INFRT_FLAG_WORDS && (*given & bit))
        return infrt_fail(error, INFRT_ERR_USAGE, "%s is given twice", flag->name);
    *given |= bit;
    return INFRT_OK;
}

static infrt_status flag_set(const infrt_flag *flag, const char *value, void *field, infrt_error *error) {
    infrt_words *words = field;
    switch (flag->kind) {
    case INFRT_FLAG_SWITCH: *(bool *)field = true; return INFRT_OK;
    case INFRT_FLAG_TEXT:
    case INFRT_FLAG_ANY: *(const char **)field = value; return INFRT_OK;
    case INFRT_FLAG_WORDS: words->at[words->n++] = value; return INFRT_OK;
    case INFRT_FLAG_COUNT: return count_read(flag, value, field, error);
    case INFRT_FLAG_COUNT64: return count64_read(flag, value, field, error);
    case INFRT_FLAG_BYTES: return bytes_read(flag, value, field, error);
    case INFRT_FLAG_NUMBER: return number_read(flag, value, field, error);
    case INFRT_FLAG_POSITIVE: return positive_read(flag, value, field, error);
    case INFRT_FLAG_SECONDS: return seconds_read(flag, value, field, error);
    case INFRT_FLAG_TIME: return time_read(flag, value, field, error);
    }
    return infrt_fail(error, INFRT_ERR_INTERNAL, "%s: known but not read", flag->name);
}

static infrt_status flag_unknown(const infrt_command_line *line, unsigned command, const char *word,
                                 infrt_error *error) {
    const char *names[NAMES_MAX], *near, *in = infrt_flags_command(line, command);
    char flag[128];
    size_t n = 0;
    for (size_t i = 0; i < line->n_flags && n < NAMES_MAX; i++)
        if (line->flags[i].commands & command) names[n++] = line->flags[i].name;
    snprintf(flag, sizeof flag, "%.*s", (int)strcspn(word, "="), word);
    near = infrt_nearest(flag, names, n);
    if (strcmp(flag, "--json") == 0)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s has no --json; see %s --help", in, in);
    if (near)
        return infrt_fail(error, INFRT_ERR_USAGE, "%s: unknown flag \"%s\"; did you mean %s?", in, flag, near);
    return infrt_fail(error, INFRT_ERR_USAGE, "%s: unknown %s \"%s\"; see %s --help", in,
                      word[0] == '-' ? "flag" : "argument", flag, in);
}

/* Takes argv[*i], and argv[*i + 1] if that is its value; accepts --flag VALUE and --flag=VALUE. */
static infrt_status flag_parse(const infrt_command_line *line, int argc, char **argv, int *i,
                               infrt_parsed *out, infrt_error *error) {
    const char *word = argv[*i];
    size_t n = strcspn(word, "=");
    for (size_t k = 0; k < line->n_flags; k++) {
        const infrt_flag *flag = &line->flags[k];
        const char *value = NULL;
        if (!(flag->commands & out->command) || strlen(flag->name) != n || strncmp(word, flag->name, n) != 0)
            continue;
        if (!flag->value && word[n])
            return infrt_fail(error, INFRT_ERR_USAGE, "%s takes no value", flag->name);
        if (flag->value) {
            value = word[n] ? word + n + 1 : *i + 1 < argc ? argv[++*i] : NULL;
            if (!value || (!*value && flag->kind != INFRT_FLAG_ANY))
                return infrt_fail(error, INFRT_ERR_USAGE, "%s needs a value: %s %s", flag->name,
                                  flag->name, flag->value);
        }
        const infrt_status status = once(line, flag, out, error);
        return status == INFRT_OK ? flag_set(flag, value, field_of(out, flag), error) : status;
    }
    return flag_unknown(line, out->command, word, error);
}

static infrt_status command_parse(const infrt_command_line *line, const char *word,
                                  infrt_parsed *out, infrt_error *error) {
    const char *names[NAMES_MAX], *near;
    char all[256];
    size_t n = 0;
    out->help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
    out->version = strcmp(word, "--version") == 0;
    if (out->help || out->version) return INFRT_OK;
    for (; n < line->n_commands && n < NAMES_MAX; n++) {
        names[n] = line->commands[n].name;
        if (strcmp(word, names[n]) != 0) continue;
        out->command = line->commands[n].bit;
        return INFRT_OK;
    }
    if (strcmp(word, "--json") == 0)
        return infrt_fail(error, INFRT_ERR_USAGE, "--json comes after a command: %s",
                          commands_text(line, " or ", all));
    near = infrt_nearest(word, names, n);
    if (near)
        return infrt_fail(error, INFRT_ERR_USAGE, "unknown command \"%s\"; did you mean %s?", word, near);
    return infrt_fail(error, INFRT_ERR_USAGE, "unknown command \"%s\"; there are %s", word,
                      commands_text(line, ", ", all));
}

infrt_status infrt_flags_parse(const infrt_command_line *line, int argc, char **argv, void *options,
                               infrt_error *error) {
    infrt_parsed *out = options;
    char all[256];
    if (argc < 2)
        return infrt_fail(error, INFRT_ERR_USAGE, "give a command: %s; see --help",
                          commands_text(line, " or ", all));
    for (size_t k = 0; k < line->n_flags; k++) {
        infrt_words *words = field_of(options, &line->flags[k]);
        if (line->flags[k].kind != INFRT_FLAG_WORDS) continue;
        words->at = calloc((size_t)argc, sizeof *words->at);
        if (!words->at)
            return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for the command line");
    }
    for (int i = 1; i < argc; i++)
        out->json = out->json || strcmp(argv[i], "--json") == 0; /* also for complaints about the others */
    infrt_status status = command_parse(line, argv[1], out, error);
    for (int i = 2; i < argc && status == INFRT_OK && out->command; i++)
        status = flag_parse(line, argc, argv, &i, out, error);
    return status;
}

void infrt_flags_free(const infrt_command_line *line, void *out) {
    for (size_t k = 0; k < line->n_flags; k++) {
        infrt_words *words = field_of(out, &line->flags[k]);
        if (line->flags[k].kind != INFRT_FLAG_WORDS) continue;
        free(words->at);
        *words = (infrt_words){0};
    }
}

static void flag_help(const infrt_flag *flag, FILE *out) {
    char text[64];
    snprintf(text, sizeof text, "%s%s%s", flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
    fprintf(out, "  %-24s %s\n", text, flag->help);
}

void infrt_flags_help(const infrt_command_line *line, unsigned bit, const char *program,
                      const char *model, FILE *out) {
    if (!bit) {
        fprintf(out, "%s: the model \"%s\" as a program, compiled by infc\n\nusage: %s COMMAND [flags]\n\n",
                program, model, program);
        for (size_t i = 0; i < line->n_commands; i++)
            fprintf(out, "  %-8s %s\n", line->commands[i].name, line->commands[i].help);
        fprintf(out,
                "\n%s COMMAND --help shows its flags; %s --version the versions.\n"
                "With --json the result is one object on stdout and messages are one on stderr.\n"
                "Exit codes: 0 fine, 1 a check did not hold, 2 usage, 3 bad data, 4 I/O or a "
                "missing CPU feature, 70 a bug.\n",
                program, program);
        return;
    }
    for (size_t i = 0; i < line->n_commands; i++)
        if (line->commands[i].bit == bit)
            fprintf(out, "usage: %s %s [flags]\n%s\n\n", program, line->commands[i].name,
                    line->commands[i].help);
    for (size_t k = 0; k < line->n_flags; k++)
        if (line->flags[k].commands & bit) flag_help(&line->flags[k], out);
    for (size_t i = 0; i < line->n_commands; i++)
        if (line->commands[i].bit == bit && line->commands[i].more)
            fprintf(out, "\n%s", line->commands[i].more);
}
