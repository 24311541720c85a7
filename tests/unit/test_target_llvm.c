/* What the lines of targets.def say, as LLVM understands it: an unknown triple fails, an unknown CPU or feature is told
 * on stderr, which is read here. The declarations are those of llvm-c/TargetMachine.h, whose package nothing else here
 * needs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "targets/target.h"
#include "cx_fixture.h"

typedef struct LLVMTarget *LLVMTargetRef;
typedef struct LLVMOpaqueTargetMachine *LLVMTargetMachineRef;
extern int LLVMGetTargetFromTriple(const char *triple, LLVMTargetRef *out, char **error);
extern LLVMTargetMachineRef LLVMCreateTargetMachine(LLVMTargetRef target, const char *triple,
                                                    const char *cpu, const char *features,
                                                    int level, int reloc, int code_model);
extern void LLVMDisposeTargetMachine(LLVMTargetMachineRef machine);
extern void LLVMDisposeMessage(char *message);
#define BACK_END(name)                                  \
    extern void LLVMInitialize##name##Target(void);     \
    extern void LLVMInitialize##name##TargetInfo(void); \
    extern void LLVMInitialize##name##TargetMC(void);
BACK_END(X86)
BACK_END(AArch64)
BACK_END(RISCV)
BACK_END(WebAssembly)
BACK_END(ARM)
BACK_END(SystemZ)

static void start_all(void) {
#define START(name) \
    LLVMInitialize##name##TargetInfo(), LLVMInitialize##name##Target(), LLVMInitialize##name##TargetMC();
    START(X86)
    START(AArch64)
    START(RISCV)
    START(WebAssembly)
    START(ARM)
    START(SystemZ)
}

/* What LLVM says about it on stderr; "" when it takes all of it. */
static const char *complaint(const char *triple, const char *cpu, const char *features) {
    static char text[4096];
    char *error = NULL;
    LLVMTargetRef target;
    if (LLVMGetTargetFromTriple(triple, &target, &error)) {
        LLVMDisposeMessage(error);
        return "no such triple";
    }
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, triple, cpu, features, 2, 0, 0);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    if (!machine) return "no machine";
    LLVMDisposeTargetMachine(machine);
    return text;
}

/* "+a,+b" for LLVM, of "a b". */
static const char *features_of(const infc_target *t) {
    infc_buf out = {.arena = cx.arena};
    for (const char *f = t->cpu_features; *f; f += strspn(f, " ")) {
        const size_t n = strcspn(f, " ");
        infc_buf_printf(&out, "%s+%.*s", out.len ? "," : "", (int)n, f);
        f += n;
    }
    return infc_buf_str(&out);
}

static void lines_are_known(void **state) {
    (void)state;
    start_all();
    for (size_t i = 0; i < infc_target_count(); i++) {
        const infc_target *t = infc_target_at(i);
        const char *mcpu = strstr(t->cflags, "-mcpu=");
        const char *cpu = mcpu ? infc_arena_copy_string(cx.arena, mcpu + 6, strcspn(mcpu + 6, " ")) : "";
        const char *said = complaint(t->platform->triple, cpu, features_of(t));
        if (*said) fail_msg("%s: %s", t->name, said);
    }
}

/* The test can fail: LLVM does complain. */
static void nonsense_is_told(void **state) {
    (void)state;
    start_all();
    assert_string_equal(complaint("pdp11-dec-none", "", ""), "no such triple");
    assert_non_null(strstr(complaint("aarch64-linux-gnu", "", "+dotprd"), "dotprd"));
    assert_non_null(strstr(complaint("thumbv7em-none-eabihf", "cortex-m77", ""), "cortex-m77"));
}

int main(void) {
    const struct CMUnitTest tests[] = {CX_TEST(lines_are_known), CX_TEST(nonsense_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
