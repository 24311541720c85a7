/* The key table as JSON Schema (draft 2020-12), for editors. It describes what is accepted now: keys that
 * are known but not implemented are there with their meaning, and no value is valid for them. */
#include "spec.h"
#include "spec_keys.h"
#include <string.h>

static void put_schema(infc_buf *out, const infc_spec_key *key, int depth);

static void new_line(infc_buf *out, int depth) {
    infc_buf_puts(out, "\n");
    infc_buf_indent(out, depth * 2);
}

static void put_properties(infc_buf *out, const infc_spec_key *parent, int depth) {
    bool first = true;
    infc_buf_puts(out, "\"type\": \"object\",");
    new_line(out, depth);
    infc_buf_puts(out, "\"properties\": {");
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (!infc_spec_key_is_below(key, parent)) continue;
        infc_buf_puts(out, first ? "" : ",");
        new_line(out, depth + 1);
        infc_buf_json_string(out, infc_spec_key_leaf(key));
        infc_buf_puts(out, ": ");
        put_schema(out, key, depth + 1);
        first = false;
    }
    new_line(out, depth);
    infc_buf_puts(out, "},");
    new_line(out, depth);
    infc_buf_puts(out, "\"required\": [");
    first = true;
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (!infc_spec_key_is_below(key, parent) || !key->required) continue;
        infc_buf_printf(out, "%s\"%s\"", first ? "" : ", ", infc_spec_key_leaf(key));
        first = false;
    }
    infc_buf_puts(out, "],");
    new_line(out, depth);
    infc_buf_puts(out, "\"additionalProperties\": false");
}

static void put_object(infc_buf *out, const infc_spec_key *key, int depth) {
    infc_buf_puts(out, "{");
    put_properties(out, key, depth + 1);
    new_line(out, depth);
    infc_buf_puts(out, "}");
}

typedef struct enumeration {
    infc_buf *out;
    bool all, first; /* all: also the values that are refused */
} enumeration;

static void put_value(void *user, const char *value, size_t n, bool done) {
    enumeration *e = user;
    if (!done && !e->all) return;
    infc_buf_printf(e->out, "%s\"%.*s\"", e->first ? "" : ", ", (int)n, value);
    e->first = false;
}

static void put_integer(infc_buf *out, const infc_spec_key *key) {
    long long low, high;
    infc_spec_key_range(key, &low, &high);
    infc_buf_printf(out, "\"type\": \"integer\", \"minimum\": %lld, \"maximum\": %lld", low, high);
}

/* The limits hold for fractions too, whose text a pattern does not measure. */
static void put_number(infc_buf *out, const infc_spec_key *key) {
    long long low, high;
    infc_spec_key_range(key, &low, &high);
    infc_buf_puts(out, "\"anyOf\": [{\"type\": \"number\"");
    if (*key->values) infc_buf_printf(out, ", \"minimum\": %lld, \"maximum\": %lld", low, high);
    infc_buf_puts(out, "}, {\"type\": \"string\", \"pattern\": \"^[-+.0-9eE]+(/[-+.0-9eE]+)?$\"}]");
}

static void put_choice(infc_buf *out, const infc_spec_key *key) {
    enumeration e = {.out = out, .all = !key->done, .first = true};
    infc_buf_puts(out, "\"enum\": [");
    infc_spec_key_values(key, put_value, &e);
    infc_buf_puts(out, "]");
}

