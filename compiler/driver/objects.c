/* The key of an object is a hash of everything its bytes follow from: the compiler's own words about its version,
 * its arguments, the source and, recursively, every file it includes by "name", without their comments: a licence or
 * the name of the model's file costs no compile. System headers are covered by the versions of compiler and libc.
 * Nothing in it names the folder, so that it is the same for every checkout. */
#include "objects.h"
#include "../base/c_text.h"
#include "../base/cache.h"
#include "../base/file.h"
#include "../base/hash.h"
#include "../base/map.h"
#include "../base/subprocess.h"
#include "../emit/emit.h"
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INCLUDES = 1000, SHOWN_LINES = 30 };

typedef struct scan {
    infc_cx *cx;
    const char *dir;
    infc_words includes; /* -IDIR */
    infc_buf *key;
    infc_map *seen;
} scan;

/* The name in `#include "name"`, or null. */
static const char *included_name(infc_arena *arena, const char *line, size_t length) {
    const char *end = line + length, *p = line;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    if (p == end || *p++ != '#') return NULL;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    if ((size_t)(end - p) < 8 || memcmp(p, "include", 7) != 0) return NULL;
    p += 7;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    if (p == end || *p++ != '"') return NULL;
    const char *quote = memchr(p, '"', (size_t)(end - p));
    return quote ? infc_arena_copy_string(arena, p, (size_t)(quote - p)) : NULL;
}

static infc_status scan_file(scan *s, const char *name);

static infc_status scan_include(scan *s, const char *from, const char *name) {
    infc_arena *arena = s->cx->arena;
    const char *found = infc_path_join(arena, infc_path_dir(arena, from), name);
    bool exists = infc_file_exists(infc_path_join(arena, s->dir, found));
    for (size_t i = 0; !exists && i < s->includes.n; i++) {
        found = infc_path_join(arena, s->includes.items[i] + strlen("-I"), name);
        exists = infc_file_exists(infc_path_join(arena, s->dir, found));
    }
    if (!exists || infc_map_find(s->seen, found, NULL))
        return INFC_OK; /* absent: the compiler will say so */
    return scan_file(s, found);
}

/* Adds the file and what it includes to the key. */
static infc_status scan_file(scan *s, const char *name) {
    infc_bytes text;
    if (s->seen->n >= MAX_INCLUDES) {
        return infc_fail(s->cx, INFC_ERR_INTERNAL, (infc_loc){.file = name},
                         "more than %d files include each other", (int)MAX_INCLUDES);
    }
    infc_map_put(s->seen, name, 1);
    INFC_TRY(infc_file_map(s->cx, infc_path_join(s->cx->arena, s->dir, name), &text));
    infc_buf_printf(s->key, "\nfile %s %s", name,
                    infc_hash_hex(s->cx->arena, infc_c_without_comments(s->cx->arena, text)));
    const char *p = (const char *)text.ptr, *end = p + text.len;
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = newline ? (size_t)(newline - p) : (size_t)(end - p);
        const char *included = included_name(s->cx->arena, p, length);
        if (included) INFC_TRY(scan_include(s, name, included));
        p += length + 1;
    }
    return INFC_OK;
}

static infc_status object_key(infc_cx *cx, const infc_compiler *cc, const infc_words *argv,
                              const char *dir, const char *source, const char **out) {
    infc_buf key = {.arena = cx->arena};
    infc_map seen = {.arena = cx->arena};
    scan s = {.cx = cx, .dir = dir, .includes = {.arena = cx->arena}, .key = &key, .seen = &seen};
    infc_words_split(&s.includes, INFC_EMIT_INCLUDES);
    infc_buf_printf(&key, "object 2\n%s\nlibc %s", cc->banner, gnu_get_libc_version());
    for (size_t i = 0; i < argv->n; i++) infc_buf_printf(&key, "\n%s", argv->items[i]);
    INFC_TRY(scan_file(&s, source));
    *out = infc_hash_hex(cx->arena, infc_buf_bytes(&key));
    return INFC_OK;
}

/* src/infrt/app_main.c as folder/infrt-app_main.o: a model named app has an app_main.c too. */
static const char *object_name(infc_arena *arena, const char *folder, const char *source) {
    const char *path = strncmp(source, "src/", 4) == 0 ? source + 4 : source, *dot = strrchr(path, '.');
    char *name = infc_arena_copy_string(arena, path, dot ? (size_t)(dot - path) : strlen(path));
    for (char *p = name; *p; p++)
        if (*p == '/') *p = '-';
    return infc_arena_printf(arena, "%s/%s.o", folder, name);
}

static const char *const *compile_argv(infc_cx *cx, const infc_words *cc, const char *dir,
                                       const char *source, const char *object, const char *frames) {
    infc_words argv = {.arena = cx->arena};
    infc_words_all(&argv, cc->items, cc->n);
    infc_words_split(&argv, INFC_EMIT_INCLUDES);
    char full[PATH_MAX]; /* what the compiler sees as its folder must not show in the object */
    if (realpath(dir, full))
        infc_words_add(&argv, infc_arena_printf(cx->arena, "-ffile-prefix-map=%s=.", full));
    if (frames) infc_words_add(&argv, "-fstack-usage");
    infc_words_add(&argv, "-c");
    infc_words_add(&argv, source);
    infc_words_add(&argv, "-o");
    infc_words_add(&argv, object);
    return infc_words_argv(&argv);
}

