/* The bound of a call tree against what a run of it really touches, on a stack of painted bytes. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "compiler/driver/stack_bound.h"
#include "folder_fixture.h"

static const char source[] =
    "#define FAR __attribute__((noinline))\n"
    "static FAR int c(int x) { volatile char a[3000]; for (int i = 0; i < 3000; i++) a[i] = "
    "(char)x; return a[x]; }\n"
    "static FAR int b(int x) { volatile int a[50]; for (int i = 0; i < 50; i++) a[i] = x; return "
    "c(x) + a[x]; }\n"
    "static FAR int small(int x) { volatile int a[4] = {x, x, x, x}; return a[x & 3]; }\n"
    "int deep(int x) { return small(x) + b(x + 1) + small(x + 2); }\n"
    "int flat(int x) { return x; }\n"
    "static FAR int even(int x);\n"
    "static FAR int odd(int x) { volatile int a = x; return a ? even(a - 1) + 1 : 0; }\n"
    "static FAR int even(int x) { volatile int a = x; return a ? odd(a - 1) + 1 : 1; }\n"
    "int endless(int x) { return even(x); }\n"
    "int grows(int x) { volatile char a[x]; a[x / 2] = 1; return a[x / 2]; }\n";

enum { STACK = 1 << 16, PAINT = 0xa5 };
static unsigned char stack[STACK] __attribute__((aligned(64)));
static ucontext_t here, there;
static int (*function)(int);

static void call(void) { function(7); }

/* Bytes of the stack that the call changed. */
static size_t touched(int (*f)(int)) {
    memset(stack, PAINT, sizeof stack);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    function = f;
    makecontext(&there, call, 0);
    swapcontext(&here, &there);
    size_t free_bytes = 0;
    while (free_bytes < sizeof stack && stack[free_bytes] == PAINT) free_bytes++;
    return sizeof stack - free_bytes;
}

static void shell(const char *command) {
    const char *line = infc_arena_printf(cx.arena, "cd %s && %s", dir, command);
    if (system(line) != 0) fail_msg("fails: %s", line);
}

static void write_and_compile(const char *flags, const char *object) {
    put_file(dir, "deep.c", source);
    shell(infc_arena_printf(cx.arena, "clang-22 -O1 -fPIC -ffunction-sections -fstack-usage %s -c deep.c -o %s",
                            flags, object));
}

static void the_bound_is_what_is_used(void **state) {
    (void)state;
#if defined(__x86_64__)
    uint64_t bound;
    infc_stack s = {.cx = &cx, .return_bytes = 8, .red_zone = 128};
    write_and_compile("", "deep.o");
    assert_int_equal(infc_stack_add(&s, in_dir("deep.o"), in_dir("deep.su")), INFC_OK);
    shell("clang-22 -shared deep.o -o deep.so");
    void *library = dlopen(in_dir("deep.so"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    int (*deep)(int) = (int (*)(int))(uintptr_t)dlsym(library, "deep");
    int (*flat)(int) = (int (*)(int))(uintptr_t)dlsym(library, "flat");
    const size_t used = touched(deep) - touched(flat) + 8; /* flat uses its return address */
    assert_true(infc_stack_bound(&s, "deep", &bound));
    assert_in_range(used, bound - 32, bound); /* frames are padded at their ends */
    assert_true(bound > 3200 && bound < 3600);
    assert_false(infc_stack_bound(&s, "endless", &bound));
    assert_false(infc_stack_bound(&s, "grows", &bound));
    assert_false(infc_stack_bound(&s, "nothing", &bound));
    dlclose(library);
#else
    skip();
#endif
}

/* 32 bits, and the other byte order: the same tree is found. */
static void other_objects(void **state) {
    (void)state;
    static const char *const flags[] = {"--target=thumbv7em-none-eabi -mcpu=cortex-m4",
                                        "--target=s390x-linux-gnu"};
    for (size_t i = 0; i < 2; i++) {
        uint64_t bound;
        infc_stack s = {.cx = &cx};
        write_and_compile(flags[i], "other.o");
        assert_int_equal(infc_stack_add(&s, in_dir("other.o"), in_dir("other.su")), INFC_OK);
        assert_true(infc_stack_bound(&s, "deep", &bound));
        assert_true(bound > 3200 && bound < 4000);
        assert_false(infc_stack_bound(&s, "endless", &bound));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {FOLDER_TEST(the_bound_is_what_is_used), FOLDER_TEST(other_objects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
