#include "../../passes/pass.h"
#include "../base/file.h"
#include "../frontend/llm/llm_model.h"
#include "graph.h"
#include "inspect_folder.h"
#include "inspect_graph.h"
#include "inspect_llm.h"
#include "model_facts.h"
#include "stayed_float.h"
#include "table.h"
#include <string.h>

/* One operator of the model. */
typedef struct op_use {
    const char *name; /* domain::Op */
    size_t n_nodes;
    const char *why; /* it is refused; null: supported */
} op_use;

typedef struct inspection {
    infc_cx *cx;
    infc_model_facts facts;
    const infc_onnx_value_info **outputs;
    infc_cx trial; /* the diagnostics of an attempt to import */
    op_use *uses;
    size_t n_uses, cap_uses;
    infc_map use_of;
    uint64_t flops;                    /* when it could be imported */
    const infc_ir_notes *stayed_float; /* what runs in f32 between quantised tensors; null: nothing */
    bool imported;
    bool open_dims; /* nothing is wrong but that the spec has to say more */
} inspection;

static void count_ops(inspection *in) {
    const infc_onnx_graph *graph = &in->facts.model.graph;
    infc_arena *arena = in->cx->arena;
    in->use_of = (infc_map){.arena = arena};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const infc_onnx_node *node = &graph->nodes[i];
        const char *name =
            infc_arena_printf(arena, "%s%s%s", node->domain, *node->domain ? "::" : "", node->op);
        size_t use;
        if (!infc_map_find(&in->use_of, name, &use)) {
            use = in->n_uses;
            infc_map_put(&in->use_of, name, use);
            INFC_GROW(arena, in->uses, in->n_uses, in->cap_uses);
            in->uses[in->n_uses++] = (op_use){.name = name};
        }
        in->uses[use].n_nodes++;
    }
}

static uint64_t count_flops(infc_ir *ir) {
    infc_graph graph;
    infc_graph_build(ir, true, &graph);
    return graph.flops;
}

/* The operator of this name: of ONNX's own, or the first of another domain. */
static op_use *use_named(inspection *in, const char *op) {
    size_t use;
    if (infc_map_find(&in->use_of, op, &use)) return &in->uses[use];
    for (size_t i = 0; i < in->n_uses; i++) {
        const char *colon = strrchr(in->uses[i].name, ':');
        if (colon && strcmp(colon + 1, op) == 0) return &in->uses[i];
    }
    return NULL;
}

/* Its problems, put to the operators they are about. */
static void assign_problems(inspection *in) {
    in->open_dims = in->trial.n_errors > 0;
    for (size_t i = 0; i < in->trial.n_diags; i++) {
        const infc_diag *d = &in->trial.diags[i];
        if (d->severity != INFC_ERROR) continue;
        if (d->status != INFC_ERR_SPEC) in->open_dims = false;
        const char *open = d->loc.node ? strrchr(d->loc.node, '(') : NULL; /* node "name" (Op) */
        if (!open) continue;
        op_use *use = use_named(in, infc_arena_copy_string(in->cx->arena, open + 1, strcspn(open + 1, ")")));
        if (use && !use->why) use->why = d->text;
    }
}

/* The same, with the shape it has in what was imported: dimensions that the spec gives are numbers then. */
static const infc_onnx_value_info *with_shape(infc_arena *arena, const infc_onnx_value_info *info,
                                              const infc_ir *ir, MlirValue value) {
    infc_onnx_value_info *shown = INFC_NEW(arena, infc_onnx_value_info, 1);
    infc_type type = infc_ir_type(ir, value);
    *shown = *info;
    if (info->has_shape && info->rank != (size_t)type.rank) return info;
    shown->has_shape = true;
    shown->rank = (size_t)type.rank;
    for (int i = 0; i < type.rank; i++) {
        const bool open = infc_dim_open(type.dims[i]);
        shown->dims[i].has_value = !open;
        shown->dims[i].value = open ? 0 : type.dims[i];
        shown->dims[i].param = open ? infc_dim_text(arena, type.dims[i]) : NULL;
    }
    return shown;
}

