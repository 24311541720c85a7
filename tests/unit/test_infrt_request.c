/* Bodies of requests: every field's type and range, and that limits come before memory. */
#include "adapter_ask.h"
#include "request_read.h"
#include "serve_text.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CONTEXT = 100, VOCAB = 50 };

static infrt_ask ask;
static infrt_refusal refusal;

static bool read_text(const char *body, infrt_ask_route route) {
    infrt_ask_free(&ask);
    refusal = (infrt_refusal){0};
    return infrt_ask_read(body, strlen(body), route, CONTEXT, VOCAB, &ask, &refusal);
}

static void expect_taken(const char *body, infrt_ask_route route) {
    if (!read_text(body, route)) fail_msg("%s: %s", body, refusal.text);
    assert_int_equal(refusal.status, 0);
}

#define USER(content) "{\"messages\": [{\"role\": \"user\", \"content\": " content "}]}"
#define M "\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]"

/* 160 of them */
#define TENS "9999999999"
#define FORTY TENS TENS TENS TENS
#define NINES FORTY FORTY FORTY FORTY

static void everything_is_taken(void **state) {
    (void)state;
    expect_taken("{" M ", \"model\": \"m\", \"max_tokens\": 5, \"max_completion_tokens\": 7, "
                 "\"n\": 3, \"stream\": true, "
                 "\"stream_options\": {\"include_usage\": true, \"continuous_usage_stats\": "
                 "true, \"x\": 1}, \"stop\": [\"a\", "
                 "\"\\u00e9\"], \"seed\": -4, "
                 "\"temperature\": 0.5, \"top_p\": 0.25, \"top_k\": 9, \"min_p\": 0.125, "
                 "\"presence_penalty\": -1, "
                 "\"frequency_penalty\": 1.5, \"repetition_penalty\": 1.25, \"logit_bias\": "
                 "{\"7\": -100, \"8\": 2}, "
                 "\"logprobs\": true, \"top_logprobs\": 20, \"ignore_eos\": true, \"priority\": "
                 "-3, \"cache_salt\": \"s\", \"user\": "
                 "{\"any\": [1]}, \"tools\": [ ], "
                 "\"tool_choice\": \"none\", \"response_format\": {\"type\": \"text\"}, "
                 "\"functions\": null}",
                 INFRT_ASK_CHAT);
    assert_string_equal(ask.model, "m");
    assert_int_equal(ask.max_tokens, 7);
    assert_int_equal(ask.n, 3);
    assert_true(ask.stream && ask.include_usage && ask.continuous_usage && ask.seeded &&
                ask.logprobs && ask.ignore_eos && ask.chat);
    assert_int_equal(ask.n_stop, 2);
    assert_string_equal(ask.stop[1], "\xc3\xa9");
    assert_int_equal((int64_t)ask.seed, -4);
    assert_int_equal(ask.top_k, 9);
    assert_int_equal(ask.top_logprobs, 20);
    assert_true(ask.temperature == 0.5f && ask.top_p == 0.25f && ask.min_p == 0.125f &&
                ask.repetition_penalty == 1.25f);
    assert_int_equal(ask.priority, -3);
    assert_string_equal(ask.cache_salt, "s");
    assert_int_equal(ask.n_bias, 2);
    assert_true(isinf(ask.bias[0].add) && ask.bias[0].token == 7 && ask.bias[1].add == 2);
    assert_string_equal(ask.messages[0].role, "user");
}

