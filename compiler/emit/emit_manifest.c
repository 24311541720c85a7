/* emit_manifest.c - manifest.json: where the output came from, and the SHA-256 of each file. */
#include "../base/digest.h"
#include "../base/file.h"
#include "../base/hash.h"
#include "emit.h"
#include <string.h>

/* The digests of files that were just written. */
static infc_status print_files(infc_cx *cx, const char *dir, const char *const *names, size_t n, infc_buf *out) {
    infc_bytes *contents = INFC_NEW(cx->arena, infc_bytes, n + 1);
    const char **digests = INFC_NEW(cx->arena, const char *, n + 1);
    infc_status status = INFC_OK;
    size_t n_mapped = 0;
    for (; n_mapped < n && status == INFC_OK; n_mapped++) {
        const char *path = infc_path_join(cx->arena, dir, names[n_mapped]);
        const int error = infc_file_try_map(path, &contents[n_mapped]);
        if (!error) {
            digests[n_mapped] = infc_digest_noted(cx, path, contents[n_mapped].len);
            continue;
        }
        status = infc_fail(cx, INFC_ERR_IO, (infc_loc){.file = path},
                           "cannot read this file back: %s", strerror(error));
        break;
    }
    if (status == INFC_OK) infc_digests(cx, contents, n, digests);
    for (size_t i = 0; i < n_mapped; i++) {
        infc_buf_puts(out, "    {\"path\": ");
        infc_buf_json_string(out, names[i]);
        infc_buf_printf(out, ", \"bytes\": %zu, \"sha256\": \"%s\"}%s\n", contents[i].len,
                        digests[i] ? digests[i] : "", i + 1 == n ? "" : ",");
        infc_file_unmap(contents[i]);
    }
    return status;
}

const char *infc_emit_spec_sha256(infc_cx *cx, const infc_spec *spec) {
    infc_buf text = {.arena = cx->arena};
    infc_spec placeless = *spec;
    placeless.path = NULL;
    placeless.model_text = infc_path_base(spec->model);
    infc_spec_print(&placeless, &text);
    return infc_sha256_hex(cx->arena, infc_buf_bytes(&text));
}

static void print_field(const char *key, const char *value, infc_buf *out) {
    infc_buf_printf(out, "  \"%s\": ", key);
    infc_buf_json_string(out, value ? value : "");
    infc_buf_puts(out, ",\n");
}

infc_status infc_emit_manifest(infc_cx *cx, const infc_plan *plan, const infc_emit_options *options,
                               const infc_emitted *emitted, const char *const *more, size_t n_more) {
    infc_buf out = {.arena = cx->arena};
    infc_buf_puts(&out, "{\n");
    print_field("name", plan->name, &out);
    print_field("infc_version", INFC_VERSION, &out);
    print_field("model", plan->source, &out);
    print_field("model_sha256", plan->source_sha256, &out);
    print_field("spec_sha256", infc_emit_spec_sha256(cx, options->spec), &out);
    print_field("target", plan->target.name, &out);
    print_field("isa", infc_isa_token(plan->target.isa), &out);
    print_field("content_hash", emitted->content_hash, &out);
    infc_buf_printf(&out, "  \"layout_hash\": \"%016llx\",\n  \"weights_hash\": \"%016llx\",\n  \"files\": [\n",
                    (unsigned long long)emitted->layout_hash, (unsigned long long)emitted->weights_hash);
    const char **files = INFC_NEW(cx->arena, const char *, emitted->n_files + n_more + 1);
    for (size_t i = 0; i < emitted->n_files + n_more; i++)
        files[i] = i < emitted->n_files ? emitted->files[i] : more[i - emitted->n_files];
    INFC_TRY(print_files(cx, options->dir, files, emitted->n_files + n_more, &out));
    infc_buf_puts(&out, "  ]\n}\n");
    return infc_file_write(cx, infc_path_join(cx->arena, options->dir, "manifest.json"),
                           infc_buf_bytes(&out), 0644);
}

infc_status infc_emit_targets_manifest(infc_cx *cx, const char *name, const char *dir,
                                       const infc_target *targets, size_t n) {
    infc_buf out = {.arena = cx->arena};
    infc_buf_puts(&out, "{\n");
    print_field("name", name, &out);
    print_field("infc_version", INFC_VERSION, &out);
    infc_buf_puts(&out, "  \"targets\": [");
    for (size_t i = 0; i < n; i++) {
        if (i) infc_buf_puts(&out, ", ");
        infc_buf_json_string(&out, targets[i].name);
    }
    infc_buf_puts(&out, "],\n  \"files\": [\n");
    const char **files = INFC_NEW(cx->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        files[i] = infc_arena_printf(cx->arena, "%s/manifest.json", targets[i].name);
    INFC_TRY(print_files(cx, dir, files, n, &out));
    infc_buf_puts(&out, "  ]\n}\n");
    return infc_file_write(cx, infc_path_join(cx->arena, dir, "manifest.json"), infc_buf_bytes(&out), 0644);
}
