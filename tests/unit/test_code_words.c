/* Instructions as LLVM writes them, against what the manuals of the architectures say they do. */
#include <string.h>
#include "compiler/driver/code_words.h"
#include "cx_fixture.h"

static infc_instruction look(const char *target, const char *text, size_t bytes) {
    infc_target t;
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, target, &t), INFC_OK);
    return infc_instruction_look(infc_machine_code_get(t.platform->arch), &t, text, bytes);
}

enum { FMA = 1, DOT = 2, LOAD = 4, STORE = 8, STACK = 16 };

static void what_they_do(void **state) {
    (void)state;
    static const struct {
        const char *target, *text;
        int does;
        unsigned vector;
    } cases[] = {
        {"x86-64-v3", "\tvfmadd231ps\t(%rdi), %ymm1, %ymm2", FMA | LOAD, 256},
        {"x86-64-v3", "\tvfmadd231ss\t%xmm0, %xmm1, %xmm2", FMA, 0},
        {"x86-64-v4+vnni", "\tvpdpbusd\t(%rax){1to16}, %zmm3, %zmm4", DOT | LOAD, 512},
        {"x86-64-v3", "\tvbroadcastss\t(%rdi), %ymm2", LOAD, 256},
        {"x86-64-v3", "\tvmovups\t%ymm0, -32(%rsp)", STORE | STACK, 256},
        {"x86-64-v3", "\tmovq\t8(%rsp), %rax", LOAD | STACK, 0},
        {"x86-64-v3", "\tcmpq\t$0, (%rdi)", LOAD, 0},
        {"x86-64-v3", "\tleaq\t8(%rdi), %rax", 0, 0},
        {"x86-64-v3", "\tpushq\t%rbp", STORE | STACK, 0},
        {"aarch64", "\tfmla\tv16.4s, v1.4s, v0.s[0]", FMA, 128},
        {"aarch64", "\tfmadd\ts0, s1, s2, s3", FMA, 0},
        {"aarch64+dotprod", "\tsdot\tv20.4s, v24.16b, v26.4b[1]", DOT, 128},
        {"aarch64", "\tldp\tq27, q28, [x9, #-16]", LOAD, 128},
        {"aarch64", "\tstp\tx29, x30, [sp, #-32]!", STORE | STACK, 0},
        {"aarch64+sve", "\tfmla\tz0.s, p0/m, z1.s, z2.s", FMA, 128},
        {"riscv64+v+zvl512b", "\tvfmacc.vf\tv8, fa5, v9", FMA, 512},
        {"riscv64+v", "\tvsetivli\tzero, 16, e32, m4, ta, ma", 0, 0},
        {"riscv64+v", "\tvle32.v\tv9, (a3)", LOAD, 128},
        {"riscv64", "\tfsd\tfs0, 8(sp)", STORE | STACK, 0},
        {"riscv64", "\tsll\ta0, a0, a1", 0, 0},
        {"wasm32+simd128", "\ti32x4.dot_i16x8_s", DOT, 128},
        {"wasm32", "\tf32.load\t4", LOAD, 0},
        {"cortex-m4", "\tsmlad\tr0, r1, r2, r0", DOT, 0},
        {"cortex-m4", "\tvldr\ts0, [sp, #4]", LOAD | STACK, 0},
        {"s390x", "\tstmg\t%r6, %r15, 48(%r15)", STORE | STACK, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const infc_instruction i = look(cases[k].target, cases[k].text, 4);
        const int does = (i.fma ? FMA : 0) | (i.dot ? DOT : 0) | (i.load ? LOAD : 0) |
                         (i.store ? STORE : 0) | (i.stack ? STACK : 0);
        if (does != cases[k].does || i.vector != cases[k].vector)
            fail_msg("%s: does %d, vector %u", cases[k].text, does, i.vector);
    }
}

static void where_they_go(void **state) {
    (void)state;
    static const struct {
        const char *target, *text;
        size_t bytes;
        bool branch;
        int64_t offset;
    } cases[] = {
        {"x86-64", "\tjne\t-34", 2, true, -32}, /* from where it ends */
        {"x86-64", "\tjmpq\t*%rax", 2, false, 0},
        {"aarch64", "\tb.lo\t#-120", 4, true, -120},
        {"aarch64", "\tcbnz\tx0, #-8", 4, true, -8},
        {"aarch64", "\tbl\t#-8", 4, false, 0}, /* a call */
        {"aarch64", "\tbic\tx0, x1, x2", 4, false, 0},
        {"riscv64", "\tbne\ta3, s5, -64", 4, true, -64},
        {"cortex-m4", "\tbne\t#-20", 2, true, -16}, /* from four bytes on */
        {"s390x", "\tbrct\t%r1, -40", 4, true, -40},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const infc_instruction i = look(cases[k].target, cases[k].text, cases[k].bytes);
        if (i.branch != cases[k].branch || (i.branch && i.offset != cases[k].offset))
            fail_msg("%s: %d, %lld", cases[k].text, i.branch, (long long)i.offset);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {CX_TEST(what_they_do), CX_TEST(where_they_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
