/* Expressions over sizes: one form for all that are equal, values and bounds as arithmetic gives them. */
#include "../../compiler/ir/ir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef struct fixture {
    infc_arena *arena;
    infc_sizes *sizes;
    int64_t t, h; /* t: 1..128, h: 32..960 by 32 */
} fixture;

static int set_up(void **state) {
    static fixture f;
    f.arena = infc_arena_create();
    f.sizes = infc_sizes_create(f.arena);
    f.t = infc_sizes_add(f.sizes, (infc_size){"t", 1, 128, 1});
    f.h = infc_sizes_add(f.sizes, (infc_size){"h", 32, 960, 32});
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    infc_arena_destroy(&((fixture *)*state)->arena);
    return 0;
}

/* Text is read, and printed in its one form. */
static void one_form(void **state) {
    static const char *const cases[][2] = {
        {"t + t", "2*t"},
        {"t - t", "0"},
        {"(t + 1)*(t - 1)", "t*t - 1"},
        {"(h - 1)/2 + 1", "16*(h/32)"}, /* h is a multiple of 32 */
        {"h/32*32", "h"},
        {"2*h", "2*h"},
        {"(h/16)/4*64", "64*(((h/32))/2)"},
        {"(2*t + 1)/2", "t"},
        {"(4*t + 6)/8", "((t + 1)/2)"},
        {"((t - 1)/2 + 1 - 1)/2 + 1", "((t + 3)/4)"},
        {"(t + 127)/256", "0"},
        {"(t + 128)/129", "1"},
        {"t*h*3", "3*t*h"},
        {"5 - 2*3", "-1"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t dim, again;
        assert_true(infc_dim_parse(f->sizes, cases[i][0], &dim));
        const char *text = infc_dim_text(f->arena, dim);
        assert_string_equal(text, cases[i][1]);
        assert_true(infc_dim_parse(f->sizes, text, &again));
        assert_true(again == dim);
    }
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Random expressions against the same arithmetic on numbers, for all t. */
static void values(void **state) {
    fixture *f = *state;
    unsigned random = 1;
    for (int round = 0; round < 300; round++) {
        int64_t dim = round & 1 ? f->t : f->h, numbers[128];
        int64_t sizes[128][2];
        for (int i = 0; i < 128; i++) {
            sizes[i][0] = i + 1;
            sizes[i][1] = (i % 30 + 1) * 32;
            numbers[i] = sizes[i][round & 1 ? 0 : 1];
        }
        for (int step = 0; step < 6; step++) {
            random = random * 1103515245u + 12345u;
            int64_t k = (random >> 16) % 7 + 1;
            unsigned what = (random >> 24) % 5;
            int64_t with = what == 4 ? f->t : k;
            dim = what == 0   ? infc_dim_floor(dim, k)
                  : what == 1 ? infc_dim_sub(dim, k)
                  : what == 2 ? infc_dim_mul(dim, k)
                              : infc_dim_add(dim, with);
            for (int i = 0; i < 128; i++)
                numbers[i] = what == 0   ? floor_div(numbers[i], k)
                             : what == 1 ? numbers[i] - k
                             : what == 2 ? numbers[i] * k
                                         : numbers[i] + (what == 4 ? sizes[i][0] : k);
        }
        for (int i = 0; i < 128; i++) {
            assert_int_equal(infc_dim_at(dim, sizes[i]), numbers[i]);
            assert_true(infc_dim_least(dim) <= numbers[i] && numbers[i] <= infc_dim_most(dim));
        }
    }
}

static void shares(void **state) {
    fixture *f = *state;
    int64_t share, product = infc_dim_mul(infc_dim_mul(f->t, f->h), 12);
    assert_true(infc_dim_share(product, infc_dim_mul(f->t, 4), &share));
    assert_true(share == infc_dim_mul(f->h, 3));
    assert_true(infc_dim_share(product, infc_dim_mul(f->h, f->t), &share));
    assert_int_equal(share, 12);
    int64_t sum = infc_dim_add(f->t, 1);
    assert_true(infc_dim_share(infc_dim_mul(sum, f->h), sum, &share));
    assert_true(share == f->h);
    assert_false(infc_dim_share(f->t, 2, &share));
    assert_false(infc_dim_share(f->t, f->h, &share));
    assert_true(infc_dim_multiple(f->h, 16));
    assert_false(infc_dim_multiple(f->h, 64));
}

/* Nothing overflows and nothing grows for ever. */
static void limits(void **state) {
    fixture *f = *state;
    int64_t dim = f->t;
    for (int i = 0; i < 100; i++) dim = infc_dim_mul(dim, infc_dim_add(f->t, 1));
    assert_true(dim == INFC_DIM_BAD);
    assert_true(infc_dim_add(INFC_DIM_BAD, f->t) == INFC_DIM_BAD);
    assert_true(infc_dim_mul(INT64_C(1) << 62, 4) == INFC_DIM_BAD);
    dim = f->t;
    for (int i = 0; i < 100 && dim != INFC_DIM_BAD; i++)
        dim = infc_dim_floor(infc_dim_mul(dim, dim), 7);
    infc_type type = {INFC_DTYPE_f32, INFC_LAYOUT_plain, 2, {INFC_DIM_BAD, 1}};
    assert_non_null(infc_type_check(f->arena, &type));
    static const char *const wrong[] = {
        "",
        "u",
        "t +",
        "(t",
        "t/0",
        "t/t",
        "t t",
        "99999999999999999999",
        "((((((((((((((((((((((((((((((((((((((((((((((((((t",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(infc_dim_parse(f->sizes, wrong[i], &dim));
}

static void c_text(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"a", "b"};
    int64_t dim = infc_dim_add(infc_dim_floor(infc_dim_sub(f->t, 5), 2), f->h);
    /* (t - 5) / 2 rounds down: with a = 1, (1 + 3 - 8 + 4 ..) stays above 0 */
    assert_string_equal(infc_dim_c(f->arena, dim, names), "32 * b + ((a + 1) / 2) - 3");
}

static void sizes_as_text(void **state) {
    fixture *f = *state;
    infc_size size;
    assert_string_equal(infc_size_text(f->arena, infc_sizes_at(f->sizes, 1)), "h: 32..960 by 32");
    assert_true(infc_size_parse(f->arena, "x.2: 7..9", &size));
    assert_string_equal(size.name, "x.2");
    assert_int_equal(size.max, 9);
    static const char *const wrong[] = {
        "", "t", "t: 1", "t: 2..1", "t: 0..4", "t: 1..4 by 3", "1: 1..2", "t: 1..1099511627777"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(infc_size_parse(f->arena, wrong[i], &size));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shares, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(c_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_as_text, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
