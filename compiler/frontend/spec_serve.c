/* spec_serve.c - the key `serve`: the server in the binary of a language model. */
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
    out->llm_loc = asked->loc;
    out->llm_key = "serve";
    out->serve = (infc_spec_serve){.asked = true,
                                   .loc = asked->loc,
                                   .host = text_of(map, "host"),
                                   .api_keys = text_of(map, "api_keys"),
                                   .adapter_root = text_of(map, "adapter_root"),
                                   .port = number_of(map, "port"),
                                   .queue = number_of(map, "queue"),
                                   .connections = number_of(map, "connections"),
                                   .max_body = (uint64_t)number_of(map, "max_body")};
}

void infc_spec_print_serve(const infc_spec_serve *serve, infc_buf *out) {
    const char *const names[] = {"host", "api_keys", "adapter_root"},
                      *const texts[] = {serve->host, serve->api_keys, serve->adapter_root},
                      *const counts[] = {"port", "queue", "connections", "max_body"};
    const int64_t numbers[] = {serve->port, serve->queue, serve->connections, (int64_t)serve->max_body};
    const char *comma = "";
    if (!serve->asked) return;
    infc_buf_puts(out, "serve: {");
    for (int i = 0; i < 3; i++) {
        if (!texts[i]) continue;
        infc_buf_printf(out, "%s%s: ", comma, names[i]);
        infc_buf_json_string(out, texts[i]);
        comma = ", ";
    }
    for (int i = 0; i < 4; i++) {
        if (!numbers[i]) continue;
        infc_buf_printf(out, "%s%s: %lld", comma, counts[i], (long long)numbers[i]);
        comma = ", ";
    }
    infc_buf_puts(out, "}\n");
}
