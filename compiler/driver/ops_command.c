#include "../frontend/onnx/onnx_ops.h"
#include "../ir/type.h"
#include "command.h"
#include "json.h"
#include "table.h"
#include <string.h>

/* "7-13", "14 and later" */
static const char *opsets(infc_arena *arena, const infc_onnx_op *op) {
    if (op->until == INFC_ONNX_NEWEST_OPSET) return infc_arena_printf(arena, "%d-", op->since);
    return infc_arena_printf(arena, "%d-%d", op->since, op->until);
}

static void put_json(infc_buf *out) {
    infc_json j = {.out = out};
    infc_json_object(&j, NULL);
    infc_json_array(&j, "onnx");
    for (size_t i = 0; i < infc_onnx_op_count(); i++) {
        const infc_onnx_op *op = infc_onnx_op_at(i);
        infc_json_object(&j, NULL);
        infc_json_text(&j, "domain", op->domain);
        infc_json_text(&j, "name", op->name);
        infc_json_u64(&j, "since_opset", (uint64_t)op->since);
        infc_json_u64(&j, "until_opset", (uint64_t)op->until);
        infc_json_text(&j, "attributes", op->attributes);
        infc_json_bool(&j, "run_time_sizes", infc_onnx_takes_open(op->name));
        infc_json_text(&j, "limits", op->note);
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_json_array(&j, "infc");
    for (int k = 0; k < INFC_N_OP_KINDS; k++) {
        const infc_op_info *op = infc_op_get((infc_op_kind)k);
        infc_json_object(&j, NULL);
        infc_json_text(&j, "name", op->name);
        infc_json_u64(&j, "operands", (uint64_t)op->n_in);
        infc_json_text(&j, "attributes", op->attrs);
        infc_json_text(&j, "summary", op->summary);
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_json_end(&j);
}

static infc_status run(infc_call_cx *call) {
    infc_arena *arena = call->cx->arena;
    if (call->json) {
        put_json(call->out);
        return INFC_OK;
    }
    infc_table onnx = {.arena = arena, .n_columns = 4}, own = {.arena = arena, .n_columns = 2};
    infc_buf_printf(call->out, "ONNX operators that infc reads, f32, opsets %d to %d:\n",
                    INFC_ONNX_OLDEST_OPSET, INFC_ONNX_NEWEST_OPSET);
    INFC_TABLE_ROW(&onnx, "operator", "opsets", "ranges", "limits");
    for (size_t i = 0; i < infc_onnx_op_count(); i++) {
        const infc_onnx_op *op = infc_onnx_op_at(i);
        const char *dot = *op->domain ? "." : "";
        INFC_TABLE_ROW(&onnx, infc_arena_printf(arena, "%s%s%s", op->domain, dot, op->name),
                       opsets(arena, op), infc_onnx_takes_open(op->name) ? "yes" : "no", op->note);
    }
    infc_table_print(&onnx, 2, call->out);
    infc_buf_puts(call->out, "\nOperations of the infc dialect, what they become:\n");
    INFC_TABLE_ROW(&own, "operation", "what it does");
    for (int k = 0; k < INFC_N_OP_KINDS; k++) {
        const infc_op_info *op = infc_op_get((infc_op_kind)k);
        INFC_TABLE_ROW(&own, op->name, op->summary);
    }
    infc_table_print(&own, 2, call->out);
    return INFC_OK;
}

static const infc_option options[] = {INFC_OPTION_JSON};

const infc_command infc_command_ops = {
    .name = "ops",
    .operands = "",
    .about = "Lists the ONNX operators that infc reads, with the opsets and limits of each, and "
             "the operations of its\n"
             "own that it turns them into. Made from the tables that the importer and the checker "
             "work from: what is\n"
             "not listed is refused. Ranges: whether it takes sizes that are known only at run "
             "time. infc inspect MODEL says which of them a model uses, and why a "
             "node is refused.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_json_only),
    .examples = "  infc ops\n"
                "  infc ops --json | jq -r '.onnx[].name' | sort -u\n",
    .run = run,
};
