/* onnx_eval: imports an ONNX model and runs it with the reference kernels, for comparison with other runtimes.
 *
 *   onnx_eval MODEL.onnx [--dim NAME=N]... [--max-trips N] [--print] [--input FILE]... [--output FILE]...
 *   onnx_eval --serve
 *
 * The second runs many: each line of stdin, arguments with tabs between, is one of the first, in a process of its own;
 * the first two are files for its stdout and stderr. Its exit code, or minus the signal that ended it, is a line of
 * stdout. (Loading LLVM takes longer than most models.)
 *
 * FILEs are raw little-endian f32 in the order of the model's inputs and outputs. --print writes the IR to
 * stdout. Diagnostics go to stderr as infc prints them; the exit code is infc's. */
#include "compiler/base/file.h"
#include "compiler/frontend/import.h"
#include "compiler/ir/eval.h"
#include "passes/pass.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FILES = 64 };

typedef struct options {
    infc_spec spec;
    infc_spec_dim dims[MAX_FILES];
    const char *inputs[MAX_FILES], *outputs[MAX_FILES];
    size_t n_inputs, n_outputs;
    bool print;
} options;

static bool parse_option(infc_cx *cx, options *o, const char *name, const char *value) {
    if (strcmp(name, "--input") == 0 && o->n_inputs < MAX_FILES) {
        o->inputs[o->n_inputs++] = value;
    } else if (strcmp(name, "--output") == 0 && o->n_outputs < MAX_FILES) {
        o->outputs[o->n_outputs++] = value;
    } else if (strcmp(name, "--dim") == 0 && o->spec.n_dims < MAX_FILES && strrchr(value, '=')) {
        const char *equals = strrchr(value, '=');
        infc_loc loc = {.file = "--dim"};
        o->dims[o->spec.n_dims++] =
            (infc_spec_dim){.name = infc_arena_copy_string(cx->arena, value, (size_t)(equals - value)),
                            .value = strtoll(equals + 1, NULL, 10),
                            .loc = loc};
    } else if (strcmp(name, "--max-trips") == 0) {
        o->spec.max_trips = strtoll(value, NULL, 10);
    } else {
        return false;
    }
    return true;
}

static bool parse(infc_cx *cx, int argc, char **argv, options *o) {
    o->spec.dims = o->dims;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--print") == 0) {
            o->print = true;
        } else if (strncmp(argv[i], "--", 2) != 0 && !o->spec.model) {
            o->spec.model = argv[i];
        } else {
            if (i + 1 >= argc || !parse_option(cx, o, argv[i], argv[i + 1])) return false;
            i++;
        }
    }
    return o->spec.model != NULL;
}

static infc_status read_inputs(infc_cx *cx, infc_ir *ir, const options *o, infc_tensor *inputs) {
    size_t n = infc_ir_input_count(ir);
    if (n != o->n_inputs)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "the model has %zu inputs, %zu were given",
                         n, o->n_inputs);
    for (size_t i = 0; i < n; i++) {
        infc_bytes bytes;
        infc_type type = infc_ir_type(ir, mlirBlockGetArgument(infc_ir_body(ir->main), (intptr_t)i));
        INFC_TRY(infc_file_map(cx, o->inputs[i], &bytes));
        if (bytes.len != infc_type_bytes(&type))
            return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = o->inputs[i]},
                             "%zu bytes; %s needs %llu", bytes.len, infc_type_text(cx->arena, &type),
                             (unsigned long long)infc_type_bytes(&type));
        INFC_TRY(infc_tensor_create(cx, cx->arena, &type, &inputs[i]));
        memcpy(inputs[i].data, bytes.ptr, bytes.len);
    }
    return INFC_OK;
}

static infc_status run(infc_cx *cx, options *o) {
    infc_ir ir;
    infc_tensor inputs[MAX_FILES] = {0}, outputs[MAX_FILES] = {0};
    INFC_TRY(infc_frontend_import(cx, &o->spec, &ir));
    INFC_TRY(infc_ir_verify(&ir, "import"));
    INFC_TRY(infc_passes_run(&ir, &o->spec, NULL, INFC_PASSES_MODEL, &(infc_pass_options){.only = "import-check"}));
    if (o->print) {
        infc_buf text = {.arena = cx->arena};
        infc_ir_print(&ir, &text);
        fputs(infc_buf_str(&text), stdout);
    }
    if (o->n_outputs == 0) return INFC_OK;
    if (infc_ir_output_count(&ir) != o->n_outputs)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "the model has %zu outputs",
                         infc_ir_output_count(&ir));
    INFC_TRY(read_inputs(cx, &ir, o, inputs));
    INFC_TRY(infc_eval_main(&ir, cx->arena, inputs, outputs, NULL, NULL));
    for (size_t i = 0; i < o->n_outputs; i++) {
        infc_bytes bytes = {outputs[i].data, (size_t)infc_type_bytes(&outputs[i].type)};
        printf("%s %s\n", infc_ir_output_name(&ir, i), infc_type_text(cx->arena, &outputs[i].type));
        INFC_TRY(infc_file_write(cx, o->outputs[i], bytes, 0644));
    }
    return INFC_OK;
}

static int run_arguments(int argc, char **argv) {
    infc_cx cx;
    static options o;
    if (infc_cx_init(&cx) != INFC_OK) return 4;
    infc_status status = INFC_ERR_SPEC;
    if (parse(&cx, argc, argv, &o)) status = run(&cx, &o);
    else
        fprintf(stderr, "usage: onnx_eval MODEL [--dim NAME=N] [--max-trips N] [--print] [--input "
                        "FILE] [--output FILE]\n");
    infc_buf text = {.arena = cx.arena};
    infc_diags_text(&cx, &text);
    fputs(infc_buf_str(&text), stderr);
    infc_cx_deinit(&cx);
    return infc_status_exit_code(status);
}

enum { MAX_ARGUMENTS = 4 * MAX_FILES, SECONDS = 60 };

static int serve(void) {
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        char *argv[MAX_ARGUMENTS];
        int argc = 0, status = 0;
        line[strcspn(line, "\n")] = 0;
        for (char *rest = line, *word; argc < MAX_ARGUMENTS && (word = strsep(&rest, "\t"));)
            argv[argc++] = word;
        if (argc < 3 || argc == MAX_ARGUMENTS) return 2;
        const pid_t child = fork();
        if (child < 0) return 4;
        if (child == 0) {
            alarm(SECONDS);
            if (!freopen("/dev/null", "r", stdin) || !freopen(argv[0], "w", stdout) ||
                !freopen(argv[1], "w", stderr))
                return 4;
            return run_arguments(argc - 1, argv + 1); /* argv[1] stands where a program's name does */
        }
        if (waitpid(child, &status, 0) != child) return 4;
        printf("%d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    return argc == 2 && strcmp(argv[1], "--serve") == 0 ? serve() : run_arguments(argc, argv);
}
