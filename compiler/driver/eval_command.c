/* infc eval - the quality of a language model on a text. It is compiled twice for this machine, as the spec says and as
 * floats; the programs run side by side, and the logits of one go to the other as they come. */
#include "../base/file.h"
#include "../base/subprocess.h"
#include "built_folder.h"
#include "command.h"
#include "compile.h"

typedef struct values {
    bool json, alone;
    infc_texts sets;
    const char *data, *reference;
    double tokens, context;
} values;

static void add(infc_arena *arena, infc_texts *texts, const char *text) {
    INFC_GROW(arena, texts->items, texts->n, texts->cap);
    texts->items[texts->n++] = text;
}

static infc_status check(infc_call_cx *call) {
    const values *v = call->args.values;
    infc_cx *cx = call->cx;
    if (!v->data)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "give a text to measure on: --data F");
    const char *hidden = infc_file_hidden(v->data);
    if (!infc_file_exists(v->data))
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = v->data}, "%s",
                         hidden ? hidden : "there is no such file");
    if (v->alone && v->reference)
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "--alone and --against: give one of them");
    const char *reference = v->reference ? v->reference : call->args.operands[0];
    if (!v->alone && infc_path_ends(reference, ".infw"))
        return infc_fail(cx, INFC_ERR_SPEC, (infc_loc){.file = reference},
                         "packed weights cannot be floats to compare with: --against MODEL, which "
                         "they were packed from, or --alone");
    return INFC_OK;
}

/* The program, compiled into a temporary folder. */
static infc_status program_make(infc_call_cx *call, const char *temp, const char *path,
                                bool as_floats, infc_texts sets, infc_build *build, const char **out) {
    infc_cx *cx = call->cx;
    infc_compile_options compile = {.path = path,
                                    .out_dir = infc_path_join(cx->arena, temp, as_floats ? "floats" : "compiled"),
                                    .sets = sets,
                                    .for_checks = true,
                                    .as_floats = as_floats,
                                    .only_llm = "ONNX models: infc verify --against-onnx"};
    add(cx->arena, &compile.targets, "host"); /* the same bits as on any other */
    INFC_TRY(infc_compile(cx, &compile, build));
    *out = infc_path_join(cx->arena, build->targets[0].dir, build->targets[0].linked.binary);
    return INFC_OK;
}

/* Both commands as words of a shell, which joins them by a pipe. */
static infc_status measure(infc_call_cx *call, const char *binary, const char *reference, const char **out) {
    const values *v = call->args.values;
    infc_cx *cx = call->cx;
    infc_buf flags = {.arena = cx->arena};
    infc_buf_puts(&flags, " eval --data \"$3\"");
    if (v->tokens > 0) infc_buf_printf(&flags, " --tokens %.0f", v->tokens);
    if (v->context > 0) infc_buf_printf(&flags, " --context %.0f", v->context);
    const char *eval = infc_buf_str(&flags), *script = infc_arena_printf(cx->arena, "\"$1\"%s --json", eval);
    if (reference)
        script = infc_arena_printf(cx->arena, "\"$2\"%s --logits - | \"$1\"%s --against - --json", eval, eval);
    const char *words[] = {"sh",    "-c", script, "infc", binary, reference ? reference : "",
                           v->data, NULL};
    infc_job job = {.argv = words};
    infc_progress(cx, "%s: predicting %s", binary, v->data);
    INFC_TRY(infc_jobs_run(cx, &job, 1, 1));
    *out = job.output;
    if (job.exit_code == 0) return INFC_OK;
    return infc_binary_failed(cx, (infc_loc){.file = v->data}, "eval", job.exit_code, job.output);
}

static double number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* What a weight takes, all tensors and scales counted; of a tied embedding, one of both. */
static double bits_of(const json_t *m) {
    return 8 * number_of(m, "weights_bytes") / number_of(m, "parameters");
}

