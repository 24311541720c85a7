/* emit_sbom.c - NAME.spdx.json: an SPDX 2.3 bill of materials of the binary and the library. */
#include "embedded.h"
#include "../base/hash.h"
#include "emit_unit.h"

typedef struct package {
    const char *id, *name, *version, *license;
    const char *sha256;   /* or null */
    const char *relation; /* of the model to it; null: the model itself */
    const char *file; /* embedded file whose presence and digest it is, "" when not needed; or null */
} package;

static void print_package(const infc_emit_unit *u, const package *p, infc_buf *out) {
    infc_buf_printf(out, "%s    {\n      \"SPDXID\": \"SPDXRef-%s\",\n      \"name\": ", out->len ? ",\n" : "",
                    p->id);
    infc_buf_json_string(out, p->name);
    if (p->version) infc_buf_printf(out, ",\n      \"versionInfo\": \"%s\"", p->version);
    infc_buf_puts(
        out, ",\n      \"downloadLocation\": \"NOASSERTION\",\n      \"filesAnalyzed\": false");
    if (p->sha256)
        infc_buf_printf(out, ",\n      \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"%s\"}]",
                        p->sha256);
    infc_buf_puts(out,
                  ",\n      \"licenseConcluded\": \"NOASSERTION\",\n      \"licenseDeclared\": ");
    infc_buf_json_string(out, infc_emit_comment(u->cx->arena, p->license));
    infc_buf_puts(out, ",\n      \"copyrightText\": \"NOASSERTION\"\n    }");
}

static void print_relation(const char *from, const char *relation, const char *to, infc_buf *out) {
    infc_buf_printf(out,
                    "%s    {\"spdxElementId\": \"SPDXRef-%s\", \"relationshipType\": \"%s\", "
                    "\"relatedSpdxElement\": "
                    "\"SPDXRef-%s\"}",
                    out->len ? ",\n" : "", from, relation, to);
}

infc_status infc_emit_sbom(infc_emit_unit *u) {
    infc_arena *arena = u->cx->arena;
    const char *license = u->spec && u->spec->license ? u->spec->license : "NOASSERTION";
    const char *server = infc_emit_serves(u) ? "runtime/serve/serve.c" : "",
               *tls = u->spec && u->spec->serve.tls ? "runtime/serve/serve_tls.c" : "";
    const package parts[] = {
        {"model", u->name, u->content_hash, license, u->content_hash, NULL, NULL},
        {"source", u->plan->source ? u->plan->source : "model", NULL, "NOASSERTION",
         u->plan->source_sha256, "GENERATED_FROM", NULL},
        {"infrt", "infrt", INFC_VERSION, "MIT", NULL, "CONTAINS", "runtime/include/infrt.h"},
        {"xxhash", "xxHash", NULL, "BSD-2-Clause", NULL, "CONTAINS", "runtime/third_party/xxhash.h"},
        {"stb-image", "stb_image", NULL, "MIT", NULL, "CONTAINS", "runtime/third_party/stb_image.h"},
        {"libevent", "libevent", NULL, "BSD-3-Clause", NULL, "DEPENDS_ON", server},
        {"openssl", "OpenSSL", NULL, "Apache-2.0", NULL, "DEPENDS_ON", tls},
        {"libmd", "libmd", NULL, "BSD-3-Clause", NULL, "DEPENDS_ON", server},
    };
    infc_buf packages = {.arena = arena}, relations = {.arena = arena};
    print_relation("DOCUMENT", "DESCRIBES", "model", &relations);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        package part = parts[i];
        const infc_bytes *file = part.file ? infc_embedded(part.file) : NULL;
        if (part.file && !file) continue;
        if (file) part.sha256 = infc_sha256_hex(arena, *file);
        print_package(u, &part, &packages);
        if (part.relation) print_relation("model", part.relation, part.id, &relations);
    }
    const infc_expand_var vars[] = {{"packages", infc_buf_str(&packages)},
                                    {"relationships", infc_buf_str(&relations)}};
    infc_buf text = {.arena = arena};
    INFC_TRY(infc_emit_skeleton(u, "NAME.spdx.json.in", vars, 2, &text));
    return infc_emit_write(u, infc_arena_printf(arena, "%s.spdx.json", u->name), infc_buf_bytes(&text), 0644);
}
