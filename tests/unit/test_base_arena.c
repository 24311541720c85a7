#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "compiler/base/arena.h"

static void zeroed_and_aligned(void **state) {
    (void)state;
    infc_arena *arena = infc_arena_create();
    for (size_t align = 1; align <= 4096; align *= 2) {
        for (size_t bytes = 0; bytes < 200; bytes += 37) {
            unsigned char *p = infc_arena_alloc(arena, bytes, align);
            assert_int_equal((uintptr_t)p % align, 0);
            for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
            if (bytes) memset(p, 0xff, bytes);
        }
    }
    infc_arena_destroy(&arena);
    assert_null(arena);
    infc_arena_destroy(&arena);
    infc_arena_destroy(NULL);
}

static void large_objects_do_not_overlap(void **state) {
    (void)state;
    enum { N = 40 };
    infc_arena *arena = infc_arena_create();
    unsigned char *objects[N];
    size_t sizes[N];
    for (size_t i = 0; i < N; i++) {
        sizes[i] = i % 3 == 0 ? (size_t)300 << 10 : i % 3 == 1 ? 100 : (size_t)60 << 10;
        objects[i] = infc_arena_alloc(arena, sizes[i], 64);
        memset(objects[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(objects[i][0], i + 1);
        assert_int_equal(objects[i][sizes[i] / 2], i + 1);
        assert_int_equal(objects[i][sizes[i] - 1], i + 1);
    }
    infc_arena_destroy(&arena);
}

static void grow_keeps_elements(void **state) {
    (void)state;
    infc_arena *arena = infc_arena_create();
    uint64_t *items = NULL;
    size_t n = 0, cap = 0;
    for (; n < 10000; n++) {
        INFC_GROW(arena, items, n, cap);
        items[n] = n * n;
    }
    for (size_t i = 0; i < n; i++) assert_int_equal(items[i], i * i);
    infc_arena_destroy(&arena);
}

static char order[8];

static void note(void *handle) { strcat(order, handle); }

static void deferred_calls_run_newest_first(void **state) {
    (void)state;
    char a[] = "a", b[] = "b", c[] = "c";
    infc_arena *arena = infc_arena_create();
    order[0] = '\0';
    infc_arena_defer(arena, note, a);
    infc_arena_defer(arena, note, b);
    infc_arena_reset(arena);
    assert_string_equal(order, "ba");
    infc_arena_defer(arena, note, c);
    infc_arena_destroy(&arena);
    assert_string_equal(order, "bac");
}

static jmp_buf recovery;

static void recover(void *user) {
    ++*(int *)user;
    longjmp(recovery, 1);
}

static void memory_gone_reaches_the_handler(void **state) {
    (void)state;
    infc_arena *arena = infc_arena_create();
    static int calls;
    static volatile int made;
    calls = made = 0;
    infc_arena_on_no_memory(arena, recover, &calls);
    infc_arena_fail_at(arena, 3);
    if (!setjmp(recovery)) {
        for (;; made++) infc_arena_alloc(arena, 8, 8);
    }
    assert_int_equal(made, 2);
    if (!setjmp(recovery)) infc_arena_alloc_array(arena, SIZE_MAX / 2, 4, 4);
    if (!setjmp(recovery)) infc_arena_alloc(arena, SIZE_MAX, 8);
    if (!setjmp(recovery)) infc_arena_copy_string(arena, "", SIZE_MAX);
    assert_int_equal(calls, 4);
    assert_non_null(infc_arena_alloc(arena, 8, 8)); /* usable afterwards */
    infc_arena_destroy(&arena);
}

static void strings(void **state) {
    (void)state;
    infc_arena *arena = infc_arena_create();
    assert_string_equal(infc_arena_copy_string(arena, "abcdef", 3), "abc");
    assert_string_equal(infc_arena_printf(arena, "%s-%d", "x", 42), "x-42");
    assert_string_equal(infc_arena_printf(arena, "%s", ""), "");
    infc_arena_destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_and_aligned),
        cmocka_unit_test(large_objects_do_not_overlap),
        cmocka_unit_test(grow_keeps_elements),
        cmocka_unit_test(deferred_calls_run_newest_first),
        cmocka_unit_test(memory_gone_reaches_the_handler),
        cmocka_unit_test(strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
