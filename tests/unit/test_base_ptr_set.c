#include "compiler/base/ptr_set.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void members(void **state) {
    (void)state;
    infc_arena *arena = infc_arena_create();
    infc_ptr_set set = {.arena = arena};
    static char bytes[3000];
    assert_false(infc_ptr_set_has(&set, bytes));
    for (int i = 0; i < 3000; i += 2) infc_ptr_set_add(&set, &bytes[i]);
    infc_ptr_set_add(&set, &bytes[0]);
    infc_ptr_set_add(&set, NULL);
    assert_int_equal(set.n, 1500);
    for (int i = 0; i < 3000; i++) assert_int_equal(infc_ptr_set_has(&set, &bytes[i]), i % 2 == 0);
    assert_false(infc_ptr_set_has(&set, NULL));
    infc_arena_destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
