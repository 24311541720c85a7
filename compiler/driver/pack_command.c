/* infc pack - the weights of a language model, made once, for any number of compiles. */
#include "../base/file.h"
#include "../emit/emit_pack.h"
#include "../frontend/llm/llm_pack.h"
#include "clock.h"
#include "command.h"
#include "compile.h"
#include "inspect_llm.h"
#include "json.h"
#include "table.h"
#include <string.h>

typedef struct values {
    bool json;
    infc_texts sets;
    const char *output;
} values;

static infc_status check(infc_call_cx *call) {
    const values *v = call->args.values;
    const char *path = call->args.operands[0];
    infc_cx *cx = call->cx;
    if (infc_path_ends(path, ".onnx"))
        return infc_fail(
            cx, INFC_ERR_SPEC, (infc_loc){.file = path},
            "infc pack is for language models; weights of ONNX models are packed by infc compile");
    if (!v->output)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "say where it goes: -o NAME.infw");
    if (!infc_path_ends(v->output, ".infw"))
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = v->output},
                         "the name must end in .infw, by which the file is known: -o %s.infw", v->output);
    if (infc_dir_exists(v->output))
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = v->output}, "is a folder; name a file");
    return INFC_OK;
}

/* The plan for this machine, since weights are the same for all; beside it the model, for what describes it. */
static infc_status plan_make(infc_call_cx *call, infc_build *build, infc_llm_model *model) {
    const values *v = call->args.values;
    infc_cx *cx = call->cx;
    infc_compile_options compile = {.path = call->args.operands[0],
                                    .sets = v->sets,
                                    .stop_after = "plan",
                                    .for_checks = true,
                                    .only_llm =
                                        "weights of ONNX models are packed by infc compile"};
    INFC_GROW(cx->arena, compile.targets.items, compile.targets.n, compile.targets.cap);
    compile.targets.items[compile.targets.n++] = "host";
    INFC_GROW(cx->arena, compile.sets.items, compile.sets.n, compile.sets.cap);
    compile.sets.items[compile.sets.n++] = "precision.kv=int8"; /* what keys are balanced by is for a compile to use */
    INFC_TRY(infc_compile(cx, &compile, build));
    INFC_TRY(infc_llm_read(cx, build->spec.model, model));
    if (!model->pack) return INFC_OK;
    return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = build->spec.model},
                     "is packed already: it holds %s", model->pack->packed.holds);
}

static infc_status write_file(infc_call_cx *call, const infc_build *build,
                              const infc_llm_model *model, infc_emit_packed *out) {
    const values *v = call->args.values;
    infc_cx *cx = call->cx;
    const infc_plan *plan = &build->targets[0].plan;
    infc_pack_entry *pieces;
    size_t n;
    infc_stage *stage;
    INFC_TRY(infc_llm_pack_pieces(cx, model, &pieces, &n));
    const char *metadata = infc_llm_pack_metadata(cx, &build->spec, build->ir.llm,
                                                  infc_path_base(build->spec.model), plan->source_sha256);
    INFC_TRY(infc_file_spare(cx, v->output));
    INFC_TRY(infc_stage_open(cx, infc_path_dir(cx->arena, v->output), &stage));
    const char *staged = infc_path_join(cx->arena, stage->dir, infc_path_base(v->output));
    INFC_TRY(infc_emit_pack(cx, plan, INFC_PACKED_VERSION, metadata, pieces, n, staged, out));
    INFC_TRY(infc_stage_commit(stage));
    infc_stage_end(stage);
    return INFC_OK;
}

static infc_status run(infc_call_cx *call) {
    const values *v = call->args.values;
    infc_cx *cx = call->cx;
    const char *path = call->args.operands[0];
    const double begin = infc_seconds();
    infc_build build = {0};
    infc_llm_model model;
    infc_emit_packed made;
    if (infc_path_ends(path, ".infw") && !v->output && v->sets.n == 0)
        return infc_inspect_llm(call, path, NULL);
    INFC_TRY(check(call));
    INFC_TRY(plan_make(call, &build, &model));
    INFC_TRY(write_file(call, &build, &model, &made));
    call->made = v->output;
    const char *format = build.ir.llm->format;
    if (call->json) {
        infc_json j = {.out = call->out};
        infc_json_object(&j, NULL);
        infc_json_text(&j, "file", v->output);
        infc_json_u64(&j, "file_bytes", made.file_bytes);
        infc_json_u64(&j, "model_bytes", model.file_bytes);
        infc_json_text(&j, "weights", format);
        infc_json_u64(&j, "packed", made.n_packed);
        infc_json_u64(&j, "packed_bytes", made.packed_bytes);
        infc_json_f64(&j, "seconds", infc_seconds() - begin, 3);
        infc_json_end(&j);
        return INFC_OK;
    }
    infc_buf_printf(call->out,
                    "wrote %s: weights %s, %s, from %s of model, in %.1f s\n"
                    "next: infc compile %s -o build\n",
                    v->output, format, infc_bytes_text(cx->arena, made.file_bytes),
                    infc_bytes_text(cx->arena, model.file_bytes), infc_seconds() - begin, v->output);
    return INFC_OK;
}

#define FIELD(name) offsetof(values, name)
static const infc_option options[] = {
    {"output", 'o', INFC_OPTION_TEXT, "F.infw", FIELD(output), "the file to write; one that exists is replaced"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets),
     "a key of the spec, as in infc compile: --set precision.weights=int4"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_pack = {
    .name = "pack",
    .operands = "MODEL|SPEC|F.infw",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Writes the weights of a language model as compiled binaries have them: converted, "
             "calibrated and "
             "laid out once.\n"
             "infc compile F.infw then takes seconds, for any target and without the original, and "
             "makes the same "
             "weights,\n"
             "bit for bit. The file also holds the configuration and the tokenizer, not the "
             "original matrices: "
             "another\n"
             "precision needs the original. Of the spec, precision counts (weights, rules, "
             "calibration); the rest is "
             "for the\n"
             "compile. For an F.infw without -o, shows what it holds. docs/infw.md has the format.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(values),
    .examples = "  infc pack model.gguf -o model.infw\n"
                "  infc pack spec.yaml --set precision.weights=int4 --set "
                "precision.calibration.tokens=8192 -o m.infw\n"
                "  infc compile m.infw --target x86-64-v3 --target aarch64 -o build\n"
                "  infc pack m.infw --json | jq .packed\n",
    .run = run,
};
