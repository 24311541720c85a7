/* The spec reader on any bytes: it must return, and what it accepts must print as a spec that reads back the same.
 * Leading lines "#set key=value" become --set assignments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/base/file.h"
#include "compiler/frontend/spec.h"

enum { MAX_SETS = 8 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/infc-fuzz-XXXXXX";

static void remove_dir(void) { infc_dir_remove(dir); }

static void put(const char *name, const char *text) {
    infc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    infc_arena *arena = infc_arena_create();
    if (!arena || infc_file_try_write(infc_path_join(arena, dir, name), &bytes, 1, 0644) != 0)
        abort();
    infc_arena_destroy(&arena);
}

/* The files that the corpus names. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    if (!mkdtemp(dir)) abort();
    atexit(remove_dir);
    put("m.onnx", "x");
    put("labels.txt", "cat\ndog\n");
    return 0;
}

static size_t take_sets(infc_cx *cx, infc_bytes *text, infc_spec_set sets[MAX_SETS]) {
    size_t n = 0;
    for (; n < MAX_SETS && text->len > 5 && memcmp(text->ptr, "#set ", 5) == 0; n++) {
        const uint8_t *end = memchr(text->ptr, '\n', text->len);
        size_t length = end ? (size_t)(end - text->ptr) : text->len;
        sets[n].assignment = infc_arena_copy_string(cx->arena, (const char *)text->ptr + 5, length - 5);
        length += end != NULL;
        text->ptr += length;
        text->len -= length;
    }
    return n;
}

static void check_round_trip(infc_cx *cx, const char *path, const infc_spec *spec) {
    infc_spec again;
    infc_buf first = {.arena = cx->arena}, second = {.arena = cx->arena};
    infc_spec_print(spec, &first);
    if (infc_spec_read_bytes(cx, path, infc_buf_bytes(&first), NULL, 0, &again) != INFC_OK) abort();
    infc_spec_print(&again, &second);
    if (strcmp(infc_buf_str(&first), infc_buf_str(&second)) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    infc_cx cx;
    infc_spec spec;
    infc_spec_set sets[MAX_SETS];
    infc_bytes text = {data, size};
    if (infc_cx_init(&cx) != INFC_OK) return 0;
    const char *path = infc_path_join(cx.arena, dir, "spec.yaml");
    size_t n_sets = take_sets(&cx, &text, sets);
    infc_status status = infc_spec_read_bytes(&cx, path, text, sets, n_sets, &spec);
    if (status == INFC_ERR_INTERNAL || (status == INFC_OK) != (cx.n_errors == 0)) abort();
    if (status == INFC_OK && n_sets == 0) check_round_trip(&cx, path, &spec);
    infc_buf diags = {.arena = cx.arena};
    infc_diags_text(&cx, &diags);
    infc_diags_json(&cx, &diags);
    infc_cx_deinit(&cx);
    return 0;
}
