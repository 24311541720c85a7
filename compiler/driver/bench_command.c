#include "../../targets/target_levels.h"
#include "../base/file.h"
#include "built_folder.h"
#include "command.h"
#include "json.h"
#include "table.h"
#include <string.h>

typedef struct values {
    bool json;
    double seconds, threads; /* 0: not given */
    const char *weights;
} values;

/* The binary and the target it was compiled for; a binary that stands alone tells its architecture. */
static infc_status find_binary(infc_cx *cx, const char *path, const char **binary, infc_target *target) {
    infc_built_folder built;
    if (!infc_dir_exists(path)) {
        *binary = path;
        return infc_binary_identify(cx, path, target);
    }
    INFC_TRY(infc_built_folder_open(cx, path, &built));
    *binary = built.binary;
    *target = built.target;
    if (built.binary) return infc_manifest_check(cx, &built.manifest, built.binary_file);
    return infc_fail(
        cx, INFC_ERR_SPEC, (infc_loc){.file = path},
        "there is no binary here, only a library; compile with --set output.kinds=[binary]");
}

static infc_status measure(infc_cx *cx, const values *v, const char *binary,
                           const infc_target *target, const char *level, json_t **out) {
    infc_words args = {.arena = cx->arena};
    int exit_code;
    const char *output;
    json_error_t error;
    infc_words_split(&args, "bench --json");
    if (level) {
        infc_words_add(&args, "--level");
        infc_words_add(&args, level);
    }
    if (v->seconds > 0)
        infc_words_split(&args, infc_arena_printf(cx->arena, "--seconds %g", v->seconds));
    if (v->threads > 0)
        infc_words_split(&args, infc_arena_printf(cx->arena, "--threads %g", v->threads));
    if (v->weights) {
        infc_words_add(&args, "--weights");
        infc_words_add(&args, v->weights);
    }
    infc_progress(cx, "measuring %s", binary);
    INFC_TRY(infc_binary_run(cx, target, binary, args.items, args.n, &exit_code, &output));
    infc_loc loc = {.file = binary};
    if (exit_code != 0) return infc_binary_failed(cx, loc, "bench", exit_code, output);
    *out = json_loads(output, 0, &error);
    if (!json_is_object(*out))
        return infc_fail(cx, INFC_ERR_MODEL, loc,
                         "not a binary that infc made: `bench --json` printed no JSON object");
    return INFC_OK;
}

static double number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static const char *time_text(infc_arena *arena, double ns) {
    if (ns < 1e4) return infc_arena_printf(arena, "%.0f ns", ns);
    if (ns < 1e7) return infc_arena_printf(arena, "%.1f us", ns / 1e3);
    return infc_arena_printf(arena, "%.2f ms", ns / 1e6);
}

static void print_text(infc_arena *arena, const json_t *b, const char *how, infc_buf *out) {
    infc_table table = {.arena = arena, .n_columns = 6, .right = 7};
    size_t i;
    json_t *step;
    infc_buf_printf(out, "%s for %s, %s, %.0f worker%s, %.0f runs\n", infc_json_text_of(b, "model"),
                    infc_json_text_of(b, "target"), how, number_of(b, "workers"),
                    number_of(b, "workers") > 1 ? "s" : "", number_of(b, "runs"));
    infc_buf_printf(out, "p50 %s   p95 %s   p99 %s   fastest %s   %.2f GFLOP/s\n\n",
                    time_text(arena, number_of(b, "p50_ns")),
                    time_text(arena, number_of(b, "p95_ns")), time_text(arena, number_of(b, "p99_ns")),
                    time_text(arena, number_of(b, "min_ns")), number_of(b, "gflops"));
    INFC_TABLE_ROW(&table, "share", "time", "GFLOP/s", "step", "kernel", "node");
    json_array_foreach(json_object_get(b, "steps"), i, step) {
        INFC_TABLE_ROW(&table, infc_arena_printf(arena, "%.1f %%", 100 * number_of(step, "share")),
                       time_text(arena, number_of(step, "ns")),
                       infc_arena_printf(arena, "%.2f", number_of(step, "gflops")),
                       infc_json_text_of(step, "name"), infc_json_text_of(step, "kernel"),
                       infc_json_text_of(step, "node"));
    }
    infc_table_print(&table, 0, out);
}

/* A language model: what its prompts and answers take. */
static void print_llm(infc_arena *arena, const json_t *b, const char *how, infc_buf *out) {
    infc_buf_printf(out, "%s (%s, cache %s) for %s, %s, %.0f worker%s\n",
                    infc_json_text_of(b, "model"), infc_json_text_of(b, "format"),
                    infc_json_text_of(b, "kv_format"), infc_json_text_of(b, "isa"), how,
                    number_of(b, "workers"), number_of(b, "workers") > 1 ? "s" : "");
    infc_buf_printf(out, "prompt of %.0f tokens: %.1f tokens/s, first token after %s\n",
                    number_of(b, "prompt_tokens"), number_of(b, "prompt_tokens_per_second"),
                    time_text(arena, number_of(b, "first_token_p50_ns")));
    infc_buf_printf(out, "answers of %.0f tokens, %.0f at a time: %.1f tokens/s; a step p50 %s   p95 %s   fastest %s\n",
                    number_of(b, "answer_tokens"), number_of(b, "batch"),
                    number_of(b, "answer_tokens_per_second"),
                    time_text(arena, number_of(b, "per_token_p50_ns")),
                    time_text(arena, number_of(b, "per_token_p95_ns")),
                    time_text(arena, number_of(b, "per_token_min_ns")));
}

