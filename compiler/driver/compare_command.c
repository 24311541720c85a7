#include "../base/file.h"
#include "command.h"
#include "compare.h"

typedef struct values {
    bool json, update;
    infc_texts targets, sets, formats, outs;
    const char *baseline;
} values;

static infc_status check_baseline(infc_cx *cx, const values *v) {
    const char *path = v->baseline;
    const infc_loc loc = {.file = path};
    if (v->update && !path)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--update-baseline: add the file to write, --baseline F.json");
    if (!path) return INFC_OK;
    if (v->update) return infc_file_check_named(cx, path);
    infc_file_note(cx, path);
    if (infc_file_exists(path)) return INFC_OK;
    const char *hidden = infc_file_hidden(path), *what = infc_file_what_else(path);
    if (what) return infc_fail(cx, INFC_ERR_IO, loc, "this is %s; --baseline names a file", what);
    return infc_fail(cx, INFC_ERR_IO, loc, "%s",
                     hidden ? hidden : "there is no such baseline; write it with --update-baseline");
}

/* For who has no report before them: the first faults, a line each. */
static const char *reasons(const infc_comparison *c, const infc_compare_outputs *outputs) {
    enum { SHOWN = 5, WIDTH = 300 };
    const char **faults;
    const size_t n = infc_compare_faults(c, &faults);
    infc_buf out = {.arena = c->cx->arena};
    for (size_t i = 0; i < outputs->n; i++)
        if (!outputs->items[i].path) return "";
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        infc_buf_puts(&out, i ? "\n  " : ":\n  ");
        for (size_t k = 0; faults[i][k] && (k < WIDTH || (faults[i][k] & 0xc0) == 0x80); k++)
            infc_buf_put(&out, faults[i][k] == '\n' ? " " : &faults[i][k], 1);
    }
    if (n > SHOWN) infc_buf_printf(&out, "\n  and %zu more; the report has all", n - SHOWN);
    return infc_buf_str(&out);
}

static infc_status run(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const values *v = call->args.values;
    const infc_compile_options compile = {.path = call->args.operands[0], .targets = v->targets, .sets = v->sets};
    infc_comparison c = {.cx = cx, .updates = v->update};
    infc_compare_outputs outputs;
    infc_file_note(cx, compile.path);
    INFC_TRY(infc_compare_outputs_choose(cx, &v->formats, &v->outs, v->json, &outputs));
    INFC_TRY(check_baseline(cx, v));
    INFC_TRY(infc_compare_outputs_check(cx, &outputs, v->baseline));
    if (v->baseline) INFC_TRY(infc_compare_baseline_read(&c, v->baseline));
    INFC_TRY(infc_temp_folder(cx, &c.temp));
    const infc_status measured = infc_compare_measure(&c, &compile);
    call->so_far = infc_compare_so_far(&c);
    INFC_TRY(measured);
    if (v->update) INFC_TRY(infc_compare_update(&c));
    else if (v->baseline) infc_compare_baseline(&c);
    INFC_TRY(infc_compare_outputs_write(&c, &outputs, call->out));
    if (infc_compare_ok(&c)) return INFC_OK;
    return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = compile.path},
                     "the comparison does not hold%s", reasons(&c, &outputs));
}

#define FIELD(name) offsetof(values, name)
static const infc_option options[] = {
    {"target", 0, INFC_OPTION_LIST, "T", FIELD(targets),
     "instead of the spec's targets: one, several as A,B, or `all`; may repeat"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets), "a key of the spec, as in infc compile"},
    {"baseline", 0, INFC_OPTION_TEXT, "F.json", FIELD(baseline),
     "an earlier comparison: what got worse by more than the spec's\n"
     "compare.thresholds (default 5 %) is a regression"},
    {"update-baseline", 0, INFC_OPTION_FLAG, NULL, FIELD(update),
     "write this comparison to the file of --baseline;\n"
     "what it has of targets that are not compared now stays"},
    {"format", 0, INFC_OPTION_LIST, "FORMAT", FIELD(formats),
     "text, md, json, junit or html; default: what the name of -o\n"
     "ends in (.txt .md .json .xml .html), else text"},
    {"output", 'o', INFC_OPTION_LIST, "F", FIELD(outs),
     "write the report there, in place of what it holds, instead of standard output, `-`;\n"
     "repeat for several, with a --format for each or for none"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_compare = {
    .name = "compare",
    .operands = "SPEC|MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Compiles a model for many instruction sets, runs each (natively or under an "
             "emulator), and says of each\n"
             "whether every tensor has the bits of the reference, how large code, file and memory "
             "are, how many\n"
             "instructions a run takes (counted by the emulator, so the same on every machine), "
             "and how long where it\n"
             "runs natively. With --baseline it says what got worse. A target without a compiler "
             "or emulator here is\n"
             "reported as not run, with the command that installs it; that fails only if the "
             "spec's compare.required\n"
             "names it.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(values),
    .examples = "  infc compare spec.yaml --target all\n"
                "  infc compare spec.yaml --baseline compare.json --update-baseline\n"
                "  infc compare spec.yaml --baseline compare.json --format md\n"
                "  infc compare spec.yaml --target all -o page.html -o result.json\n",
    .exits =
        "a target differs, failed or got worse than the baseline allows: the output says which",
    .run = run,
};
