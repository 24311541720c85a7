/* Placing by lives: cases with a known best placement, and large ones within their limits. */
#include "compiler/plan/place.h"
#include "cx_fixture.h"

static uint64_t place(infc_place_item *items, int n, uint64_t *bound) {
    uint64_t end;
    infc_place_items(cx.arena, items, n, &end, bound);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++) {
            bool live = items[a].first <= items[b].last && items[b].first <= items[a].last;
            bool apart = items[a].offset + items[a].size <= items[b].offset ||
                         items[b].offset + items[b].size <= items[a].offset;
            assert_true(!live || apart);
        }
    return end;
}

static void nothing_takes_nothing(void **state) {
    (void)state;
    uint64_t bound, end = place(NULL, 0, &bound);
    assert_int_equal(end, 0);
    assert_int_equal(bound, 0);
}

/* A residual block: x lives over the two steps that make y and z; then z is made and x + z. Steps: 0 makes x (8),
 * 1 makes y (4) from x, 2 makes z (8) from y, 3 makes s (8) from x and z. At step 2 8 + 4 + 8 is live, at step 3
 * 8 + 8 + 8: 24 in all, when s lies where y was and goes on. */
static void a_residual_block(void **state) {
    (void)state;
    infc_place_item items[] = {{8, 0, 0, 3}, {4, 0, 1, 2}, {8, 0, 2, 3}, {8, 0, 3, 4}};
    uint64_t bound, end = place(items, 4, &bound);
    assert_int_equal(bound, 24);
    assert_int_equal(end, 24);
}

/* By first use, a (2), b (2) and c (3) are at 0, 2 and 4; when a dies d (4) fits only above c: 11 bytes. With c at 0,
 * b at 7 and a at 3, d (4) takes the place of a and what is beside it: at 3 .. 7, 9 bytes, the most that is live. */
static void first_use_is_not_enough(void **state) {
    (void)state;
    infc_place_item items[] = {{2, 0, 0, 0}, {2, 0, 0, 1}, {3, 0, 0, 1}, {4, 0, 1, 1}};
    uint64_t bound, end = place(items, 4, &bound);
    assert_int_equal(bound, 9);
    assert_int_equal(end, 9);
}

/* Live at steps 0 to 3: 3 + 5, 3 + 5 + 4, 5 + 4 + 5 and 5 + 6. 14 are enough: 5 (b) at 0, 4 (c) at 5, 3 (a) and then
 * 5 (d) at 9, and 6 (e) at 0. */
static void chain_beside_large_items(void **state) {
    (void)state;
    infc_place_item items[] = {{3, 0, 0, 1}, {5, 0, 0, 2}, {4, 0, 1, 2}, {5, 0, 2, 3}, {6, 0, 3, 3}};
    uint64_t bound, end = place(items, 5, &bound);
    assert_int_equal(bound, 14);
    assert_int_equal(end, 14);
}

/* Whether the bound can be met is not known; a tenth above it can. */
static void random_items_end_near_the_bound(void **state) {
    (void)state;
    enum { N = 120 };
    uint64_t seed = 7;
    for (int round = 0; round < 4; round++) {
        infc_place_item items[N];
        for (int i = 0; i < N; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            items[i] =
                (infc_place_item){64 * (1 + (seed >> 33) % 40), 0, i, i + 1 + (int)((seed >> 50) % 6)};
        }
        uint64_t bound, end = place(items, N, &bound);
        assert_true(end >= bound);
        assert_true(end <= bound + bound / 10);
    }
}

/* 20,000 items that all live at once: 200 million pairs, none of which is kept. */
static void very_many_items_at_once(void **state) {
    (void)state;
    enum { N = 20000 };
    infc_place_item *items = INFC_NEW(cx.arena, infc_place_item, N);
    for (int i = 0; i < N; i++) items[i] = (infc_place_item){64, 0, i, N};
    uint64_t bound, end;
    infc_place_items(cx.arena, items, N, &end, &bound);
    assert_int_equal(bound, 64 * N);
    assert_int_equal(end, 64 * N);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_takes_nothing),
        cmocka_unit_test(a_residual_block),
        cmocka_unit_test(first_use_is_not_enough),
        cmocka_unit_test(chain_beside_large_items),
        cmocka_unit_test(random_items_end_near_the_bound),
        cmocka_unit_test(very_many_items_at_once),
    };
    return cmocka_run_group_tests(tests, cx_setup, cx_teardown);
}
