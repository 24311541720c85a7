#include "code_words.h"
#include <stdlib.h>
#include <string.h>

#define INFC_MACHINE_CODE(arch, llvm, ...)                \
    extern void LLVMInitialize##llvm##TargetInfo(void);   \
    extern void LLVMInitialize##llvm##TargetMC(void);     \
    extern void LLVMInitialize##llvm##Disassembler(void); \
    static void start_##arch(void) {                      \
        LLVMInitialize##llvm##TargetInfo();               \
        LLVMInitialize##llvm##TargetMC();                 \
        LLVMInitialize##llvm##Disassembler();             \
    }
#include "../../targets/machine_code.def"
#undef INFC_MACHINE_CODE

static const infc_machine_code codes[] = {
#define INFC_MACHINE_CODE(arch, llvm, triple, cpu, features, fma, dot, loads, stores, stack) \
    {#arch, triple, cpu, features, fma, dot, loads, stores, stack, start_##arch},
#include "../../targets/machine_code.def"
#undef INFC_MACHINE_CODE
};

const infc_machine_code *infc_machine_code_get(const char *arch) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i].arch, arch) == 0) return &codes[i];
    return NULL;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether `name` begins with a word of the list. */
static bool any(const char *list, const char *name) {
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (strncmp(name, at, n) == 0) return true;
        at += n;
    }
    return false;
}

/* ---- vectors: the bits of the registers that an instruction works on -------------------------------------------- */

/* Names that end with ss or sd are of one float in such a register, as are moves from and to general registers. */
static unsigned vector_x86_64(const char *name, size_t n, const char *operands) {
    const bool one = n > 2 && (memcmp(name + n - 2, "ss", 2) == 0 || memcmp(name + n - 2, "sd", 2) == 0);
    if ((one && !any("p vp vbroadcast", name)) || strstr(name, "2si") || strstr(name, "si2"))
        return 0;
    if (begins(name, "movd") || begins(name, "movq") || begins(name, "vmovd\t") || begins(name, "vmovq\t"))
        return 0;
    if (strstr(operands, "%zmm") || strstr(operands, "%tmm")) return 512;
    return strstr(operands, "%ymm") ? 256 : strstr(operands, "%xmm") ? 128 : 0;
}

/* v0.4s, q0, z0.s: of 128 bits, the least that SVE has. */
static unsigned vector_aarch64(const char *operands) {
    for (const char *at = operands; *at; at++) {
        if (at > operands && !strchr(" \t{[,", at[-1])) continue;
        if (strchr("vqz", *at) && at[1] >= '0' && at[1] <= '9') return 128;
    }
    return 0;
}

static unsigned vector_riscv64(const char *name, const infc_target *target) {
    if (*name != 'v' || begins(name, "vset")) return 0;
    const char *least = strstr(target->cpu_features, "zvl");
    return least ? (unsigned)strtoul(least + 3, NULL, 10) : 128;
}

static unsigned vector_bits(const infc_machine_code *code, const infc_target *target,
                            const char *name, size_t n, const char *operands) {
    if (strcmp(code->arch, "x86_64") == 0) return vector_x86_64(name, n, operands);
    if (strcmp(code->arch, "aarch64") == 0) return vector_aarch64(operands);
    if (strcmp(code->arch, "riscv64") == 0) return vector_riscv64(name, target);
    if (strcmp(code->arch, "wasm32") == 0)
        return any("v128 i8x16 i16x8 i32x4 i64x2 f32x4 f64x2", name) ? 128 : 0;
    if (strcmp(code->arch, "s390x") == 0) return *name == 'v' ? 128 : 0;
    return 0;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* The last operand is the result; comparisons have none. */
static void memory_x86_64(const char *name, const char *operands, infc_instruction *out) {
    const char *at = strrchr(operands, '(');
    out->store = begins(name, "push");
    out->load = begins(name, "pop");
    out->stack = out->store || out->load;
    if (!at || any("lea nop prefetch", name)) return;
    const bool last = !strchr(at, ')') || strchr(at, ')')[1] == '\0';
    const bool reads = any("cmp test ucomis vucomis comis vcomis", name) || !strchr(operands, ',');
    out->store |= last && !reads;
    out->load |= !last || reads;
}

static bool is_branch(const infc_machine_code *code, const char *name) {
    if (strcmp(code->arch, "x86_64") == 0 || strcmp(code->arch, "s390x") == 0)
        return *name == 'j' || begins(name, "brct") || begins(name, "brx");
    if (strcmp(code->arch, "wasm32") == 0) return false;
    return (*name == 'b' && !any("bl bic bfi bfx bfm bit bif bsl bkpt br", name)) ||
           begins(name, "cb") || begins(name, "tb") || begins(name, "j\t") || begins(name, "blt") ||
           begins(name, "bls") || begins(name, "ble");
}

/* The last operand, if it is a number and no more. */
static bool last_number(const char *operands, int64_t *out) {
    const char *at = operands + strlen(operands);
    char *end;
    while (at > operands && !strchr(" \t,", at[-1])) at--;
    at += *at == '#' || *at == '$';
    *out = strtoll(at, &end, 0);
    return end > at && *end == '\0';
}

infc_instruction infc_instruction_look(const infc_machine_code *code, const infc_target *target,
                                       const char *text, size_t bytes) {
    const char *name = text + strspn(text, " \t"), *operands = name + strcspn(name, " \t");
    const size_t n = (size_t)(operands - name);
    infc_instruction out = {.fma = any(code->fma, name), .dot = any(code->dot, name)};
    operands += strspn(operands, " \t");
    out.vector = vector_bits(code, target, name, n, operands);
    if (strcmp(code->arch, "x86_64") == 0) memory_x86_64(name, operands, &out);
    else {
        const bool memory = !code->stack || strpbrk(operands, "([{");
        out.store = memory && any(code->stores, name);
        out.load = memory && !out.store && any(code->loads, name);
        out.stack = any("push pop vpush vpop", name) && (out.load || out.store);
    }
    if (code->stack && (out.load || out.store)) out.stack |= strstr(operands, code->stack) != NULL;
    out.branch = is_branch(code, name) && last_number(operands, &out.offset);
    if (strcmp(code->arch, "x86_64") == 0) out.offset += (int64_t)bytes;
    if (strcmp(code->arch, "armv7e_m") == 0) out.offset += 4;
    return out;
}