/* The names of a program's levels, oldest first; none: null. */
static infc_status levels_of(infc_cx *cx, const char *binary, const infc_target *target, json_t **out) {
    const char *const args[] = {"info", "--json"};
    const char *output;
    int exit_code;
    INFC_TRY(infc_binary_run(cx, target, binary, args, 2, &exit_code, &output));
    json_t *info = exit_code == 0 ? json_loads(output, 0, NULL) : NULL;
    *out = json_incref(json_object_get(info, "levels"));
    json_decref(info);
    return INFC_OK;
}

/* Each level by itself; what the CPU lacks of one is told in its place. The last that was measured is `out`. */
static infc_status measure_levels(infc_cx *cx, const values *v, const char *binary,
                                  const infc_target *target, const json_t *names, json_t **out) {
    json_t *all = json_array(), *name;
    size_t i;
    json_array_foreach(names, i, name) {
        json_t *one = NULL;
        const size_t mark = cx->n_diags;
        if (measure(cx, v, binary, target, json_string_value(name), &one) == INFC_OK) {
            json_decref(*out);
            *out = json_deep_copy(one);
        } else {
            one = json_pack("{s:O,s:s}", "target", name, "not_run", cx->diags[mark].text);
            infc_diags_take(cx, mark);
        }
        json_array_append_new(all, one);
    }
    if (!*out) { /* none: as without levels */
        json_decref(all);
        return measure(cx, v, binary, target, NULL, out);
    }
    json_object_set_new(*out, "levels", all);
    return INFC_OK;
}

/* Those of a model that answers with tensors or with text. */
static const char *level_time(infc_arena *arena, const json_t *level) {
    const double tokens = number_of(level, "answer_tokens_per_second");
    if (tokens > 0) return infc_arena_printf(arena, "%.1f tokens/s", tokens);
    return infc_arena_printf(arena, "p50 %s", time_text(arena, number_of(level, "p50_ns")));
}

static void print_levels(infc_arena *arena, const json_t *levels, infc_buf *out) {
    infc_table table = {.arena = arena, .n_columns = 2};
    size_t i;
    json_t *level;
    json_array_foreach(levels, i, level) {
        const char *why = json_string_value(json_object_get(level, "not_run"));
        INFC_TABLE_ROW(&table, infc_json_text_of(level, "target"), why ? why : level_time(arena, level));
    }
    infc_table_print(&table, 0, out);
    infc_buf_puts(out, json_array_size(levels) ? "\n" : "");
}

static infc_status run(infc_call_cx *call) {
    infc_cx *cx = call->cx;
    const values *v = call->args.values;
    const char *binary = NULL;
    infc_target target;
    json_t *measured = NULL, *levels = NULL;
    INFC_TRY(find_binary(cx, call->args.operands[0], &binary, &target));
    INFC_TRY(levels_of(cx, binary, &target, &levels));
    const infc_status status = levels ? measure_levels(cx, v, binary, &target, levels, &measured)
                                      : measure(cx, v, binary, &target, NULL, &measured);
    if (status == INFC_OK && call->json) infc_json_put(measured, call->out);
    else if (status == INFC_OK) {
        print_levels(cx->arena, json_object_get(measured, "levels"), call->out);
        (json_object_get(measured, "prompt_tokens_per_second") ? print_llm : print_text)(
            cx->arena, measured, infc_runner_text(cx->arena, &target), call->out);
    }
    json_decref(measured);
    json_decref(levels);
    return status;
}

static const infc_option options[] = {
    {"seconds", 0, INFC_OPTION_NUMBER, "S", offsetof(values, seconds), "measure for S seconds; default 1"},
    {"threads", 0, INFC_OPTION_NUMBER, "N", offsetof(values, threads), "workers; default: what the binary chooses"},
    {"weights", 0, INFC_OPTION_TEXT, "F", offsetof(values, weights), "other weights of the same layout"},
    INFC_OPTION_JSON,
};

const infc_command infc_command_bench = {
    .name = "bench",
    .operands = "DIR|BINARY",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Runs the `bench` of a compiled binary, natively or, for another instruction set, "
             "under its emulator (then\n"
             "the times say little). Prints the latency of a run after warm-up - p50, p95, p99 - "
             "and for each step\n"
             "its share of the time, its kernel and the nodes of the model it stands for. Of a "
             "program with several\n"
             "levels each that the CPU has is measured, and the steps are those of the newest.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(values),
    .examples = "  infc bench build\n"
                "  infc bench build/digits --threads 1 --seconds 5\n"
                "  infc bench build --json | jq .p99_ns\n",
    .run = run,
};
