#include <stdio.h>
#include <string.h>
#include "compiler/emit/expand.h"
#include "cx_fixture.h"

static infc_status expand(const char *text, infc_buf *out) {
    static const infc_expand_var vars[] = {{"mr", "3"}, {"T", "float"}, {"less", "-2"}};
    *out = (infc_buf){.arena = cx.arena};
    return infc_expand(&cx, "k.c.in", (infc_bytes){(const uint8_t *)text, strlen(text)}, vars, 3, out);
}

static void gives(const char *text, const char *expected) {
    infc_buf out;
    infc_status status = expand(text, &out);
    if (status != INFC_OK) fprintf(stderr, "%s: %s\n", text, cx.diags[cx.n_diags - 1].text);
    assert_int_equal(status, INFC_OK);
    assert_string_equal(infc_buf_str(&out), expected);
}

/* `text` fails at `line`, and the message has `what`. */
static void refuses(const char *text, int line, const char *what) {
    infc_buf out;
    assert_int_equal(expand(text, &out), INFC_ERR_INTERNAL);
    const infc_diag *diag = &cx.diags[cx.n_diags - 1];
    if (!strstr(diag->text, what)) fprintf(stderr, "%s: %s\n", text, diag->text);
    assert_non_null(strstr(diag->text, what));
    assert_string_equal(diag->loc.file, "k.c.in");
    assert_int_equal(diag->loc.line, line);
}

static void substitutes(void **state) {
    (void)state;
    gives("", "");
    gives("plain text\n", "plain text\n");
    gives("no newline at the end", "no newline at the end\n");
    gives("${T} a${mr};\n", "float a3;\n");
    gives("${mr*16+1} ${(mr+1)*2} ${7/2} ${7%4} ${-mr} ${less + 1} ${10-2-3}\n",
          "49 8 3 3 -3 -1 5\n");
    gives("${mr==3}${mr != 3}${mr<3}${mr<=3}${mr>=4}${mr>2}${(1<2)+(2<3)}\n", "1001012\n");
}

static void loops(void **state) {
    (void)state;
    gives("$for i in 0..mr\na${i}\n$end\n", "a0\na1\na2\n");
    gives("$for i in mr..mr\nnever\n$end\nafter\n", "after\n");
    gives("$for i in 5..mr\nnever\n$end\n", "");
    gives("$for i in 0..2\n  $for j in i..2\n${i}${j}\n  $end\n$end\n", "00\n01\n11\n");
    gives("$for mr in 1..3\n${mr}\n$end\n${mr}\n", "1\n2\n3\n"); /* an inner name hides an outer one */
}

static void branches(void **state) {
    (void)state;
    gives("$if mr == 3\nyes\n$else\nno\n$end\n", "yes\n");
    gives("$if mr - 3\nyes\n$else\nno\n$end\n", "no\n");
    gives("$if 0\n${unknown}\n$end\nafter\n", "after\n");
    gives("$if 1\n$if 0\na\n$else\nb\n$end\n$else\nc\n$end\n", "b\n");
}

static void errors(void **state) {
    (void)state;
    refuses("ok\n${none}\n", 2, "unknown name");
    refuses("${T + 1}\n", 1, "not an integer");
    refuses("${1 +}\n", 1, "not an expression");
    refuses("${1 2}\n", 1, "left over");
    refuses("${(1}\n", 1, "missing )");
    refuses("${1\n", 1, "not ${expr}");
    refuses("a $b\n", 1, "not ${expr}");
    refuses("${1/0}\n", 1, "divisor");
    refuses("${1%less}\n", 1, "divisor");
    refuses("x\n$for i in 0..3\nbody\n", 2, "without $end");
    refuses("$for in 0..3\n$end\n", 1, "not $for");
    refuses("$for i in 0 3\n$end\n", 1, "not $for");
    refuses("$for i in 0..1000000\n$end\n", 1, "too long");
    refuses("$end\n", 1, "no block");
    refuses("$else\n", 1, "no block");
    refuses("$for i in 0..1\n$else\n$end\n", 2, "$else in $for");
    refuses("${((((((((((((((((((1))))))))))))))))))}\n", 1, "too deeply");
    refuses("${999999999*999999999*999999999}\n", 1, "too large");
    refuses("$for a in 0..4000\n$for b in 0..4000\n0123456789\n$end\n$end\n", 3, "output too large");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(substitutes),
        cmocka_unit_test(loops),
        cmocka_unit_test(branches),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, cx_setup, cx_teardown);
}
