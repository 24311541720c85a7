/* compare_count.c - instructions by function: with a plugin of qemu that is compiled once and kept in the cache; of
 * WebAssembly by a script that makes the module count. */
#include "../base/cache.h"
#include "../base/file.h"
#include "../base/hash.h"
#include "../base/sort.h"
#include "../base/subprocess.h"
#include "../emit/embedded.h"
#include "check_run.h"
#include "compare.h"
#include "toolchain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE "templates/emulator/count_instructions.c"
/* What runs WebAssembly takes scripts, of which one counts. */
#define SCRIPTED "node "
#define SCRIPT_NAME "count_wasm.mjs"
/* What functions of templates/simd/ that are not inlined are called. */
#define VOCABULARY "v_"

/* The plugin as a file, or null where this machine's compiler cannot make it. */
static const char *plugin(infc_comparison *c) {
    infc_cx *cx = c->cx;
    infc_toolchain tools;
    infc_target host;
    const char *path = infc_path_join(cx->arena, c->temp, "count.so"),
               *from = infc_path_join(cx->arena, c->temp, "count.c");
    if (infc_file_exists(path)) return path;
    if (infc_target_parse(cx, INFC_NO_LOC, "host", &host) != INFC_OK) return NULL;
    if (infc_toolchain_find(cx, &host, &tools) != INFC_OK) return NULL;
    infc_buf key = {.arena = cx->arena};
    const infc_bytes *source = infc_embedded(SOURCE);
    infc_buf_printf(&key, "plugin %s\n", tools.cc.banner);
    infc_buf_put(&key, source->ptr, source->len);
    const char *hash = infc_hash_hex(cx->arena, infc_buf_bytes(&key));
    if (infc_cache_fetch(cx, hash, path)) return path;
    if (infc_file_write(cx, from, *source, 0644) != INFC_OK) return NULL;
    infc_words words = infc_toolchain_words(cx, &tools);
    infc_words_split(&words, "-shared -fPIC -O1 -o");
    infc_words_add(&words, path);
    infc_words_add(&words, from);
    infc_job job = {.argv = infc_words_argv(&words)};
    if (infc_jobs_run(cx, &job, 1, 1) != INFC_OK || job.exit_code != 0) return NULL;
    infc_cache_store(cx, hash, path);
    return path;
}

static int most_first(const void *a, const void *b) {
    const infc_function_count *x = a, *y = b;
    if (x->instructions != y->instructions) return x->instructions < y->instructions ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Lines "count name", then "end": what is cut off is not believed. */
static void read_counts(infc_comparison *c, infc_bytes text, infc_compared *out) {
    const char *at = (const char *)text.ptr, *end = at + text.len;
    double total = 0;
    bool whole = false;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) break;
        const char *line = infc_arena_copy_string(c->cx->arena, at, (size_t)(line_end - at));
        char *name;
        const uint64_t count = strtoull(line, &name, 10);
        at = line_end + 1;
        whole = strcmp(line, "end") == 0;
        if (whole || *name != ' ') continue;
        INFC_GROW(c->cx->arena, out->functions, out->n_functions, out->cap_functions);
        out->functions[out->n_functions++] = (infc_function_count){name + 1, count};
        total += (double)count;
    }
    if (!whole || total <= 0) return;
    infc_sort(out->functions, out->n_functions, sizeof *out->functions, most_first);
    out->measures[INFC_METRIC_instructions].now = total;
}

static bool by_script(const infc_target *target) {
    return strncmp(target->runner, SCRIPTED, strlen(SCRIPTED)) == 0;
}

