/* emit_build.c - what makes a library and a program of the emitted files without infc: the runtime's sources, a
 * shell script, CMake, and the files by which other builds find the library. */
#include "../base/file.h"
#include "embedded.h"
#include "emit_unit.h"
#include <string.h>

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Folders of the runtime that not every binary has. */
static bool is_needed(const infc_emit_unit *u, const char *path) {
    const bool llm = u->plan->llm != NULL, serves = infc_emit_serves(u);
    const struct {
        const char *folder;
        bool needed;
    } some[] = {{"runtime/llm/", llm},      {"runtime/text/", llm},
                {"runtime/app_llm/", llm},  {"runtime/serve_llm/", llm},
                {"runtime/serve/", serves}, {"runtime/serve_tensor/", serves && !llm}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (strncmp(path, some[i].folder, strlen(some[i].folder)) == 0) return some[i].needed;
    return true;
}

/* The bytes of all tensors that a run for a check holds at once: inputs, outputs, and one more, unpacked. */
static uint64_t check_heap(const infc_plan *plan) {
    uint64_t sum = plan->arena_bytes + plan->arena_bytes_per_worker + INFC_ALIGN, largest = 0;
    for (int i = 0; i < plan->n_inputs; i++)
        sum += infc_type_bytes(&plan->buffers[plan->inputs[i]].type) + INFC_ALIGN;
    for (int i = 0; i < plan->n_outputs; i++)
        sum += infc_type_bytes(&plan->buffers[plan->outputs[i]].type) + INFC_ALIGN;
    for (int i = 0; i < plan->n_buffers; i++) {
        const infc_plan_buffer *b = &plan->buffers[i];
        if (b->place != INFC_PLACE_WEIGHT && b->bytes > largest) largest = b->bytes;
    }
    return sum + largest + INFC_ALIGN;
}

/* Without an operating system: the program that a check runs in the emulator, if the spec asks for one. */
static infc_status emit_check(infc_emit_unit *u) {
    infc_arena *arena = u->cx->arena;
    const char *system = u->plan->target.platform->check;
    const char *const files[] = {"check_main.h", "check_os.h", "check_memory.c",
                                 infc_arena_printf(arena, "check_%s.c", system),
                                 infc_arena_printf(arena, "check_%s.ld", system)};
    const infc_expand_var heap = {
        "heap_bytes", infc_arena_printf(arena, "%llu", (unsigned long long)check_heap(u->plan))};
    infc_buf text = {.arena = arena};
    const char **sources = INFC_NEW(arena, const char *, 3);
    u->out->runtime_sources = sources;
    if (!u->spec || !u->spec->binary) return INFC_OK;
    sources[u->out->n_runtime_sources++] = infc_arena_printf(arena, "src/%s_check.c", u->name);
    INFC_TRY(infc_emit_skeleton(u, "NAME_check.c.in", &heap, 1, &text));
    INFC_TRY(infc_emit_write(u, sources[0], infc_buf_bytes(&text), 0644));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const infc_bytes *bytes =
            infc_embedded(infc_arena_printf(arena, "templates/emulator/%s", files[i]));
        const char *path = infc_arena_printf(arena, "src/infrt/%s", files[i]);
        if (!bytes) continue; /* not every linker needs a script */
        INFC_TRY(infc_emit_write(u, path, *bytes, 0644));
        if (ends_with(path, ".c")) sources[u->out->n_runtime_sources++] = path;
    }
    return INFC_OK;
}

/* Every file below runtime/ that the model needs into one folder, the server into another; infc_abi.h already stands
 * beside NAME.h. */
infc_status infc_emit_runtime(infc_emit_unit *u) {
    static const char prefix[] = "runtime/";
    if (u->plan->target.platform->check) return emit_check(u);
    infc_arena *arena = u->cx->arena;
    infc_buf main_text = {.arena = arena};
    size_t n = 0, n_serve = 0;
    const char **sources = INFC_NEW(arena, const char *, infc_embedded_n + 1),
               **serve = INFC_NEW(arena, const char *, infc_embedded_n);
    sources[n++] = infc_arena_printf(arena, "src/%s_main.c", u->name);
    if (infc_emit_serves(u))
        INFC_TRY(infc_dir_create(u->cx, infc_path_join(arena, u->dir, "src/serve")));
    INFC_TRY(infc_emit_skeleton(u, "NAME_main.c.in", NULL, 0, &main_text));
    INFC_TRY(infc_emit_write(u, sources[0], infc_buf_bytes(&main_text), 0644));
    for (size_t i = 0; i < infc_embedded_n; i++) {
        const infc_embedded_file *file = &infc_embedded_files[i];
        const char *base = infc_path_base(file->path);
        if (strncmp(file->path, prefix, sizeof prefix - 1) != 0 || strcmp(base, "infc_abi.h") == 0)
            continue;
        if (!is_needed(u, file->path)) continue;
        const bool serves = strncmp(file->path, "runtime/serve", 13) == 0;
        const char *path = infc_arena_printf(arena, "src/%s/%s", serves ? "serve" : "infrt", base);
        INFC_TRY(infc_emit_write(u, path, file->bytes, 0644));
        if (!ends_with(path, ".c")) continue;
        if (serves) serve[n_serve++] = path;
        else sources[n++] = path;
    }
    u->out->serve_sources = serve;
    u->out->n_serve_sources = n_serve;
    u->out->runtime_sources = sources;
    u->out->n_runtime_sources = n;
    return INFC_OK;
}