static void prompts(void **state) {
    (void)state;
    expect_taken("{\"prompt\": \"a b\"}", INFRT_ASK_TEXT);
    assert_int_equal(ask.n_prompts, 1);
    assert_string_equal(ask.prompts[0].text, "a b");
    expect_taken("{\"prompt\": [\"a\", \"b\", \"\"], \"logprobs\": 0}", INFRT_ASK_TEXT);
    assert_int_equal(ask.n_prompts, 3);
    assert_true(ask.logprobs);
    expect_taken("{\"prompt\": [1, 2, 49]}", INFRT_ASK_TEXT);
    assert_int_equal(ask.n_prompts, 1);
    assert_int_equal(ask.prompts[0].n_ids, 3);
    assert_int_equal(ask.prompts[0].ids[2], 49);
    expect_taken("{\"prompt\": [[1], [2, 3], []]}", INFRT_ASK_TEXT);
    assert_int_equal(ask.n_prompts, 3);
    assert_int_equal(ask.prompts[1].n_ids, 2);
    expect_taken("{\"tokens\": [1, 2]}", INFRT_ASK_DETOKENIZE);
    expect_taken("{\"prompt\": \"x\", \"add_special_tokens\": false, \"stream\": 7}", INFRT_ASK_TOKENIZE);
    assert_false(ask.add_special);
    expect_taken("{" M "}", INFRT_ASK_TOKENIZE);
    assert_true(ask.chat);
    expect_taken("{\"name\": \"a\", " M ", \"cache_salt\": \"s\", \"model\": \"m\"}", INFRT_ASK_SAVE);
    assert_string_equal(ask.session, "a");
    assert_true(ask.chat && ask.n_messages == 1 && ask.n_prompts == 1);
    expect_taken("{\"prompt\": [1, 2]}", INFRT_ASK_SAVE); /* whether there is a name is looked at later */
    assert_int_equal(ask.prompts[0].n_ids, 2);
    expect_taken("{\"name\": \"a\", \"messages\": 5}", INFRT_ASK_RESTORE);
}

static void parts_are_one_text(void **state) {
    (void)state;
    expect_taken(
        "{\"messages\": [{\"content\": [{\"type\": \"text\", \"text\": \"a\"}, {\"text\": \"bc\", "
        "\"type\": \"text\"}, "
        "{\"type\": \"text\", \"text\": \"\"}, {\"type\": \"text\", \"text\": \"d\"}], \"role\": "
        "\"developer\"}, "
        "{\"role\": \"assistant\", \"content\": \"e\", \"name\": 3, \"tool_calls\": null}]}",
        INFRT_ASK_CHAT);
    assert_int_equal(ask.n_messages, 2);
    assert_string_equal(ask.messages[0].role, "system");
    assert_string_equal(ask.messages[0].content, "abcd");
    assert_string_equal(ask.messages[1].content, "e");
}

