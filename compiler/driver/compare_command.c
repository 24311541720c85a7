#include "../base/file.h"
#include "command.h"
#include "compare.h"
#include <string.h>

typedef struct values {
    bool json, update;
    infc_texts targets, sets;
    const char *baseline, *format, *out;
} values;

static const struct {
    const char *name;
    void (*put)(const infc_comparison *c, infc_buf *out);
} formats[] = {
    {"text", infc_compare_text},   {"md", infc_compare_markdown}, {"json", infc_compare_json},
    {"junit", infc_compare_junit}, {"html", infc_compare_html},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static infc_status check_options(infc_cx *cx, const values *v, size_t *out_format) {
    const char *format = v->format ? v->format : v->json ? "json" : "text";
    for (*out_format = 0; *out_format < N_FORMATS; ++*out_format)
        if (strcmp(formats[*out_format].name, format) == 0) break;
    if (*out_format == N_FORMATS)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--format %s: give one of text, md, json, junit, html", format);
    if (v->json && strcmp(format, "json") != 0)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--json and --format %s: give one of them", format);
    if (v->update && !v->baseline)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--update-baseline: add the file to write, --baseline F.json");
    if (v->update || !v->baseline || infc_file_exists(v->baseline)) return INFC_OK;
    const char *hidden = infc_file_hidden(v->baseline);
    return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = v->baseline}, "%s",
                     hidden ? hidden : "there is no such baseline; write it with --update-baseline");
}

/* Before hours of work: what is written has a folder, and is neither the operand nor the other file. What else is read
 * shows later. */
static infc_status check_files(infc_cx *cx, const values *v, const char *path) {
    infc_file_note(cx, path);
    if (v->update) INFC_TRY(infc_file_check_named(cx, v->baseline));
    else if (v->baseline) infc_file_note(cx, v->baseline);
    if (v->out && v->baseline && strcmp(v->out, v->baseline) == 0)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "-o %s: that is the baseline; choose another name", v->out);
    return v->out ? infc_file_check_named(cx, v->out) : INFC_OK;
}

static infc_status keep_baseline(const infc_comparison *c, const char *path) {
    infc_buf text = {.arena = c->cx->arena};
    infc_compare_keep(c, &text);
    return infc_file_write_named(c->cx, path, infc_buf_bytes(&text));
}

static infc_status run(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const values *v = call->args.values;
    const infc_compile_options compile = {.path = call->args.operands[0], .targets = v->targets, .sets = v->sets};
    infc_comparison c = {.cx = cx};
    infc_buf text = {.arena = cx->arena};
    size_t format;
    INFC_TRY(check_options(cx, v, &format));
    INFC_TRY(check_files(cx, v, compile.path));
    INFC_TRY(infc_temp_folder(cx, &c.temp));
    INFC_TRY(infc_compare_measure(&c, &compile));
    if (v->update) INFC_TRY(keep_baseline(&c, v->baseline));
    else if (v->baseline) INFC_TRY(infc_compare_baseline(&c, v->baseline));
    formats[format].put(&c, v->out ? &text : call->out);
    if (v->out) INFC_TRY(infc_file_write_named(cx, v->out, infc_buf_bytes(&text)));
    if (infc_compare_ok(&c)) return INFC_OK;
    return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = compile.path}, "the comparison does not hold");
}

#define FIELD(name) offsetof(values, name)
static const infc_option options[] = {
    {"target", 0, INFC_OPTION_LIST, "T", FIELD(targets), "instead of the spec's targets, or `all`; repeat for more"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets), "a key of the spec, as in infc compile"},
    {"baseline", 0, INFC_OPTION_TEXT, "F.json", FIELD(baseline),
     "an earlier comparison: what got worse by more than the spec's\n"
     "compare.thresholds (default 5 %) is a regression"},
    {"update-baseline", 0, INFC_OPTION_FLAG, NULL, FIELD(update), "write this comparison to the file of --baseline"},
    {"format", 0, INFC_OPTION_TEXT, "FORMAT", FIELD(format), "text, md, json, junit or html; default: text"},
    {"output", 'o', INFC_OPTION_TEXT, "F", FIELD(out),
     "write the report there, in place of what it holds, instead of standard output"},
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
                "  infc compare spec.yaml --target all --format html -o page.html\n",
    .exits =
        "a target differs, failed or got worse than the baseline allows: the output says which",
    .run = run,
};
