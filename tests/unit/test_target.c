#include <stdio.h>
#include <string.h>
#include "targets/target.h"
#include "cx_fixture.h"

static void names(void **state) {
    (void)state;
    infc_target target;
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "x86-64-v3", &target), INFC_OK);
    assert_string_equal(target.platform->arch, "x86_64");
    assert_string_equal(infc_isa_token(target.isa), "x86_64_avx2");
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "x86-64-v3+avx2+fma", &target), INFC_OK);
    assert_string_equal(target.name, "x86-64-v3");
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "x86_64+avx2+fma+f16c+bmi+bmi2+lzcnt+movbe", &target),
                     INFC_OK);
    assert_string_equal(target.name, "x86-64-v3");
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "aarch64+dotprod+i8mm", &target), INFC_OK);
    assert_string_equal(target.name, "aarch64+i8mm");
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "x86-64-v4+vnni+amx", &target), INFC_OK);
    assert_string_equal(target.name, "x86-64-v4+amx");
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "X86-64-V3+AVX2", &target), INFC_OK);
    assert_string_equal(target.name, "x86-64-v3");
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "X86-64:Base,V3", &target), INFC_OK);
    assert_string_equal(target.name, "x86-64:base,v3");
    static const char *const same[][2] = {
        {"x86_64", "x86-64"},
        {"X86_64-v3", "x86-64-v3"},
        {"x86_64-v4+vnni", "x86-64-v4+vnni"},
        {"x86_64:base,x86_64-v3", "x86-64:base,x86-64-v3"},
        {"x86_64:v3", "x86-64-v3"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, same[i][0], &target), INFC_OK);
        assert_string_equal(target.name, same[i][1]);
    }
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "x86-64-v4+vnni+bf16", &target), INFC_OK);
    assert_string_equal(target.name, "x86-64-v4+bf16");
    for (size_t i = 0; i < infc_target_count(); i++) {
        assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, infc_target_at(i)->name, &target), INFC_OK);
        assert_string_equal(target.cflags, infc_target_at(i)->cflags);
    }
    assert_null(infc_target_at(infc_target_count()));
    assert_int_equal(cx.n_diags, 0);
}

typedef struct refused {
    const char *text, *message;
} refused;

static void check_refused(const refused *cases, size_t n) {
    infc_target target;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, cases[i].text, &target), INFC_ERR_SPEC);
        assert_string_equal(cx.diags[i].text, cases[i].message);
    }
}

static void refusals(void **state) {
    (void)state;
    static const refused cases[] = {
        {"x86-64-v9", "unknown target \"x86-64-v9\"; nearest: x86-64-v2"},
        {"aarch46", "unknown target \"aarch46\"; nearest: aarch64"},
        {"hots", "unknown target \"hots\"; nearest: host"},
        {"pdp11", "unknown target \"pdp11\"; known: see infc targets"},
        {"x87", "unknown target \"x87\"; nearest: x86-64"},
        {"arm64", "unknown target \"arm64\"; nearest: aarch64"},
        {"AMD64", "unknown target \"amd64\"; nearest: x86-64"},
        {"riscv32imac", "unknown target \"riscv32imac\"; nearest: riscv64"},
        {"ALL",
         "target \"all\": only infc compare --target all takes it; elsewhere name targets, see "
         "infc targets"},
        {"aarch64+dotprod, x86-64",
         "target \"aarch64+dotprod, x86-64\": for several write a list in a "
         "spec, [A, B], and A,B after --target"},
        {"", "unknown target \"\"; known: see infc targets"},
        {"x86-64-v4+apx",
         "target \"x86-64-v4+apx\": x86_64 has no feature \"apx\"; nearest target: x86-64-v4"},
        {"aarch64+dotprd",
         "target \"aarch64+dotprd\": aarch64 has no feature \"dotprd\"; nearest: dotprod"},
        {"cortex-m4+sve",
         "target \"cortex-m4+sve\": armv7e_m has no feature \"sve\"; nearest target: cortex-m4"},
        {"x86-64+avx2",
         "target \"x86-64+avx2\": no target has just these features; nearest: x86-64"},
        {"x86-64-v3+",
         "target \"x86-64-v3+\": x86_64 has no feature \"\"; nearest target: x86-64-v3"},
        {"armv7e_m+fpu", "unknown target \"armv7e_m+fpu\"; known: see infc targets"},
        {"x86-64-v4+amx+sme",
         "target \"x86-64-v4+amx+sme\": x86_64 has no feature \"sme\"; nearest target: x86-64-v4"},
        {"x86-64+vnni",
         "target \"x86-64+vnni\": x86_64 has no feature \"vnni\"; nearest target: x86-64"},
        {"x86-64-v3+avxvnni+vnni", "target \"x86-64-v3+avxvnni+vnni\": x86_64 has no feature "
                                   "\"vnni\"; nearest target: x86-64-v3"},
        {"riscv64+v+zvl256b+zvl512b",
         "target \"riscv64+v+zvl256b+zvl512b\": no target has just these "
         "features; nearest: riscv64+v+zvl256b"},
        {"x86-64-v3+amx-int8",
         "target \"x86-64-v3+amx-int8\": no target has just these features; nearest: x86-64-v3"},
    };
    check_refused(cases, sizeof cases / sizeof *cases);
}