static void resolve_shapes(inspection *in, const infc_ir *ir) {
    infc_arena *arena = in->cx->arena;
    infc_model_facts *f = &in->facts;
    MlirBlock body = infc_ir_body(ir->main);
    MlirOperation end = mlirBlockGetTerminator(body);
    for (size_t i = 0; i < f->n_inputs; i++) {
        for (size_t k = 0; k < infc_ir_input_count(ir); k++) {
            if (strcmp(f->inputs[i]->name, infc_ir_input_name(ir, k)) != 0) continue;
            f->inputs[i] = with_shape(arena, f->inputs[i], ir, mlirBlockGetArgument(body, (intptr_t)k));
            break;
        }
    }
    size_t n = infc_ir_output_count(ir) < f->model.graph.n_outputs ? infc_ir_output_count(ir)
                                                                   : f->model.graph.n_outputs;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(in->outputs[i]->name, infc_ir_output_name(ir, i)) != 0) continue;
        in->outputs[i] = with_shape(arena, in->outputs[i], ir, mlirOperationGetOperand(end, (intptr_t)i));
    }
}

/* As far as the pass that decides what runs in integers. */
static void find_stayed_float(inspection *in, infc_ir *ir) {
    const infc_pass_options options = {.stop_after = "integers"};
    if (infc_passes_run(ir, &in->facts.spec, NULL, INFC_PASSES_MODEL, &options) == INFC_OK)
        in->stayed_float = ir->stayed_float;
}

static infc_status inspect(inspection *in, const char *path, const infc_texts *sets) {
    infc_cx *cx = in->cx;
    infc_spec_set *all = INFC_NEW(cx->arena, infc_spec_set, sets->n);
    infc_ir ir;
    for (size_t i = 0; i < sets->n; i++) all[i].assignment = sets->items[i];
    INFC_TRY(infc_model_facts_read(cx, path, all, sets->n, &in->facts));
    count_ops(in);
    in->trial = (infc_cx){.arena = cx->arena};
    in->imported = infc_onnx_read_file(&in->trial, &in->facts.spec, &ir) == INFC_OK;
    const infc_onnx_graph *graph = &in->facts.model.graph;
    in->outputs = INFC_NEW(cx->arena, const infc_onnx_value_info *, graph->n_outputs);
    for (size_t i = 0; i < graph->n_outputs; i++) in->outputs[i] = &graph->outputs[i];
    if (in->imported) {
        in->flops = count_flops(&ir);
        resolve_shapes(in, &ir);
        find_stayed_float(in, &ir);
    }
    assign_problems(in);
    return INFC_OK;
}

static void put_ports_text(inspection *in, const char *what,
                           const infc_onnx_value_info *const *infos, size_t n, infc_buf *out) {
    for (size_t i = 0; i < n; i++) {
        infc_buf_printf(out, "%-8s %s  %s\n", i ? "" : what, infos[i]->name,
                        infc_model_facts_type(in->cx->arena, infos[i]));
    }
}

