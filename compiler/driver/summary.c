#include "../base/file.h"
#include "compile.h"
#include "json.h"
#include "table.h"
#include <string.h>

static const char *path_of(infc_cx *cx, const infc_built *built, const char *name) {
    return infc_path_join(cx->arena, built->dir, name);
}

static void size_row(infc_table *t, const char *what, const char *file, uint64_t bytes) {
    INFC_TABLE_ROW(t, what, infc_bytes_text(t->arena, bytes), file);
}

static void add_rows(infc_cx *cx, const infc_build *build, const infc_built *built, infc_table *t) {
    const infc_linked *l = &built->linked;
    const infc_plan *plan = &built->plan;
    infc_arena *arena = cx->arena;
    if (l->binary) size_row(t, "binary", path_of(cx, built, l->binary), l->binary_bytes);
    if (l->library) {
        const char *header = path_of(cx, built, built->emitted.header);
        const char *both = infc_arena_printf(arena, "%s, %s", path_of(cx, built, l->library), header);
        size_row(t, "static library", both, l->library_bytes);
    }
    size_row(t, "weights",
             l->weights           ? path_of(cx, built, l->weights)
             : build->spec.binary ? "inside; other ones of the same layout: run --weights FILE"
                                  : "inside",
             built->emitted.weights_bytes);
    size_row(t, "code and constants",
             infc_arena_printf(arena, "of the model, without weights (%s)", l->compiler),
             l->model.text + l->model.rodata);
    const char *bound = infc_bytes_text(arena, plan->arena_lower_bound);
    const char *sizes = infc_sizes_count(plan->sizes) ? " of the largest sizes" : "";
    size_row(t, "activation memory",
             infc_arena_printf(arena, "per run%s; no plan can do with less than %s", sizes, bound),
             plan->arena_bytes);
}

/* The program of a target, as one types it here. */
static const char *program_words(infc_cx *cx, const infc_built *built) {
    infc_buf out = {.arena = cx->arena};
    if (!infc_target_runs_here(built->target) && built->target->runner)
        infc_buf_printf(&out, "%s ", built->target->runner);
    if (!strchr(built->dir, '/')) infc_buf_puts(&out, "./");
    infc_buf_shell_word(&out, path_of(cx, built, built->linked.binary));
    return infc_buf_str(&out);
}

static void put_next(infc_cx *cx, const infc_build *build, infc_buf *out) {
    const infc_built *built = &build->targets[0];
    for (size_t i = 0; i < build->n_targets && !infc_target_runs_here(built->target); i++)
        if (infc_target_runs_here(build->targets[i].target)) built = &build->targets[i];
    infc_buf_puts(out, "\nNext:\n");
    if (built->linked.binary) {
        const char *program = program_words(cx, built);
        const char *input = build->spec.n_images ? build->spec.images[0].input : NULL;
        const char *ending = input ? "png" : "wav";
        if (!input && build->spec.n_audios) input = build->spec.audios[0].input;
        infc_buf_printf(out, "  %s run ", program);
        if (build->ir.llm)
            infc_buf_puts(out, build->ir.llm->tokenizer ? "--prompt TEXT" : "--tokens 1,2,3");
        else if (build->spec.n_texts)
            infc_buf_printf(out, "--input %s=\"hello\"", build->spec.texts[0].name);
        else if (input) infc_buf_printf(out, "--input %s=FILE.%s", input, ending);
        else infc_buf_puts(out, "--inputs F.npz");
        infc_buf_printf(out, "\n  %s bench\n", program);
    } else {
        infc_buf_puts(out, "  cc main.c -I ");
        infc_buf_shell_word(out, built->dir);
        infc_buf_puts(out, " ");
        infc_buf_shell_word(out, path_of(cx, built, built->linked.library));
        infc_buf_puts(out, "\n");
    }
}

/* What a bare model was compiled with: a spec that would do the same. */
static void put_defaults(const infc_build *build, infc_buf *out) {
    infc_buf text = {.arena = out->arena};
    if (build->spec.path) return;
    infc_spec_print(&build->spec, &text);
    infc_buf_puts(
        out, "No spec was given; these defaults were used (infc init writes them to a file):\n");
    for (const char *line = infc_buf_str(&text); *line;) {
        size_t n = strcspn(line, "\n");
        infc_buf_puts(out, "  ");
        infc_buf_put(out, line, n);
        infc_buf_puts(out, "\n");
        line += n + (line[n] == '\n');
    }
    infc_buf_puts(out, "\n");
}