/* The first lines of what a compiler said. */
static const char *head(infc_arena *arena, const char *text) {
    const char *p = text;
    for (int lines = 0; lines < SHOWN_LINES && *p; lines++) {
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
    return infc_arena_copy_string(arena, text, (size_t)(p - text));
}

const char *infc_full_hint(const char *output) {
    if (strstr(output, "No space left")) return "; free some space and run again";
    return strstr(output, "File too large")
               ? "; raise ulimit -f, or take a file system that holds larger files"
               : "";
}

static infc_status compile_failed(infc_cx *cx, const infc_compiler *cc, const infc_job *job, const char *source) {
    const char *hint = infc_full_hint(job->output);
    if (strstr(job->output, "stdio.h") || strstr(job->output, "stdlib.h") || strstr(job->output, "math.h"))
        hint = "; the C library's headers are missing: infc doctor names the package";
    return infc_fail(cx, INFC_ERR_TOOLCHAIN, (infc_loc){.file = source}, "%s failed (exit %d)%s:\n%s",
                     cc->label, job->exit_code, hint, head(cx->arena, job->output));
}

typedef struct pending { /* one that is not in the cache */
    const char *source, *object, *key;
    const char *frames, *frames_key; /* null: none are wanted */
} pending;

typedef struct batch {
    infc_cx *cx;
    const infc_compiler *cc;
    const char *dir;
    infc_job *jobs;
    pending *what; /* by job */
    size_t n;
} batch;

static bool fetch(const batch *b, const pending *p) {
    infc_arena *arena = b->cx->arena;
    return infc_cache_fetch(b->cx, p->key, infc_path_join(arena, b->dir, p->object)) &&
           (!p->frames || infc_cache_fetch(b->cx, p->frames_key, infc_path_join(arena, b->dir, p->frames)));
}

static void store(const batch *b, const pending *p) {
    infc_arena *arena = b->cx->arena;
    infc_cache_store(b->cx, p->key, infc_path_join(arena, b->dir, p->object));
    if (p->frames) infc_cache_store(b->cx, p->frames_key, infc_path_join(arena, b->dir, p->frames));
}

/* What -fstack-usage writes beside the object, a file of the cache like it. */
static void want_frames(infc_arena *arena, pending *p) {
    infc_buf key = {.arena = arena};
    infc_buf_printf(&key, "frames of %s", p->key);
    p->frames = infc_arena_printf(arena, "%.*s.su", (int)(strlen(p->object) - strlen(".o")), p->object);
    p->frames_key = infc_hash_hex(arena, infc_buf_bytes(&key));
}

static infc_status collect(batch *b, infc_objects *set) {
    infc_arena *arena = b->cx->arena;
    set->names = INFC_NEW(arena, const char *, set->n);
    set->frames = INFC_NEW(arena, const char *, set->n);
    INFC_TRY(infc_dir_create(b->cx, infc_path_join(arena, b->dir, set->folder)));
    for (size_t i = 0; i < set->n; i++) {
        pending p = {.source = set->sources[i], .object = object_name(arena, set->folder, set->sources[i])};
        set->names[i] = p.object;
        INFC_TRY(object_key(b->cx, b->cc, set->cc, b->dir, p.source, &p.key));
        if (set->with_frames) want_frames(arena, &p);
        set->frames[i] = p.frames;
        if (fetch(b, &p)) {
            set->n_cached++;
            continue;
        }
        b->jobs[b->n] = (infc_job){.cwd = b->dir, .temp = INFC_OBJECTS_TEMP};
        b->jobs[b->n].argv = compile_argv(b->cx, set->cc, b->dir, p.source, p.object, p.frames);
        b->what[b->n++] = p;
    }
    return INFC_OK;
}

infc_status infc_objects_compile(infc_cx *cx, const infc_compiler *cc, const char *dir,
                                 infc_objects *sets, size_t n_sets) {
    batch b = {.cx = cx, .cc = cc, .dir = dir};
    size_t n = 0;
    for (size_t i = 0; i < n_sets; i++) n += sets[i].n;
    b.jobs = INFC_NEW(cx->arena, infc_job, n);
    b.what = INFC_NEW(cx->arena, pending, n);
    for (size_t i = 0; i < n_sets; i++) INFC_TRY(collect(&b, &sets[i]));
    INFC_TRY(infc_jobs_run(cx, b.jobs, b.n, 0));
    for (size_t j = 0; j < b.n; j++) {
        if (b.jobs[j].exit_code != 0) return compile_failed(cx, cc, &b.jobs[j], b.what[j].source);
        store(&b, &b.what[j]);
    }
    return INFC_OK;
}
