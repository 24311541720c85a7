#include "link.h"
#include "../base/file.h"
#include "../base/subprocess.h"
#include "archive.h"
#include "elf_object.h"
#include "objects.h"
#include "serve_libraries.h"
#include "stack_bound.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A binary's weights are the payload at its end, or a file: none in its data. */
#define NO_EMBEDDED_WEIGHTS " -DINFC_NO_EMBEDDED_WEIGHTS"
enum {
    MODEL,
    LIBRARY_BASELINE,
    BINARY_BASELINE,
    WEIGHTS,
    RUNTIME,
    SERVE,
    LEVELS,
    N_SETS = LEVELS + INFC_MOST_LEVELS
};
enum { N_LARGE = 4 }; /* binary, the one with names, library, weights */

typedef struct linking {
    infc_cx *cx;
    const infc_spec *spec;
    const infc_target *target;
    const infc_emitted *emitted;
    const char *dir, *before;
    infc_toolchain tools;
    infc_serve_libraries serve; /* none: the program has no server */
    infc_objects objects[N_SETS];
    infc_pieces_file large[N_LARGE]; /* have the weights: written when all is linked */
    size_t n_large;
    infc_linked *out;
} linking;

static char *in_dir(const linking *l, const char *name) {
    return infc_path_join(l->cx->arena, l->dir, name);
}

/* Where an earlier compile put the file. */
static const char *before(const linking *l, const char *name) {
    return l->before ? infc_path_join(l->cx->arena, l->before, name) : NULL;
}

static uint64_t file_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static void add_large(linking *l, const infc_pieces *pieces, const char *name, unsigned mode) {
    l->large[l->n_large++] = (infc_pieces_file){*pieces, in_dir(l, name), before(l, name), mode};
}

/* The compiler with the flags of one kind of source. */
static infc_words *compiler_words(linking *l, const char *target_flags, const char *flags) {
    infc_words *words = INFC_NEW(l->cx->arena, infc_words, 1);
    *words = infc_toolchain_words(l->cx, &l->tools);
    infc_words_split(words, target_flags);
    infc_words_split(words, flags);
    return words;
}

static infc_status compile_objects(linking *l) {
    const infc_emitted *e = l->emitted;
    bool library = l->spec->static_library, binary = l->spec->binary;
    const char *base = e->baseline_cflags, *flags = infc_emit_cflags(l->target);
    const bool alone = l->target->platform->check; /* its library is all there is */
    const bool table = e->n_levels > 0;            /* of levels, through which a run goes */
    infc_objects *o = l->objects;
    o[MODEL] = (infc_objects){.cc = compiler_words(l, l->target->cflags, flags),
                              .folder = INFC_OBJECTS_FOLDER "/model",
                              .sources = e->model_sources,
                              .with_frames = true,
                              .n = e->n_model_sources};
    o[LIBRARY_BASELINE] = (infc_objects){.cc = compiler_words(l, base, flags),
                                         .folder = INFC_OBJECTS_FOLDER "/library",
                                         .sources = e->baseline_sources,
                                         .with_frames = table,
                                         .n = library || alone ? e->n_baseline_sources : 0};
    o[BINARY_BASELINE] = (infc_objects){.cc = compiler_words(l, base, INFC_EMIT_CFLAGS NO_EMBEDDED_WEIGHTS),
                                        .folder = INFC_OBJECTS_FOLDER "/binary",
                                        .sources = e->baseline_sources,
                                        .with_frames = table,
                                        .n = binary && !alone ? e->n_baseline_sources : 0};
    o[WEIGHTS] = (infc_objects){.cc = compiler_words(l, base, ""),
                                .folder = INFC_OBJECTS_FOLDER "/weights",
                                .sources = (const char *const *)&e->weights_asm,
                                .n = e->weights_asm && alone};
    o[RUNTIME] = (infc_objects){.cc = compiler_words(l, base, INFC_EMIT_RUNTIME_CFLAGS),
                                .folder = INFC_OBJECTS_FOLDER "/infrt",
                                .sources = e->runtime_sources,
                                .n = binary ? e->n_runtime_sources : 0};
    const char *tls = l->spec->serve.tls ? INFC_EMIT_RUNTIME_CFLAGS " -DINFRT_SERVE_TLS" : NULL;
    o[SERVE] = (infc_objects){.cc = tls ? compiler_words(l, base, tls) : o[RUNTIME].cc,
                              .folder = INFC_OBJECTS_FOLDER "/serve",
                              .sources = e->serve_sources,
                              .n = l->serve.n ? e->n_serve_sources : 0};
    for (size_t i = 0; i < e->n_levels; i++) { /* beside MODEL, which is the oldest */
        const char *token = infc_arena_printf(l->cx->arena, INFC_OBJECTS_FOLDER "/level%zu", i + 1);
        o[LEVELS + i] = (infc_objects){.cc = compiler_words(l, e->levels[i].target->cflags, flags),
                                       .folder = token,
                                       .sources = e->levels[i].sources,
                                       .with_frames = true,
                                       .n = e->levels[i].n_sources};
    }
    const size_t n_sets = LEVELS + e->n_levels;
    for (size_t i = 0; i < n_sets; i++) l->out->n_objects += o[i].n;
    infc_progress(l->cx, "%s: compiling %zu files with %s", l->target->name, l->out->n_objects,
                  l->tools.cc.label);
    INFC_TRY(infc_objects_compile(l->cx, &l->tools.cc, l->dir, o, n_sets));
    for (size_t i = 0; i < n_sets; i++) l->out->n_cached += o[i].n_cached;
    return INFC_OK;
}