/* Options of the emulator, or arguments of the script, that have functions of the model counted into `counts`. */
static infc_status counter_words(infc_comparison *c, const char *plugin_path, const char *counts,
                                 const infc_target *target, const char *folder, infc_words *words) {
    infc_arena *arena = c->cx->arena;
    const char *prefix = infc_arena_printf(arena, "%s_", c->model);
    if (by_script(target)) {
        const char *const args[] = {counts, prefix, VOCABULARY};
        infc_words_all(words, args, sizeof args / sizeof *args);
        return infc_file_write(c->cx, infc_path_join(arena, folder, SCRIPT_NAME),
                               *infc_embedded("templates/emulator/" SCRIPT_NAME), 0644);
    }
    infc_words_add(words, "-plugin");
    infc_words_add(words, infc_arena_printf(arena, "%s,out=%s,prefix=%s,prefix=" VOCABULARY,
                                            plugin_path, counts, prefix));
    return INFC_OK;
}

/* The command that runs `binary` and counts, in `folder` where the target has no program of its own. */
static infc_status count_words(infc_comparison *c, const char *plugin_path, const char *counts,
                               const char *binary, const char *inputs, const infc_target *target,
                               const char *folder, infc_words *words) {
    infc_words counter = {.arena = c->cx->arena};
    if (target->platform->check) INFC_TRY(infc_check_inputs(c->cx, target, inputs, folder));
    INFC_TRY(counter_words(c, plugin_path, counts, target, folder, &counter));
    if (target->platform->check) {
        const bool last = by_script(target);
        INFC_TRY(infc_check_words(c->cx, target, binary, last ? NULL : &counter, folder, words));
        if (last) infc_words_all(words, counter.items, counter.n);
        return INFC_OK;
    }
    const char *const args[] = {"run", "--inputs", inputs, "--threads", "1"};
    infc_words_split(words, target->runner);
    infc_words_all(words, counter.items, counter.n);
    infc_words_add(words, binary);
    infc_words_all(words, args, sizeof args / sizeof *args);
    infc_level_words(target, words);
    return INFC_OK;
}

/* Why not, in a few words, or null; then `do_this` about it. */
static const char *cannot_count(infc_comparison *c, const infc_target *target,
                                const char **out_plugin, const char **do_this) {
    *do_this = "no emulator is known for its instructions";
    if (!target->runner) return "(no emulator)";
    const char *name = infc_arena_copy_string(c->cx->arena, target->runner, strcspn(target->runner, " "));
    *do_this = infc_arena_printf(c->cx->arena, "apt-get install -y %s", target->platform->emulator_packages);
    if (!infc_program_find(c->cx->arena, name))
        return infc_arena_printf(c->cx->arena, "(no %s here)", name);
    *do_this = NULL;
    if (by_script(target)) return NULL;
    *out_plugin = plugin(c);
    if (*out_plugin) return NULL;
    *do_this = "no compiler here makes the plugin of qemu that counts; see infc doctor";
    return "(no plugin)";
}

infc_status infc_compare_count(infc_comparison *c, const char *binary, const char *inputs, infc_compared *out) {
    infc_arena *arena = c->cx->arena;
    const infc_target *target = &out->target;
    const char *path = NULL, *counts;
    infc_words words = {.arena = arena};
    infc_bytes text;
    out->uncounted = cannot_count(c, target, &path, &out->no_counter);
    if (out->uncounted) return INFC_OK;
    counts = infc_path_join(arena, out->temp, "count.txt");
    const char *folder = infc_path_join(arena, out->temp, "count");
    INFC_TRY(count_words(c, path, counts, binary, inputs, target, folder, &words));
    infc_progress(c->cx, "counting instructions of %s", target->name);
    infc_job job = {.argv = infc_words_argv(&words),
                    .cwd = target->platform->check ? folder : NULL,
                    .limit = c->spec->run_seconds};
    INFC_TRY(infc_jobs_run(c->cx, &job, 1, 1));
    out->uncounted = job.late ? "(it did not end)"
                     : job.exit_code > 128 ? infc_arena_printf(arena, "(signal %d)", job.exit_code - 128)
                                           : "(the counter failed)";
    if (job.exit_code != 0 || infc_file_try_map(counts, &text) != 0) return INFC_OK;
    read_counts(c, text, out);
    if (!isnan(out->measures[INFC_METRIC_instructions].now)) out->uncounted = NULL;
    infc_file_unmap(text);
    return INFC_OK;
}
