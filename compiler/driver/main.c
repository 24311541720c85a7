/* main.c - the only place of the compiler that prints and exits. */
#include "../base/cache.h"
#include "../base/interrupt.h"
#include "../base/map.h"
#include "clock.h"
#include "command.h"
#include "signals.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

typedef struct progress {
    double start;
    bool shown;
} progress;

/* One line that is overwritten, from the first second on. */
static void show_progress(void *user, const char *what) {
    progress *p = user;
    if (infc_seconds() - p->start < 1.0) return;
    fprintf(stderr, "\r\033[K%.70s", what);
    fflush(stderr);
    p->shown = true;
}

/* Ends the process from inside an allocation: the arena still runs its deferred calls, so that the stage goes. */
static void on_no_memory(void *user) {
    infc_cx *cx = user;
    fputs("infc: out of memory; nothing was written\n", stderr);
    infc_cx_deinit(cx);
    exit(infc_status_exit_code(INFC_ERR_NO_MEMORY));
}

/* Whatever else was found out on the way, an interrupted command says this alone. */
static infc_status only_interrupted(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const char *dir = call->made ? call->made : call->kept ? call->kept : call->so_far;
    call->out->len = 0;
    cx->n_diags = cx->n_errors = 0;
    return infc_fail(cx, INFC_ERR_IO, INFC_NO_LOC, "interrupted by SIG%s%s%s%s",
                     sigabbrev_np(infc_interrupt_signal()), dir ? "; " : "", dir ? dir : "",
                     call->made   ? " is complete"
                     : call->kept ? " is as it was"
                                  : "");
}

/* Of a command, or of the program. */
static infc_status help(infc_call_cx *call, const infc_command_entry *entry) {
    infc_buf text = {.arena = call->cx->arena};
    if (entry) infc_help_command(entry, &text);
    else infc_help_program(&text);
    if (call->json) {
        infc_buf_puts(call->out, "{\"help\": ");
        infc_buf_json_string(call->out, infc_buf_str(&text));
        infc_buf_puts(call->out, "}\n");
    } else infc_buf_put(call->out, text.data, text.len);
    return INFC_OK;
}

/* A line that stays, where there is no terminal to overwrite one on. */
static void print_milestone(void *user, const char *what) {
    (void)user;
    fprintf(stderr, "%s\n", what);
}

static bool print_result(const infc_buf *out) {
    infc_bytes bytes = infc_buf_bytes(out);
    if (bytes.len == 0) return true;
    return fwrite(bytes.ptr, 1, bytes.len, stdout) == bytes.len && fflush(stdout) == 0;
}

static void print_diags(const infc_cx *cx, const char *command, int code, bool json) {
    if (cx->n_diags == 0) return;
    infc_buf text = {.arena = cx->arena};
    if (json) {
        infc_buf_puts(&text, "{\"command\": ");
        infc_buf_json_string(&text, command);
        infc_buf_printf(&text, ", \"exit\": %d, \"diagnostics\": ", code);
        infc_diags_json(cx, &text);
        infc_buf_puts(&text, "}\n");
    } else {
        infc_diags_text(cx, &text);
        if (cx->n_errors > 1)
            infc_buf_printf(&text, "infc %s: %zu problems\n", command, cx->n_errors);
    }
    fputs(infc_buf_str(&text), stderr);
}

static infc_status check_operands(infc_cx *cx, const infc_command *c, const infc_args *args) {
    if (args->n_operands < c->min_operands) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "%s is missing; usage: infc %s %s [OPTION]...",
                         c->operands, c->name, c->operands);
    }
    if (args->n_operands > c->max_operands) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "unexpected \"%s\"; usage: infc %s%s%s [OPTION]...",
                         args->operands[c->max_operands], c->name, *c->operands ? " " : "", c->operands);
    }
    for (size_t i = 0; i < args->n_operands; i++) {
        if (!*args->operands[i])
            return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "%s is empty; usage: infc %s %s [OPTION]...",
                             c->operands, c->name, c->operands);
    }
    return INFC_OK;
}

