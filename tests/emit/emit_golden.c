/* emit_golden.c - usage: emit_golden FOLDER [--update]
 *
 * Emits the plan of emit_tiny_plan.h for x86-64 and compares tiny.c and tiny.h with FOLDER/tiny.c.expected and
 * FOLDER/tiny.h.expected; --update rewrites those. Left out is what others own and test: the texts of kernels and of
 * the floating-point environment, the version, and the hash over all of it. */
#include "compiler/base/file.h"
#include "emit_tiny_plan.h"
#include <stdio.h>
#include <stdlib.h>

static bool starts(const char *line, const char *with) {
    return strncmp(line, with, strlen(with)) == 0;
}

/* Copies what is compared. */
static void filter(infc_bytes text, infc_buf *out) {
    enum { COPY, ENVIRONMENT, KERNEL, KERNEL_END } in = COPY;
    const char *at = (const char *)text.ptr, *end = at + text.len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line = infc_arena_copy_string(out->arena, at, (size_t)((stop ? stop : end) - at));
        at = stop ? stop + 1 : end;
        if (starts(line, "/* ---- kernels")) in = COPY;
        if (in == KERNEL && starts(line, "#undef")) in = KERNEL_END;
        if (in == KERNEL_END && !starts(line, "#undef")) in = COPY;
        if (in == COPY && starts(line, "/* infk_") && strstr(line, ", from templates/")) {
            infc_buf_printf(out, "%s ...\n", line);
            in = KERNEL;
        }
        const char *version = strstr(line, INFC_VERSION);
        if (in != COPY || strstr(line, "_CONTENT_HASH")) continue;
        if (version)
            infc_buf_printf(out, "%.*sVERSION%s\n", (int)(version - line), line, version + strlen(INFC_VERSION));
        else infc_buf_printf(out, "%s\n", line);
        if (starts(line, "/* ---- the floating-point")) in = ENVIRONMENT;
    }
}

/* Where two texts part, with some lines around it. */
static void show_difference(const char *name, const char *expected, const char *got) {
    size_t i = 0, from = 0;
    for (; expected[i] && expected[i] == got[i]; i++)
        if (expected[i] == '\n') from = i + 1;
    fprintf(stderr, "%s differs. Expected:\n%.400s\n---- got:\n%.400s\n---- --update rewrites it\n",
            name, expected + from, got + from);
}

static int check(infc_cx *cx, const char *dir, const char *folder, const char *name, bool update) {
    infc_bytes text, expected;
    infc_buf got = {.arena = cx->arena};
    const char *path = infc_arena_printf(cx->arena, "%s/%s.expected", folder, infc_path_base(name));
    if (infc_file_map(cx, infc_path_join(cx->arena, dir, name), &text) != INFC_OK) return 1;
    filter(text, &got);
    if (update) return infc_file_write(cx, path, infc_buf_bytes(&got), 0644) != INFC_OK;
    if (infc_file_map(cx, path, &expected) != INFC_OK) return 1;
    const char *wanted = infc_arena_copy_string(cx->arena, (const char *)expected.ptr, expected.len);
    if (strcmp(wanted, infc_buf_str(&got)) == 0) return 0;
    show_difference(name, wanted, infc_buf_str(&got));
    return 1;
}

int main(int argc, char **argv) {
    static tiny_plan tiny;
    const bool update = argc == 3 && strcmp(argv[2], "--update") == 0;
    char dir[] = "/tmp/infc-golden-XXXXXX";
    infc_cx cx;
    infc_target target;
    infc_emitted emitted;
    if (argc != 2 && !update) return fprintf(stderr, "usage: emit_golden FOLDER [--update]\n"), 2;
    if (infc_cx_init(&cx) != INFC_OK || !mkdtemp(dir)) return 4;
    const infc_emit_options options = {.spec = &tiny.spec, .dir = dir};
    int failed = infc_target_parse(&cx, INFC_NO_LOC, "x86-64", &target) != INFC_OK;
    tiny_plan_make(&tiny, &target);
    failed = failed || infc_emit(&cx, &tiny.plan, &options, &emitted) != INFC_OK;
    failed = failed ||
             check(&cx, dir, argv[1], "src/tiny.c", update) + check(&cx, dir, argv[1], "tiny.h", update) > 0;
    infc_buf diags = {.arena = cx.arena};
    infc_diags_text(&cx, &diags);
    fputs(infc_buf_str(&diags), stderr);
    infc_dir_remove(dir);
    infc_cx_deinit(&cx);
    return failed;
}
