/* The tables of c_names.c against the headers that are on this machine. */
#include "compiler/base/c_names.h"
#include "compiler/base/subprocess.h"
#include "cx_fixture.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void words(void **state) {
    (void)state;
    assert_true(infc_c_keyword("int") && infc_c_keyword("co_await") && infc_c_keyword("alignas"));
    assert_false(infc_c_keyword("in") || infc_c_keyword("") || infc_c_keyword("int const"));
    assert_true(infc_c_macro("errno") && infc_c_macro("EOF") && infc_c_macro("I") && infc_c_macro("PRIx8"));
    assert_false(infc_c_macro("x") || infc_c_macro("Conv_0") || infc_c_macro("X") || infc_c_macro("image"));
    assert_true(infc_c_header("features") && infc_c_header("vector") && infc_c_header("avx2intrin"));
    assert_false(infc_c_header("app") || infc_c_header("digits") || infc_c_header("feature"));
    assert_true(infc_c_library("m") && infc_c_library("pthread") && infc_cmake_word("test"));
    assert_false(infc_c_library("net") || infc_cmake_word("tests"));
}

/* Every header of the C++ library that is here. */
static void cxx_headers(void **state) {
    (void)state;
    glob_t found;
    if (glob("/usr/include/c++/*/[a-z]*", 0, NULL, &found) != 0) skip();
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[256];
        const char *base = strrchr(found.gl_pathv[i], '/') + 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
        if (!infc_c_header(name)) fail_msg("%s is in no table", found.gl_pathv[i]);
    }
    globfree(&found);
}

/* Every macro that is replaced without parentheses after the standard headers. */
static void macros(void **state) {
    (void)state;
    static const char script[] =
        "for h in assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp "
        "signal stdalign stdarg\\\n"
        " stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string threads time uchar wchar "
        "wctype\\\n"
        " aio dirent dlfcn fcntl fnmatch glob grp libgen netdb poll pthread pwd regex sched search "
        "semaphore spawn\\\n"
        " sys/ipc sys/mman sys/select sys/socket sys/stat sys/time sys/wait termios unistd utime "
        "netinet/in arpa/inet\n"
        "do echo \"#include <$h.h>\"; done | cc -D_GNU_SOURCE -std=gnu11 -E -dM -x c - |\n"
        "sed -n 's/^#define \\([A-Za-z][A-Za-z0-9_]*\\) .*/\\1/p; s/^#define "
        "\\([A-Za-z][A-Za-z0-9_]*\\)$/\\1/p'";
    const char *argv[] = {"sh", "-c", script, NULL};
    infc_job job = {.argv = argv};
    size_t n = 0;
    assert_int_equal(infc_jobs_run(&cx, &job, 1, 1), INFC_OK);
    char *text = infc_arena_copy_string(cx.arena, job.output, strlen(job.output)), *rest;
    for (char *word = strtok_r(text, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest), n++)
        if (!infc_c_macro(word) && !infc_c_keyword(word)) fail_msg("%s is in no table", word);
    assert_true(n > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(cxx_headers),
        CX_TEST(macros),
    };
    return cmocka_run_group_tests_name("base_c_names", tests, NULL, NULL);
}