static bool is_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static infc_status run_command(infc_call_cx *call, const infc_command_entry *entry, int argc, char **argv) {
    const infc_command *c = entry->command;
    infc_cx *cx = call->cx;
    if (!c) {
        if (argc > 0 && is_help(argv[0])) return help(call, entry);
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "infc %s is not implemented yet", entry->name);
    }
    call->args.values = infc_arena_alloc(cx->arena, c->values_bytes, _Alignof(max_align_t));
    INFC_TRY(infc_args_parse(cx, c->name, c->options, c->n_options, argc, argv, &call->args));
    if (call->args.help) return help(call, entry);
    INFC_TRY(check_operands(cx, c, &call->args));
    return c->run(call);
}

static infc_status unknown_command(infc_cx *cx, const char *name) {
    const char **names = INFC_NEW(cx->arena, const char *, infc_n_commands);
    for (size_t i = 0; i < infc_n_commands; i++) names[i] = infc_commands[i].name;
    const char *nearest = infc_nearest(name, names, infc_n_commands);
    if (*name == '-') nearest = NULL;
    return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "unknown %s %s%s%s; see infc --help",
                     *name == '-' ? "option" : "command", *name ? name : "\"\"",
                     nearest ? "; nearest: " : "", nearest ? nearest : "");
}

static infc_status dispatch(infc_call_cx *call, int argc, char **argv, const char **out_name) {
    const char *name = argc > 1 ? argv[1] : NULL;
    *out_name = "";
    if (name && strcmp(name, "--json") == 0) name = argc > 2 ? argv[2] : NULL;
    if (!name) {
        if (!call->json) infc_help_program(call->out);
        return infc_fail(call->cx, INFC_ERR_SPEC, INFC_NO_LOC, "a command is missing; see infc --help");
    }
    if (strcmp(name, "--version") == 0) {
        infc_buf_puts(call->out, call->json ? "{\"version\": \"" INFC_VERSION "\"}\n" : "infc " INFC_VERSION "\n");
        return INFC_OK;
    }
    if (argv[1] != name) {
        return infc_fail(call->cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--json comes after the command: infc %.100s --json", name);
    }
    bool asked = is_help(name) || strcmp(name, "help") == 0;
    if (asked && (argc == 2 || strcmp(argv[2], "--json") == 0)) return help(call, NULL);
    if (asked) name = argv[2];
    const infc_command_entry *entry = infc_command_find(name);
    if (!entry) return unknown_command(call->cx, name);
    *out_name = entry->name;
    if (asked) return help(call, entry);
    return run_command(call, entry, argc - 2, argv + 2);
}

/* Weights are packed in parts of a mebibyte or a few: the memory of one is kept for the next, not given back. */
static void keep_memory(void) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

int main(int argc, char **argv) {
    infc_cx cx;
    progress shown = {.start = infc_seconds()};
    if (infc_cx_init(&cx) != INFC_OK) {
        fputs("infc: out of memory\n", stderr);
        return infc_status_exit_code(INFC_ERR_NO_MEMORY);
    }
    infc_arena_on_no_memory(cx.arena, on_no_memory, &cx);
    infc_signals_install();
    keep_memory();
    cx.cache_dir = infc_cache_default_dir(cx.arena);
    if (isatty(STDERR_FILENO)) {
        cx.progress = show_progress;
        cx.progress_user = &shown;
    }
    infc_buf out = {.arena = cx.arena};
    infc_call_cx call = {.cx = &cx, .out = &out};
    const char *name;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        call.json = call.json || strcmp(argv[i], "--json") == 0; /* also for complaints about the others */
    if (!cx.progress && !call.json)
        cx.milestone = print_milestone; /* else stderr is one JSON object */
    infc_status status = dispatch(&call, argc, argv, &name);
    int code = infc_status_exit_code(status);
    if (infc_interrupt_signal()) {
        only_interrupted(&call);
        code = 128 + infc_interrupt_signal();
    }
    if (shown.shown || (cx.progress && infc_interrupt_signal()))
        fputs("\r\033[K", stderr); /* a terminal shows ^C, too */
    if (!print_result(&out) && code == 0) {
        const char *why = strerror(errno);
        infc_fail(&cx, INFC_ERR_IO, INFC_NO_LOC, "cannot write the result to stdout: %s%s%s", why,
                  call.made ? "; what was to be made is complete: " : "", call.made ? call.made : "");
        code = infc_status_exit_code(INFC_ERR_IO);
    }
    print_diags(&cx, name, code, call.json);
    infc_cx_deinit(&cx);
    return code;
}
