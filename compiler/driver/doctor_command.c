#include "../base/interrupt.h"
#include "../base/cache.h"
#include "../base/file.h"
#include "../base/subprocess.h"
#include "command.h"
#include "json.h"
#include "serve_libraries.h"
#include "table.h"
#include "toolchain.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* llvm-c/Core.h is in a package that nothing else here needs. */
extern void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);

/* One thing that was looked at. */
typedef struct finding {
    const char *what, *state; /* "compiler for aarch64", "clang 22.1.8" */
    const char *fix;          /* null: nothing is wrong; else the command that helps */
    bool needed;              /* nothing can be compiled for this machine without it */
} finding;

typedef struct findings {
    infc_cx *cx;
    finding *items;
    size_t n, cap;
} findings;

static void add(findings *f, const char *what, const char *state, const char *fix, bool needed) {
    INFC_GROW(f->cx->arena, f->items, f->n, f->cap);
    f->items[f->n++] = (finding){what, state, fix, needed};
}

/* The architecture's compiler: found as a compile would find it. */
static void look_for_compiler(findings *f, const infc_target *target) {
    infc_arena *arena = f->cx->arena;
    infc_cx aside = {.arena = arena}; /* what is missing is a finding here, not an error */
    infc_toolchain toolchain;
    const char *what = infc_arena_printf(arena, "compiler for %s", target->platform->arch);
    if (infc_toolchain_find(&aside, target, &toolchain) == INFC_OK) {
        add(f, what, infc_arena_printf(arena, "%s (%s)", toolchain.cc.label, toolchain.cc.words.items[0]),
            NULL, false);
        return;
    }
    const char *fix = infc_arena_printf(arena, "apt-get install -y %s", infc_toolchain_packages(target));
    add(f, what, getenv("CC") && target->platform->is_host_arch ? aside.diags[0].text : "missing",
        fix, target->platform->is_host_arch);
}

static void look_for_emulator(findings *f, const infc_target *target) {
    infc_arena *arena = f->cx->arena;
    if (!target->runner || target->platform->is_host_arch) return;
    const char *program = infc_arena_copy_string(arena, target->runner, strcspn(target->runner, " "));
    const char *path = infc_program_find(arena, program);
    add(f, infc_arena_printf(arena, "emulator for %s", target->platform->arch), path ? path : "missing",
        path ? NULL : infc_arena_printf(arena, "apt-get install -y %s", target->platform->emulator_packages),
        false);
}

static void look_at_targets(findings *f) {
    for (int host = 1; host >= 0; host--) { /* this machine's architecture first */
        const char *last = "";
        for (size_t i = 0; i < infc_target_count(); i++) {
            const infc_target *target = infc_target_at(i);
            if (target->platform->is_host_arch != (host == 1) || strcmp(target->platform->arch, last) == 0)
                continue;
            look_for_compiler(f, target);
            look_for_emulator(f, target);
            last = target->platform->arch;
        }
    }
}

/* What binaries are linked with to have a server. */
static void look_for_server(findings *f) {
    for (size_t i = 0; i < infc_target_count(); i++) {
        const infc_target *target = infc_target_at(i);
        infc_cx aside = {.arena = f->cx->arena};
        const infc_spec any = {0};
        infc_toolchain toolchain;
        infc_serve_libraries found;
        if (!target->platform->is_host_arch || infc_toolchain_find(&aside, target, &toolchain) != INFC_OK)
            continue;
        const bool good =
            infc_serve_libraries_find(&aside, &any, target, &toolchain, &found) == INFC_OK && found.n;
        add(f, "server in binaries", good ? "libevent, libmd" : "missing: binaries have no command serve",
            good ? NULL : "apt-get install -y " INFC_SERVE_PACKAGES, false);
        const infc_spec secret = {.serve.tls = true};
        const bool tls = infc_serve_libraries_find(&aside, &secret, target, &toolchain, &found) == INFC_OK &&
                         found.n;
        add(f, "TLS of the server",
            tls ? "libevent_openssl, libssl, libcrypto" : "missing: serve.tls cannot be compiled",
            tls ? NULL : "apt-get install -y " INFC_TLS_PACKAGES, false);
        return;
    }
}

