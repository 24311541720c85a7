#include "built_folder.h"
#include "../../runtime/include/infc_abi.h"
#include "../base/file.h"
#include "../base/locked_dir.h"
#include "../base/subprocess.h"
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *report_path(infc_arena *arena, const char *dir) {
    return infc_path_join(arena, dir, "report.json");
}

/* Neither a compile for one target nor for several. */
static infc_status not_built(infc_cx *cx, const infc_built_folder *built) {
    const json_t *targets = json_object_get(built->manifest.json, "targets"), *target;
    infc_loc loc = {.file = built->dir};
    infc_buf folders = {.arena = cx->arena};
    size_t i;
    json_array_foreach(targets, i, target) {
        const char *name = json_string_value(target);
        if (name)
            infc_buf_printf(&folders, "%s%s", i ? ", " : "", infc_path_join(cx->arena, built->dir, name));
    }
    if (folders.len)
        return infc_fail(cx, INFC_ERR_SPEC, loc, "compiled for several targets; name one of %s",
                         infc_buf_str(&folders));
    if (infc_manifest_find(&built->manifest, "report.json"))
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = report_path(cx->arena, built->dir)},
                         "is missing, but manifest.json lists it; compile again");
    return infc_fail(cx, INFC_ERR_SPEC,
                     loc, "only C was written here (--stop-after emit), nothing to run; compile without it");
}

/* What both files state is the same in both. */
static infc_status check_agreement(infc_cx *cx, const infc_built_folder *b) {
    const json_t *r = b->report, *target = json_object_get(r, "target"),
                 *weights = json_object_get(r, "weights");
    const struct {
        const char *key, *value;
    } pairs[] = {
        {"name", infc_json_text_of(r, "model")},
        {"infc_version", infc_json_text_of(r, "infc")},
        {"model", infc_json_text_of(r, "source")},
        {"model_sha256", infc_json_text_of(r, "source_sha256")},
        {"target", infc_json_text_of(target, "name")},
        {"isa", infc_json_text_of(target, "kernels")},
        {"layout_hash", infc_json_text_of(weights, "layout")},
        {"weights_hash", infc_json_text_of(weights, "xxh64")},
        {"spec_sha256", infc_json_text_of(r, "spec_sha256")},
        {"content_hash", infc_json_text_of(r, "content_hash")},
    };
    size_t mark = cx->n_diags;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *stated = infc_manifest_text(&b->manifest, pairs[i].key);
        if (strcmp(stated, pairs[i].value) == 0) continue;
        infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = b->manifest.path},
                  "%s is \"%s\" here, but \"%s\" in report.json; compile again", pairs[i].key,
                  stated, pairs[i].value);
    }
    return infc_diags_status(cx, mark);
}

static infc_status take_artefacts(infc_cx *cx, infc_built_folder *out) {
    size_t i, mark = cx->n_diags;
    json_t *artefact;
    json_array_foreach(json_object_get(out->report, "artefacts"), i, artefact) {
        const char *file = infc_json_text_of(artefact, "file");
        if (!infc_manifest_find(&out->manifest, file))
            infc_manifest_check(cx, &out->manifest, file);
        else if (strcmp(infc_json_text_of(artefact, "kind"), "binary") == 0) {
            out->binary_file = file;
            out->binary = infc_path_join(cx->arena, out->dir, file);
        }
    }
    return infc_diags_status(cx, mark);
}

