/* Memory that runs out anywhere while IR text is read, optimised, evaluated and printed: every n-th allocation of the
 * arenas fails once, and what was built until then still goes with its arena. */
#include "compiler/ir/eval.h"
#include "passes/pass.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "func.func @main(%x: tensor<1x2x2x2xf32> {infc.name = \"x\"}) -> (tensor<1x8xf32> {infc.name = "
    "\"y\"}) {\n"
    "  %w = \"infc.weight\"() {value = dense<1.5> : tensor<2x2x1x1xf32>} : () -> "
    "tensor<2x2x1x1xf32>\n"
    "  %s = \"infc.weight\"() {value = dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>} : () -> "
    "tensor<2x1x1xf32>\n"
    "  %t = \"infc.map1\"(%s) {fn = \"neg\"} : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>\n"
    "  %0 = \"infc.conv\"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, "
    "dilations = "
    "array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> "
    "tensor<1x2x2x2xf32>\n"
    "  %1 = \"infc.map2\"(%0, %t) {fn = \"mul\"} : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> "
    "tensor<1x2x2x2xf32>\n"
    "  %2 = \"infc.map2\"(%1, %s) {fn = \"add\"} : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> "
    "tensor<1x2x2x2xf32>\n"
    "  %3 = \"infc.reshape\"(%2) {shape = array<i64: 1, 8>} : (tensor<1x2x2x2xf32>) -> "
    "tensor<1x8xf32>\n"
    "  return %3 : tensor<1x8xf32>\n"
    "}\n";

static infc_status everything(infc_cx *cx) {
    static const infc_spec spec = {.weights = INFC_FORMAT_int8};
    infc_ir ir, lowered;
    infc_target target;
    infc_type type = {INFC_DTYPE_f32, INFC_LAYOUT_plain, 4, {1, 2, 2, 2}};
    infc_tensor in, out;
    INFC_TRY(infc_ir_parse(cx, (infc_bytes){(const uint8_t *)text, sizeof text - 1}, "text", &ir));
    INFC_TRY(infc_passes_run(&ir, &spec, NULL, INFC_PASSES_MODEL, NULL));
    INFC_TRY(infc_ir_clone(&ir, &lowered));
    INFC_TRY(infc_target_parse(cx, INFC_NO_LOC, "x86-64-v3", &target));
    INFC_TRY(infc_passes_run(&lowered, &spec, &target, INFC_PASSES_TARGET, NULL));
    INFC_TRY(infc_tensor_create(cx, cx->arena, &type, &in));
    INFC_TRY(infc_eval_main(&lowered, cx->arena, &in, &out, NULL, NULL));
    infc_buf printed = {.arena = cx->arena};
    infc_ir_print(&lowered, &printed);
    return printed.len > 100 ? INFC_OK : INFC_ERR_INTERNAL;
}

static void jump(void *user) { longjmp(*(jmp_buf *)user, 1); }

/* OK, or NO_MEMORY when allocation n (0: none) failed. */
static infc_status attempt(size_t n) {
    infc_cx cx;
    jmp_buf no_memory;
    volatile infc_status status = INFC_ERR_NO_MEMORY;
    assert_int_equal(infc_cx_init(&cx), INFC_OK);
    if (!setjmp(no_memory)) {
        infc_arena_on_no_memory(cx.arena, jump, &no_memory);
        infc_arena_fail_at(cx.arena, n);
        status = everything(&cx);
    }
    infc_cx_deinit(&cx);
    return status;
}

static void test_every_allocation(void **state) {
    (void)state;
    assert_int_equal(attempt(0), INFC_OK);
    size_t n = 1;
    while (n < 100000 && attempt(n) == INFC_ERR_NO_MEMORY) n += 1 + n / 64;
    assert_in_range(n, 50, 99999); /* beyond the last allocation it succeeds again */
    assert_int_equal(attempt(n), INFC_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