static void add_sizes(infc_object_sizes *to, const infc_object_sizes *more) {
    to->text += more->text;
    to->rodata += more->rodata;
    to->data += more->data;
    to->bss += more->bss;
}

static infc_status measure_objects(linking *l, const infc_objects *objects,
                                   infc_object_sizes *sizes, infc_stack *stack) {
    for (size_t i = 0; i < objects->n; i++) {
        INFC_TRY(infc_object_sizes_add(l->cx, in_dir(l, objects->names[i]), sizes));
        if (objects->with_frames)
            INFC_TRY(infc_stack_add(stack, in_dir(l, objects->names[i]), in_dir(l, objects->frames[i])));
    }
    return INFC_OK;
}

/* Of a run: with levels, of what comes before the table that the level is called through, and of its entry. */
static uint64_t stack_of(linking *l, infc_stack *stack, size_t level) {
    const infc_emitted *e = l->emitted;
    const char *const names[] = {"run", "call"};
    uint64_t before, entry = stack->red_zone;
    if (e->n_levels && !infc_stack_bound(stack, level ? e->levels[level - 1].entry : e->entry, &entry))
        return 0;
    for (int i = 0; i < 2; i++)
        if (infc_stack_bound(stack, infc_arena_printf(l->cx->arena, "%s_%s", l->spec->name, names[i]), &before))
            return before + entry - stack->red_zone;
    return 0;
}

/* What a program gets that links the library, weights left out. */
static infc_status measure_model(linking *l, bool with_mix) {
    const int baseline = l->objects[LIBRARY_BASELINE].n ? LIBRARY_BASELINE : BINARY_BASELINE;
    const bool x86 = strcmp(l->target->platform->arch, "x86_64") == 0;
    const size_t n = l->emitted->n_levels + 1;
    infc_stack stack = {.cx = l->cx, .return_bytes = x86 ? 8 : 0, .red_zone = x86 ? 128 : 0};
    infc_object_sizes shared = {0};
    INFC_TRY(measure_objects(l, &l->objects[baseline], &shared, &stack));
    l->out->model = shared;
    for (size_t s = 0; s < n; s++) {
        const infc_objects *model = &l->objects[s ? LEVELS + s - 1 : MODEL];
        infc_linked_level *level = &l->out->levels[s];
        INFC_TRY(measure_objects(l, model, &level->model, &stack));
        add_sizes(&l->out->model, &level->model);
        add_sizes(&level->model, &shared);
        for (size_t i = 0; with_mix && i < model->n; i++)
            INFC_TRY(infc_code_mix_add(l->cx, l->target, in_dir(l, model->names[i]), &level->mix));
    }
    bool known = true;
    for (size_t s = 0; s < n; s++) {
        infc_linked_level *level = &l->out->levels[s];
        level->stack = stack_of(l, &stack, s);
        known &= level->stack > 0;
        if (level->stack > l->out->stack) l->out->stack = level->stack;
    }
    if (!known) l->out->stack = 0;
    return INFC_OK;
}