/* Two targets that were written as one, and lists of levels that are none. */
static void refused_levels(void **state) {
    (void)state;
    static const refused cases[] = {
        {"x86-64:v3,aarch64",
         "target \"x86-64:v3,aarch64\": a comma after a colon stands between levels of one target; "
         "for two "
         "write --target x86-64:v3 --target aarch64, or two items of the list in a spec"},
        {"aarch64:base,x86_64:v3",
         "target \"aarch64:base,x86-64:v3\": a comma after a colon stands between levels of one "
         "target; for two "
         "write --target aarch64:base --target x86-64:v3, or two items of the list in a spec"},
        {"x86-64-v3,x86-64:base,v3",
         "target \"x86-64-v3,x86-64:base,v3\": a comma after a colon stands between levels of one "
         "target; for two "
         "write --target x86-64-v3 --target x86-64:base,v3, or two items of the list in a spec"},
        {"x86-64:riscv64",
         "target \"x86-64:riscv64\": riscv64 is no level of x86-64; write --target "
         "riscv64 for it alone"},
        {"aarch64:base,",
         "target \"aarch64:base,\": a level is missing beside a comma; aarch64 has: base, dotprod, "
         "i8mm, bf16, sve, sve2"},
        {"aarch64:", "target \"aarch64:\": a level is missing after the colon; aarch64 has: base, "
                     "dotprod, i8mm, bf16, sve, sve2"},
        {"aarch64:v9", "target \"aarch64:v9\": aarch64 has no level \"v9\"; it has: base, dotprod, "
                       "i8mm, bf16, sve, sve2"},
        {"riscv64:base,v", "target \"riscv64:base,v\": levels are for x86-64 and aarch64, whose "
                           "programs can ask the CPU what it has"},
    };
    check_refused(cases, sizeof cases / sizeof *cases);
}

static bool cpuinfo_has(const char *feature) {
    char line[8192];
    bool found = false;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "flags", 5) != 0) continue;
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
            found |= !strcmp(word, feature);
        break;
    }
    if (f) fclose(f);
    return found;
}

/* The kernel's own list of what the processor has is the independent witness. */
static void host_is_the_newest_that_runs(void **state) {
    (void)state;
#if defined(__x86_64__)
    const char *expected = "x86-64";
    if (cpuinfo_has("sse4_2") && cpuinfo_has("ssse3") && cpuinfo_has("popcnt"))
        expected = "x86-64-v2";
    if (cpuinfo_has("avx2") && cpuinfo_has("fma") && cpuinfo_has("f16c") && cpuinfo_has("bmi2"))
        expected = cpuinfo_has("avx_vnni") ? "x86-64-v3+avxvnni" : "x86-64-v3";
    if (cpuinfo_has("avx512f") && cpuinfo_has("avx512bw") && cpuinfo_has("avx512dq") && cpuinfo_has("avx512vl")) {
        expected = cpuinfo_has("avx512_vnni") ? "x86-64-v4+vnni" : "x86-64-v4";
        if (cpuinfo_has("avx512_vnni") && cpuinfo_has("avx512_bf16")) expected = "x86-64-v4+bf16";
        if (cpuinfo_has("avx512_vnni") && cpuinfo_has("avx512_fp16")) expected = "x86-64-v4+fp16";
        if (cpuinfo_has("amx_tile") && cpuinfo_has("amx_int8"))
            expected = cpuinfo_has("amx_bf16") && cpuinfo_has("avx512_bf16") ? "x86-64-v4+amx+bf16" : "x86-64-v4+amx";
    }
    infc_target target;
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "host", &target), INFC_OK);
    assert_string_equal(target.name, expected);
    assert_true(target.platform->is_host_arch);
    assert_true(infc_target_runs_here(&target));
    assert_int_equal(infc_target_parse(&cx, INFC_NO_LOC, "aarch64", &target), INFC_OK);
    assert_false(infc_target_runs_here(&target));
#else
    (void)cpuinfo_has;
    skip();
#endif
}

static void levels(void **state) {
    (void)state;
    assert_true(infc_isa_includes(INFC_ISA_x86_64_avx512, INFC_ISA_x86_64_avx2));
    assert_true(infc_isa_includes(INFC_ISA_x86_64_avx512, INFC_ISA_generic));
    assert_true(infc_isa_includes(INFC_ISA_x86_64_vnni, INFC_ISA_x86_64_avx512));
    assert_true(infc_isa_includes(INFC_ISA_x86_64_amx, INFC_ISA_x86_64_avx2));
    assert_true(infc_isa_includes(INFC_ISA_generic, INFC_ISA_generic));
    assert_false(infc_isa_includes(INFC_ISA_generic, INFC_ISA_x86_64_avx2));
    assert_false(infc_isa_includes(INFC_ISA_x86_64_avx2, INFC_ISA_x86_64_avx512));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(names),          CX_TEST(refusals),
        CX_TEST(refused_levels), CX_TEST(host_is_the_newest_that_runs),
        CX_TEST(levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