/* The members of a schema for one value, without braces. */
static void put_type(infc_buf *out, const infc_spec_key *key, int depth) {
    switch (key->type) {
    case INFC_SPEC_map: put_properties(out, key, depth); break;
    case INFC_SPEC_names:
        infc_buf_puts(out, "\"type\": \"object\",");
        new_line(out, depth);
        infc_buf_puts(out, "\"additionalProperties\": ");
        put_schema(out, infc_spec_key_below(key, "*"), depth);
        break;
    case INFC_SPEC_integer: put_integer(out, key); break;
    case INFC_SPEC_number: put_number(out, key); break;
    case INFC_SPEC_size:
        infc_buf_puts(out, "\"anyOf\": [{\"type\": \"integer\", \"minimum\": 1}, {\"type\": "
                           "\"string\", \"pattern\": "
                           "\"^[0-9]+ *(B|kB|[KMGT]B|[KMGT]iB)?$\"}]");
        break;
    case INFC_SPEC_duration:
        infc_buf_puts(out, "\"type\": \"string\", \"pattern\": \"^[0-9]+(us|ms|s|min|h)$\"");
        break;
    case INFC_SPEC_boolean: infc_buf_puts(out, "\"type\": \"boolean\""); break;
    case INFC_SPEC_name:
        infc_buf_puts(
            out,
            "\"type\": \"string\", \"pattern\": \"^[A-Za-z][A-Za-z0-9_]*$\", \"maxLength\": 48");
        break;
    case INFC_SPEC_regex:
    case INFC_SPEC_string:
    case INFC_SPEC_path:
    case INFC_SPEC_model:
    case INFC_SPEC_license: infc_buf_puts(out, "\"type\": \"string\", \"minLength\": 1"); break;
    case INFC_SPEC_choice: put_choice(out, key); break;
    case INFC_SPEC_target:
        infc_buf_puts(out, "\"anyOf\": [{\"type\": \"string\"}, ");
        put_object(out, key, depth);
        infc_buf_puts(out, "]");
        break;
    case INFC_SPEC_dim:
        infc_buf_puts(
            out, "\"anyOf\": [{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1099511627776}, "
                 "{\"type\": \"string\", \"minLength\": 1}, ");
        put_object(out, key, depth);
        infc_buf_puts(out, "]");
        break;
    case INFC_SPEC_labels:
        infc_buf_puts(
            out,
            "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"minItems\": 1, \"items\": "
            "{\"type\": [\"string\", \"number\", \"boolean\"]}}]");
        break;
    case INFC_SPEC_any: break;
    }
}

/* A default is YAML in the table: a word, a number or a list of words. */
static void put_default(infc_buf *out, const char *text) {
    if (*text != '[') {
        if (strspn(text, "-.0123456789") == strlen(text)) infc_buf_puts(out, text);
        else infc_buf_json_string(out, text);
        return;
    }
    infc_buf_puts(out, "[");
    for (const char *p = text + 1; *p && *p != ']'; p += strspn(p, ", ")) {
        size_t n = strcspn(p, ",]");
        infc_buf_printf(out, "%s\"%.*s\"", p == text + 1 ? "" : ", ", (int)n, p);
        p += n;
    }
    infc_buf_puts(out, "]");
}

static void put_one(infc_buf *out, const infc_spec_key *key, int depth) {
    infc_buf_puts(out, "{");
    put_type(out, key, depth + 1);
    infc_buf_puts(out, "}");
}

static void put_schema(infc_buf *out, const infc_spec_key *key, int depth) {
    infc_buf_puts(out, "{");
    new_line(out, depth + 1);
    infc_buf_puts(out, "\"description\": ");
    infc_buf_json_string(out, infc_arena_printf(out->arena, "%s%s",
                                                key->done ? "" : "Not implemented yet. ", key->doc));
    infc_buf_puts(out, ",");
    new_line(out, depth + 1);
    if (*key->fallback) {
        infc_buf_puts(out, "\"default\": ");
        put_default(out, key->fallback);
        infc_buf_puts(out, ",");
        new_line(out, depth + 1);
    }
    if (!key->done) {
        infc_buf_puts(out, "\"not\": {}");
        if (key->type != INFC_SPEC_any) {
            infc_buf_puts(out, ",");
            new_line(out, depth + 1);
        }
    }
    if (key->many) {
        infc_buf_puts(out, "\"anyOf\": [");
        put_one(out, key, depth + 1);
        const char *at_least = key->type == INFC_SPEC_map ? "" : " \"minItems\": 1,";
        infc_buf_printf(out, ", {\"type\": \"array\",%s \"items\": ", at_least);
        put_one(out, key, depth + 1);
        infc_buf_puts(out, "}]");
    } else if (key->type != INFC_SPEC_any) {
        put_type(out, key, depth + 1);
    }
    new_line(out, depth);
    infc_buf_puts(out, "}");
}

void infc_spec_schema_json(infc_buf *out) {
    infc_buf_puts(out, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                       "  \"title\": \"infc deployment spec\",\n  ");
    put_properties(out, NULL, 1);
    infc_buf_puts(out, "\n}\n");
}
