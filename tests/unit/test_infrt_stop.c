/* Stop strings, against a search in the whole text, in pieces of every size. */
#include "stop.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Feeds `text` in pieces of `step`; `out` gets what may be shown. After each piece exactly the bytes are held back that
 * are the beginning of a stop string. */
static bool feed(const char *const *stops, uint32_t n_stops, const char *text, size_t step, char *out) {
    infrt_stop stop;
    size_t n = strlen(text), used, cut, at = 0;
    assert_true(infrt_stop_init(&stop, stops, n_stops));
    while (at < n) {
        size_t piece = n - at < step ? n - at : step;
        bool stopped = infrt_stop_feed(&stop, text + at, piece, &used, &cut);
        at += used;
        memcpy(out, text, at - cut);
        out[at - cut] = 0;
        if (stopped) {
            assert_int_equal(strlen(stops[stop.found]), cut);
            assert_memory_equal(stops[stop.found], text + at - cut, cut);
            return true;
        }
        size_t longest = 0;
        for (uint32_t s = 0; s < n_stops; s++)
            for (size_t k = 1; k < strlen(stops[s]) && k <= at; k++)
                if (memcmp(text + at - k, stops[s], k) == 0 && k > longest) longest = k;
        assert_int_equal(cut, longest);
    }
    strcpy(out, text);
    return false;
}

static void expect(const char *const *stops, uint32_t n_stops, const char *text, const char *shown, bool stopped) {
    char out[256];
    for (size_t step = 1; step <= strlen(text) + 1; step++) {
        assert_int_equal(feed(stops, n_stops, text, step, out), stopped);
        assert_string_equal(out, shown);
    }
}

static void test_found(void **state) {
    (void)state;
    const char *end[] = {"END"}, *self[] = {"aabaaab"}, *two[] = {"abcd", "bc"}, *lines[] = {"\n\n", "User:"};
    expect(end, 1, "the END of it", "the ", true);
    expect(end, 1, "ENENEND", "ENEN", true);
    expect(end, 1, "EN EN", "EN EN", false);
    expect(end, 1, "END", "", true);
    expect(self, 1, "aabaabaaab!", "aab", true);
    expect(self, 1, "aabaaaab", "aabaaaab", false);
    expect(two, 2, "xabcd", "xa", true); /* the first that is complete */
    expect(lines, 2, "one\ntwo\nUser: three", "one\ntwo\n", true);
    expect(lines, 2, "one\n\nUser:", "one", true);
    expect(NULL, 0, "anything", "anything", false);
    const char *nested[] = {"c", "abc"};
    expect(nested, 2, "xabc", "x", true); /* of those that end together, the longest */
}

static void test_refused(void **state) {
    (void)state;
    infrt_stop stop;
    char longest[INFRT_STOP_BYTES + 2];
    const char *nine[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"}, *empty[] = {""}, *length[] = {longest};
    memset(longest, 'x', sizeof longest);
    longest[INFRT_STOP_BYTES] = 0;
    assert_true(infrt_stop_init(&stop, nine, 8));
    assert_false(infrt_stop_init(&stop, nine, 9));
    assert_false(infrt_stop_init(&stop, empty, 1));
    assert_true(infrt_stop_init(&stop, length, 1));
    longest[INFRT_STOP_BYTES] = 'x';
    longest[INFRT_STOP_BYTES + 1] = 0;
    assert_false(infrt_stop_init(&stop, length, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