static void look_at_cache(findings *f) {
    infc_arena *arena = f->cx->arena;
    const char *dir = f->cx->cache_dir;
    infc_cx aside = {.arena = arena};
    if (!dir) {
        add(f, "cache", "none: neither INFC_CACHE nor HOME is set", "export INFC_CACHE=/tmp/infc-cache", false);
        return;
    }
    bool usable = infc_dir_create(&aside, dir) == INFC_OK && access(dir, W_OK | X_OK) == 0;
    add(f, "cache", usable ? dir : infc_arena_printf(arena, "%s: cannot be written", dir),
        usable ? NULL : "export INFC_CACHE=/tmp/infc-cache", false);
}

static void look_at_machine(findings *f) {
    infc_arena *arena = f->cx->arena;
    infc_buf features = {.arena = arena};
    const char *host = NULL;
    for (size_t i = 0; i < infc_target_count(); i++) {
        const infc_target *target = infc_target_at(i);
        if (!infc_target_runs_here(target)) continue;
        host = target->name;
        features.len = 0;
        infc_buf_puts(&features, *target->cpu_features ? target->cpu_features : "baseline");
    }
    add(f, "this machine", host ? host : "none of the targets runs here", NULL, false);
    add(f, "CPU features used", infc_buf_str(&features), NULL, false);
    add(f, "cores", infc_arena_printf(arena, "%d usable", infc_core_count()), NULL, false);
}

static void look_at_llvm(findings *f) {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    add(f, "LLVM and MLIR", infc_arena_printf(f->cx->arena, "%u.%u.%u", major, minor, patch), NULL, false);
}

static void print_json(const findings *f, infc_buf *out) {
    infc_json json = {.out = out};
    infc_json_object(&json, NULL);
    infc_json_text(&json, "version", INFC_VERSION);
    infc_json_array(&json, "findings");
    for (size_t i = 0; i < f->n; i++) {
        infc_json_object(&json, NULL);
        infc_json_text(&json, "what", f->items[i].what);
        infc_json_text(&json, "state", f->items[i].state);
        infc_json_bool(&json, "ok", !f->items[i].fix);
        infc_json_bool(&json, "needed", f->items[i].needed);
        infc_json_text(&json, "fix", f->items[i].fix);
        infc_json_end(&json);
    }
    infc_json_end(&json);
    infc_json_end(&json);
}

static void print_text(const findings *f, infc_buf *out) {
    infc_table table = {.arena = f->cx->arena, .n_columns = 3};
    for (size_t i = 0; i < f->n; i++) {
        const char *mark = !f->items[i].fix ? "ok" : f->items[i].needed ? "MISSING" : "missing";
        INFC_TABLE_ROW(&table, mark, f->items[i].what, f->items[i].state);
    }
    infc_table_print(&table, 0, out);
    bool heading = false;
    for (size_t i = 0; i < f->n; i++) {
        if (!f->items[i].fix) continue;
        if (!heading) infc_buf_puts(out, "\nTo fix what is missing:\n");
        heading = true;
        infc_buf_printf(out, "  %s\n", f->items[i].fix);
    }
}

static infc_status run(infc_call_cx *call) {
    findings f = {.cx = call->cx};
    look_at_machine(&f);
    look_at_llvm(&f);
    look_at_targets(&f);
    look_for_server(&f);
    look_at_cache(&f);
    INFC_TRY(infc_interrupt_check(call->cx)); /* else compilers seem to be missing */
    if (call->json) print_json(&f, call->out);
    else print_text(&f, call->out);
    for (size_t i = 0; i < f.n; i++) {
        if (f.items[i].fix && f.items[i].needed) {
            return infc_fail(call->cx, INFC_ERR_CHECK, INFC_NO_LOC, "%s is needed: %s",
                             f.items[i].what, f.items[i].fix);
        }
    }
    return INFC_OK;
}

static const infc_option options[] = {INFC_OPTION_JSON};

const infc_command infc_command_doctor = {
    .name = "doctor",
    .operands = "",
    .about = "Looks at what a compile uses - compilers, emulators, cache, this machine - and names "
             "the command that\n"
             "brings what is missing. Compilers and emulators of other architectures are needed "
             "only to compile for\n"
             "and run on those.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_json_only),
    .examples = "  infc doctor\n"
                "  infc doctor --json | jq -r '.findings[] | select(.ok | not).fix'\n",
    .exits = "something that every compile for this machine needs is missing",
    .run = run,
};
