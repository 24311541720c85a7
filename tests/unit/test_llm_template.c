/* Chat templates: what Jinja's documentation says they mean, on one conversation. */
#include <stdio.h>
#include <string.h>
#include "compiler/frontend/template/template.h"
#include "cx_fixture.h"

static const infrt_chat_message messages[] = {
    {"system", " Be brief. ", 6, 11}, {"user", "Hi <|end|>", 4, 10}, {"assistant", "Hello!", 9, 6}};
static const infc_template_text texts[] = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};

typedef struct rendering {
    char text[4096];
    infrt_text_part parts[64];
    char scratch[1 << 16];
    infrt_chat_text out;
} rendering;
static rendering r;

static int render(const char *template) {
    const infrt_chat chat = infc_template_compile(cx.arena, template, texts, 2);
    if (chat.why_not) assert_string_equal(chat.why_not, "");
    r.out = (infrt_chat_text){.text = r.text,
                              .room = sizeof r.text - 1,
                              .parts = r.parts,
                              .parts_room = 64,
                              .scratch = r.scratch,
                              .scratch_bytes = sizeof r.scratch};
    const int status = infrt_chat_render(&chat, messages, 3, 1, &r.out);
    r.text[r.out.bytes] = 0;
    return status;
}

static void expect(const char *template, const char *text) {
    const int status = render(template);
    if (status) assert_string_equal(r.out.said, "");
    assert_string_equal(r.text, text);
}

static void values(void **state) {
    (void)state;
    expect("{{ 'a' + \"b\" ~ 1 ~ true ~ none }}", "ab1TrueNone");
    expect("{{ 'a\\n\\t\\x41\\u00e9\\'\\q' 'z' }}", "a\n\tA\xc3\xa9'\\qz");
    expect("{{ 1 + 2 * 3 - 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }}", "4 -4 2 -2");
    expect("{{ 'x' * 3 if 0 }}|{{ 'no' if not 1 else 'yes' }}", "|yes");
    expect("{{ nothing }}|{{ nothing | default('d') }}|{{ '' | default('d', true) }}", "|d|d");
    expect(
        "{{ messages | length }}{{ messages[0].role }}{{ messages[-1]['role'] }}{{ messages[9] }}",
        "3systemassistant");
    expect("{{ 'abcdef'[1:3] }}{{ 'abc'[::-1] }}{{ 'abc'[-1] }}{{ 'abcdef'[-2:] }}{{ 'abc'[5:] }}", "bccbacef");
    expect(
        "{{ ['a', 'b'] | join(', ') }}{{ 'a,b,c'.split(',')[1] }}{{ 'a b  c'.split() | length }}", "a, bb3");
    expect("{{ '  x '.strip() }}{{ '--x-'.lstrip('-') }}{{ 'x\n'.rstrip('\n') }}{{ '\xe3\x80\x80y' "
           "| trim }}",
           "xx-xy");
    expect("{{ 'aXbX'.replace('X', '--') }}{{ 'abc'.upper() }}{{ 'aBC' | capitalize }}{{ 'a b' | "
           "title }}",
           "a--b--ABCAbcA B");
    expect("{{ 'b' in 'abc' }}{{ 'x' not in 'abc' }}{{ 'role' in messages[0] }}{{ 'tools' in "
           "messages[0] }}",
           "TrueTrueTrueFalse");
    expect("{{ 'abc'.startswith('ab') and 'abc'.endswith('bc') }}{{ 0 or 'second' }}",
           "Truesecond");
    expect("{{ messages[2] | tojson }}{{ '\"\\n' | tojson }}",
           "{\"role\": \"assistant\", \"content\": \"Hello!\"}\"\\\"\\n\"");
    expect("{{ range(3) | list | tojson }}{{ [1, ['a']] | tojson(indent=2) }}",
           "[0, 1, 2][\n  1,\n  [\n    \"a\"\n  ]\n]");
    expect("{{ x is defined }}{{ none is none }}{{ 'a' is string }}{{ 3 is odd }}{{ 4 is "
           "divisibleby 2 }}{{ 1 is not eq 1 }}",
           "FalseTrueTrueTrueTrueFalse");
    expect("{{ (messages | selectattr('role', 'equalto', 'user') | first).content[:2] }}", "Hi");
    expect("{{ tools is none }}{{ add_generation_prompt }}{{ bos_token }}", "TrueTrue<s>");
}

