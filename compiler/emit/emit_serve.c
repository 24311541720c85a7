/* emit_serve.c - what the server in a binary must know. */
#include "emit_unit.h"

bool infc_emit_serves(const infc_emit_unit *u) {
    return u->plan->llm || (u->spec && u->spec->serve.asked);
}

/* What the spec says; what it leaves open is the runtime's to choose. */
const char *infc_emit_serve_info(const infc_emit_unit *u) {
    const infc_spec_serve *s = u->spec ? &u->spec->serve : NULL;
    infc_buf out = {.arena = u->cx->arena};
    if (!s || !s->asked) return "";
    infc_buf_puts(&out, "static const infc_serve_info serve = {\n");
#define INFC_SERVE_TEXT(key) \
    if (s->key)              \
        infc_buf_printf(&out, "    .%s = %s,\n", #key, infc_emit_literal(u->cx->arena, s->key));
#define INFC_SERVE_NUMBER(key) \
    if (s->key) infc_buf_printf(&out, "    .%s = %lld,\n", #key, (long long)s->key);
#define INFC_SERVE_TIME(key) \
    if (s->key) infc_buf_printf(&out, "    .%s_ns = %lld,\n", #key, (long long)s->key);
#include "../frontend/spec_serve.def"
    infc_buf_puts(&out, "};\n");
    return infc_buf_str(&out);
}

/* The first input of kind text and the first output of kind embedding. */
const char *infc_emit_embed_info(const infc_emit_unit *u) {
    const infc_spec *spec = u->spec;
    if (!spec || !spec->n_texts || !spec->n_embeddings || u->plan->llm) return "";
    const int output = infc_emit_port(u, u->plan->outputs, u->plan->n_outputs, spec->embeddings[0].output);
    if (output < 0) return "";
    return infc_arena_printf(u->cx->arena, "static const infc_embed_info embed = {0, %d, %u, %s_whole_%s};\n",
                             output, spec->texts[0].tokenizer->pad, u->name, spec->texts[0].name);
}
