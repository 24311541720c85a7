#include "../../passes/pass.h"
#include "command.h"
#include "json.h"
#include "table.h"

static const char *phase_name(const infc_pass *pass) {
    return pass->phase == INFC_PASSES_MODEL ? "model" : "target";
}

static infc_status run(infc_call_cx *call) {
    if (call->json) {
        infc_json json = {.out = call->out};
        infc_json_object(&json, NULL);
        infc_json_array(&json, "passes");
        for (size_t i = 0; i < infc_pass_count(); i++) {
            const infc_pass *pass = infc_pass_at(i);
            infc_json_object(&json, NULL);
            infc_json_text(&json, "name", pass->name);
            infc_json_text(&json, "phase", phase_name(pass));
            infc_json_bool(&json, "required", pass->required);
            infc_json_text(&json, "needs", pass->needs);
            infc_json_text(&json, "keeps", pass->keeps);
            infc_json_text(&json, "breaks", pass->breaks);
            infc_json_end(&json);
        }
        infc_json_end(&json);
        infc_json_end(&json);
        return INFC_OK;
    }
    infc_table table = {.arena = call->cx->arena, .n_columns = 6};
    INFC_TABLE_ROW(&table, "pass", "phase", "", "needs", "keeps", "breaks");
    for (size_t i = 0; i < infc_pass_count(); i++) {
        const infc_pass *pass = infc_pass_at(i);
        INFC_TABLE_ROW(&table, pass->name, phase_name(pass), pass->required ? "required" : "",
                       pass->needs, pass->keeps, pass->breaks);
    }
    infc_table_print(&table, 0, call->out);
    return INFC_OK;
}

static const infc_option options[] = {INFC_OPTION_JSON};

const infc_command infc_command_passes = {
    .name = "passes",
    .operands = "",
    .about =
        "Lists the passes in the order they run. Those of the model phase do not know the target: "
        "all that can\n"
        "change a bit of the result is decided there. Those of the target phase keep every bit.\n"
        "`needs`, `keeps` and `breaks` say what a pass relies on and does to the program. A pass "
        "that is not\n"
        "required can be left out with infc compile --without PASS, and any one shown with --dump "
        "PASS.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_json_only),
    .examples = "  infc passes\n"
                "  infc passes --json | jq -r '.passes[].name'\n",
    .run = run,
};