static void statements(void **state) {
    (void)state;
    expect("{% for m in messages %}{{ loop.index }}{{ m.role[0] }}{% if not loop.last %},{% endif "
           "%}{% endfor %}",
           "1s,2u,3a");
    expect(
        "{% for m in messages if m.role != 'user' %}{{ loop.revindex }}{% else %}none{% endfor %}", "21");
    expect("{% for m in [] %}x{% else %}none{% endfor %}", "none");
    expect("{% for k, v in messages[2].items() %}{{ k }}={{ v }};{% endfor %}",
           "role=assistant;content=Hello!;");
    expect("{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.role }}{% "
           "break %}{% endfor %}",
           "user");
    expect("{% for i in [1] %}{% continue %}{% else %}none{% endfor %}", "none"); /* no turn came to its end */
    expect("{% if 0 %}a{% elif '' %}b{% elif 1 %}c{% else %}d{% endif %}", "c");
    /* what a loop sets is its own; a namespace is shared; an if has no names of its own */
    expect("{% set x = 1 %}{% for i in range(2) %}{% set x = x + 5 %}{{ x }}{% endfor %}{{ x }}", "661");
    expect("{% set n = namespace(x=1) %}{% for i in range(2) %}{% set n.x = n.x + 1 %}{% endfor "
           "%}{{ n.x }}",
           "3");
    expect("{% if 1 %}{% set x = 2 %}{% endif %}{{ x }}", "2");
    expect("{% set x %}a{{ 1 }}{% endset %}{{ x * 2 if 0 else x }}", "a1");
    expect("{% generation %}x{% endgeneration %}{# note #}", "x");
}

/* trim_blocks and lstrip_blocks, and the signs that overrule them. */
static void white_space(void **state) {
    (void)state;
    expect("a\n  {% if 1 %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc");
    expect("a  {% if 1 %} b {% endif %}  c\n\n", "a   b   c\n");
    expect("a\n  {{ 1 }}\n  {#- x -#}  \n b", "a\n  1b");
    expect("a \n {%- if 1 -%} \n b {%- endif %} c", "ab c");
    expect("a\n {%+ if 1 +%}\nb{% endif %}", "a\n \nb");
    expect("{{- 1 -}}  x\r\ny", "1x\ny");
    expect("{{ 1 -}}\n  {% if 1 %}x{% endif %}", "1x");
    expect("a {# c #}\n b", "a  b");
}

/* Which bytes may hold control tokens: the template's, whatever way they take. */
static void parts_of(const char *template, const char *parts) {
    char line[256] = "";
    assert_int_equal(render(template), INFRT_CHAT_OK);
    for (size_t i = 0; i < r.out.n_parts; i++)
        (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%s%c%zu", i ? " " : "",
                       r.parts[i].control ? 't' : 'm', r.parts[i].bytes);
    assert_string_equal(line, parts);
}

static void who_says_what(void **state) {
    (void)state;
    parts_of("{{ bos_token + messages[1].content }}<|end|>", "t3 m10 t7");
    parts_of("{% set c = '[' + messages[0].content | trim + ']' %}{{ c }}{{ c[1:4] }}",
             "t1 m9 t1 m3");
    parts_of("{% set c %}[{{ messages[2].content }}]{% endset %}x{{ c }}", "t2 m6 t1");
    parts_of("{{ messages[2].content.replace('l', '<s>') }}", "m2 t6 m2");
    parts_of("{{ messages[2] | tojson }}{{ messages[1].role }}", "m42 t4");
    parts_of("{{ messages | map(attribute='role') | join('|') }}", "t21");
}

static void expect_failure(const char *template, int status, const char *said) {
    assert_int_equal(render(template), status);
    if (said)
        assert_true(r.out.said_bytes == strlen(said) && memcmp(r.out.said, said, strlen(said)) == 0);
}

