#include "command.h"
#include "compile.h"

typedef struct values {
    bool json, no_cache;
    infc_compile_options compile;
} values;

#define FIELD(name) offsetof(values, compile.name)
static const infc_option options[] = {
    {"output", 'o', INFC_OPTION_TEXT, "DIR", FIELD(out_dir), "where the artefacts go; default NAME-infc"},
    {"target", 0, INFC_OPTION_LIST, "T", FIELD(targets),
     "compile for T instead of the spec's targets; repeat for more,\n"
     "each then gets DIR/T; infc targets lists them"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets),
     "a key of the spec, over what the file says: --set name=other\n"
     "--set precision.weights=int8; repeat for more"},
    {"without", 0, INFC_OPTION_LIST, "PASS", FIELD(without), "leave out a pass; infc passes lists them"},
    {"dump", 0, INFC_OPTION_LIST, "STAGE", FIELD(dumps),
     "print what a stage made: spec, import, a pass, plan, emit, or all;\nrepeat for more"},
    {"dump-to", 0, INFC_OPTION_TEXT, "DIR", FIELD(dump_to), "write the dumps to files there: DIR/00-import.mlir ..."},
    {"stop-after", 0, INFC_OPTION_TEXT, "STAGE", FIELD(stop_after),
     "end there; `emit` leaves C and build files and needs no compiler,\n"
     "an earlier one writes nothing but dumps"},
    {"no-cache", 0, INFC_OPTION_FLAG, NULL, offsetof(values, no_cache), "compile every object anew"},
    INFC_OPTION_JSON,
};

static infc_status run(infc_call_cx *call) {
    values *v = call->args.values;
    infc_cx *cx = call->cx;
    infc_buf dumps = {.arena = cx->arena};
    infc_build build = {0};
    v->compile.path = call->args.operands[0];
    v->compile.dump_out = &dumps;
    if (v->no_cache) cx->cache_dir = NULL;
    if (call->json && v->compile.dumps.n && !v->compile.dump_to) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--json and --dump both want stdout; add --dump-to DIR");
    }
    if (v->no_cache && v->compile.stop_after) {
        return infc_fail(cx, INFC_ERR_SPEC,
                         INFC_NO_LOC, "--no-cache: with --stop-after nothing is compiled; leave one of them out");
    }
    infc_status status = infc_compile(cx, &v->compile, &build);
    infc_buf_put(call->out, infc_buf_str(&dumps), dumps.len); /* also the dumps before a failure */
    if (status != INFC_OK) {
        call->kept = build.touched ? NULL : build.out_dir;
        return status;
    }
    if (build.reached != INFC_REACHED_NOTHING) call->made = build.out_dir;
    if (call->json) infc_summary_json(cx, &build, call->out);
    else if (dumps.len == 0)
        infc_summary_text(cx, &build, call->out); /* stdout is what was asked for, no more */
    return INFC_OK;
}

const infc_command infc_command_compile = {
    .name = "compile",
    .operands = "SPEC|MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Compiles a model into DIR: NAME (a binary), libNAME.a with NAME.h, a CMake package "
             "and NAME.pc, report.json,\n"
             "manifest.json, and src/ with all the C. SPEC is a YAML file (infc init writes one, "
             "docs/spec.md explains\n"
             "it); for a bare MODEL.onnx the defaults are used and printed. Nothing is put under "
             "its final name before\n"
             "everything has succeeded, and the same inputs give the same bytes in any folder.\n"
             "Compilers are tried in this order: $CC, clang-22, clang (19 or newer), gcc (12 or "
             "newer). Objects "
             "are cached in\n"
             "$INFC_CACHE, else $XDG_CACHE_HOME/infc, else ~/.cache/infc; the cache can be deleted "
             "at any time.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(values),
    .examples = "  infc compile model.onnx -o build\n"
                "  infc compile spec.yaml --target x86-64-v3 --target aarch64 -o build\n"
                "  infc compile spec.yaml --dump all --dump-to dumps --stop-after emit -o build\n",
    .exits = "a budget of the spec is exceeded",
    .run = run,
};