static void print(const json_t *m, infc_buf *out) {
    infc_buf_printf(out, "%s: weights %s (%.1f MiB, %.2f bit a parameter), cache %s\n",
                    infc_json_text_of(m, "model"), infc_json_text_of(m, "format"),
                    number_of(m, "weights_bytes") / 1048576, bits_of(m), infc_json_text_of(m, "kv_format"));
    infc_buf_printf(out, "%.0f tokens in chunks of %.0f, %.0f predictions scored\n",
                    number_of(m, "tokens"), number_of(m, "context"), number_of(m, "predictions"));
    infc_buf_printf(out, "perplexity  %.4f +- %.4f\n", number_of(m, "perplexity"),
                    number_of(m, "perplexity_error"));
    if (!json_object_get(m, "kl")) return;
    infc_buf_printf(out, "reference   %.4f: %s\n", number_of(m, "reference_perplexity"),
                    infc_json_text_of(m, "reference"));
    infc_buf_printf(out, "divergence  %.5f +- %.5f nats\n", number_of(m, "kl"), number_of(m, "kl_error"));
    infc_buf_printf(out, "same token  %.2f %% most likely\n", 100 * number_of(m, "same_top"));
}

static infc_status run(infc_call_cx *call) {
    const values *v = call->args.values;
    infc_cx *cx = call->cx;
    const char *path = call->args.operands[0], *temp, *binary, *reference = NULL, *text;
    infc_build build = {0}, floats = {0};
    INFC_TRY(check(call));
    INFC_TRY(infc_temp_folder(cx, &temp));
    INFC_TRY(program_make(call, temp, path, false, v->sets, &build, &binary));
    if (!v->alone)
        INFC_TRY(program_make(call, temp, v->reference ? v->reference : path, true, (infc_texts){0},
                              &floats, &reference));
    INFC_TRY(measure(call, binary, reference, &text));
    json_t *measured = json_loads(text, 0, NULL);
    if (!json_is_object(measured))
        return infc_fail(cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "`eval --json` printed no object: %.1000s", text);
    if (reference)
        json_object_set_new(measured, "reference",
                            json_sprintf("%s as f32, cache f16",
                                         infc_path_base(v->reference ? v->reference : path)));
    json_object_set_new(measured, "bits_per_parameter", json_real(bits_of(measured)));
    if (call->json) infc_json_put(measured, call->out);
    else print(measured, call->out);
    json_decref(measured);
    return INFC_OK;
}

#define FIELD(name) offsetof(values, name)
static const infc_option options[] = {
    {"data", 0, INFC_OPTION_TEXT, "F", FIELD(data), "the text, UTF-8"},
    {"tokens", 0, INFC_OPTION_NUMBER, "N", FIELD(tokens), "at most the first N tokens of it; default: all"},
    {"context", 0, INFC_OPTION_NUMBER, "N", FIELD(context),
     "tokens of a chunk; default 512, or the model's context where\nthat is less"},
    {"set", 0, INFC_OPTION_LIST, "KEY=VALUE", FIELD(sets), "a key of the spec, as in infc compile; not of floats"},
    {"against", 0, INFC_OPTION_TEXT, "SPEC|MODEL", FIELD(reference),
     "compare with this one as floats; default: with the same"},
    {"alone", 0, INFC_OPTION_FLAG, NULL, FIELD(alone), "perplexity alone, without a reference"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_eval = {
    .name = "eval",
    .operands = "SPEC|MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Compiles a language model for this machine, into a temporary folder, and says how "
             "well it predicts a text:\n"
             "perplexity; and, against the same model with weights and activations of f32 and a "
             "cache of f16, the\n"
             "Kullback-Leibler divergence of the next token's distribution (mean, nats) and how "
             "often the most likely\n"
             "token is the same. The text is cut into chunks, each computed with an empty cache; "
             "predictions of a\n"
             "chunk's second half are scored, as llama.cpp's perplexity does, so that figures "
             "stand side by side. What\n"
             "is left of the text is not used. The binary's own `eval` does the same for a model "
             "that is compiled.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(values),
    .examples = "  infc eval model.gguf --data text.txt\n"
                "  infc eval spec.yaml --data text.txt --tokens 4096 --set precision.weights=int4\n"
                "  infc eval q4.gguf --against f16.gguf --data text.txt --json | jq .kl\n",
    .run = run,
};