infc_status infc_built_folder_open(infc_cx *cx, const char *dir, infc_built_folder *out) {
    const char *path = report_path(cx->arena, dir);
    infc_loc loc = {.file = path};
    *out = (infc_built_folder){.dir = dir};
    bool report = infc_file_exists(path);
    const char *hidden = infc_file_hidden(path);
    if (hidden)
        return infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = dir}, "cannot look into this folder: %s", hidden);
    if (!report && !infc_file_exists(infc_path_join(cx->arena, dir, "manifest.json"))) {
        return infc_fail(
            cx, INFC_ERR_SPEC, (infc_loc){.file = dir},
            "no report.json and no manifest.json here: not a folder that infc compile wrote");
    }
    INFC_TRY(infc_manifest_read(cx, dir, &out->manifest));
    if (!report) return not_built(cx, out);
    INFC_TRY(infc_report_read(cx, path, &out->report));
    INFC_TRY(infc_manifest_check(cx, &out->manifest, "report.json"));
    const char *target = infc_json_text_of(json_object_get(out->report, "target"), "name");
    INFC_TRY(check_agreement(cx, out));
    INFC_TRY(infc_target_parse(cx, loc, target, &out->target));
    return take_artefacts(cx, out);
}

static const char *runner_program(infc_arena *arena, const infc_target *target) {
    return infc_arena_copy_string(arena, target->runner, strcspn(target->runner, " "));
}

infc_status infc_runner_words(infc_cx *cx, const infc_target *target, infc_words *out) {
    if (infc_target_runs_here(target)) return INFC_OK;
    if (!target->runner) {
        return infc_fail(cx, INFC_ERR_TOOLCHAIN, INFC_NO_LOC,
                         "target %s: this CPU lacks its instructions (%s) and "
                         "no emulator is known for them",
                         target->name, target->cpu_features);
    }
    if (!infc_program_find(cx->arena, runner_program(cx->arena, target))) {
        return infc_fail(cx, INFC_ERR_TOOLCHAIN, INFC_NO_LOC,
                         "target %s: code for it runs here under %s, which is missing: "
                         "apt-get install -y %s",
                         target->name, target->runner, target->platform->emulator_packages);
    }
    infc_words_split(out, target->runner);
    return INFC_OK;
}

void infc_level_words(const infc_target *target, infc_words *out) {
    if (!target->level) return;
    infc_words_add(out, "--level");
    infc_words_add(out, target->level);
}

const char *infc_runner_text(infc_arena *arena, const infc_target *target) {
    if (infc_target_runs_here(target)) return "natively";
    return target->runner ? infc_arena_printf(arena, "under %s", target->runner) : "by nothing here";
}

/* An ELF program for `machine` (e_machine); 0: it is none. */
static unsigned elf_machine(infc_bytes file) {
    if (file.len < sizeof(Elf64_Ehdr) || memcmp(file.ptr, ELFMAG, SELFMAG) != 0) return 0;
    return file.ptr[18] | (unsigned)file.ptr[19] << 8;
}

static const char *target_of_machine(unsigned machine) {
    return machine == EM_X86_64    ? "x86-64"
           : machine == EM_AARCH64 ? "aarch64"
           : machine == EM_RISCV   ? "riscv64"
                                   : NULL;
}

infc_status infc_binary_identify(infc_cx *cx, const char *path, infc_target *target) {
    static const char mark[] = INFC_WEIGHTS_MAGIC; /* in the runtime of each */
    infc_loc loc = {.file = path};
    infc_bytes bytes;
    INFC_TRY(infc_file_map(cx, path, &bytes));
    unsigned machine = elf_machine(bytes);
    if (machine && target_of_machine(machine) && memmem(bytes.ptr, bytes.len, mark, sizeof mark - 1)) {
        INFC_TRY(infc_target_parse(cx, loc, target_of_machine(machine), target));
        return target->platform->is_host_arch ? infc_target_parse(cx, loc, "host", target) : INFC_OK;
    }
    const char *dot = strrchr(infc_path_base(path), '.');
    bool source =
        dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".onnx") == 0);
    return infc_fail(cx, INFC_ERR_SPEC, loc,
                     "not a binary that infc made: give the folder of a compile, or "
                     "the binary in it%s%s%s",
                     source ? "; compile this one first: infc compile " : "", source ? path : "",
                     source ? " -o build" : "");
}