static void put_text(inspection *in, infc_buf *out) {
    infc_arena *arena = in->cx->arena;
    const infc_model_facts *f = &in->facts;
    infc_table table = {.arena = arena, .n_columns = 3, .right = 2};
    infc_buf_printf(out, "%s  ONNX, opset %lld, %zu nodes, %s\n", f->spec.model, (long long)f->opset,
                    f->model.graph.n_nodes, infc_bytes_text(arena, f->file_bytes));
    put_ports_text(in, "inputs", f->inputs, f->n_inputs, out);
    put_ports_text(in, "outputs", in->outputs, f->model.graph.n_outputs, out);
    infc_buf_printf(out, "weights  %s parameters, %s\n", infc_count_text(arena, f->parameters),
                    infc_bytes_text(arena, f->parameter_bytes));
    if (in->imported)
        infc_buf_printf(out, "work     %s flops a run\n", infc_count_text(arena, in->flops));
    infc_buf_puts(out, "\n");
    INFC_TABLE_ROW(&table, "operator", "nodes", "supported");
    for (size_t i = 0; i < in->n_uses; i++) {
        INFC_TABLE_ROW(&table, in->uses[i].name, infc_arena_printf(arena, "%zu", in->uses[i].n_nodes),
                       in->uses[i].why ? infc_arena_printf(arena, "NO: %s", in->uses[i].why) : "yes");
    }
    infc_table_print(&table, 0, out);
    infc_stayed_float_text(arena, in->stayed_float, out);
    if (in->imported) infc_buf_puts(out, "\ninfc can compile this model.\n");
    else
        infc_buf_printf(out, "\n%s\n", in->open_dims ? "To compile it, the spec has to say more:" : "Not as it is:");
    infc_diags_text(&in->trial, out);
}

/* Numbers, names of open dims, null; null when not even the rank is known. */
static void put_shape_json(infc_json *j, const infc_onnx_value_info *info) {
    if (!info->has_shape) {
        infc_json_null(j, "shape");
        return;
    }
    infc_json_array(j, "shape");
    for (size_t d = 0; d < info->rank && d < INFC_MAX_RANK; d++) {
        const infc_onnx_dim *dim = &info->dims[d];
        if (infc_model_facts_dim_open(dim)) infc_json_text(j, NULL, dim->param);
        else infc_json_i64(j, NULL, dim->value);
    }
    infc_json_end(j);
}

static void put_ports_json(inspection *in, infc_json *j, const char *key,
                           const infc_onnx_value_info *const *infos, size_t n) {
    infc_json_array(j, key);
    for (size_t i = 0; i < n; i++) {
        infc_json_object(j, NULL);
        infc_json_text(j, "name", infos[i]->name);
        infc_json_text(j, "type", infc_onnx_type_name(in->cx->arena, infos[i]->elem_type));
        put_shape_json(j, infos[i]);
        infc_json_end(j);
    }
    infc_json_end(j);
}

