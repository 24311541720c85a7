/* Every spec/NAME.yaml is refused with exactly the problems that its lines "# expect: line:column: text" say, in
 * that order. What does not fit into a readable file is made here. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compiler/base/file.h"
#include "compiler/frontend/spec.h"
#include "compiler/frontend/spec_check.h"
#include "cx_fixture.h"

#define SPECS INFC_SOURCE_DIR "/tests/unit/spec"

static infc_spec spec;

static int setup(void **state) { return chdir(SPECS) < 0 ? -1 : cx_setup(state); }

static const char *expected_of(infc_bytes text) {
    static const char mark[] = "# expect: ";
    infc_buf out = {.arena = cx.arena};
    const char *p = infc_arena_copy_string(cx.arena, (const char *)text.ptr, text.len);
    while (*p) {
        size_t n = strcspn(p, "\n");
        if (strncmp(p, mark, strlen(mark)) == 0) {
            infc_buf_printf(&out, "%.*s\n", (int)(n - strlen(mark)), p + strlen(mark));
        }
        p += n + (p[n] == '\n');
    }
    return infc_buf_str(&out);
}

static const char *diags_since(size_t mark) {
    infc_buf out = {.arena = cx.arena};
    for (size_t i = mark; i < cx.n_diags; i++) {
        infc_buf_printf(&out, "%d:%d: %s\n", cx.diags[i].loc.line, cx.diags[i].loc.col, cx.diags[i].text);
    }
    return infc_buf_str(&out);
}

static void files(void **state) {
    (void)state;
    int n = 0, wrong = 0;
    DIR *list = opendir(".");
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (!strstr(entry->d_name, ".yaml")) continue;
        infc_bytes text;
        size_t mark = cx.n_diags;
        assert_int_equal(infc_file_map(&cx, entry->d_name, &text), INFC_OK);
        infc_status status = infc_spec_read(&cx, entry->d_name, NULL, 0, &spec);
        const char *expected = expected_of(text), *got = diags_since(mark);
        n++;
        bool no_file = strstr(got, "there is no file") != NULL;
        if (status == (no_file ? INFC_ERR_IO : INFC_ERR_SPEC) && strcmp(expected, got) == 0)
            continue;
        print_error("%s: expected\n%sgot\n%s", entry->d_name, expected, got);
        wrong++;
    }
    closedir(list);
    assert_true(n >= 20);
    assert_int_equal(wrong, 0);
}

/* The first problem of a text. */
static const char *refuse(const char *text, size_t n) {
    size_t mark = cx.n_diags;
    infc_status status =
        infc_spec_read_bytes(&cx, "test.yaml", (infc_bytes){(const uint8_t *)text, n}, NULL, 0, &spec);
    assert_int_equal(status, INFC_ERR_SPEC);
    const infc_diag *d = &cx.diags[mark];
    return infc_arena_printf(cx.arena, "%d:%d: %s", d->loc.line, d->loc.col, d->text);
}

#define HEAD "infc: 1\nmodel: n.onnx\n"
#define REFUSE(text) refuse((text), sizeof(text) - 1)

static void not_text(void **state) {
    (void)state;
    assert_string_equal(REFUSE(HEAD "name: \"a\\0b\"\n"),
                        "3:7: text must not contain the character \\0");
    assert_string_equal(
        REFUSE(HEAD "name: \xff\n"),
        "3:7: this byte is not text (invalid leading UTF-8 octet); save the spec as UTF-8");
    assert_string_equal(
        REFUSE(HEAD "name: \x01\n"),
        "3:7: this byte is not text (control characters are not allowed); save the spec as UTF-8");
    assert_string_equal(
        REFUSE("\xff\xfei\0n\0f\0"),
        "1:1: this byte is not text (invalid leading UTF-8 octet); save the spec as UTF-8");
    assert_string_equal(
        REFUSE(HEAD "name: \0\n"),
        "3:7: this byte is not text (control characters are not allowed); save the spec as UTF-8");
}