static void add_objects(const linking *l, infc_words *w, int set) {
    infc_words_all(w, l->objects[set].names, l->objects[set].n);
}

static infc_status archive_objects(linking *l, infc_archive *archive, int set) {
    for (size_t i = 0; i < l->objects[set].n; i++)
        INFC_TRY(infc_archive_add_object(archive, in_dir(l, l->objects[set].names[i])));
    return INFC_OK;
}

/* What NAME_weights.S makes, without an assembler that would hold it. */
static infc_status archive_weights(linking *l, infc_archive *archive) {
    infc_elf like;
    infc_arena *arena = l->cx->arena;
    INFC_TRY(infc_elf_open(l->cx, in_dir(l, l->objects[LIBRARY_BASELINE].names[0]), &like));
    const char *symbol = infc_arena_printf(arena, "%s_weights_data", l->spec->name);
    const char *section = infc_arena_printf(arena, ".rodata.%s_weights", l->spec->name);
    const infc_bytes head = infc_elf_data_head(arena, &like, section, symbol, l->emitted->weights_bytes);
    return infc_archive_add_data(archive, "weights.o", head, in_dir(l, l->emitted->weights_file), symbol);
}

static infc_status make_library(linking *l) {
    infc_archive archive = {.cx = l->cx};
    infc_pieces pieces;
    const char *name = infc_arena_printf(l->cx->arena, "lib%s.a", l->spec->name);
    for (int set = LEVELS; set < N_SETS; set++) INFC_TRY(archive_objects(l, &archive, set));
    INFC_TRY(archive_objects(l, &archive, MODEL));
    INFC_TRY(archive_objects(l, &archive, LIBRARY_BASELINE));
    INFC_TRY(archive_objects(l, &archive, WEIGHTS));
    if (l->emitted->weights_asm && !l->objects[WEIGHTS].n) INFC_TRY(archive_weights(l, &archive));
    INFC_TRY(infc_archive_pieces(&archive, &pieces));
    add_large(l, &pieces, name, 0644);
    l->out->library = name;
    return INFC_OK;
}

static infc_status link_program(linking *l, bool named, const char *to) {
    const char *check = l->target->platform->check;
    infc_words *w = compiler_words(l, l->target->cflags, check ? l->tools.check_flags : "-Wl,--build-id=none");
    if (l->tools.cross && !check)
        infc_words_split(w, named ? "-static" : "-static -s"); /* names are a fifth of it */
    infc_words_add(w, "-o");
    infc_words_add(w, to);
    add_objects(l, w, RUNTIME);
    add_objects(l, w, SERVE);
    for (int set = LEVELS; set < N_SETS; set++) add_objects(l, w, set);
    add_objects(l, w, MODEL);
    add_objects(l, w, check ? LIBRARY_BASELINE : BINARY_BASELINE);
    add_objects(l, w, WEIGHTS);
    infc_words_all(w, l->serve.paths, l->serve.n);
    infc_words_split(w, check ? "-Wl,--gc-sections" : INFC_EMIT_LDFLAGS);
    infc_job job = {.argv = infc_words_argv(w), .cwd = l->dir, .temp = INFC_OBJECTS_TEMP};
    INFC_TRY(infc_jobs_run(l->cx, &job, 1, 1));
    if (job.exit_code == 0) return INFC_OK;
    const char *hint = infc_full_hint(job.output);
    return infc_fail(l->cx, INFC_ERR_TOOLCHAIN, (infc_loc){.file = l->spec->name},
                     "%s failed (exit %d)%s:\n%.4000s", w->items[0], job.exit_code, hint, job.output);
}

