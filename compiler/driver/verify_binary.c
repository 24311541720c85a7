#include "../base/file.h"
#include "built_folder.h"
#include "check_run.h"
#include "verify.h"

static infc_status no_success(infc_cx *cx, const char *binary, const char *what, int code, const char *output) {
    bool said_why = code >= 2 && code <= 4; /* else its code is wrong, which is what verify looks for */
    infc_status status = said_why ? infc_status_of_exit_code(code) : INFC_ERR_CHECK;
    return infc_fail(cx, status, (infc_loc){.file = binary}, "`%s` ended with exit code %d%s:\n%.4000s",
                     what, code, code > 128 ? " (killed by a signal)" : "", output);
}

infc_status infc_verify_run(infc_cx *cx, const infc_target *target, const char *binary, const char *inputs,
                            const char *temp, const char *run, bool tensors, infc_dumped *out) {
    const char *output_path = infc_arena_printf(cx->arena, "%s/%s-outputs.npz", temp, run);
    const char *dump_path = infc_arena_printf(cx->arena, "%s/%s-tensors.npz", temp, run);
    const char *args[] = {"run", "--inputs",      inputs, "--outputs", output_path, "--threads",
                          "1",   "--dump-tensor", "all",  "--dump-to", dump_path};
    size_t n = sizeof args / sizeof *args - (tensors ? 0 : 4);
    int code;
    const char *text;
    if (target->platform->check)
        return infc_check_run(cx, target, binary, inputs,
                              infc_arena_printf(cx->arena, "%s/%s-run", temp, run), out);
    *out = (infc_dumped){0};
    infc_progress(cx, "running %s", binary);
    INFC_TRY(infc_binary_run(cx, target, binary, args, n, &code, &text));
    if (code != 0) return no_success(cx, binary, "run", code, text);
    INFC_TRY(infc_npz_open(cx, output_path, &out->outputs));
    return tensors ? infc_npz_open(cx, dump_path, &out->tensors) : INFC_OK;
}

infc_status infc_verify_own(infc_cx *cx, const infc_target *target, const char *binary, infc_verified *result) {
    const char *args[] = {"verify"};
    int code;
    result->own_ok = true;
    result->own_text = "";
    if (target->platform->check) return INFC_OK; /* no program of its own */
    infc_progress(cx, "running %s verify", binary);
    INFC_TRY(infc_binary_run(cx, target, binary, args, 1, &code, &result->own_text));
    if (code > 1) return no_success(cx, binary, "verify", code, result->own_text);
    result->own_ok = code == 0;
    return INFC_OK;
}