static const struct {
    infrt_ask_route route;
    const char *body, *param, *text;
} wrong_values_cases[] = {
    {INFRT_ASK_CHAT, "", "", "not JSON"},
    {INFRT_ASK_CHAT, "{" M ", \"prompt\": \"a\"}", "prompt", "not supported"},
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", " M "}", "messages", "not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"n\": 1" NINES "}", "n", "from 1 to 16"},
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", \"x\": 1" NINES NINES NINES NINES NINES NINES NINES NINES "}",
     "", "a number of more than 1023 characters"},
    {INFRT_ASK_SAVE, "{\"name\": \"a\"}", "prompt", "either a prompt or messages"},
    {INFRT_ASK_SAVE, "{\"prompt\": \"a\", " M "}", "prompt", "either a prompt or messages"},
    {INFRT_ASK_SAVE, "{\"prompt\": [\"a\", \"b\"]}", "prompt", "either a prompt or messages"},
    {INFRT_ASK_RESTORE, "{\"name\": [\"a\"]}", "name", "a text is needed"},
    {INFRT_ASK_CHAT, "[]", "", "not an object"},
    {INFRT_ASK_CHAT, "{" M "} x", "", "something after the value"},
    {INFRT_ASK_CHAT, "{" M ", \"x\": \"\xff\"}", "", "not UTF-8"}, /* llama.cpp#6396 */
    {INFRT_ASK_CHAT, "{" M ", \"x\": \"\xed\xa0\x80\"}", "", "not UTF-8"},
    {INFRT_ASK_CHAT, "{}", "messages", "messages is needed"},
    {INFRT_ASK_CHAT, "{\"messages\": []}", "messages", "messages is needed"},
    {INFRT_ASK_CHAT, "{\"messages\": {}}", "messages", "a list of messages is needed, not an object"},
    {INFRT_ASK_CHAT, "{\"messages\": [3]}", "messages[0]", "an object is needed"},
    {INFRT_ASK_CHAT, "{\"messages\": [{\"role\": \"user\"}]}", "messages[0]", "role and content are needed"},
    {INFRT_ASK_CHAT, "{\"messages\": [{\"role\": \"tool\", \"content\": \"\"}]}", "messages[0].role", "are supported"},
    {INFRT_ASK_CHAT, USER("3"), "messages[0].content", "a text or a list"},
    {INFRT_ASK_CHAT, USER("[]"), "messages[0].content", "at least one part"},
    {INFRT_ASK_CHAT, USER("[{\"type\": \"image_url\", \"image_url\": 3}]"),
     "messages[0].content[0].type", "not supported"},
    {INFRT_ASK_CHAT, "{\"messages\": [{\"role\": \"user\", \"content\": \"\", \"tool_calls\": []}]}",
     "messages[0].tool_calls", "not supported"},
    {INFRT_ASK_CHAT, "{\"messages\": [{\"role\": \"user\", \"content\": \"a\\u0000b\"}]}", "", "a NUL in a string"},
    {INFRT_ASK_CHAT, "{" M ", \"n\": 0}", "n", "a whole number from 1 to 16"}, /* mistral.rs#1874 */
    {INFRT_ASK_CHAT, "{" M ", \"n\": 17}", "n", "from 1 to 16"},               /* CVE-2026-34756 */
    {INFRT_ASK_CHAT, "{" M ", \"n\": 1e300}", "n", "from 1 to 16"},
    {INFRT_ASK_CHAT, "{" M ", \"n\": 1.5}", "n", "a whole number"},
    {INFRT_ASK_CHAT, "{" M ", \"n\": \"1\"}", "n", "not a text"},
    {INFRT_ASK_CHAT, "{" M ", \"max_tokens\": -1}", "max_tokens", "from 1"}, /* CVE-2026-21869: a negative count */
    {INFRT_ASK_CHAT, "{" M ", \"max_tokens\": 0}", "max_tokens", "from 1"},
    {INFRT_ASK_CHAT, "{" M ", \"priority\": -101}", "priority", "from -100 to 100"},
    {INFRT_ASK_CHAT, "{" M ", \"cache_salt\": 1}", "cache_salt", "a text is needed"},
    {INFRT_ASK_CHAT, "{" M ", \"top_k\": -2}", "top_k", "from -1"},
    {INFRT_ASK_CHAT, "{" M ", \"temperature\": true}", "temperature", "from 0 to 100 is needed, not true or false"},
    {INFRT_ASK_CHAT, "{" M ", \"temperature\": -0.5}", "temperature", "from 0"},
    {INFRT_ASK_CHAT, "{" M ", \"top_p\": 1.5}", "top_p", "from 0 to 1"},
    {INFRT_ASK_CHAT, "{" M ", \"top_p\": NaN}", "", "no value"},
    {INFRT_ASK_CHAT, "{" M ", \"stream\": 1}", "stream", "true or false is needed"},
    {INFRT_ASK_CHAT, "{" M ", \"stream_options\": {\"include_usage\": 1}}",
     "stream_options.include_usage", "true or false"},
    {INFRT_ASK_CHAT, "{" M ", \"stream_options\": {\"include_usage\": true}}", "stream_options", "needs stream"},
    {INFRT_ASK_CHAT, "{" M ", \"stream\": true, \"stream_options\": {\"continuous_usage_stats\": true}}",
     "stream_options.continuous_usage_stats", "needs include_usage"},
    {INFRT_ASK_CHAT, "{" M ", \"top_logprobs\": 3}", "top_logprobs", "needs logprobs"},
    {INFRT_ASK_CHAT, "{" M ", \"logprobs\": true, \"top_logprobs\": 21}", "top_logprobs", "from 0 to 20"},
    {INFRT_ASK_CHAT, "{" M ", \"stop\": [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\"]}", "stop", "at most 8"},
    {INFRT_ASK_CHAT, "{" M ", \"stop\": \"\"}", "stop", "1 to 128 bytes"},
    {INFRT_ASK_CHAT, "{" M ", \"stop\": [1]}", "stop[0]", "a text is needed"},
    {INFRT_ASK_CHAT, "{" M ", \"logit_bias\": {\"50\": 1}}", "logit_bias", "token ids below 50"},
    {INFRT_ASK_CHAT, "{" M ", \"logit_bias\": {\"-1\": 1}}", "logit_bias", "token ids below 50"},
    {INFRT_ASK_CHAT, "{" M ", \"logit_bias\": {\"1\": 101}}", "logit_bias.1", "from -100 to 100"},
    {INFRT_ASK_CHAT, "{" M ", \"logit_bias\": []}", "logit_bias", "an object"},
    {INFRT_ASK_CHAT, "{" M ", \"tools\": [{\"type\": \"function\"}]}", "tools", "tools is not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"tool_choice\": \"auto\"}", "tool_choice", "not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"response_format\": {\"type\": \"json_object\"}}", "response_format", "not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"functions\": [1]}", "functions", "not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"audio\": {}}", "audio", "not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"chat_template_kwargs\": {\"a\": 1}}", "chat_template_kwargs", "not supported"},
    {INFRT_ASK_CHAT, "{" M ", \"n\": 1, \"n\": 2}", "n", "there twice"},
    {INFRT_ASK_CHAT,
     "{" M ", \"stream\": true, \"stream_options\": {\"include_usage\": true, "
     "\"include_usage\": false}}",
     "stream_options.include_usage", "there twice"},
    {INFRT_ASK_TEXT,
     "{\"prompt\": \"a\", \"stream\": true, \"stream_options\": {\"continuous_usage_stats\": null, "
     "\"include_usage\": true, \"continuous_usage_stats\": true}}",
     "stream_options.continuous_usage_stats", "there twice"},
    {INFRT_ASK_CHAT, "{\"messages\": [{\"role\": \"user\", \"role\": \"system\", \"content\": \"a\"}]}",
     "messages[0].role", "there twice"},
    {INFRT_ASK_CHAT, "{\"messages\": [{\"role\": \"user\", \"content\": \"a\", \"content\": \"b\"}]}",
     "messages[0].content", "there twice"},
    {INFRT_ASK_CHAT, USER("[{\"type\": \"text\", \"text\": \"a\", \"text\": \"b\"}]"),
     "messages[0].content[0].text", "there twice"},
    {INFRT_ASK_CHAT, "{" M ", \"seed\": 9223372036854775808}", "seed", "to 9223372036854775807"},
    {INFRT_ASK_CHAT, "{" M ", \"seed\": -9223372036854775809}", "seed", "from -9223372036854775808"},
    {INFRT_ASK_CHAT, "{" M ", \"seed\": 99999999999999999999999999}", "seed", "a whole number"},
    {INFRT_ASK_CHAT, "{" M ", \"seed\": 1.5}", "seed", "a whole number"},
    {INFRT_ASK_CHAT, "{" M ", \"seed\": \"1\"}", "seed", "not a text"},
    {INFRT_ASK_CHAT, "{" M ", \"add_special_tokens\": true}", "add_special_tokens", "or give false"},
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", \"add_special_tokens\": false}", "add_special_tokens", "or give true"},
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", \"return_token_ids\": true}", "return_token_ids", "not supported"},
    {INFRT_ASK_TOKENIZE, "{\"prompt\": \"a\", \"return_token_strs\": true}", "return_token_strs", "not supported"},
    {INFRT_ASK_TEXT, "{}", "prompt", "prompt is needed"},
    {INFRT_ASK_TEXT, "{\"prompt\": []}", "prompt", "prompt is needed"},
    {INFRT_ASK_TEXT, "{\"prompt\": 3}", "prompt", "a text, a list of texts, or token ids"},
    {INFRT_ASK_TEXT, "{\"prompt\": [1, \"a\"]}", "prompt", "element 1 of a list"},
    {INFRT_ASK_TEXT, "{\"prompt\": [50]}", "prompt", "below 50"},
    {INFRT_ASK_TEXT, "{\"prompt\": [-1]}", "prompt", "below 50"},
    {INFRT_ASK_TEXT, "{\"prompt\": [1.5]}", "prompt", "below 50"},
    {INFRT_ASK_TEXT, "{\"prompt\": [\"a\", 3]}", "prompt[1]", "a text, as the others"},
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", \"top_logprobs\": \"x\"}", "top_logprobs", "not supported"},
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", \"best_of\": 2}", "best_of", "not supported"}, /* CVE-2024-8939 */
    {INFRT_ASK_TEXT, "{\"prompt\": \"a\", \"suffix\": \"b\"}", "suffix", "not supported"},
    {INFRT_ASK_TEXT, "{\"prompt\": [\"a\",\"b\",\"c\",\"d\",\"e\"], \"n\": 16}", "n", "at most 64 answers"},
    {INFRT_ASK_TOKENIZE, "{\"prompt\": [1]}", "prompt", "a text is needed"},
    {INFRT_ASK_TOKENIZE, "{}", "prompt", "either a prompt or messages"},
    {INFRT_ASK_DETOKENIZE, "{\"tokens\": [50]}", "tokens", "below 50"},
    {INFRT_ASK_DETOKENIZE, "{\"tokens\": 1}", "tokens", "a list of token ids"},
    {INFRT_ASK_DETOKENIZE, "{}", "tokens", "tokens is needed"},
};

