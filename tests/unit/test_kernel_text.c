#include <stdio.h>
#include <string.h>
#include "compiler/emit/kernel_text.h"
#include "templates/reference.h"
#include "cx_fixture.h"

static const char *selected(infk_kind kind, const char *x, const char *w, infc_isa isa, const void *dims) {
    const char *const types[] = {x, w, x};
    const infk_kernel *k = infk_kernel_select(kind, types, isa, dims);
    return k ? k->name : "none";
}

/* A 3x3 convolution of 16 to 32 channels on 8x8, in blocks. */
static const infk_conv_dims conv = {1, 1, 16, 32,   8,    8, 8,   8,  3,    3,    1, 1,   1,
                                    1, 1, 1,  1024, 1024, 1, 128, 16, 2048, 1024, 1, 128, 16};

static void selects_the_last_that_fits(void **state) {
    (void)state;
    const infk_matmul_dims row = {.batch = 1, .m = 1, .n = 10, .k = 64},
                           rows = {.batch = 1, .m = 9, .n = 10, .k = 64};
    assert_string_equal(selected(INFK_matmul, "f32", "f32", INFC_ISA_x86_64_avx2, &row),
                        "infk_f32_matmul_1x64__x86_64_avx2");
    assert_string_equal(selected(INFK_matmul, "f32", "f32", INFC_ISA_x86_64_avx2, &rows),
                        "infk_f32_matmul_6x16__x86_64_avx2");
    assert_string_equal(selected(INFK_matmul, "f32", "i8", INFC_ISA_x86_64_avx2, &rows),
                        "infk_f32i8_matmul_6x16__x86_64_avx2");
    assert_string_equal(selected(INFK_matmul, "f32", "f32", INFC_ISA_generic, &rows),
                        "infk_f32_matmul_4x16__generic");
    assert_string_equal(selected(INFK_conv, "f32", "f32", INFC_ISA_x86_64_avx512, &conv),
                        "infk_f32_conv_dense14x32__x86_64_avx512");
    infk_conv_dims other = conv;
    other.groups = 3; /* groups that share a block of outputs */
    other.ic = 4;
    other.oc = 9;
    assert_string_equal(selected(INFK_conv, "f32", "f32", INFC_ISA_x86_64_avx512, &other),
                        "infk_f32_conv_groups14x16__x86_64_avx512");
    assert_string_equal(selected(INFK_conv, "f64", "f64", INFC_ISA_generic, &conv), "none");
}

static void fast_kinds_are_the_level_s(void **state) {
    (void)state;
    assert_int_equal(infk_fast(INFC_ISA_x86_64_bf16, "bf16"), INFK_matmul_vdpbf16);
    assert_int_equal(infk_fast(INFC_ISA_x86_64_amx_bf16, "bf16"), INFK_matmul_tdpbf16);
    assert_int_equal(infk_fast(INFC_ISA_aarch64_bf16, "bf16"), INFK_matmul_bfdot);
    assert_int_equal(infk_fast(INFC_ISA_x86_64_fp16, "f16"), INFK_matmul_fmaph);
    assert_int_equal(infk_fast(INFC_ISA_x86_64_fp16, "bf16"), INFK_matmul);
    assert_int_equal(infk_fast(INFC_ISA_x86_64_bf16, "f16"), INFK_matmul);
    assert_int_equal(infk_fast(INFC_ISA_x86_64_bf16, "f32"), INFK_matmul);
    assert_int_equal(infk_fast(INFC_ISA_x86_64_amx, "bf16"), INFK_matmul);
    assert_int_equal(infk_fast(INFC_ISA_generic, "bf16"), INFK_matmul);
    assert_int_equal(infk_exact(INFK_matmul_bfdot), INFK_matmul);
    assert_int_equal(infk_exact(INFK_conv), INFK_conv);
    /* One of them does every call, so that few rows and many are the same. */
    const infk_matmul_dims one = {.batch = 1, .m = 1, .n = 1, .k = 1};
    for (infc_isa isa = 0; isa < INFC_N_ISAS; isa++)
        for (int half = 0; half < 2; half++) {
            const char *w = half ? "f16" : "bf16", *types[INFK_MAX_TYPES] = {"f32", w, "f32"};
            assert_true(infk_kernel_select(infk_fast(isa, w), types, isa, &one) != NULL);
            if (infk_fast(isa, w) != INFK_matmul)
                assert_int_equal(infk_kernel_select(infk_fast(isa, w), types, isa, &one)->lanes, 16);
        }
}

