#include "inspect_graph.h"
#include "../base/file.h"
#include "compile.h"
#include "graph.h"
#include "table.h"
#include <string.h>

infc_status infc_inspect_graph_check(infc_cx *cx, const infc_inspect_options *o, bool folder) {
    const char *alone = o->stage    ? "stage"
                        : o->format ? "format"
                        : o->output ? "output"
                        : o->unfold ? "unfold"
                                    : NULL;
    if (!alone && o->targets.n) alone = "target";
    if (alone && !o->graph)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--%s is for --graph; add it, or leave --%s out", alone, alone);
    if (o->graph && o->json)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--graph and --json: give one of them; compile --dump has the IR as text");
    if (o->graph && folder)
        return infc_fail(cx, INFC_ERR_SPEC,
                         INFC_NO_LOC, "--graph is for a model or a spec; a folder has its steps: leave --graph out");
    return INFC_OK;
}

static infc_status check_format(infc_cx *cx, const char *format) {
    if (strcmp(format, "text") == 0 || strcmp(format, "svg") == 0 || strcmp(format, "dot") == 0)
        return INFC_OK;
    return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                     "--format %s: there is no such format; known: text, svg, dot", format);
}

static infc_status check_stage(infc_cx *cx, const char *stage) {
    INFC_TRY(infc_stage_name_check(cx, "--stage", stage, false));
    if (strcmp(stage, "import") == 0 || infc_pass_find(stage)) return INFC_OK;
    return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                     "--stage %s: there is no graph then; give import or a pass (infc passes)", stage);
}

/* The IR after the stage: of the model, or of the first target. */
static infc_status ir_at(infc_cx *cx, const char *path, const infc_inspect_options *o,
                         const char *stage, infc_build *build, infc_ir **out) {
    const infc_pass *pass = infc_pass_find(stage);
    const infc_compile_options compile = {.path = path, .sets = o->sets, .targets = o->targets, .stop_after = stage};
    *out = NULL;
    INFC_TRY(infc_compile(cx, &compile, build));
    *out = pass && pass->phase == INFC_PASSES_TARGET ? build->targets[0].lowered : &build->ir;
    return INFC_OK;
}

static const char *title(infc_arena *arena, const infc_build *build, const char *stage,
                         const infc_graph *graph, size_t n_all) {
    infc_buf text = {.arena = arena};
    bool imported = strcmp(stage, "import") == 0;
    infc_buf_printf(&text, "%s, %s%s: %zu %s", build->spec.name,
                    imported ? "as imported" : "after ", imported ? "" : stage, n_all,
                    imported                     ? "nodes"
                    : strcmp(stage, "fuse") == 0 ? "steps"
                                                 : "ops");
    if (n_all != graph->n) infc_buf_printf(&text, ", %zu shown", graph->n);
    infc_buf_printf(&text, ", %s flops a run", infc_count_text(arena, graph->flops));
    return infc_buf_str(&text);
}

infc_status infc_inspect_graph(infc_call_cx *call, const char *path) {
    infc_cx *cx = call->cx;
    const infc_inspect_options *o = call->args.values;
    const char *stage = o->stage ? o->stage : "import", *format = o->format ? o->format : "text";
    infc_build build = {0};
    infc_buf text = {.arena = cx->arena};
    infc_graph graph;
    infc_ir *ir;
    INFC_TRY(check_format(cx, format));
    INFC_TRY(check_stage(cx, stage));
    INFC_TRY(ir_at(cx, path, o, stage, &build, &ir));
    infc_graph_build(ir, strcmp(stage, "import") == 0, &graph);
    size_t n_all = graph.n;
    if (!o->unfold) infc_graph_fold(&graph);
    const char *heading = title(cx->arena, &build, stage, &graph, n_all);
    if (strcmp(format, "text") != 0 && graph.n > INFC_GRAPH_MAX_DRAWN)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "%zu nodes are too many for a picture, %d are the most; use --format text",
                         graph.n, INFC_GRAPH_MAX_DRAWN);
    if (strcmp(format, "svg") == 0) {
        infc_graph_svg(&graph, heading, &text);
    } else if (strcmp(format, "dot") == 0) {
        infc_graph_dot(&graph, heading, &text);
    } else {
        infc_buf_printf(&text, "%s\n\n", heading);
        infc_graph_text(&graph, &text);
    }
    if (o->output) return infc_file_write_named(cx, o->output, infc_buf_bytes(&text));
    infc_buf_put(call->out, text.data, text.len);
    return INFC_OK;
}