static void wrong_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong_values_cases / sizeof *wrong_values_cases; i++) {
        if (read_text(wrong_values_cases[i].body, wrong_values_cases[i].route))
            fail_msg("%s: taken", wrong_values_cases[i].body);
        assert_int_equal(refusal.status, 400);
        if (strcmp(refusal.param, wrong_values_cases[i].param) != 0 ||
            !strstr(refusal.text, wrong_values_cases[i].text))
            fail_msg("%s: %s: %s", wrong_values_cases[i].body, refusal.param, refusal.text);
    }
}

/* Each field that is known and not supported, on each of its routes: refused by name, but for the value that asks for
 * nothing, which may be written in other ways, and null. */
static void unsupported_fields(void **state) {
    enum {
        CHAT = INFRT_ASK_CHAT,
        TEXT = INFRT_ASK_TEXT,
        BOTH = CHAT | TEXT,
        TOKENIZE = INFRT_ASK_TOKENIZE,
        TEMPLATED = BOTH | TOKENIZE | INFRT_ASK_SAVE
    };
    static const struct {
        unsigned routes;
        const char *name, *values;
    } fields[] = {
#define INFRT_FIELD(routes, name, kind, least, most, member)
#define INFRT_REFUSED(routes, name, values) {routes, name, values},
#include "request_fields.def"
#undef INFRT_FIELD
#undef INFRT_REFUSED
    };
    char body[256];
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (unsigned route = CHAT; route <= INFRT_ASK_SAVE; route *= 2) {
            if (!(fields[i].routes & route)) continue;
            const char *start = route == CHAT ? M : "\"prompt\": \"a\"", *name = fields[i].name;
            snprintf(body, sizeof body, "{%s, \"%s\": [\"x\", 7]}", start, name);
            if (read_text(body, route)) fail_msg("%s: taken", body);
            assert_string_equal(refusal.param, name);
            assert_non_null(strstr(refusal.text, "is not supported by this server"));
            snprintf(body, sizeof body, "{%s, \"%s\": null}", start, name);
            expect_taken(body, route);
            if (!fields[i].values[0]) continue;
            snprintf(body, sizeof body, "{\"%s\": \n%s , %s}", name, fields[i].values, start);
            expect_taken(body, route);
        }
    expect_taken("{\"prompt\": \"a\", \"best_of\": 1.0, \"mirostat\": 0e3, \"top_n_sigma\": -1.00}", INFRT_ASK_TEXT);
    assert_false(read_text("{\"prompt\": \"a\", \"best_of\": \"1\"}", INFRT_ASK_TEXT));
    assert_false(read_text("{\"prompt\": \"a\", \"repeat_penalty\": 1.1}", INFRT_ASK_TEXT));
}

