/* infc_opt.c - reads IR text, runs passes, prints IR text: the tool under tests/passes.
 *
 *   infc_opt FILE [--only PASS] [--target NAME] [--weights i8] [--rule PATTERN=f32|i8]... [--float fast]
 *            [--eval]
 *
 * FILE "-" is standard input. Without --only it parses, verifies and prints. --target runs the passes after the
 * target is known instead of those before. --eval prints the outputs of @main before and after the passes, on
 * inputs that count 0, 1/8, 2/8, .. up to 15/8 and again; they are the bits of each f32 in hex. */
#include "compiler/base/file.h"
#include "compiler/ir/eval.h"
#include "passes/pass.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 8 };

typedef struct options {
    const char *file, *target;
    infc_pass_options passes;
    infc_spec spec;
    infc_spec_rule rules[MAX_RULES];
    bool eval;
} options;

static _Noreturn void usage(void) {
    fprintf(stderr, "usage: infc_opt FILE [--only PASS] [--target T] [--weights FORMAT] [--rule "
                    "PATTERN=FORMAT] [--float fast] [--eval]\n");
    exit(2);
}

static infc_spec_format format(const char *name) {
    int i = INFC_FORMAT_f32;
    while (name && infc_spec_formats[i] && strcmp(infc_spec_formats[i], name) != 0) i++;
    if (!name || !infc_spec_formats[i]) usage();
    return (infc_spec_format)i;
}

static void add_rule(options *o, char *text) {
    char *equals = strrchr(text, '=');
    if (!equals || o->spec.n_rules == MAX_RULES) usage();
    *equals = 0;
    o->rules[o->spec.n_rules++] = (infc_spec_rule){.match = text, .weights = format(equals + 1)};
}

static void read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--eval") == 0) {
            o->eval = true;
        } else if (argv[i][0] != '-' || !argv[i][1]) {
            o->file = argv[i];
        } else if (!next) {
            usage();
        } else {
            if (strcmp(argv[i], "--only") == 0) o->passes.only = next;
            else if (strcmp(argv[i], "--target") == 0) o->target = next;
            else if (strcmp(argv[i], "--weights") == 0) o->spec.weights = format(next);
            else if (strcmp(argv[i], "--rule") == 0) add_rule(o, next);
            else if (strcmp(argv[i], "--float") == 0) o->spec.fast = strcmp(next, "fast") == 0;
            else usage();
            i++;
        }
    }
    if (!o->file || (o->passes.only && !infc_pass_find(o->passes.only))) usage();
    o->spec.rules = o->rules;
}

static infc_status read_text(infc_cx *cx, const char *path, infc_bytes *out) {
    if (strcmp(path, "-") != 0) return infc_file_map(cx, path, out);
    infc_buf buf = {.arena = cx->arena};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, stdin)) > 0;) infc_buf_put(&buf, part, n);
    *out = infc_buf_bytes(&buf);
    return INFC_OK;
}

static infc_status print_outputs(infc_ir *ir, const char *label) {
    infc_arena *arena = ir->cx->arena;
    size_t n_in = infc_ir_input_count(ir), n_out = infc_ir_output_count(ir);
    infc_tensor *in = INFC_NEW(arena, infc_tensor, n_in + 1), *out = INFC_NEW(arena, infc_tensor, n_out + 1);
    MlirBlock body = infc_ir_body(ir->main);
    for (size_t i = 0; i < n_in; i++) {
        infc_type type = infc_ir_type(ir, mlirBlockGetArgument(body, (intptr_t)i));
        INFC_TRY(infc_tensor_create(ir->cx, arena, &type, &in[i]));
        for (int64_t k = 0; k < infc_type_count(&type); k++)
            if (type.dtype == INFC_DTYPE_f32) ((float *)in[i].data)[k] = (float)(k % 16) / 8.0f;
    }
    INFC_TRY(infc_eval_main(ir, arena, in, out, NULL, NULL));
    for (size_t i = 0; i < n_out; i++) {
        if (out[i].type.dtype != INFC_DTYPE_f32) continue;
        printf("// %s %s:", label, infc_ir_output_name(ir, i));
        for (int64_t k = 0; k < infc_type_count(&out[i].type) && k < 64; k++) {
            uint32_t bits;
            memcpy(&bits, (const char *)out[i].data + k * 4, sizeof bits);
            printf(" %08x", bits);
        }
        printf("\n");
    }
    return INFC_OK;
}

static infc_status compile_rules(infc_cx *cx, options *o) {
    for (size_t i = 0; i < o->spec.n_rules; i++) {
        const char *why;
        size_t at;
        o->rules[i].code = infc_spec_pattern(cx->arena, o->rules[i].match, &why, &at);
        if (!o->rules[i].code)
            return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "\"%s\" at character %zu: %s",
                             o->rules[i].match, at, why);
    }
    return INFC_OK;
}

static infc_status run(infc_cx *cx, options *o) {
    infc_bytes text;
    infc_ir ir;
    infc_target target;
    INFC_TRY(compile_rules(cx, o));
    INFC_TRY(read_text(cx, o->file, &text));
    INFC_TRY(infc_ir_parse(cx, text, "input.mlir", &ir));
    if (o->target) INFC_TRY(infc_target_parse(cx, INFC_NO_LOC, o->target, &target));
    if (o->eval) INFC_TRY(print_outputs(&ir, "before"));
    if (o->passes.only || o->target)
        INFC_TRY(infc_passes_run(&ir, &o->spec, o->target ? &target : NULL,
                                 o->target ? INFC_PASSES_TARGET : INFC_PASSES_MODEL, &o->passes));
    if (o->eval) INFC_TRY(print_outputs(&ir, "after"));
    infc_buf out = {.arena = cx->arena};
    infc_ir_print(&ir, &out);
    fputs(infc_buf_str(&out), stdout);
    return INFC_OK;
}

static void show_progress(void *user, const char *what) {
    (void)user;
    fprintf(stderr, "%s\n", what);
}

static void on_no_memory(void *user) { longjmp(*(jmp_buf *)user, 1); }

int main(int argc, char **argv) {
    static options o;
    jmp_buf no_memory;
    infc_cx cx;
    read_options(argc, argv, &o);
    if (infc_cx_init(&cx) != INFC_OK || setjmp(no_memory))
        return infc_status_exit_code(INFC_ERR_NO_MEMORY);
    infc_arena_on_no_memory(cx.arena, on_no_memory, &no_memory);
    cx.progress = show_progress;
    infc_status status = run(&cx, &o);
    infc_buf diags = {.arena = cx.arena};
    infc_diags_text(&cx, &diags);
    fputs(infc_buf_str(&diags), stderr);
    infc_cx_deinit(&cx);
    return infc_status_exit_code(status);
}
