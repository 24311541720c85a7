/* app_messages.c - what goes to stderr: lines or, with --json, one object. */
#include "app.h"
#include <stdarg.h>

static void message(infrt_app *app, const char *severity, const char *text) {
    infrt_json *json = &app->messages;
    if (!app->options.json) {
        const char *colon = severity[0] == 'e' ? "error: " : "";
        fprintf(stderr, "%s: %s%s\n", app->program, colon, text);
        return;
    }
    if (!json->out) {
        json->out = stderr;
        infrt_json_open(json, NULL, '{');
        infrt_json_string(json, "command", infrt_command_name(app->options.command));
        infrt_json_open(json, "diagnostics", '[');
    }
    infrt_json_open(json, NULL, '{');
    infrt_json_string(json, "severity", severity);
    infrt_json_string(json, "text", text);
    infrt_json_close(json, '}');
}

void infrt_app_note(infrt_app *app, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message(app, "warning", text);
}

void infrt_app_messages_end(infrt_app *app, infrt_status status) {
    if (app->error.text[0]) message(app, "error", app->error.text);
    if (!app->messages.out) return;
    infrt_json_close(&app->messages, ']');
    infrt_json_int(&app->messages, "exit", infrt_exit_code(status));
    infrt_json_close(&app->messages, '}');
}