/* Of adapters, too, each key may be there once, and what nobody knows is refused; what is known of others is taken
 * where it changes nothing. */
static void adapters_are_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *rest, *param, *text; /* param null: it is taken */
    } cases[] = {
        {"\"lora_path\": \"a\"", NULL, "a"},
        {"\"lora_path\": \"a\\\"b\", \"pinned\": false, \"lora_int_id\": [3], "
         "\"added_tokens_config\": null, \"sum\": null",
         NULL, "a\\\"b"},
        {"\"sum\": [{\"lora_path\": \"a\", \"weight\": -0.5}, {\"lora_path\": \"b\"}], "
         "\"load_inplace\": true",
         NULL, "-0.5*a,1*b"},
        {"\"lora_path\": \"\", \"lora_path\": \"a\"", "lora_path", "lora_path is there twice"},
        {"\"lora_path\": \"a\", \"load_inplace\": true, \"load_inplace\": false", "load_inplace", "there twice"},
        {"\"lora_path\": \"a\", \"expected_sha256\": null, "
         "\"expected_sha256\": null",
         "expected_sha256", "there twice"},
        {"\"sum\": null, \"sum\": [{\"lora_path\": \"a\"}]", "sum", "sum is there twice"},
        {"\"sum\": [{\"lora_path\": \"a\"}, {\"lora_path\": \"a\", \"weight\": 1, \"weight\": 2}]",
         "sum", "sum[1].weight is there twice"},
        {"\"lora_path\": \"a\", \"sum\": [{\"lora_path\": \"a\"}]", "sum", "give one of them"},
        {"\"lora_path\": \"a\", \"pinned\": true", "pinned", "pinned is not supported: those of --adapter"},
        {"\"lora_path\": \"a\", \"added_tokens_config\": {}", "added_tokens_config", "not supported; there are"},
        {"\"lora_path\": \"a\", \"expected_sha\": null", "expected_sha", "not supported; there are"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        infrt_adapter_ask asked;
        infrt_out source = {0};
        refusal = (infrt_refusal){0};
        snprintf(body, sizeof body, "{\"lora_name\": \"x\", %s}", cases[i].rest);
        const bool good = infrt_adapter_ask_read(body, strlen(body), true, &asked, &refusal);
        assert_string_equal(asked.name, "x");
        if (good != !cases[i].param) fail_msg("%s: %s", body, refusal.text);
        if (good) {
            infrt_adapter_source_put(&asked, &source);
            infrt_out_add(&source, "", 1);
            assert_string_equal(source.at, cases[i].text);
            infrt_out_free(&source);
        } else if (strcmp(refusal.param, cases[i].param) != 0 || !strstr(refusal.text, cases[i].text)) {
            fail_msg("%s: %s: %s", body, refusal.param, refusal.text);
        }
    }
}

