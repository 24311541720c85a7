#include "../base/file.h"
#include "command.h"
#include "verify.h"

#define DEFAULT_TOLERANCE 1e-4

/* Options that would say nothing. */
static infc_status check_options(infc_cx *cx, const infc_verify_options *o, const char *path) {
    const char *for_model = o->targets.n ? "target" : o->sets.n && !o->against_onnx ? "set" : NULL;
    bool folder = infc_dir_exists(path);
    if (o->expect && !o->inputs) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--expect needs --inputs: outputs are expected of some inputs");
    }
    if (o->tolerance > 0 && !o->expect && !o->against_onnx) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--tolerance is for --expect F.npz and --against-onnx; "
                         "the reference is compared bit for bit");
    }
    if (for_model && folder) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--%s is for a spec or a model; %s was compiled already: leave --%s out, "
                         "or verify its spec",
                         for_model, path, for_model);
    }
    if (o->model && !(folder && o->against_onnx)) {
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--model is for --against-onnx of a folder that was compiled already; %s",
                         folder ? "add --against-onnx" : "a spec or a model is its own");
    }
    if (folder && o->against_onnx && !o->model) {
        return infc_fail(
            cx, INFC_ERR_SPEC, INFC_NO_LOC,
            "--against-onnx: %s holds no model to compare with; name its spec, or its model "
            "with what was --set:   --model SPEC|MODEL",
            path);
    }
    return INFC_OK;
}

static infc_status run(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const infc_verify_options *o = call->args.values;
    const char *path = call->args.operands[0];
    infc_verification v = {.cx = cx, .options = o, .ok = true};
    v.tolerance = o->tolerance > 0 ? o->tolerance : DEFAULT_TOLERANCE;
    INFC_TRY(check_options(cx, o, path));
    INFC_TRY(infc_temp_folder(cx, &v.temp));
    infc_status status = infc_dir_exists(path) ? infc_verify_folder(&v, path) : infc_verify_model(&v, path);
    if (status != INFC_OK && v.n == 0) return status;
    v.ok = v.ok && status == INFC_OK;
    if (call->json) infc_verify_json(&v, call->out);
    else infc_verify_text(&v, call->out);
    if (status != INFC_OK || v.ok) return status;
    return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = path}, "the check does not hold");
}

#define FIELD(name) offsetof(infc_verify_options, name)
static const infc_option options[] = {
    {"inputs", 0, INFC_OPTION_TEXT, "F.npz", FIELD(inputs), "run on these, by exact name; default: made-up values"},
    {"expect", 0, INFC_OPTION_TEXT, "F.npz", FIELD(expect), "compare the outputs with these, by exact name"},
    {"tolerance", 0, INFC_OPTION_NUMBER, "X", FIELD(tolerance),
     "for --expect and --against-onnx: allowed error as a part of\n"
     "the tensor's largest value; default 1e-4"},
    {"target", 0, INFC_OPTION_LIST, "T", FIELD(targets), "for these targets instead of the spec's; repeat for more"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets), "a key of the spec, as in infc compile"},
    {"against-onnx", 0, INFC_OPTION_FLAG, NULL, FIELD(against_onnx),
     "compare with the graph as the file has it, before any pass:\n"
     "a table, the first node that diverges, and why"},
    {"model", 0, INFC_OPTION_TEXT, "SPEC|MODEL", FIELD(model), "for --against-onnx of a DIR: what it was made from"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_verify = {
    .name = "verify",
    .operands = "SPEC|MODEL|DIR",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Compiles a SPEC or MODEL into a temporary folder, runs the binary (natively or under "
        "an emulator), and\n"
        "compares every tensor that the model names with the plain-C reference kernels, bit "
        "for bit and in order:\n"
        "the first one that differs is named with its node, both values and their distance. "
        "The reference runs\n"
        "on the program before it knew its target. Then the binary's own check runs with "
        "several workers.\n"
        "Models with sizes known only at run time are run at the smallest, the largest and one "
        "between.\n"
        "For the DIR of an earlier compile the hashes of its manifest are checked, and the "
        "binary's own check.\n"
        "With --against-onnx the graph as the file has it, before any pass, takes the place of "
        "that program; tensors\n"
        "are compared within --tolerance, and the first node that diverges is named with its "
        "inputs and likely cause.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_verify_options),
    .examples = "  infc verify spec.yaml\n"
                "  infc verify model.onnx --target x86-64-v3 --target aarch64\n"
                "  infc verify spec.yaml --inputs in.npz --expect out.npz --tolerance 1e-5\n"
                "  infc verify spec.yaml --against-onnx\n"
                "  infc verify build --against-onnx --model spec.yaml\n"
                "  infc verify build\n",
    .exits = "it does not hold: the output says where",
    .run = run,
};
