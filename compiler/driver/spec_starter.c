#include "spec_starter.h"
#include <string.h>

static bool likely_batch(const char *param) {
    static const char *const names[] = {"batch", "batch_size", "N", "n", "b", "B", "batchsize"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(param, names[i]) == 0) return true;
    }
    return false;
}

static void put_ports(const char *what, const infc_onnx_value_info *info, infc_buf *out) {
    infc_buf_printf(out, "#   %-7s ", what);
    infc_buf_json_string(out, info->name); /* names are the model's: no line break may leave the comment */
    infc_buf_printf(out, "  %s\n", infc_model_facts_type(out->arena, info));
}

/* One line for each dim that the model leaves open; a batch is 1 until someone wants more, others are asked for. */
static void put_dim(const infc_onnx_value_info *input, size_t axis, infc_map *done, infc_buf *lines,
                    size_t *n_open) {
    const infc_onnx_dim *dim = &input->dims[axis];
    infc_arena *arena = lines->arena;
    if (!infc_model_facts_dim_open(dim)) return;
    bool named = dim->param && *dim->param;
    const char *name = named ? dim->param : infc_arena_printf(arena, "%s.%zu", input->name, axis);
    if (infc_map_find(done, name, NULL)) return;
    infc_map_put(done, name, 1);
    bool batch = (named && likely_batch(dim->param)) || (!named && axis == 0);
    infc_buf_puts(lines, batch ? "  " : "  # ");
    infc_buf_json_string(lines, name);
    infc_buf_printf(lines, ": %s          # axis %zu of ", batch ? "1" : "?", axis);
    infc_buf_json_string(lines, input->name);
    infc_buf_puts(lines, batch ? "\n" : ": put a size and remove the first #\n");
    if (!batch) ++*n_open;
}

static size_t put_shapes(const infc_model_facts *facts, infc_buf *out) {
    infc_buf lines = {.arena = out->arena};
    infc_map done = {.arena = out->arena};
    size_t n_open = 0;
    for (size_t i = 0; i < facts->n_inputs; i++) {
        for (size_t d = 0; d < facts->inputs[i]->rank && d < INFC_MAX_RANK; d++)
            put_dim(facts->inputs[i], d, &done, &lines, &n_open);
    }
    if (done.n == 0) {
        infc_buf_puts(out, "# The model's shapes are fixed. Open dimensions would be bound here:\n"
                           "# shapes: {batch: 1}\n");
        return 0;
    }
    infc_buf_puts(out,
                  "# Sizes of the dimensions that the model leaves open, by name or by input and "
                  "axis: a number, or a\n"
                  "# range such as 1..128, where each run has the size of what it is given.\n");
    infc_buf_puts(out, n_open == done.n ? "# shapes:\n" : "shapes:\n");
    infc_buf_puts(out, infc_buf_str(&lines));
    return n_open;
}

static bool dim_is(const infc_onnx_dim *dim, int64_t a, int64_t b) {
    return !infc_model_facts_dim_open(dim) && (dim->value == a || dim->value == b);
}

/* [N,C,H,W] or [N,H,W,C] with 1 or 3 channels may well be a picture. */
static void put_images(const infc_model_facts *facts, infc_buf *out) {
    for (size_t i = 0; i < facts->n_inputs; i++) {
        const infc_onnx_value_info *input = facts->inputs[i];
        bool first = input->rank == 4 && dim_is(&input->dims[1], 1, 3);
        bool last = input->rank == 4 && !first && dim_is(&input->dims[3], 1, 3);
        if (!first && !last) continue;
        int64_t channels = input->dims[first ? 1 : 3].value;
        infc_buf_puts(out, "\n# If this input is a picture, the binary can read files: --input "
                           "NAME=FILE.png.\n# inputs:\n#   ");
        infc_buf_json_string(out, input->name);
        infc_buf_printf(out,
                        ":\n#     kind: image\n#     channels: %s\n#     layout: %s\n"
                        "#     scale: 1/255        # value = (pixel * scale - mean) / std\n",
                        channels == 1 ? "gray" : "rgb", first ? "nchw" : "nhwc");
        return;
    }
}

static void put_classes(const infc_model_facts *facts, infc_buf *out) {
    const infc_onnx_graph *graph = &facts->model.graph;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const infc_onnx_value_info *output = &graph->outputs[i];
        if (output->rank != 2 || infc_model_facts_dim_open(&output->dims[1]) || output->dims[1].value < 2)
            continue;
        infc_buf_puts(out, "\n# If this output is scores of classes, the binary can print the best "
                           "by name.\n# outputs:\n#   ");
        infc_buf_json_string(out, output->name);
        infc_buf_printf(
            out,
            ":\n#     kind: classes\n#     labels: [\"first\", \"second\"]   # %lld of them\n"
            "#     top: 3\n#     scores: as_is           # softmax or sigmoid of logits\n",
            (long long)output->dims[1].value);
        return;
    }
}

static void put_head(const char *path, infc_buf *out) {
    infc_buf_puts(out, "# What to make of this model. Every key is described in docs/spec.md; "
                       "paths are relative to this file.\n");
    infc_buf_puts(out, "#   infc compile ");
    infc_buf_json_string(out, path);
    infc_buf_puts(out, " -o build\n");
}

static void put_output(const char *model, const char *name, infc_buf *out) {
    infc_buf_puts(out, "infc: 1\nmodel: ");
    infc_buf_json_string(out, model);
    infc_buf_printf(out,
                    "\nname: %s            # prefix of every file and public symbol\n\n"
                    "output:\n"
                    "  kinds: [binary, static-library]\n"
                    "  weights: embed      # inside both; \"file\": beside them\n"
                    "  license: MIT        # SPDX line in every emitted file\n\n"
                    "targets: [host]       # this machine; infc targets lists the others\n\n",
                    name);
}

void infc_spec_starter_llm(const infc_spec *spec, const char *model, const char *path, infc_buf *out) {
    put_head(path, out);
    put_output(model, spec->name, out);
    infc_buf_puts(
        out,
        "# precision:\n#   weights: int8       # or int4, bf16, f16, f32, keep: as a GGUF file has "
        "them, "
        "where that is\n"
        "#                       # quantised, which is the default then; else int8\n"
        "#   kv: int8            # of the cache of keys and values; or f16\n\n"
        "# context: 4096         # the longest prompt and answer together; default: the model's\n"
        "# batch:\n#   max_sequences: 16   # answered in one step\n"
        "# shapes:\n#   tokens: {max: 512}  # rows of one step, of prompts and answers\n\n"
        "# budgets:              # the compile fails when one is exceeded\n#   file: 160MiB\n");
}

void infc_spec_starter(const infc_model_facts *facts, const char *model, const char *path,
                       infc_buf *out, infc_starter *result) {
    const infc_onnx_graph *graph = &facts->model.graph;
    put_head(path, out);
    infc_buf_puts(out, "#\n");
    for (size_t i = 0; i < facts->n_inputs; i++) put_ports("input", facts->inputs[i], out);
    for (size_t i = 0; i < graph->n_outputs; i++) put_ports("output", &graph->outputs[i], out);
    put_output(model, facts->spec.name, out);
    result->n_open = put_shapes(facts, out);
    infc_buf_puts(
        out,
        "\n# precision:\n#   weights: int8       # a quarter of the size; f32 is the default\n");
    put_images(facts, out);
    put_classes(facts, out);
    infc_buf_puts(out, "\n# budgets:              # the compile fails when one is exceeded\n"
                       "#   file: 10MiB\n#   memory: 1MiB\n");
}