/* OpenAI: any integer of 64 bits; the ones beyond 2^53 exactly. */
static void seeds_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t seed;
    } cases[] = {{"0", 0},
                 {"-0", 0},
                 {"-1", UINT64_MAX},
                 {"9007199254740993", UINT64_C(9007199254740993)},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775808", UINT64_C(1) << 63},
                 {"1e5", 100000},
                 {"12.0", 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"prompt\": \"a\", \"seed\": %s}", cases[i].text);
        expect_taken(body, INFRT_ASK_TEXT);
        if (!ask.seeded || ask.seed != cases[i].seed) fail_msg("%s", body);
    }
}

/* Counts are limited before what is counted takes memory. */
static void counts_are_limited(void **state) {
    (void)state;
    infrt_out body = {0};
    infrt_out_text(&body, "{\"messages\":[");
    for (int i = 0; i <= INFRT_ASK_MESSAGES; i++)
        infrt_out_text(&body, i ? ",{\"role\":\"user\",\"content\":\"\"}" : "{\"role\":\"user\",\"content\":\"\"}");
    infrt_out_add(&body, "]}", 3);
    assert_false(read_text(body.at, INFRT_ASK_CHAT));
    assert_non_null(strstr(refusal.text, "at most 2048"));
    body.n = 0;
    infrt_out_text(&body, "{\"prompt\":[0");
    for (int i = 0; i < CONTEXT; i++) infrt_out_text(&body, ",0");
    infrt_out_add(&body, "]}", 3);
    assert_false(read_text(body.at, INFRT_ASK_TEXT));
    assert_non_null(strstr(refusal.text, "more than the 100 tokens"));
    assert_string_equal(refusal.code, "context_length_exceeded"); /* what clients look for */
    body.n = 0;
    infrt_out_text(&body, "{\"prompt\":[\"\"");
    for (int i = 0; i < INFRT_ASK_PROMPTS; i++) infrt_out_text(&body, ",\"\"");
    infrt_out_add(&body, "]}", 3);
    assert_false(read_text(body.at, INFRT_ASK_TEXT));
    assert_non_null(strstr(refusal.text, "at most 64"));
    body.n = 0;
    for (int i = 0; i < 100000; i++) infrt_out_text(&body, "{\"x\":"); /* no deep recursion */
    infrt_out_add(&body, "", 1);
    assert_false(read_text(body.at, INFRT_ASK_TEXT));
    assert_non_null(strstr(refusal.text, "nested too deeply"));
    infrt_out_free(&body);
}