static void failures(void **state) {
    (void)state;
    expect_failure("{{ raise_exception('no ' + messages[0].role) }}x", INFRT_CHAT_REFUSED, "no system");
    expect_failure("{{ 'a' + 1 }}", INFRT_CHAT_TYPE, NULL);
    expect_failure("{{ nothing.x }}", INFRT_CHAT_TYPE, "an attribute of an undefined value");
    expect_failure("{{ nothing.strip() }}", INFRT_CHAT_TYPE, NULL);
    expect_failure("{{ strftime_now('%d') }}", INFRT_CHAT_TYPE, "a function is called that is not defined");
    expect_failure("{{ 1 // 0 }}", INFRT_CHAT_TYPE, NULL);
    expect_failure("{{ [1] | tojson(indent=1000000) }}", INFRT_CHAT_TYPE, "tojson with an indent above 16");
    expect_failure("{{ messages }}", INFRT_CHAT_TYPE, NULL);
    expect_failure("{% for i in range(5000) %}x{% endfor %}", INFRT_CHAT_NO_ROOM, NULL);
    expect_failure("{% set x = range(2000000000) %}", INFRT_CHAT_NO_ROOM, NULL);
    expect_failure("{% set r = range(300) %}{% for i in r %}{% for j in r %}{% for k in r %}{% "
                   "endfor %}{% endfor %}"
                   "{% endfor %}",
                   INFRT_CHAT_TOO_MANY, NULL);
    assert_int_equal(infrt_chat_render(&(infrt_chat){.why_not = "x"}, messages, 3, 1, &r.out), INFRT_CHAT_NONE);
}

static void refused(const char *template, const char *why) {
    const infrt_chat chat = infc_template_compile(cx.arena, template, texts, 2);
    assert_non_null(chat.why_not);
    assert_string_equal(chat.why_not, why);
}

static void refusals(void **state) {
    (void)state;
    refused("a\n{% macro f() %}{% endmacro %}", "line 2: {% macro %} is not supported");
    refused("\n\n{{ x | dictsort }}", "line 3: the filter \"dictsort\" is not supported");
    refused("{{ x.frobnicate() }}", "line 1: the method \"frobnicate\" is not supported");
    refused("{{ x is sameas y }}", "line 1: this test is not supported: \"sameas\"");
    refused("{{ x is none is none }}", "line 1: a test of a test needs brackets, before: \"is\"");
    refused("{{ 1.5 }}", "line 1: the name of an attribute is expected where there is: \"5\"");
    refused("{{ 2 ** 3 }}", "line 1: this operator is not supported: \"**\"");
    refused("{% if 1 %}\nx",
            "line 1: {% endif %} is missing: a block begins here and does not end");
    refused("a\n{% for m in messages %}\nx",
            "line 2: {% endfor %} is missing: a block begins here and does not end");
    refused("{% for m in messages %}{% else %}x",
            "line 1: {% endfor %} is missing: a block begins here and does not end");
    refused("{{ 'x }}", "line 1: a string does not end");
    refused("{% if x", "line 1: a tag does not end");
    refused("{# x", "line 1: a comment does not end");
    refused("{{ 1 2 }}", "line 1: \"}}\" is expected where there is \"2\"");
    refused("{% break %}", "line 1: outside of a loop");
}

static void nesting(void **state) {
    (void)state;
    infc_buf deep = {.arena = cx.arena}, chain = {.arena = cx.arena};
    infc_buf_puts(&deep, "{{ ");
    for (int i = 0; i < 100000; i++) infc_buf_puts(&deep, "(");
    for (int i = 0; i < 100000; i++) infc_buf_puts(&deep, ")");
    infc_buf_puts(&deep, "}}");
    refused(infc_buf_str(&deep), "line 1: an expression is nested too deeply, before: \"(\"");
    infc_buf_puts(&chain, "{{ 1");
    for (int i = 0; i < 100000; i++) infc_buf_puts(&chain, " + 1");
    infc_buf_puts(&chain, " }}");
    refused(infc_buf_str(&chain), "line 1: what ends here is nested too deeply");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(values),   CX_TEST(statements), CX_TEST(white_space), CX_TEST(who_says_what),
        CX_TEST(failures), CX_TEST(refusals),   CX_TEST(nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
