#include "toolchain.h"
#include "../base/file.h"
#include "../base/subprocess.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The first "12.2.0"-like word of the first line, parentheses left out: they hold the packager's version. */
static const char *find_version(infc_arena *arena, const char *banner) {
    int depth = 0;
    for (const char *p = banner; *p && *p != '\n'; p++) {
        depth += (*p == '(') - (*p == ')');
        bool starts = depth == 0 && isdigit((unsigned char)*p) && p > banner && p[-1] == ' ';
        if (!starts) continue;
        size_t length = strspn(p, "0123456789.");
        if (memchr(p, '.', length)) return infc_arena_copy_string(arena, p, length);
    }
    return NULL;
}

static int minimum(const infc_compiler *c) { return c->clang ? INFC_MIN_CLANG : INFC_MIN_GCC; }

static bool read_banner(infc_cx *cx, const char *command, const char *banner, infc_compiler *out,
                        const char **why) {
    const char *first_line = infc_arena_copy_string(cx->arena, banner, strcspn(banner, "\n"));
    const char *version = find_version(cx->arena, banner);
    out->clang = strstr(first_line, "clang") != NULL;
    bool gcc = !out->clang && strstr(banner, "see the source for copying conditions");
    if (!version || !(out->clang || gcc)) {
        *why = infc_arena_printf(cx->arena, "%s is neither gcc nor clang: it says \"%s\"", command, first_line);
        return false;
    }
    out->banner = banner;
    out->major = atoi(version);
    out->label = infc_arena_printf(cx->arena, "%s %s", out->clang ? "clang" : "gcc", version);
    if (out->major < minimum(out)) {
        *why = infc_arena_printf(cx->arena, "%s is %s; %d or newer is needed", command, out->label,
                                 minimum(out));
        return false;
    }
    return true;
}

bool infc_compiler_probe(infc_cx *cx, const char *command, infc_compiler *out, const char **why) {
    *out = (infc_compiler){0};
    out->words = (infc_words){.arena = cx->arena};
    infc_words_split(&out->words, command);
    if (out->words.n == 0 || !infc_program_find(cx->arena, out->words.items[0])) {
        *why = infc_arena_printf(cx->arena, "%s is not on PATH", command);
        return false;
    }
    infc_words argv = {.arena = cx->arena};
    infc_words_all(&argv, out->words.items, out->words.n);
    infc_words_add(&argv, "--version");
    infc_job job = {.argv = infc_words_argv(&argv)};
    if (infc_jobs_run(cx, &job, 1, 1) != INFC_OK || job.exit_code != 0) {
        *why = infc_arena_printf(cx->arena, "%s --version fails (exit %d)", command, job.exit_code);
        return false;
    }
    return read_banner(cx, command, job.output, out, why);
}

const char *infc_toolchain_packages(const infc_target *target) {
    if (target->platform->is_host_arch) return "clang-22 libc6-dev binutils";
    return target->platform->compiler_packages;
}

infc_words infc_toolchain_words(infc_cx *cx, const infc_toolchain *tools) {
    infc_words words = {.arena = cx->arena};
    infc_words_all(&words, tools->cc.words.items, tools->cc.words.n);
    if (tools->target_flag) infc_words_add(&words, tools->target_flag);
    return words;
}

static bool cross_libc(infc_cx *cx, const infc_target *target) {
    return infc_file_exists(infc_arena_printf(cx->arena, "/usr/%s/include/stdio.h", target->platform->triple)) ||
           infc_program_find(cx->arena, infc_arena_printf(cx->arena, "%s-gcc", target->platform->triple));
}

/* Whether a compiler that runs can make code for the target. */
static bool suits(infc_cx *cx, const infc_compiler *cc, const infc_target *target, const char *name,
                  const char **why) {
    if (target->platform->is_host_arch) return true;
    if (target->platform->check && !cc->clang) {
        *why = infc_arena_printf(cx->arena, "%s is no clang", name);
        return false;
    }
    if (!cc->clang) {
        *why = infc_arena_printf(cx->arena, "%s makes code for this machine's architecture only", name);
        return strncmp(infc_path_base(cc->words.items[0]), target->platform->triple,
                       strlen(target->platform->triple)) == 0;
    }
    if (target->platform->check) return true; /* needs no C library */
    *why = infc_arena_printf(cx->arena, "%s has no C library for %s", name, target->platform->triple);
    return cross_libc(cx, target);
}