/* The program, zeros to a page, the weights, the footer: one file that maps its own end. */
static void append_payload(linking *l, const char *program, const char *name) {
    enum { PAGE = 1 << 16 }; /* the largest page of the targets */
    static const uint8_t zeros[PAGE];
    const size_t page = strcmp(l->target->platform->arch, "aarch64") == 0 ? PAGE : 4096;
    const uint64_t bytes = file_bytes(program), padding = (page - bytes % page) % page;
    infc_payload_footer *footer = INFC_NEW(l->cx->arena, infc_payload_footer, 1);
    *footer = (infc_payload_footer){.offset = bytes + padding,
                                    .bytes = l->emitted->weights_bytes,
                                    .layout_hash = l->emitted->layout_hash};
    memcpy(footer->magic, INFC_PAYLOAD_MAGIC, sizeof footer->magic);
    infc_pieces pieces = {.arena = l->cx->arena};
    infc_pieces_add_file(&pieces, program);
    infc_pieces_add_bytes(&pieces, (infc_bytes){zeros, (size_t)padding});
    infc_pieces_add_file(&pieces, in_dir(l, l->emitted->weights_file));
    infc_pieces_add_bytes(&pieces, (infc_bytes){(const uint8_t *)footer, sizeof *footer});
    add_large(l, &pieces, name, 0755);
}

static infc_status make_program(linking *l, bool named, const char *name) {
    const char *program = named ? INFC_OBJECTS_FOLDER "/program.named" : INFC_OBJECTS_FOLDER "/program";
    INFC_TRY(link_program(l, named, program));
    bool payload = l->emitted->weights_bytes > 0 && !l->spec->weights_file && !l->target->platform->check;
    if (payload) append_payload(l, in_dir(l, program), name);
    else if (rename(in_dir(l, program), in_dir(l, name)) < 0) {
        return infc_fail(l->cx, INFC_ERR_IO, (infc_loc){.file = name}, "cannot move the binary into place");
    }
    return INFC_OK;
}

static infc_status make_binary(linking *l, bool with_names) {
    const char *name = l->spec->name;
    INFC_TRY(make_program(l, false, name));
    l->out->binary = l->out->named = name;
    if (!with_names || !l->tools.cross || l->target->platform->check) return INFC_OK;
    l->out->named = infc_arena_printf(l->cx->arena, "%s.named", name);
    return make_program(l, true, l->out->named);
}

/* output.weights: file */
static void place_weights(linking *l) {
    const char *name = infc_arena_printf(l->cx->arena, "%s.weights", l->spec->name);
    infc_pieces pieces = {.arena = l->cx->arena};
    l->out->weights = name;
    infc_pieces_add_file(&pieces, in_dir(l, l->emitted->weights_file));
    add_large(l, &pieces, name, 0644);
}

infc_status infc_link(infc_cx *cx, const infc_spec *spec, const infc_target *target, const infc_emitted *emitted,
                      const char *dir, const char *before_dir, bool with_names, infc_linked *out) {
    linking l = {.cx = cx, .spec = spec, .target = target, .emitted = emitted, .dir = dir, .before = before_dir};
    l.out = out;
    *out = (infc_linked){0};
    INFC_TRY(infc_toolchain_find(cx, target, &l.tools));
    out->compiler = l.tools.cc.label;
    if (spec->binary && emitted->n_serve_sources)
        INFC_TRY(infc_serve_libraries_find(cx, spec, target, &l.tools, &l.serve));
    out->serves = l.serve.n > 0;
    INFC_TRY(infc_dir_create(cx, in_dir(&l, INFC_OBJECTS_TEMP)));
    INFC_TRY(compile_objects(&l));
    INFC_TRY(measure_model(&l, with_names));
    if (spec->binary) INFC_TRY(make_binary(&l, with_names));
    if (spec->static_library) INFC_TRY(make_library(&l));
    if (spec->weights_file && emitted->weights_bytes > 0) place_weights(&l);
    INFC_TRY(infc_pieces_write(cx, l.large, l.n_large));
    if (out->binary) out->binary_bytes = file_bytes(in_dir(&l, out->binary));
    if (out->library) out->library_bytes = file_bytes(in_dir(&l, out->library));
    const char *objects = in_dir(&l, INFC_OBJECTS_FOLDER);
    infc_file_let_go(cx, objects);
    infc_dir_remove(objects);
    return INFC_OK;
}
