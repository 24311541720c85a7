/* count_instructions.c - a plugin of qemu (TCG plugin interface, version 1): how many instructions of each function
 * whose name begins with a `prefix=` were executed; one line "count name" each in the file `out=`. The interface is
 * declared here because distributions do not package its header.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*told)(uint64_t, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
extern const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
                                                       void *to, uint64_t by);
extern void qemu_plugin_register_atexit_cb(uint64_t id, void (*told)(uint64_t, void *), void *user);
__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int n,
                                                               char **args);

enum { ADD = 0, MOST = 8192 };

typedef struct function {
    const char *name;
    uint64_t count;
} function;

static function functions[MOST];
static size_t n_functions;
enum { MOST_PREFIXES = 4 };
static const char *out_path, *prefixes[MOST_PREFIXES];
static size_t n_prefixes;

static int is_counted(const char *name) {
    for (size_t i = 0; i < n_prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return 1;
    return 0;
}

/* Where the instructions of `name` are counted, or null. Neighbours are mostly of one function. */
static uint64_t *counter_of(const char *name) {
    static size_t last;
    if (!name || !is_counted(name)) return NULL;
    if (last < n_functions && strcmp(functions[last].name, name) == 0)
        return &functions[last].count;
    for (last = 0; last < n_functions; last++)
        if (strcmp(functions[last].name, name) == 0) return &functions[last].count;
    if (n_functions == MOST) return NULL;
    functions[last = n_functions++].name = strdup(name);
    return &functions[last].count;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t *counter = counter_of(qemu_plugin_insn_symbol(insn));
        if (counter) qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD, counter, 1);
    }
}

static void ended(uint64_t id, void *user) {
    FILE *out = out_path ? fopen(out_path, "w") : NULL;
    (void)id, (void)user;
    if (!out) return;
    for (size_t i = 0; i < n_functions; i++)
        fprintf(out, "%llu %s\n", (unsigned long long)functions[i].count, functions[i].name);
    fputs("end\n", out);
    fclose(out);
}

int qemu_plugin_install(uint64_t id, const void *info, int n, char **args) {
    (void)info;
    for (int i = 0; i < n; i++) {
        if (strncmp(args[i], "out=", 4) == 0) out_path = strdup(args[i] + 4);
        if (strncmp(args[i], "prefix=", 7) == 0 && n_prefixes < MOST_PREFIXES)
            prefixes[n_prefixes++] = strdup(args[i] + 7);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
