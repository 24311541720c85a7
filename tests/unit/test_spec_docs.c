/* docs/spec.md and docs/spec.schema.json are what the key table gives; `test_spec_docs --update` writes them. */
#include <string.h>
#include <jansson.h>
#include "compiler/base/file.h"
#include "compiler/frontend/spec.h"
#include "compiler/frontend/spec_keys.h"
#include "cx_fixture.h"

static const struct {
    const char *path;
    void (*make)(infc_buf *out);
} documents[] = {
    {INFC_SOURCE_DIR "/docs/spec.md", infc_spec_reference_markdown},
    {INFC_SOURCE_DIR "/docs/spec.schema.json", infc_spec_schema_json},
};
enum { N_DOCUMENTS = sizeof documents / sizeof *documents };

static void documents_are_up_to_date(void **state) {
    (void)state;
    for (size_t i = 0; i < N_DOCUMENTS; i++) {
        infc_buf text = {.arena = cx.arena};
        infc_bytes file;
        documents[i].make(&text);
        assert_int_equal(infc_file_map(&cx, documents[i].path, &file), INFC_OK);
        if (file.len != text.len || memcmp(file.ptr, text.data, text.len) != 0) {
            fail_msg("%s is out of date: run test_spec_docs --update", documents[i].path);
        }
    }
}

/* Every key of the table is in the schema at its path. */
static void schema_has_every_key(void **state) {
    (void)state;
    infc_buf text = {.arena = cx.arena};
    infc_spec_schema_json(&text);
    json_error_t error;
    json_t *root = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("line %d: %s", error.line, error.text);
    json_t *top = json_object_get(root, "properties");
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        if (strchr(key->path, '.')) continue;
        json_t *property = json_object_get(top, key->path);
        assert_non_null(property);
        assert_non_null(json_object_get(property, "description"));
        assert_int_equal(json_object_get(property, "not") != NULL, !key->done);
    }
    json_t *weights = json_object_get(
        json_object_get(json_object_get(json_object_get(top, "precision"), "properties"),
                        "weights"),
        "enum");
    assert_int_equal(json_array_size(weights), 6); /* the others are refused */
    assert_string_equal(json_string_value(json_array_get(weights, 1)), "f16");
    assert_int_equal(json_array_size(json_object_get(root, "required")), 2);
    json_decref(root);
}

/* Rows that the reader, the documents and --set rely on. */
static void table_is_sound(void **state) {
    (void)state;
    for (size_t i = 0; i < infc_spec_key_count(); i++) {
        const infc_spec_key *key = infc_spec_key_at(i);
        const char *dot = strrchr(key->path, '.');
        bool parent_found = !dot;
        for (size_t k = 0; k < infc_spec_key_count(); k++) {
            const infc_spec_key *other = infc_spec_key_at(k);
            if (k != i) assert_string_not_equal(other->path, key->path);
            if (dot && k < i) parent_found |= infc_spec_key_is_below(key, other);
        }
        assert_true(parent_found); /* parents come first */
        assert_true(*key->doc);
        assert_false(strchr(key->doc, '|') != NULL); /* would end a table cell */
        assert_false(key->required && *key->fallback);
    }
}

static int update(void) {
    infc_status status = infc_cx_init(&cx);
    for (size_t i = 0; i < N_DOCUMENTS && status == INFC_OK; i++) {
        infc_buf text = {.arena = cx.arena};
        documents[i].make(&text);
        status = infc_file_write(&cx, documents[i].path, infc_buf_bytes(&text), 0644);
    }
    infc_cx_deinit(&cx);
    return infc_status_exit_code(status);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--update") == 0) return update();
    const struct CMUnitTest tests[] = {
        CX_TEST(documents_are_up_to_date),
        CX_TEST(schema_has_every_key),
        CX_TEST(table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
