/* spec_serve.c - the key `serve`: the server in the binary. */
#include "spec_fill.h"

static const char *text_of(const infc_yaml *map, const char *key) {
    const infc_yaml *node = infc_spec_get(map, key);
    return node ? node->text : NULL;
}

static int64_t number_of(const infc_yaml *map, const char *key) {
    const infc_yaml *node = infc_spec_get(map, key);
    return node ? node->integer : 0;
}

void infc_spec_fill_serve(const infc_yaml *root, infc_spec *out) {
    const infc_yaml *asked = infc_spec_get(root, "serve"), *map = infc_spec_get_map(root, "serve");
    if (!asked || asked->is_default) return;
    static const char *const of_llm[] = {"serve.adapter_root", "serve.session_root", "serve.key_tokens",
                                         "serve.key_adapters", "serve.key_sessions"};
    for (size_t i = 0; i < sizeof of_llm / sizeof *of_llm; i++) {
        const infc_yaml *key = infc_spec_get(map, of_llm[i] + sizeof "serve");
        if (!key) continue;
        out->llm_loc = key->loc;
        out->llm_key = of_llm[i];
    }
    const infc_yaml *wait = infc_spec_get(map, "batch_wait");
    if (wait) out->serve.batch_wait_loc = wait->loc;
    out->serve.asked = true;
    out->serve.loc = asked->loc;
#define INFC_SERVE_TEXT(key) out->serve.key = text_of(map, #key);
#define INFC_SERVE_SWITCH(key) out->serve.key = number_of(map, #key) != 0;
#define INFC_SERVE_NUMBER(key) out->serve.key = number_of(map, #key);
#define INFC_SERVE_TIME(key) out->serve.key = number_of(map, #key);
#include "spec_serve.def"
}

static void put_text(const char *key, const char *text, const char **comma, infc_buf *out) {
    if (!text) return;
    infc_buf_printf(out, "%s%s: ", *comma, key);
    infc_buf_json_string(out, text);
    *comma = ", ";
}

static void put_number(const char *key, int64_t number, const char *unit, const char **comma, infc_buf *out) {
    if (!number) return;
    infc_buf_printf(out, "%s%s: %lld%s", *comma, key, (long long)number, unit);
    *comma = ", ";
}

static void put_switch(const char *key, bool on, const char **comma, infc_buf *out) {
    if (!on) return;
    infc_buf_printf(out, "%s%s: true", *comma, key);
    *comma = ", ";
}

void infc_spec_print_serve(const infc_spec_serve *serve, infc_buf *out) {
    const char *comma = "";
    if (!serve->asked) return;
    infc_buf_puts(out, "serve: {");
#define INFC_SERVE_TEXT(key) put_text(#key, serve->key, &comma, out);
#define INFC_SERVE_SWITCH(key) put_switch(#key, serve->key, &comma, out);
#define INFC_SERVE_NUMBER(key) put_number(#key, serve->key, "", &comma, out);
#define INFC_SERVE_TIME(key) put_number(#key, serve->key / 1000, "us", &comma, out);
#include "spec_serve.def"
    infc_buf_puts(out, "}\n");
}
