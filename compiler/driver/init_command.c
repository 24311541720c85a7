#include "../base/file.h"
#include "../frontend/llm/llm_model.h"
#include "command.h"
#include "model_facts.h"
#include "spec_starter.h"
#include <sys/stat.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct values {
    bool json, force;
    const char *output;
} values;

/* `to` as seen from the folder `from`; both absolute, without links. */
static const char *relative_path(infc_arena *arena, const char *from, const char *to) {
    size_t common = 0; /* just after the last shared '/' */
    for (size_t i = 0; from[i] == to[i] || (from[i] == '\0' && to[i] == '/'); i++) {
        if (to[i] == '/') common = i + 1;
        if (from[i] == '\0') break;
    }
    infc_buf text = {.arena = arena};
    const char *rest = strlen(from) < common ? "" : from + common;
    for (; *rest; rest += rest[strcspn(rest, "/")] ? strcspn(rest, "/") + 1 : strlen(rest))
        infc_buf_puts(&text, "../");
    infc_buf_puts(&text, to + common);
    return infc_buf_str(&text);
}

static infc_status model_as_seen_from(infc_cx *cx, const char *dir, const char *model, const char **out) {
    char from[PATH_MAX], to[PATH_MAX];
    if (!realpath(dir, from))
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = dir}, "cannot find this folder: %s",
                         strerror(errno));
    if (!realpath(model, to))
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = model}, "cannot find this file: %s",
                         strerror(errno));
    *out = relative_path(cx->arena, from, to);
    return INFC_OK;
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The spec may have the name `path`. */
static infc_status check_output(infc_cx *cx, const char *path, bool force) {
    const char *what = infc_file_what_else(path);
    if (what)
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = path}, "is %s; name a file with -o: -o %s", what,
                         infc_dir_exists(path) ? infc_arena_printf(cx->arena, "%s%sspec.yaml", path,
                                                                   path[strlen(path) - 1] == '/' ? "" : "/")
                                               : "spec.yaml");
    if (infc_file_exists(path) && !force) {
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = path},
                         "exists and is left as it is; "
                         "choose another name with -o, or overwrite it with --force");
    }
    return INFC_OK;
}

static infc_status run(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const values *v = call->args.values;
    const char *path = v->output ? v->output : "spec.yaml", *model = NULL;
    infc_model_facts facts = {0};
    infc_buf text = {.arena = cx->arena};
    infc_starter starter = {0};
    const bool llm = infc_llm_is_model(call->args.operands[0]);
    if (llm) INFC_TRY(infc_spec_read(cx, call->args.operands[0], NULL, 0, &facts.spec));
    else INFC_TRY(infc_model_facts_read(cx, call->args.operands[0], NULL, 0, &facts));
    if (facts.spec.path) {
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = facts.spec.path},
                         "this is a spec already; infc init takes a model");
    }
    if (same_file(path, call->args.operands[0]))
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = path},
                         "is the model itself; choose another name with -o");
    const bool to_stdout = strcmp(path, "-") == 0;
    if (to_stdout && call->json)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--json and -o - both want stdout; give one of them");
    if (!to_stdout) INFC_TRY(check_output(cx, path, v->force));
    INFC_TRY(model_as_seen_from(cx, infc_path_dir(cx->arena, path), call->args.operands[0], &model));
    const char *as = to_stdout ? "spec.yaml" : path;
    if (llm) infc_spec_starter_llm(&facts.spec, model, as, &text);
    else infc_spec_starter(&facts, model, as, &text, &starter);
    if (to_stdout) {
        infc_buf_put(call->out, text.data, text.len);
        return INFC_OK;
    }
    INFC_TRY(infc_file_write_named(cx, path, infc_buf_bytes(&text)));
    call->made = path;
    if (call->json) {
        infc_buf_puts(call->out, "{\n  \"spec\": ");
        infc_buf_json_string(call->out, path);
        infc_buf_printf(call->out, ",\n  \"open_dims\": %zu\n}\n", starter.n_open);
        return INFC_OK;
    }
    infc_buf_printf(call->out, "wrote %s\n", path);
    if (starter.n_open) {
        infc_buf_printf(call->out, "to be filled in under shapes: %zu dimension%s that the model leaves open\n",
                        starter.n_open, starter.n_open > 1 ? "s" : "");
    }
    infc_buf_printf(call->out, "next: infc compile %s -o build\n", path);
    return INFC_OK;
}

static const infc_option options[] = {
    {"output", 'o', INFC_OPTION_TEXT, "SPEC", offsetof(values, output), "the file, - for stdout; default spec.yaml"},
    {"force", 0, INFC_OPTION_FLAG, NULL, offsetof(values, force), "overwrite it when it exists"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_init = {
    .name = "init",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Writes a spec for a model: a commented YAML file that infc compile takes, with the "
             "model's inputs and\n"
             "outputs, the dimensions it leaves open, and the choices there are. An existing file "
             "is never overwritten\n"
             "without --force.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(values),
    .examples = "  infc init model.onnx\n"
                "  infc init models/net.onnx -o net.yaml && infc compile net.yaml -o build\n",
    .run = run,
};