void infc_summary_text(infc_cx *cx, const infc_build *build, infc_buf *out) {
    if (build->reached == INFC_REACHED_NOTHING) return;
    put_defaults(build, out);
    if (build->reached == INFC_REACHED_SOURCES) {
        for (size_t i = 0; i < build->n_targets; i++) {
            infc_buf_printf(out, "%s: C in %s; compile it anywhere with its build.sh or CMakeLists.txt\n",
                            build->targets[i].target->name, path_of(cx, &build->targets[i], "src"));
        }
        return;
    }
    for (size_t i = 0; i < build->n_targets; i++) {
        const infc_built *built = &build->targets[i];
        infc_table table = {.arena = cx->arena, .n_columns = 3, .right = 2};
        infc_buf_printf(out, "%s%s for %s\n", i ? "\n" : "", build->spec.name, built->target->name);
        add_rows(cx, build, built, &table);
        infc_table_print(&table, 2, out);
        if (!built->plan.check_hash && !built->plan.llm)
            infc_buf_puts(out, "  no self-check is recorded (a large model, tensors that are not "
                               "f32, or inputs that must fit)\n");
    }
    if (build->ir.llm && build->ir.llm->calibration)
        infc_buf_printf(out, "int4 weights calibrated on %s\n", build->ir.llm->calibration);
    infc_buf_printf(out, "compiled in %.2f s\n", build->seconds);
    put_next(cx, build, out);
}

static void put_target_json(infc_cx *cx, infc_json *j, const infc_build *build, const infc_built *built) {
    const infc_linked *l = &built->linked;
    infc_json_object(j, NULL);
    infc_json_text(j, "target", built->target->name);
    infc_json_text(j, "folder", built->dir);
    if (build->reached == INFC_REACHED_ARTEFACTS) {
        infc_json_text(j, "binary", l->binary ? path_of(cx, built, l->binary) : NULL);
        infc_json_u64(j, "binary_bytes", l->binary_bytes);
        infc_json_text(j, "library", l->library ? path_of(cx, built, l->library) : NULL);
        infc_json_u64(j, "library_bytes", l->library_bytes);
        infc_json_text(j, "weights", l->weights ? path_of(cx, built, l->weights) : NULL);
        infc_json_u64(j, "code_bytes", l->model.text + l->model.rodata);
        infc_json_text(j, "compiler", l->compiler);
        infc_json_u64(j, "objects", l->n_objects);
        infc_json_u64(j, "objects_from_cache", l->n_cached);
        infc_json_text(j, "report", path_of(cx, built, "report.json"));
    }
    infc_json_text(j, "header", path_of(cx, built, built->emitted.header));
    infc_json_u64(j, "weights_bytes", built->emitted.weights_bytes);
    infc_json_u64(j, "activation_bytes", built->plan.arena_bytes);
    infc_json_u64(j, "activation_lower_bound", built->plan.arena_lower_bound);
    infc_json_bool(j, "self_check", built->plan.check_hash != 0);
    infc_json_end(j);
}

void infc_summary_json(infc_cx *cx, const infc_build *build, infc_buf *out) {
    static const char *const reached[] = {"nothing", "sources", "artefacts"};
    infc_json j = {.out = out};
    infc_json_object(&j, NULL);
    infc_json_text(&j, "name", build->spec.name);
    infc_json_text(&j, "wrote", reached[build->reached]);
    if (!build->spec.path) { /* a spec that does what the defaults did */
        infc_buf defaults = {.arena = cx->arena};
        infc_spec_print(&build->spec, &defaults);
        infc_json_text(&j, "defaults", infc_buf_str(&defaults));
    }
    if (build->ir.llm && build->ir.llm->calibration)
        infc_json_text(&j, "calibration", build->ir.llm->calibration);
    infc_json_f64(&j, "seconds", build->seconds, 3);
    infc_json_array(&j, "targets");
    for (size_t i = 0; i < build->n_targets && build->reached != INFC_REACHED_NOTHING; i++)
        put_target_json(cx, &j, build, &build->targets[i]);
    infc_json_end(&j);
    infc_json_array(&j, "stages");
    for (size_t i = 0; i < build->n_timings; i++) {
        infc_json_object(&j, NULL);
        infc_json_text(&j, "stage", build->timings[i].stage);
        infc_json_text(&j, "target", build->timings[i].target);
        infc_json_f64(&j, "seconds", build->timings[i].seconds, 4);
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_json_end(&j);
}