/* What nobody reads is bounded: as keys, as values of a key that nobody knows, as keys of a message. */
static void keys_are_bounded(void **state) {
    (void)state;
    static const struct {
        const char *before, *one, *after;
    } bodies[] = {{"{\"prompt\":\"x\"", ",\"k\":1", "}"},
                  {"{\"prompt\":\"x\",\"k\":[1", ",1", "]}"},
                  {"{\"prompt\":\"x\",\"k\":[[]", ",[]", "]}"},
                  {"{\"prompt\":\"x\",\"k\":{\"a\":1", ",\"a\":1", "}}"}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int n = 16000; n <= 40000; n += 24000) {
            refusal = (infrt_refusal){0};
            char *body = malloc((size_t)n * 8 + 100), *at = body + sprintf(body, "%s", bodies[i].before);
            for (int k = 0; k < n; k++) at += sprintf(at, "%s", bodies[i].one);
            at += sprintf(at, "%s", bodies[i].after);
            infrt_ask_free(&ask);
            const bool good =
                infrt_ask_read(body, (size_t)(at - body), INFRT_ASK_TEXT, 100, 100, &ask, &refusal);
            if (good != (n == 16000)) fail_msg("body %zu of %d: %s", i, n, refusal.text);
            if (!good) assert_non_null(strstr(refusal.text, "too many keys"));
            free(body);
        }
}

static void strings_are_escaped(void **state) {
    (void)state;
    infrt_out out = {0};
    /* llama.cpp#9195: a maximal part of a character each is one U+FFFD */
    infrt_out_string(&out,
                     "a\"\\\n\x01\x7f\xc3\xa9\xed\xa0\x80\xe2\x80"
                     "A\xf0\x80\x80",
                     17);
    infrt_out_add(&out, "", 1);
    assert_string_equal(
        out.at,
        "\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
        "A\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    out.n = 0;
    infrt_out_logprob(&out, -INFINITY); /* madroidmaq/mlx-omni-server#56 */
    infrt_out_text(&out, " ");
    infrt_out_logprob(&out, NAN);
    infrt_out_text(&out, " ");
    infrt_out_logprob(&out, -0.1f);
    infrt_out_add(&out, "", 1);
    assert_string_equal(out.at, "-9999 -9999 -0.100000001");
    infrt_out_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_taken),    cmocka_unit_test(prompts),
        cmocka_unit_test(parts_are_one_text),     cmocka_unit_test(wrong_values),
        cmocka_unit_test(unsupported_fields),     cmocka_unit_test(seeds_are_exact),
        cmocka_unit_test(adapters_are_asked_for), cmocka_unit_test(counts_are_limited),
        cmocka_unit_test(keys_are_bounded),       cmocka_unit_test(strings_are_escaped)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    infrt_ask_free(&ask);
    return failed;
}