static void put_json(inspection *in, infc_buf *out) {
    const infc_model_facts *f = &in->facts;
    infc_json j = {.out = out};
    infc_buf problems = {.arena = in->cx->arena};
    infc_diags_json(&in->trial, &problems);
    infc_json_object(&j, NULL);
    infc_json_text(&j, "model", f->spec.model);
    infc_json_text(&j, "format", "onnx");
    infc_json_i64(&j, "opset", f->opset);
    infc_json_u64(&j, "nodes", f->model.graph.n_nodes);
    infc_json_u64(&j, "file_bytes", f->file_bytes);
    infc_json_u64(&j, "parameters", f->parameters);
    infc_json_u64(&j, "parameter_bytes", f->parameter_bytes);
    if (in->imported) infc_json_u64(&j, "flops", in->flops);
    else infc_json_null(&j, "flops");
    infc_json_bool(&j, "compiles", in->imported);
    infc_json_bool(&j, "needs_shapes", in->open_dims);
    put_ports_json(in, &j, "inputs", f->inputs, f->n_inputs);
    put_ports_json(in, &j, "outputs", in->outputs, f->model.graph.n_outputs);
    infc_json_array(&j, "operators");
    for (size_t i = 0; i < in->n_uses; i++) {
        infc_json_object(&j, NULL);
        infc_json_text(&j, "name", in->uses[i].name);
        infc_json_u64(&j, "nodes", in->uses[i].n_nodes);
        infc_json_bool(&j, "supported", !in->uses[i].why);
        infc_json_text(&j, "why_not", in->uses[i].why);
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_stayed_float_json(&j, in->stayed_float);
    infc_json_raw(&j, "problems", infc_buf_str(&problems));
    infc_json_end(&j);
}

static infc_status run(infc_call_cx *call) {
    const infc_inspect_options *v = call->args.values;
    const char *path = call->args.operands[0];
    inspection in = {.cx = call->cx};
    INFC_TRY(infc_inspect_graph_check(call->cx, v, infc_dir_exists(path)));
    if (infc_llm_is_model(path)) return infc_inspect_llm(call, path, v->fit);
    if (v->fit) {
        return infc_fail(in.cx, INFC_ERR_SPEC,
                         INFC_NO_LOC, "--fit is for a language model (.gguf, .safetensors, a folder with config.json)");
    }
    if (v->graph) return infc_inspect_graph(call, path);
    if (infc_dir_exists(path)) {
        if (v->sets.n) {
            return infc_fail(in.cx, INFC_ERR_SPEC, INFC_NO_LOC,
                             "--set is for a model or a spec; %s was compiled with a spec already: "
                             "leave --set out",
                             path);
        }
        return infc_inspect_folder(call, path);
    }
    INFC_TRY(inspect(&in, path, &v->sets));
    if (call->json) {
        put_json(&in, call->out);
        infc_diags_repeat(call->cx, &in.trial); /* for programs errors are on stderr, whatever the command */
        return infc_diags_status(&in.trial, 0);
    }
    put_text(&in, call->out);
    if (in.imported) return INFC_OK;
    return infc_fail(call->cx, infc_diags_status(&in.trial, 0), (infc_loc){.file = path}, "%s: %zu problem%s",
                     in.open_dims ? "to compile this model, the spec has to say more"
                                  : "infc cannot compile this model as it is",
                     in.trial.n_errors, in.trial.n_errors == 1 ? "" : "s");
}

#define FIELD(name) offsetof(infc_inspect_options, name)
static const infc_option options[] = {
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets), "a key of the spec: --set shapes.batch=1"},
    {"fit", 0, INFC_OPTION_TEXT, "MEMORY", FIELD(fit),
     "of a language model: the longest context that fits beside the weights"},
    {"graph", 0, INFC_OPTION_FLAG, NULL, FIELD(graph), "the graph, a line per node; layers that repeat are shown once"},
    {"format", 0, INFC_OPTION_TEXT, "FORMAT", FIELD(format),
     "of the graph: text, svg (a picture for browsers), dot (for\nGraphviz); default text"},
    {"stage", 0, INFC_OPTION_TEXT, "STAGE", FIELD(stage),
     "the graph after a pass; fuse shows the steps of the compiled code;\n"
     "default import"},
    {"target", 0, INFC_OPTION_LIST, "T", FIELD(targets), "which layout and fuse are for; default the spec's first"},
    {"unfold", 0, INFC_OPTION_FLAG, NULL, FIELD(unfold), "all layers, also those that repeat"},
    {"output", 'o', INFC_OPTION_TEXT, "FILE", FIELD(output),
     "write the graph there, in place of what it holds, instead of to stdout"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_inspect = {
    .name = "inspect",
    .operands = "MODEL|SPEC|DIR",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Shows the inputs, outputs, weights and operators of a model, what of it is "
        "supported, and what stands\n"
        "against compiling it: every problem at once, each with its node. Nothing is "
        "compiled. For the DIR of an\n"
        "earlier compile it shows the report: sizes, memory, steps and kernels. With --graph it "
        "draws the model, as\n"
        "imported or after a pass: what is computed when it is compiled is left out.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_inspect_options),
    .examples = "  infc inspect model.onnx\n"
                "  infc inspect model.onnx --json | jq '.operators[] | select(.supported | not)'\n"
                "  infc inspect spec.yaml --graph\n"
                "  infc inspect spec.yaml --graph --stage fuse --format svg -o steps.svg\n"
                "  infc inspect build --json | jq .memory\n",
    .run = run,
};