static infc_status missing(infc_cx *cx, const infc_target *target, const char *tried) {
    return infc_fail(
        cx, INFC_ERR_TOOLCHAIN, INFC_NO_LOC,
        "no C compiler for target %s: %s; install one: apt-get install -y %s; or compile "
        "elsewhere: "
        "infc compile --stop-after emit writes the C and a build.sh, and needs no compiler",
        target->name, tried, infc_toolchain_packages(target));
}

/* $CC alone decides for this machine's architecture: another compiler behind its back would surprise. */
static infc_status find_compiler(infc_cx *cx, const infc_target *target, infc_compiler *out) {
    const char *own = getenv("CC");
    const char *cross_gcc = infc_arena_printf(cx->arena, "%s-gcc", target->platform->triple);
    const char *candidates[] = {"clang-22", "clang", target->platform->is_host_arch ? "gcc" : cross_gcc};
    infc_buf tried = {.arena = cx->arena};
    const char *why = "";
    if (own && *own) {
        if (infc_compiler_probe(cx, own, out, &why) && suits(cx, out, target, own, &why))
            return INFC_OK;
        infc_buf_printf(&tried, "$CC: %s", why);
        if (target->platform->is_host_arch) return missing(cx, target, infc_buf_str(&tried));
    }
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (infc_compiler_probe(cx, candidates[i], out, &why) && suits(cx, out, target, candidates[i], &why))
            return INFC_OK;
        infc_buf_printf(&tried, "%s%s", tried.len ? ", " : "", why);
    }
    return missing(cx, target, infc_buf_str(&tried));
}

/* How a check program is linked, by the word in platforms.def. */
static const struct {
    const char *check, *linker, *flags;
    bool by_path; /* clang takes the linker's path, not its name */
} check_links[] = {
    {"wasm", "wasm-ld-22", "-nostdlib -Wl,--no-entry -Wl,-z,stack-size=1048576", true},
    {"arm", "lld-22", "-nostdlib -static -Wl,-Tsrc/infrt/check_arm.ld", false},
    {"s390x", "lld-22", "-nostdlib -static", false},
};
enum { N_CHECK_LINKS = sizeof check_links / sizeof *check_links };

static size_t check_link(const infc_target *target) {
    size_t i = 0;
    while (i < N_CHECK_LINKS && strcmp(check_links[i].check, target->platform->check) != 0) i++;
    return i;
}

static const char *check_flags(infc_cx *cx, const infc_target *target) {
    if (!target->platform->check) return NULL;
    const size_t i = check_link(target);
    const char *path = infc_program_find(cx->arena, check_links[i].linker);
    return infc_arena_printf(cx->arena, "%s -fuse-ld=%s", check_links[i].flags,
                             check_links[i].by_path && path ? path : check_links[i].linker);
}

infc_status infc_toolchain_can_link(infc_cx *cx, const infc_target *target) {
    if (!target->platform->check) return INFC_OK;
    const char *linker = check_links[check_link(target)].linker;
    if (infc_program_find(cx->arena, linker)) return INFC_OK;
    return infc_fail(cx, INFC_ERR_TOOLCHAIN,
                     INFC_NO_LOC, "target %s: %s is missing, which links what runs its library: apt-get install -y %s",
                     target->name, linker, target->platform->compiler_packages);
}

infc_status infc_toolchain_find(infc_cx *cx, const infc_target *target, infc_toolchain *out) {
    infc_compiler cc;
    *out = (infc_toolchain){0};
    INFC_TRY(find_compiler(cx, target, &cc));
    out->cc = cc;
    out->check_flags = check_flags(cx, target);
    out->cross = !target->platform->is_host_arch;
    if (cc.clang && out->cross)
        out->target_flag = infc_arena_printf(cx->arena, "--target=%s", target->platform->triple);
    return INFC_OK;
}
