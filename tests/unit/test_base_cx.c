#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include "compiler/base/cx.h"

static void text_and_json(void **state) {
    (void)state;
    infc_cx cx;
    assert_int_equal(infc_cx_init(&cx), INFC_OK);
    char file[] = "a.yaml";
    infc_warn(&cx, (infc_loc){.file = file}, "odd %s", "thing");
    size_t mark = cx.n_diags;
    assert_int_equal(infc_diags_status(&cx, 0), INFC_OK);
    assert_int_equal(infc_fail(&cx, INFC_ERR_SPEC, (infc_loc){.file = file, .line = 3, .col = 7}, "bad"),
                     INFC_ERR_SPEC);
    infc_fail(&cx, INFC_ERR_MODEL, (infc_loc){.file = "m.onnx", .node = "node \"x\" (Conv)"}, "100%%");
    infc_fail(&cx, INFC_ERR_IO, INFC_NO_LOC, "gone");
    memset(file, '?', sizeof file - 1); /* places are copied */
    assert_int_equal(cx.n_errors, 3);
    assert_int_equal(infc_diags_status(&cx, mark), INFC_ERR_SPEC);
    assert_int_equal(infc_diags_status(&cx, mark + 1), INFC_ERR_MODEL);
    assert_int_equal(infc_diags_status(&cx, cx.n_diags), INFC_OK);
    infc_buf out = {.arena = cx.arena};
    infc_diags_text(&cx, &out);
    assert_string_equal(infc_buf_str(&out), "a.yaml: warning: odd thing\n"
                                            "a.yaml:3:7: error: bad\n"
                                            "m.onnx: error: node \"x\" (Conv): 100%\n"
                                            "error: gone\n");
    infc_buf json = {.arena = cx.arena};
    infc_diags_json(&cx, &json);
    json_t *list = json_loads(infc_buf_str(&json), 0, NULL);
    assert_int_equal(json_array_size(list), 4);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "column")), 7);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 2), "node")),
                        "node \"x\" (Conv)");
    assert_null(json_object_get(json_array_get(list, 3), "file"));
    json_decref(list);
    infc_cx_deinit(&cx);
}

static void no_diagnostics(void **state) {
    (void)state;
    infc_cx cx;
    assert_int_equal(infc_cx_init(&cx), INFC_OK);
    infc_buf out = {.arena = cx.arena};
    infc_diags_text(&cx, &out);
    infc_diags_json(&cx, &out);
    assert_string_equal(infc_buf_str(&out), "[]");
    infc_cx_deinit(&cx);
}

static void keep_line(void *user, const char *what) { strcpy(user, what); }

static void progress(void **state) {
    (void)state;
    char line[512] = "";
    infc_cx cx = {.progress = NULL};
    infc_progress(&cx, "silent");
    cx.progress = keep_line;
    cx.progress_user = line;
    infc_progress(&cx, "step %d", 3);
    assert_string_equal(line, "step 3");
    infc_progress(&cx, "%400d", 1); /* cut, not overrun */
    assert_int_equal(strlen(line), 255);
}

static void excused_and_shown(void **state) {
    (void)state;
    infc_cx cx;
    assert_int_equal(infc_cx_init(&cx), INFC_OK);
    infc_buf out = {.arena = cx.arena};
    infc_fail(&cx, INFC_ERR_SPEC, INFC_NO_LOC, "stays");
    const size_t mark = cx.n_diags;
    infc_fail(&cx, INFC_ERR_MODEL, INFC_NO_LOC, "caf\xc3\xa9 \xff\xc3");
    infc_diags_place(&cx, 0, (infc_loc){.file = "m.onnx", .node = "node \"\x80\""});
    infc_diags_excuse(&cx, mark, "left out");
    assert_int_equal(cx.n_errors, 1);
    infc_diags_text(&cx, &out);
    assert_string_equal(infc_buf_str(&out),
                        "m.onnx: error: node \"\\x80\": stays\n"
                        "m.onnx: warning: node \"\\x80\": left out: caf\xc3\xa9 \\xff\\xc3\n");
    infc_cx_deinit(&cx);
}

static void exit_codes(void **state) {
    (void)state;
    static const int expected[] = {0, 1, 2, 3, 3, 4, 4, 4, 70};
    for (int i = 0; i < 9; i++)
        assert_int_equal(infc_status_exit_code((infc_status)i), expected[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_json), cmocka_unit_test(no_diagnostics),
        cmocka_unit_test(progress),      cmocka_unit_test(excused_and_shown),
        cmocka_unit_test(exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