static void every_kind_has_a_reference(void **state) {
    (void)state;
    size_t references = 0;
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        const infk_kernel *k = infk_kernel_at(i);
        const bool reference = strcmp(k->tile, "ref") == 0;
        assert_true((infk_reference_find(k) != NULL) == reference);
        references += reference;
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(infk_kernel_at(other)->name, k->name);
    }
    assert_int_equal(references, infk_reference_n);
    assert_null(infk_kernel_at(infk_kernel_count()));
    for (infk_kind kind = 0; kind < INFK_N_KINDS; kind++) {
        bool found = false;
        for (size_t i = 0; i < infk_kernel_count(); i++) found |= infk_kernel_at(i)->kind == kind;
        assert_true(found);
        assert_true(infk_kind_get(kind)->n_dims <= INFK_MAX_DIMS);
    }
}

static void counts(void **state) {
    (void)state;
    assert_int_equal(infk_units(INFK_conv, &conv), 2 * 8);
    assert_int_equal(infk_flops(INFK_conv, &conv), 2 * 64 * 32 * 16 * 9);
    const infk_matmul_dims matmul = {.batch = 3, .m = 5, .n = 33, .k = 7};
    assert_int_equal(infk_units(INFK_matmul, &matmul), 3 * 3);
    assert_int_equal(infk_flops(INFK_matmul, &matmul), 2 * 3 * 5 * 33 * 7);
    const infk_relayout_dims pack = {2, 17, 5, 9};
    assert_int_equal(infk_units(INFK_pack_matmul, &pack), 2 * 2);
    assert_int_equal(infk_units(INFK_pack_conv, &pack), 2);
    const infk_strided_dims strided = {.d0 = 3, .d1 = 4, .d2 = 5, .d3 = 1, .d4 = 1, .d5 = 6};
    assert_int_equal(infk_units(INFK_strided, &strided), 12);
}

static bool has(infc_buf *text, const char *what) {
    return strstr(infc_buf_str(text), what) != NULL;
}

/* What is defined before an instance is undone after it; nothing is left of the template language. */
static void instances_follow_each_other(void **state) {
    (void)state;
    for (size_t i = 0; i < infk_kernel_count(); i++) {
        infc_buf text = {.arena = cx.arena};
        assert_int_equal(infc_kernel_text(&cx, infk_kernel_at(i), "step", "bias", &text), INFC_OK);
        int defined = 0;
        for (const char *at = infc_buf_str(&text); *at; at = strchr(at, '\n') + 1) {
            if (strncmp(at, "#define ", 8) == 0) defined++;
            if (strncmp(at, "#undef ", 7) == 0) defined--;
            if (!strchr(at, '\n')) break;
        }
        assert_int_equal(defined, 0);
        assert_false(has(&text, "$"));
        assert_true(has(&text, "struct bias") && has(&text, infk_kernel_at(i)->name));
    }
}

static void vocabulary(void **state) {
    (void)state;
    for (infc_isa isa = 0; isa < INFC_N_ISAS; isa++) {
        infc_buf text = {.arena = cx.arena};
        assert_int_equal(infc_simd_text(&cx, isa, "GUARD_H", &text), INFC_OK);
        assert_memory_equal(infc_buf_str(&text), "#ifndef GUARD_H\n#define GUARD_H\n", 32);
        assert_true(has(&text, "s_exp") || has(&text, "P(exp)"));
        assert_false(has(&text, "#include \""));
    }
    infc_buf dims = {.arena = cx.arena};
    infc_kernel_dims_text(INFK_softmax, &dims);
    assert_string_equal(infc_buf_str(&dims), "typedef struct infk_softmax_dims {\n    ptrdiff_t "
                                             "outer, r, inner;\n} infk_softmax_dims;\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_the_last_that_fits),  cmocka_unit_test(fast_kinds_are_the_level_s),
        cmocka_unit_test(every_kind_has_a_reference),  cmocka_unit_test(counts),
        cmocka_unit_test(instances_follow_each_other), cmocka_unit_test(vocabulary),
    };
    return cmocka_run_group_tests(tests, cx_setup, cx_teardown);
}