static char *repeat(const char *head, const char *part, size_t times, const char *tail) {
    infc_buf out = {.arena = cx.arena};
    infc_buf_puts(&out, head);
    for (size_t i = 0; i < times; i++) infc_buf_puts(&out, part);
    infc_buf_puts(&out, tail);
    return out.data;
}

static void limits(void **state) {
    (void)state;
    char *text = repeat("x: ", "[", 1000000, "");
    assert_string_equal(refuse(text, strlen(text)), "1:36: nested deeper than 32 levels");
    text = repeat("x: ", "{a: ", 1000, "");
    assert_non_null(strstr(refuse(text, strlen(text)), "nested deeper than 32 levels"));
    text = repeat("x: [", "1, ", 300000, "1]");
    assert_non_null(
        strstr(refuse(text, strlen(text)), "more than 200000 values; a spec is not for data"));
    text = repeat("x: \"", "aaaaaaaa", 600000, "\"");
    assert_non_null(strstr(refuse(text, strlen(text)), "4800005 bytes are too many for a spec"));
    text = repeat("x: &x [", "*x, ", 5000, "*x]");
    assert_string_equal(
        refuse(text, strlen(text)),
        "1:4: anchors (&name) are not supported in a spec; write the value out where it is used");
}

static void many_problems_are_cut_off(void **state) {
    (void)state;
    infc_buf out = {.arena = cx.arena};
    infc_buf_puts(&out, HEAD);
    for (int i = 0; i < 500; i++) infc_buf_printf(&out, "unknown_%d: 1\n", i);
    refuse(out.data, out.len);
    assert_int_equal(cx.n_diags, 100);
    assert_non_null(strstr(cx.diags[99].text, "; further problems are not shown"));
    size_t mark = cx.n_diags;
    char *text = repeat(HEAD, "name: x\n", 500, "");
    refuse(text, strlen(text));
    assert_int_equal(cx.n_diags - mark, 101);
    assert_string_equal(cx.diags[cx.n_diags - 1].text, "too many problems; the rest is not read");
}

static void harmless_oddities_are_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\xef\xbb\xbf" HEAD,
        "infc: 1\r\nmodel: n.onnx\r\n",
        "--- {infc: 1, model: n.onnx}\n...\n",
        "%YAML 1.1\n---\n" HEAD,
        "{\"infc\": 1, \"model\": \"n.onnx\"}",
        HEAD "# \xe2\x82\xac\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        infc_bytes bytes = {(const uint8_t *)texts[i], strlen(texts[i])};
        infc_status status = infc_spec_read_bytes(&cx, "test.yaml", bytes, NULL, 0, &spec);
        if (status != INFC_OK) fail_msg("%zu: %s", i, diags_since(0));
    }
}

static void names(void **state) {
    (void)state;
    static const char *const good[] = {"digits",  "a",      "Net_2", "int8", "classes", "infcx",
                                       "smollm2", "mainly", "app",   "sess", "vectors", "errnos"};
    static const struct {
        const char *name, *suggestion;
    } bad[] = {
        {"2net", "model_2net"},
        {"my-net", "my_net"},
        {"int", "model_int"},
        {"class", "model_class"},
        {"_x", "x"},
        {"main", "model_main"},
        {"math", "model_math"},
        {"infrt", "model_infrt"},
        {"infc_x", "model_infc_x"},
        {"src", "model_src"},
        {"a b/c", "a_b_c"},
        {"\xc3\xa9t\xc3\xa9", "model_t"},
        {"...", "model"},
        {"errno", "model_errno"},
        {"features", "model_features"},
        {"vector", "model_vector"},
        {"version", "model_version"},
        {"immintrin", "model_immintrin"},
        {"INFC", "model_INFC"},
        {"s", "model_s"},
        {"v", "model_v"},
        {"m", "model_m"},
        {"test", "model_test"},
        {"co_await", "model_co_await"},
        {"a123456789012345678901234567890123456789012345678",
         "a12345678901234567890123456789012345678901"},
    };
    infc_spec_check check = {.cx = &cx, .dir = "."};
    const char *why;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        infc_yaml node = {.text = good[i]};
        infc_spec_check_name(&check, "name", &node);
        assert_false(node.bad);
        assert_string_equal(infc_spec_name_from(cx.arena, good[i], &why), good[i]);
        assert_null(why);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        infc_yaml node = {.text = bad[i].name}, better = {.text = bad[i].suggestion};
        infc_spec_check_name(&check, "name", &node);
        assert_true(node.bad);
        assert_string_equal(infc_spec_name_from(cx.arena, bad[i].name, &why), bad[i].suggestion);
        infc_spec_check_name(&check, "name", &better);
        if (better.bad) fail_msg("%s", bad[i].suggestion);
    }
}

