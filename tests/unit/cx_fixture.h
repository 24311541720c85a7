/* cx_fixture.h - `cx` is new for each test that CX_TEST lists; a set-up that does more calls these two. */
#ifndef CX_FIXTURE_H
#define CX_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "compiler/base/cx.h"

static infc_cx cx;

static inline int cx_setup(void **state) {
    (void)state;
    return infc_cx_init(&cx) == INFC_OK ? 0 : -1;
}

static inline int cx_teardown(void **state) {
    (void)state;
    infc_cx_deinit(&cx);
    return 0;
}

#define CX_TEST(name) cmocka_unit_test_setup_teardown(name, cx_setup, cx_teardown)

#endif
