/* check_run.c - inputs in the target's byte order, the emulator, and the tensors that it leaves. The form of both files
 * is that of templates/emulator/check_main.h. */
#include "check_run.h"
#include "../base/file.h"
#include "../base/subprocess.h"
#include "../emit/embedded.h"
#include "built_folder.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define END_MARK UINT32_C(0xffffffff)

/* ---- byte order -------------------------------------------------------------------------------------------- */

/* n elements of `bytes` bytes, turned over in place. */
static void turn(void *data, size_t bytes, size_t n) {
    uint8_t *p = data;
    for (size_t i = 0; i < n; i++, p += bytes)
        for (size_t k = 0; k < bytes / 2; k++) {
            const uint8_t byte = p[k];
            p[k] = p[bytes - 1 - k];
            p[bytes - 1 - k] = byte;
        }
}

static void put(infc_buf *out, const infc_target *target, const void *data, size_t bytes, size_t n) {
    const size_t at = out->len;
    infc_buf_put(out, data, bytes * n);
    if (target->platform->big_endian) turn(out->data + at, bytes, n);
}

static void put_u32(infc_buf *out, const infc_target *target, size_t value) {
    const uint32_t word = (uint32_t)value;
    put(out, target, &word, sizeof word, 1);
}

/* ---- in ------------------------------------------------------------------------------------------------------ */

infc_status infc_check_inputs(infc_cx *cx, const infc_target *target, const char *inputs, const char *folder) {
    infc_npz npz;
    infc_buf out = {.arena = cx->arena};
    INFC_TRY(infc_npz_open(cx, inputs, &npz));
    for (size_t i = 0; i < npz.n; i++) {
        infc_npz_entry entry;
        INFC_TRY(infc_npz_read(cx, &npz, npz.names[i], &entry));
        const infc_type *type = &entry.type;
        put_u32(&out, target, strlen(npz.names[i]));
        infc_buf_puts(&out, npz.names[i]);
        put_u32(&out, target, 0);
        put_u32(&out, target, (size_t)type->dtype);
        put_u32(&out, target, (size_t)type->rank);
        put(&out, target, type->dims, sizeof *type->dims, (size_t)type->rank);
        put(&out, target, entry.data.ptr, infc_dtype_bytes(type->dtype), (size_t)infc_type_count(type));
    }
    put_u32(&out, target, END_MARK);
    INFC_TRY(infc_dir_create(cx, folder));
    return infc_file_write(cx, infc_path_join(cx->arena, folder, "in.bin"), infc_buf_bytes(&out), 0644);
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

/* What a host program lends the library, where that is no emulator's business. */
static infc_status add_script(infc_cx *cx, const infc_target *target, const char *folder, infc_words *out) {
    const char *name = infc_arena_printf(cx->arena, "check_%s.mjs", target->platform->check);
    const infc_bytes *script = infc_embedded(infc_arena_printf(cx->arena, "templates/emulator/%s", name));
    if (!script) return INFC_OK;
    infc_words_add(out, name);
    return infc_file_write(cx, infc_path_join(cx->arena, folder, name), *script, 0644);
}

infc_status infc_check_words(infc_cx *cx, const infc_target *target, const char *binary,
                             const infc_words *more, const char *folder, infc_words *out) {
    infc_words runner = {.arena = cx->arena};
    char full[PATH_MAX];
    INFC_TRY(infc_runner_words(cx, target, &runner));
    if (!realpath(binary, full))
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = binary}, "cannot run this: it is not there");
    infc_words_add(out, runner.items[0]);
    if (more) infc_words_all(out, more->items, more->n);
    infc_words_all(out, runner.items + 1, runner.n - 1); /* may end with an option that takes the program */
    INFC_TRY(add_script(cx, target, folder, out));
    infc_words_add(out, infc_arena_copy_string(cx->arena, full, strlen(full)));
    return INFC_OK;
}

/* ---- out ------------------------------------------------------------------------------------------------------- */

typedef struct reader {
    const infc_target *target;
    uint8_t *at, *end; /* a copy: numbers are turned over in place */
} reader;