static void licenses(void **state) {
    (void)state;
    static const char *const good[] = {"MIT",
                                       "GPL-2.0+",
                                       "LicenseRef-Acme.1",
                                       "MIT OR Apache-2.0",
                                       "(MIT OR (BSD-2-Clause AND ISC)) AND Zlib",
                                       "GPL-2.0-only WITH Classpath-exception-2.0"};
    static const char *const bad[] = {
        "",   " ",      "MIT Apache-2.0", "MIT OR",        "OR MIT", "(MIT",      "MIT)",
        "()", "MIT */", "MIT\nint x;",    "MIT OR OR ISC", "+",      "MIT (ISC)", "M\xc3\xa9"};
    infc_spec_check check = {.cx = &cx, .dir = "."};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        infc_yaml node = {.text = good[i]};
        infc_spec_check_license(&check, "license", &node);
        assert_false(node.bad);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        infc_yaml node = {.text = bad[i]};
        infc_spec_check_license(&check, "license", &node);
        assert_true(node.bad);
    }
}

static void numbers(void **state) {
    (void)state;
    double number;
    int64_t integer;
    assert_true(infc_spec_parse_number("1/255", &number) && number == 1.0 / 255);
    assert_true(infc_spec_parse_number("-2.5e-3", &number) && number == -2.5e-3);
    static const char *const no_number[] = {"",    "x",    "1/0",   "1/",   "/2",  "1/2/3",
                                            "inf", "0x10", "1e999", "1.0f", "1 2", "--1"};
    for (size_t i = 0; i < sizeof no_number / sizeof *no_number; i++) {
        assert_false(infc_spec_parse_number(no_number[i], &number));
    }
    static const struct {
        const char *text;
        int64_t bytes;
    } sizes[] = {{"1", 1},  {"160MiB", 167772160}, {"64 KiB", 65536}, {"2GB", 2000000000},
                 {"7B", 7}, {"1kB", 1000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(infc_spec_parse_size(sizes[i].text, &integer));
        assert_int_equal(integer, sizes[i].bytes);
    }
    static const char *const no_size[] = {
        "", "0", "-1", "MiB", "1M", "1.5GiB", "9223372036854775808", "9000000000TiB", "1 MiB x"};
    for (size_t i = 0; i < sizeof no_size / sizeof *no_size; i++) {
        assert_false(infc_spec_parse_size(no_size[i], &integer));
    }
    assert_true(infc_spec_parse_duration("30ms", &integer) && integer == 30000000);
    assert_true(infc_spec_parse_duration("7us", &integer) && integer == 7000);
    assert_true(infc_spec_parse_duration("2s", &integer) && integer == 2000000000);
    assert_true(infc_spec_parse_duration("1min", &integer) && integer == 60000000000);
    assert_true(infc_spec_parse_duration("2h", &integer) && integer == 7200000000000);
    static const char *const no_duration[] = {
        "", "30", "0ms", "-1ms", "1.5s", "ms", "3 ms", "1m", "9223372036854775807us"};
    for (size_t i = 0; i < sizeof no_duration / sizeof *no_duration; i++)
        assert_false(infc_spec_parse_duration(no_duration[i], &integer));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, cx_teardown)
    const struct CMUnitTest tests[] = {
        TEST(files),
        TEST(not_text),
        TEST(limits),
        TEST(many_problems_are_cut_off),
        TEST(harmless_oddities_are_read),
        TEST(names),
        TEST(licenses),
        TEST(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