/* Before it is run: what would otherwise end as "not found". */
static infc_status check_executable(infc_cx *cx, const char *binary) {
    infc_loc loc = {.file = binary};
    struct stat info;
    if (stat(binary, &info) < 0)
        return infc_fail(cx, INFC_ERR_IO, loc, "cannot run this: %s; compile again", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return infc_fail(cx, INFC_ERR_IO, loc, "cannot run this: not a file");
    if (access(binary, X_OK) == 0) return INFC_OK;
    return infc_fail(cx, INFC_ERR_IO, loc, "is not executable; run: chmod +x %s", binary);
}

infc_status infc_run_late(infc_cx *cx, const infc_target *target, const char *binary) {
    return infc_fail(cx, INFC_ERR_CHECK, (infc_loc){.file = binary},
                     "a run for target %s did not end in %.0f s; if it only needs longer, raise "
                     "compare.seconds in the spec",
                     target->name, cx->run_limit);
}

infc_status infc_binary_run(infc_cx *cx, const infc_target *target, const char *binary,
                            const char *const *args, size_t n, int *exit_code, const char **output) {
    infc_words words = {.arena = cx->arena};
    INFC_TRY(check_executable(cx, binary));
    INFC_TRY(infc_runner_words(cx, target, &words));
    infc_words_add(&words, strchr(binary, '/') ? binary : infc_arena_printf(cx->arena, "./%s", binary));
    infc_words_all(&words, args, n);
    infc_level_words(target, &words);
    infc_job job = {.argv = infc_words_argv(&words), .limit = cx->run_limit};
    INFC_TRY(infc_jobs_run(cx, &job, 1, 1));
    if (job.late) return infc_run_late(cx, target, binary);
    *exit_code = job.exit_code;
    *output = job.output;
    return INFC_OK;
}

infc_status infc_binary_failed(infc_cx *cx, infc_loc loc, const char *command, int exit_code, const char *output) {
    const infc_status status = infc_status_of_exit_code(exit_code);
    const char *object = *output == '{' ? output : strstr(output, "\n{"); /* others may have printed before it */
    json_t *said = object ? json_loads(object, JSON_DISABLE_EOF_CHECK, NULL) : NULL, *diag;
    size_t i, mark = cx->n_errors;
    json_array_foreach(json_object_get(said, "diagnostics"), i, diag) {
        const char *text = infc_json_text_of(diag, "text");
        if (strcmp(infc_json_text_of(diag, "severity"), "error") == 0)
            infc_fail(cx, status, loc, "%s: %.2000s", command, text);
        else infc_warn(cx, loc, "%s: %.2000s", command, text);
    }
    json_decref(said);
    if (cx->n_errors > mark) return status;
    return infc_fail(cx, status, loc, "%s ended with exit code %d: %.2000s", command, exit_code, output);
}

#define TEMP_PREFIX "infc-temp-"

typedef struct temp_folder {
    const char *path;
    int lock_fd;
} temp_folder;

static void temp_discard(void *handle) {
    temp_folder *temp = handle;
    if (temp->lock_fd < 0) return;
    infc_dir_remove(temp->path);
    close(temp->lock_fd);
}

infc_status infc_temp_folder(infc_cx *cx, const char **out) {
    const char *chosen = getenv("TMPDIR"), *base = chosen && *chosen ? chosen : "/tmp";
    temp_folder *temp = INFC_NEW(cx->arena, temp_folder, 1);
    temp->lock_fd = -1;
    infc_locked_dirs_sweep(cx->arena, base, TEMP_PREFIX);
    infc_arena_defer(cx->arena, temp_discard, temp);
    temp->lock_fd = infc_locked_dir_make(cx->arena, base, TEMP_PREFIX, &temp->path);
    if (temp->lock_fd < 0) {
        int error = errno;
        return infc_fail(cx, INFC_ERR_IO, INFC_NO_LOC,
                         "cannot make a temporary folder in %s%s: %s; "
                         "set TMPDIR to one to write in",
                         base == chosen ? "TMPDIR=" : "", base, strerror(error));
    }
    *out = temp->path;
    return INFC_OK;
}
