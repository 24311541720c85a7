#include "../base/interrupt.h"
#include "../base/subprocess.h"
#include "command.h"
#include "json.h"
#include "table.h"
#include "toolchain.h"
#include <string.h>

typedef struct target_facts {
    const infc_target *target;
    bool native;
    const char *compiler; /* null: none found */
    const char *emulator; /* the program, when found */
} target_facts;

/* A missing compiler is a fact here, not an error: its diagnostics are dropped. */
static const char *find_compiler(infc_cx *cx, const infc_target *target) {
    infc_toolchain toolchain;
    infc_cx aside = {.arena = cx->arena};
    return infc_toolchain_find(&aside, target, &toolchain) == INFC_OK ? toolchain.cc.label : NULL;
}

static target_facts look_at(infc_cx *cx, const infc_target *target) {
    target_facts facts = {.target = target, .native = infc_target_runs_here(target)};
    facts.compiler = find_compiler(cx, target);
    if (!target->runner) return facts;
    const char *program = infc_arena_copy_string(cx->arena, target->runner, strcspn(target->runner, " "));
    if (infc_program_find(cx->arena, program)) facts.emulator = program;
    return facts;
}

static void print_json(const target_facts *facts, size_t n, infc_buf *out) {
    infc_json json = {.out = out};
    infc_json_object(&json, NULL);
    infc_json_array(&json, "targets");
    for (size_t i = 0; i < n; i++) {
        const infc_target *t = facts[i].target;
        infc_json_object(&json, NULL);
        infc_json_text(&json, "name", t->name);
        infc_json_text(&json, "arch", t->platform->arch);
        infc_json_text(&json, "isa", infc_isa_token(t->isa));
        infc_json_text(&json, "triple", t->platform->triple);
        infc_json_text(&json, "cflags", t->cflags);
        infc_json_text(&json, "cpu_features", t->cpu_features);
        infc_json_bool(&json, "runs_here", facts[i].native);
        infc_json_text(&json, "emulator", t->runner);
        infc_json_bool(&json, "emulator_found", facts[i].emulator != NULL);
        infc_json_text(&json, "compiler", facts[i].compiler);
        infc_json_end(&json);
    }
    infc_json_end(&json);
    infc_json_end(&json);
}

static infc_status run(infc_call_cx *call) {
    infc_arena *arena = call->cx->arena;
    size_t n = infc_target_count();
    target_facts *facts = INFC_NEW(arena, target_facts, n);
    for (size_t i = 0; i < n; i++) facts[i] = look_at(call->cx, infc_target_at(i));
    INFC_TRY(infc_interrupt_check(call->cx)); /* else compilers seem to be missing */
    if (call->json) {
        print_json(facts, n, call->out);
        return INFC_OK;
    }
    infc_table table = {.arena = arena, .n_columns = 5};
    INFC_TABLE_ROW(&table, "target", "kernels", "compiler", "runs here", "flags");
    for (size_t i = 0; i < n; i++) {
        const infc_target *t = facts[i].target;
        const char *runs =
            facts[i].native     ? "yes"
            : facts[i].emulator ? infc_arena_printf(arena, "under %s", facts[i].emulator)
            : t->runner ? infc_arena_printf(arena, "no; apt-get install -y %s", t->platform->emulator_packages)
                        : "no";
        INFC_TABLE_ROW(&table, t->name, infc_isa_token(t->isa),
                       facts[i].compiler ? facts[i].compiler : "missing; see infc doctor", runs, t->cflags);
    }
    infc_table_print(&table, 0, call->out);
    return INFC_OK;
}

static const infc_option options[] = {INFC_OPTION_JSON};

const infc_command infc_command_targets = {
    .name = "targets",
    .operands = "",
    .about = "Lists the instruction sets to compile for, oldest first, and whether this machine "
             "has a compiler for\n"
             "each and can run the result, itself or under an emulator. `host` stands for the "
             "newest that runs here.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_bytes = sizeof(infc_json_only),
    .examples = "  infc targets\n"
                "  infc compile model.onnx --target x86-64-v3 --target aarch64 -o build\n",
    .run = run,
};
