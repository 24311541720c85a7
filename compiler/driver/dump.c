#include "dump.h"
#include "../base/file.h"
#include "../base/map.h"
#include <errno.h>
#include <string.h>

static const char *const before[] = {"spec", "import"}, *const after[] = {"plan", "emit"};
enum { N_BEFORE = 2, N_AFTER = 2 };

size_t infc_stage_count(void) { return N_BEFORE + infc_pass_count() + N_AFTER; }

const char *infc_stage_name(size_t i) {
    if (i < N_BEFORE) return before[i];
    i -= N_BEFORE;
    return i < infc_pass_count() ? infc_pass_at(i)->name : after[i - infc_pass_count()];
}

size_t infc_stage_index(const char *name) {
    size_t i = 0;
    while (i < infc_stage_count() && strcmp(infc_stage_name(i), name) != 0) i++;
    return i;
}

infc_status infc_stage_name_check(infc_cx *cx, const char *option, const char *name, bool all_too) {
    size_t n = infc_stage_count();
    if (infc_stage_index(name) < n || (all_too && strcmp(name, "all") == 0)) return INFC_OK;
    const char **names = INFC_NEW(cx->arena, const char *, n + 1);
    infc_buf known = {.arena = cx->arena};
    for (size_t i = 0; i < n; i++) {
        names[i] = infc_stage_name(i);
        infc_buf_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    if (all_too) infc_buf_puts(&known, ", all");
    const char *nearest = infc_nearest(name, names, n);
    return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC, "%s %s: there is no such stage%s%s; known: %s", option,
                     name, nearest ? "; nearest: " : "", nearest ? nearest : "", infc_buf_str(&known));
}

bool infc_dump_wanted(const infc_dumps *dumps, const char *stage) {
    for (size_t i = 0; i < dumps->wanted->n; i++) {
        const char *name = dumps->wanted->items[i];
        if (strcmp(name, stage) == 0 || strcmp(name, "all") == 0) return true;
    }
    return false;
}

/* The spec comes before the model is read: it has no number. */
static const char *file_name(const infc_dumps *d, const char *stage, const char *target, const char *extension) {
    size_t i = infc_stage_index(stage);
    const char *number = i == 0 ? "" : infc_arena_printf(d->cx->arena, "%02zu-", i - 1);
    return infc_arena_printf(d->cx->arena, "%s%s%s%s.%s", number, stage, *target ? "." : "", target, extension);
}

static const char mark[] = " dumped by infc"; /* in the first line, behind what begins a comment */

static infc_status check_free(infc_cx *cx, const char *path, const char *comment) {
    infc_bytes there = {0};
    size_t n = strlen(comment);
    int error = infc_file_try_map(path, &there);
    bool dump = !error && there.len >= n + sizeof mark - 1 && memcmp(there.ptr, comment, n) == 0 &&
                memcmp(there.ptr + n, mark, sizeof mark - 1) == 0;
    if (!error) infc_file_unmap(there);
    if (dump || error == ENOENT || infc_dir_exists(path))
        return INFC_OK; /* a folder: committing says so */
    return infc_fail(
        cx, INFC_ERR_SPEC, (infc_loc){.file = path},
        "is in the way, and not a dump of infc; move it, or choose another folder with --dump-to");
}

static infc_status write_file(infc_dumps *d, const char *stage, const char *name,
                              const char *comment, infc_bytes text) {
    infc_buf marked = {.arena = d->cx->arena};
    infc_status status = check_free(d->cx, infc_path_join(d->cx->arena, d->final_dir, name), comment);
    d->refused = d->refused || status != INFC_OK;
    INFC_TRY(status);
    infc_buf_printf(&marked, "%s%s: %s\n", comment, mark, stage);
    infc_buf_put(&marked, text.ptr, text.len);
    d->n_files++;
    return infc_file_write(d->cx, infc_path_join(d->cx->arena, d->dir, name), infc_buf_bytes(&marked), 0644);
}

infc_status infc_dump_text(infc_dumps *d, const char *stage, const infc_target *target,
                           const char *extension, infc_bytes text) {
    const char *target_name = target && d->many_targets ? target->name : "";
    const char *comment = strcmp(extension, "yaml") == 0 ? "#" : "//";
    if (d->dir)
        return write_file(d, stage, file_name(d, stage, target_name, extension), comment, text);
    bool alone = d->wanted->n == 1 && strcmp(d->wanted->items[0], "all") != 0 && !*target_name;
    if (!alone) {
        infc_buf_printf(d->out, "%s%s ---- %s%s%s ----\n", d->out->len ? "\n" : "", comment, stage,
                        *target_name ? " for " : "", target_name);
    }
    infc_buf_put(d->out, text.ptr, text.len);
    if (text.len && text.ptr[text.len - 1] != '\n') infc_buf_puts(d->out, "\n");
    return INFC_OK;
}