static void *take(reader *r, size_t bytes, size_t n) {
    uint8_t *at = r->at;
    if (bytes && n > (size_t)(r->end - r->at) / bytes) return NULL;
    if (r->target->platform->big_endian) turn(at, bytes, n);
    r->at += bytes * n;
    return at;
}

static bool take_u32(reader *r, uint32_t *out) {
    const void *at = take(r, sizeof *out, 1);
    if (at) memcpy(out, at, sizeof *out);
    return at;
}

typedef struct left { /* tensors of one kind */
    const char **names;
    infc_tensor *tensors;
    size_t n, cap_names, cap_tensors;
} left;

static bool take_tensor(infc_cx *cx, reader *r, uint32_t length, left kinds[2]) {
    uint32_t output, dtype, rank;
    const char *name = take(r, 1, length);
    if (!name || !take_u32(r, &output) || !take_u32(r, &dtype) || !take_u32(r, &rank)) return false;
    if (output > 1 || rank > INFC_MAX_RANK || infc_dtype_bytes((infc_dtype)dtype) == 0)
        return false;
    infc_tensor tensor = {.type = {.dtype = (infc_dtype)dtype, .rank = (int)rank}};
    const void *dims = take(r, sizeof *tensor.type.dims, rank);
    if (!dims) return false;
    memcpy(tensor.type.dims, dims, rank * sizeof *tensor.type.dims);
    if (infc_type_check(cx->arena, &tensor.type)) return false;
    tensor.data = take(r, infc_dtype_bytes(tensor.type.dtype), (size_t)infc_type_count(&tensor.type));
    if (!tensor.data) return false;
    left *to = &kinds[output];
    INFC_GROW(cx->arena, to->names, to->n, to->cap_names);
    INFC_GROW(cx->arena, to->tensors, to->n, to->cap_tensors);
    to->names[to->n] = infc_arena_copy_string(cx->arena, name, length);
    to->tensors[to->n++] = tensor;
    return true;
}

static infc_status keep(infc_cx *cx, const char *folder, const char *file, const left *what, infc_npz *out) {
    const char *path = infc_path_join(cx->arena, folder, file);
    INFC_TRY(infc_npz_write(cx, path, what->names, what->tensors, what->n));
    return infc_npz_open(cx, path, out);
}

/* Also what was left by a run that ended too early is looked at: only whole files are believed. */
static infc_status read_tensors(infc_cx *cx, const infc_target *target, const char *folder, infc_dumped *out) {
    const char *path = infc_path_join(cx->arena, folder, "out.bin");
    infc_bytes file;
    left kinds[2] = {0};
    INFC_TRY(infc_file_map(cx, path, &file));
    uint8_t *copy = INFC_NEW(cx->arena, uint8_t, file.len + 1);
    memcpy(copy, file.ptr, file.len);
    reader r = {target, copy, copy + file.len};
    uint32_t length = 0;
    while (take_u32(&r, &length) && length != END_MARK)
        if (!take_tensor(cx, &r, length, kinds)) break;
    if (length != END_MARK)
        return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = path},
                         "the run for target %s left half a file", target->name);
    INFC_TRY(keep(cx, folder, "outputs.npz", &kinds[1], &out->outputs));
    return keep(cx, folder, "tensors.npz", &kinds[0], &out->tensors);
}

infc_status infc_check_run(infc_cx *cx, const infc_target *target, const char *binary,
                           const char *inputs, const char *folder, infc_dumped *out) {
    infc_words words = {.arena = cx->arena};
    *out = (infc_dumped){0};
    infc_progress(cx, "running %s", binary);
    INFC_TRY(infc_check_inputs(cx, target, inputs, folder));
    INFC_TRY(infc_check_words(cx, target, binary, NULL, folder, &words));
    infc_job job = {.argv = infc_words_argv(&words), .cwd = folder, .limit = cx->run_limit};
    INFC_TRY(infc_jobs_run(cx, &job, 1, 1));
    if (job.late) return infc_run_late(cx, target, binary);
    if (job.exit_code != 0)
        return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = binary},
                         "the run for target %s ended with exit code %d%s:\n%.4000s", target->name,
                         job.exit_code, job.exit_code > 128 ? " (killed by a signal)" : "", job.output);
    return read_tensors(cx, target, folder, out);
}
