/* docs/spec.md from the key table. */
#include "spec.h"
#include "spec_keys.h"
#include <string.h>

static const char intro[] =
    "# The deployment spec\n"
    "\n"
    "<!-- Generated from compiler/frontend/spec_keys.def: edit that, then run `test_spec_docs "
    "--update`. -->\n"
    "\n"
    "A spec says what to make of a model: `infc compile spec.yaml`. `infc init MODEL` writes one "
    "to start from, and\n"
    "`infc compile MODEL` does without: it uses the defaults below and prints them. It is YAML, "
    "one document; keys are\n"
    "text and each is given once; anchors, aliases and tags are refused. All problems are reported "
    "at once, each with\n"
    "file, line and column. A key or value that is known but marked *not implemented yet* is "
    "refused, never ignored.\n"
    "\n"
    "- Paths are relative to the spec.\n"
    "- `--set key.path=value` overrides one key from the command line, for example `--set "
    "precision.weights=int8`,\n"
    "  `--set 'targets=[host, aarch64]'`, `--set shapes.image.2=8`. The value is YAML; a path in "
    "it "
    "is relative to the\n"
    "  working directory; problems with it are reported at `--set`.\n"
    "- Where a key takes *one or a list*, one value stands for a list of one.\n"
    "- A size is a number of bytes with `B`, `KiB`, `MiB`, `GiB`, `TiB`, or `kB`, `MB`, `GB`, "
    "`TB`; without a unit, bytes.\n"
    "- A name is at most 48 characters, a C identifier, and nothing that would hide something in a "
    "program that uses\n"
    "  the output: no keyword of C or C++, no header or library of the system, no target of "
    "CMake.\n"
    "- [spec.schema.json](spec.schema.json) is the same as JSON Schema, for editors: put\n"
    "  `# yaml-language-server: $schema=spec.schema.json` on the first line.\n"
    "\n"
    "## Example\n"
    "\n"
    "Everything that is implemented, in one spec:\n"
    "\n"
    "```yaml\n";

const char infc_spec_example[] =
    "infc: 1\n"
    "model: digits.onnx\n"
    "name: digits                     # digits, libdigits.a, digits.h, digits_run()\n"
    "output:\n"
    "  kinds: [binary, static-library]\n"
    "  weights: embed                 # or file\n"
    "  license: Apache-2.0\n"
    "targets: [host, x86-64-v3, aarch64]\n"
    "shapes:\n"
    "  image.2: 8                     # axis 2 of the input \"image\"\n"
    "loops:\n"
    "  max_trips: 16                  # of loops that end when the run says so\n"
    "precision:\n"
    "  weights: int8\n"
    "  activations: f32\n"
    "  float: exact\n"
    "  rules:\n"
    "    - {match: \"^conv1\", weights: f32}\n"
    "inputs:\n"
    "  image:\n"
    "    kind: image\n"
    "    channels: gray\n"
    "    layout: nchw\n"
    "    scale: 1/255\n"
    "    mean: 0.5\n"
    "    std: 0.25\n"
    "outputs:\n"
    "  probabilities:\n"
    "    kind: classes\n"
    "    labels: [zero, one, two, three, four, five, six, seven, eight, nine]\n"
    "    top: 3\n"
    "budgets:\n"
    "  file: 1MiB\n"
    "  memory: 64KiB\n";

typedef struct values {
    infc_buf done, later;
} values;

static void add_value(void *user, const char *value, size_t n, bool done) {
    values *v = user;
    infc_buf *list = done ? &v->done : &v->later;
    infc_buf_printf(list, "%s`%.*s`", list->len ? " " : "", (int)n, value);
}

static const char *without_article(const char *text) {
    static const char *const articles[] = {"a ", "an ", "the "};
    for (size_t i = 0; i < sizeof articles / sizeof *articles; i++) {
        size_t n = strlen(articles[i]);
        if (strncmp(text, articles[i], n) == 0) return text + n;
    }
    return text;
}

static void put_type(infc_buf *out, const infc_spec_key *key) {
    long long low, high;
    if (key->type == INFC_SPEC_choice) {
        values v = {{.arena = out->arena}, {.arena = out->arena}};
        infc_spec_key_values(key, add_value, &v);
        infc_buf_puts(out, infc_buf_str(&v.done));
        if (v.later.len) {
            infc_buf_printf(out, "%s*not implemented yet:* %s", v.done.len ? "; " : "", infc_buf_str(&v.later));
        }
    } else if (key->type == INFC_SPEC_integer) {
        infc_spec_key_range(key, &low, &high);
        if (low == high) infc_buf_printf(out, "%lld", low);
        else infc_buf_printf(out, "%lld to %lld", low, high);
    } else {
        infc_buf_puts(out, without_article(infc_spec_type_name(key->type)));
        const bool amount = key->type == INFC_SPEC_size || key->type == INFC_SPEC_duration;
        if (key->type == INFC_SPEC_number && *key->values) {
            infc_spec_key_range(key, &low, &high);
            infc_buf_printf(out, ", %lld to %lld", low, high);
        }
        if (amount && *key->values) infc_buf_printf(out, ", at least %s", key->values);
    }
    if (key->many)
        infc_buf_puts(out, key->type == INFC_SPEC_choice ? "; one or a list" : ", one or a list");
}

static void put_row(infc_buf *out, const infc_spec_key *key) {
    infc_buf_printf(out, "| `%s` | ", key->path);
    put_type(out, key);
    if (key->required) infc_buf_puts(out, " | *required* | ");
    else infc_buf_printf(out, *key->fallback ? " | `%s` | " : " |%s | ", key->fallback);
    infc_buf_printf(out, "%s%s |\n", key->done ? "" : "*Not implemented yet.* ", key->doc);
}

static bool has_keys_below(const infc_spec_key *key) {
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        if (infc_spec_key_is_below(infc_spec_key_at(i), key)) return true;
    }
    return false;
}

static const char table_head[] = "| key | value | default | meaning |\n|---|---|---|---|\n";

/* A key at the top with all that lies below it. */
static void put_section(infc_buf *out, const infc_spec_key *top) {
    size_t n = strlen(top->path);
    infc_buf_printf(out, "\n## %s\n\n%s", top->path, table_head);
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (strncmp(key->path, top->path, n) == 0 && (key->path[n] == '.' || !key->path[n]))
            put_row(out, key);
    }
}

void infc_spec_reference_markdown(infc_buf *out) {
    infc_buf_puts(out, intro);
    infc_buf_puts(out, infc_spec_example);
    infc_buf_printf(out, "```\n\n## Top level\n\n%s", table_head);
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (infc_spec_key_is_below(key, NULL) && !has_keys_below(key)) put_row(out, key);
    }
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (infc_spec_key_is_below(key, NULL) && has_keys_below(key)) put_section(out, key);
    }
}
