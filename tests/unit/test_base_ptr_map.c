#include "compiler/base/ptr_map.h"
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

static void values(void **state) {
    (void)state;
    infc_arena *arena = infc_arena_create();
    infc_ptr_map map = {.arena = arena};
    static char keys[1000], kept[1000];
    assert_null(infc_ptr_map_find(&map, keys));
    for (int i = 0; i < 1000; i++) {
        void **at = infc_ptr_map_at(&map, &keys[i]);
        assert_null(*at);
        *at = &kept[i];
    }
    assert_int_equal(map.n, 1000);
    for (int i = 0; i < 1000; i++) assert_ptr_equal(infc_ptr_map_find(&map, &keys[i]), &kept[i]);
    *infc_ptr_map_at(&map, &keys[7]) = &kept[0];
    assert_ptr_equal(infc_ptr_map_find(&map, &keys[7]), &kept[0]);
    assert_int_equal(map.n, 1000);
    assert_null(infc_ptr_map_find(&map, kept));
    infc_arena_destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(members), cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