/* "src/infrt/session.c" -> "session.o". */
static const char *object_name(infc_arena *arena, const char *source) {
    const char *base = infc_path_base(source);
    return infc_arena_printf(arena, "%.*s.o", (int)strcspn(base, "."), base);
}

/* One compile line each; the objects are appended to `objects`. */
static void print_compiles(const infc_emit_unit *u, const char *const *sources, size_t n,
                           const char *flags, infc_buf *lines, infc_buf *objects) {
    for (size_t i = 0; i < n; i++) {
        const char *object = object_name(u->cx->arena, sources[i]);
        infc_buf_printf(lines, "%scompile %s %s $%s", lines->len ? "\n" : "", object, sources[i], flags);
        infc_buf_printf(objects, "%s\"$objects/%s\"", objects->len ? " " : "", object);
    }
}

/* "a b c" with `strip` cut off their front. */
static const char *names(infc_arena *arena, const char *const *sources, size_t n, const char *joint) {
    infc_buf out = {.arena = arena};
    for (size_t i = 0; i < n; i++)
        infc_buf_printf(&out, "%s%s", i ? joint : "",
                        sources[i] + (strncmp(sources[i], "src/", 4) == 0 ? 4 : 0));
    return infc_buf_str(&out);
}

static infc_status write_one(infc_emit_unit *u, const char *skeleton, const char *path,
                             unsigned mode, const infc_expand_var *vars, size_t n_vars) {
    infc_buf text = {.arena = u->cx->arena};
    INFC_TRY(infc_emit_skeleton(u, skeleton, vars, n_vars, &text));
    return infc_emit_write(u, path, infc_buf_bytes(&text), mode);
}

infc_status infc_emit_build(infc_emit_unit *u) {
    infc_arena *arena = u->cx->arena;
    const infc_emitted *out = u->out;
    infc_buf lines = {.arena = arena}, library = {.arena = arena};
    infc_buf level_flags = {.arena = arena}, level_sources = {.arena = arena},
             level_properties = {.arena = arena};
    print_compiles(u, out->model_sources, out->n_model_sources, "model", &lines, &library);
    for (size_t i = 0; i < out->n_levels; i++) {
        const infc_emitted_level *level = &out->levels[i];
        const char *sources = names(arena, level->sources, level->n_sources, " "),
                   *cflags = level->target->cflags;
        const char *variable = infc_arena_printf(arena, "level%zu", i + 1);
        print_compiles(u, level->sources, level->n_sources, variable, &lines, &library);
        infc_buf_printf(&level_flags, "%s='%s %s'\n", variable, infc_emit_cflags(level->target), cflags);
        infc_buf_printf(&level_sources, " %s", sources);
        infc_buf_printf(&level_properties, "set_source_files_properties(%s PROPERTIES COMPILE_FLAGS \"%s\")\n",
                        sources, cflags);
    }
    print_compiles(u, out->baseline_sources, out->n_baseline_sources, "baseline", &lines, &library);
    if (out->weights_asm) print_compiles(u, &out->weights_asm, 1, "baseline", &lines, &library);
    const bool tls = u->spec && u->spec->serve.tls;
    const char *assembly = out->weights_asm ? infc_arena_printf(arena, " %s_weights.S", u->name) : "";
    const infc_expand_var vars[] = {
        {"compile_lines", infc_buf_str(&lines)},
        {"library_objects", infc_buf_str(&library)},
        {"level_flags", infc_buf_str(&level_flags)},
        {"level_sources", infc_buf_str(&level_sources)},
        {"level_properties", infc_buf_str(&level_properties)},
        {"model_sources", names(arena, out->model_sources, out->n_model_sources, " ")},
        {"baseline_sources", names(arena, out->baseline_sources, out->n_baseline_sources, " ")},
        {"runtime_sources", names(arena, out->runtime_sources, out->n_runtime_sources, "\n    ")},
        {"serve_sources", names(arena, out->serve_sources, out->n_serve_sources, "\n      ")},
        {"tls", tls ? "1" : "0"},
        {"has_asm", out->weights_asm ? "1" : "0"},
        {"asm_source", assembly},
        {"cflags", infc_emit_cflags(&u->plan->target)},
        {"program", u->plan->target.platform->check ? "0" : "1"},
        {"default_cc", u->plan->target.platform->check ? infc_arena_printf(arena, "clang-22 --target=%s",
                                                                           u->plan->target.platform->triple)
                                                       : "cc"},
        {"and_program",
         u->plan->target.platform->check ? "" : infc_arena_printf(arena, " and the program %s", u->name)},
        {"runtime_cflags", INFC_EMIT_RUNTIME_CFLAGS},
        {"ldflags", INFC_EMIT_LDFLAGS},
        {"target_cflags", u->plan->target.cflags},
        {"baseline_cflags", out->baseline_cflags},
    };
    const size_t n = sizeof vars / sizeof *vars;
    INFC_TRY(write_one(u, "build.sh.in", "src/build.sh", 0755, vars, n));
    INFC_TRY(write_one(u, "CMakeLists.txt.in", "src/CMakeLists.txt", 0644, vars, n));
    INFC_TRY(write_one(u, "NAME-config.cmake.in",
                       infc_arena_printf(arena, "%s-config.cmake", u->name), 0644, vars, n));
    return write_one(u, "NAME.pc.in", infc_arena_printf(arena, "%s.pc", u->name), 0644, vars, n);
}
