/* app_shell.c - around the commands: help, version, messages. */
#define _GNU_SOURCE 1
#include "app_shell.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "infrt_os.h"

enum { STACK_LEAST = 256 << 10 }; /* language models take 80 KiB */

static infrt_status version_print(const infc_model *model, bool as_json) {
    if (as_json) {
        infrt_json json = {.out = stdout};
        infrt_json_open(&json, NULL, '{');
        infrt_json_string(&json, "model", model->name);
        infrt_json_string(&json, "target", model->target);
        infrt_json_string(&json, "infc_version", model->infc_version);
        infrt_json_uint(&json, "abi", model->abi);
        infrt_json_close(&json, '}');
        return INFRT_OK;
    }
    printf("%s for %s, compiled by infc %s, ABI %u\n", model->name, model->target,
           model->infc_version, model->abi);
    return INFRT_OK;
}

static infrt_status help_print(infrt_shell *shell) {
    infrt_json json = {.out = stdout};
    char *text = NULL;
    size_t n;
    FILE *out = shell->parsed->json ? open_memstream(&text, &n) : stdout;
    if (!out) return infrt_fail(shell->error, INFRT_ERR_NO_MEMORY, "no memory");
    infrt_flags_help(shell->line, shell->parsed->command, shell->program, shell->model->name, out);
    if (!shell->parsed->json) return INFRT_OK;
    bool made = fclose(out) == 0;
    if (made) {
        infrt_json_open(&json, NULL, '{');
        infrt_json_string(&json, "help", text);
        infrt_json_close(&json, '}');
    }
    free(text);
    return made ? INFRT_OK : infrt_fail(shell->error, INFRT_ERR_NO_MEMORY, "no memory");
}

infrt_status infrt_shell_begin(infrt_shell *shell, int argc, char **argv, bool *done) {
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    signal(SIGXFSZ, SIG_IGN); /* beyond `ulimit -f` a write fails, and what it was for is told and removed */
    shell->program = slash ? slash + 1 : argc > 0 ? argv[0] : shell->model->name;
    infrt_status status = infrt_flags_parse(shell->line, argc, argv, shell->parsed, shell->error);
    *done = status != INFRT_OK || shell->parsed->version || shell->parsed->help;
    if (status == INFRT_OK && !*done && infrt_os_stack_bytes() < STACK_LEAST) {
        *done = true;
        return infrt_fail(shell->error, INFRT_ERR_NO_MEMORY,
                          "the stack is limited to %llu KiB, and %d are needed: ulimit -s %d",
                          (unsigned long long)infrt_os_stack_bytes() >> 10, STACK_LEAST >> 10,
                          STACK_LEAST >> 10);
    }
    if (status != INFRT_OK || !*done) return status;
    return shell->parsed->version ? version_print(shell->model, shell->parsed->json) : help_print(shell);
}

/* In one line: messages quote files, and what is in these must not steer a terminal. Control characters, also those
 * that UTF-8 has two bytes for, become \xNN. */
static void text_put(const char *text, FILE *out) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        const bool of_two = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
        if (of_two) fprintf(out, "\\x%02x", *c++);
        if (of_two || *c < 0x20 || *c == 0x7f) fprintf(out, "\\x%02x", *c);
        else fputc(*c, out);
    }
}

static void line_put(const char *event, const char *text) {
    char time[INFRT_OS_TIME];
    infrt_os_time_text(time);
    fprintf(stderr, "{\"time\":\"%s\",\"event\":\"%s\",\"text\":", time, event);
    infrt_json_text(stderr, text);
    fputs("}\n", stderr);
}

static void message(infrt_shell *shell, const char *severity, const char *text) {
    infrt_json *json = &shell->messages;
    if (shell->serves && severity[0] != 'e') {
        line_put(severity, text);
        return;
    }
    if (!shell->parsed->json) {
        const char *colon = severity[0] == 'e' ? "error: " : "";
        fprintf(stderr, "%s: %s", shell->program, colon);
        text_put(text, stderr);
        fputc('\n', stderr);
        return;
    }
    if (!json->out) {
        json->out = stderr;
        infrt_json_open(json, NULL, '{');
        infrt_json_string(json, "command", infrt_flags_command(shell->line, shell->parsed->command));
        infrt_json_open(json, "diagnostics", '[');
    }
    infrt_json_open(json, NULL, '{');
    infrt_json_string(json, "severity", severity);
    infrt_json_string(json, "text", text);
    infrt_json_close(json, '}');
}

void infrt_shell_note(infrt_shell *shell, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message(shell, "warning", text);
}

int infrt_shell_end(infrt_shell *shell, infrt_status status) {
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == INFRT_OK)
        status = infrt_fail(shell->error, INFRT_ERR_IO, "standard output: cannot write: %s", strerror(errno));
    if (shell->error->text[0]) message(shell, "error", shell->error->text);
    if (shell->messages.out) {
        infrt_json_close(&shell->messages, ']');
        infrt_json_int(&shell->messages, "exit", infrt_exit_code(status));
        infrt_json_close(&shell->messages, '}');
    }
    infrt_flags_free(shell->line, shell->parsed);
    return infrt_exit_code(status);
}
