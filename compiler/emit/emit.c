/* emit.c - everything that is written for one model, in order. */
#include "emit.h"
#include "../base/c_text.h"
#include "../base/file.h"
#include "../base/hash.h"
#include "embedded.h"
#include "emit_prepare.h"
#include <string.h>

static const uint64_t embed_limit = UINT64_C(1) << 30; /* what code may reach without a large code model */

/* ---- skeletons and files -------------------------------------------------------------------------------------- */

infc_status infc_emit_skeleton(infc_emit_unit *u, const char *file, const infc_expand_var *more,
                               size_t n_more, infc_buf *out) {
    infc_arena *arena = u->cx->arena;
    const char *path = infc_arena_printf(arena, "templates/model/%s", file);
    const infc_bytes *text = infc_embedded(path);
    if (!text)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "%s is not in this executable", path);
    const infc_plan *plan = u->plan;
    const uint64_t arena_bytes = plan->arena_bytes > INFC_ALIGN ? plan->arena_bytes : INFC_ALIGN; /* C has no [0] */
    const infc_expand_var common[] = {
        {"d", "$"},
        {"name", u->name},
        {"upper", u->upper},
        {"version", INFC_VERSION},
        {"version_literal", infc_emit_literal(arena, INFC_VERSION)},
        {"abi_version", infc_arena_printf(arena, "%u", INFC_ABI_VERSION)},
        {"target", infc_emit_comment(arena, plan->target.name)},
        {"target_literal", infc_emit_literal(arena, plan->target.name)},
        {"source", infc_emit_comment(arena, plan->source ? plan->source : "?")},
        {"source_sha256", infc_emit_comment(arena, plan->source_sha256 ? plan->source_sha256 : "?")},
        {"source_sha256_literal", infc_emit_literal(arena, plan->source_sha256 ? plan->source_sha256 : "")},
        {"license", infc_emit_comment(arena, u->spec && u->spec->license ? u->spec->license : "NOASSERTION")},
        {"content_hash", u->content_hash ? u->content_hash : ""},
        {"content_hash_literal", infc_emit_literal(arena, u->content_hash ? u->content_hash : "")},
        {"embeds", u->embeds ? "1" : "0"},
        {"has_weights", u->weights_bytes ? "1" : "0"},
        {"layout_hash", infc_arena_printf(arena, "UINT64_C(0x%016llx)", (unsigned long long)u->layout_hash)},
        {"weights_hash_hex", infc_arena_printf(arena, "%016llx_%016llx", (unsigned long long)u->weights_hash,
                                               (unsigned long long)u->layout_hash)},
        {"weights_bytes", infc_arena_printf(arena, "%llu", (unsigned long long)u->weights_bytes)},
        {"weights_align", infc_arena_printf(arena, "%d", INFC_ALIGN)},
        {"llm", plan->llm ? "1" : "0"},
        {"serves", infc_emit_serves(u) ? "1" : "0"},
        {"levels", plan->target.n_levels ? "1" : "0"},
        {"entry", infc_emit_entry(u)},
        {"level_declarations", infc_emit_level_declarations(u)},
        {"arena_bytes_per_worker", infc_arena_printf(arena, "%llu", (unsigned long long)plan->arena_bytes_per_worker)},
        {"arena_bytes", infc_arena_printf(arena, "%llu", (unsigned long long)arena_bytes)},
    };
    const size_t n_common = sizeof common / sizeof *common;
    infc_expand_var *vars = INFC_NEW(arena, infc_expand_var, n_common + n_more);
    for (size_t i = 0; i < n_common; i++) vars[i] = common[i];
    for (size_t i = 0; i < n_more; i++) vars[n_common + i] = more[i];
    return infc_expand(u->cx, path, *text, vars, n_common + n_more, out);
}

void infc_emit_add_file(infc_emit_unit *u, const char *path) {
    INFC_GROW(u->cx->arena, u->out->files, u->out->n_files, u->cap_files);
    u->out->files[u->out->n_files++] = path;
}

infc_status infc_emit_write(infc_emit_unit *u, const char *path, infc_bytes bytes, unsigned mode) {
    infc_emit_add_file(u, path);
    return infc_file_write(u->cx, infc_path_join(u->cx->arena, u->dir, path), bytes, mode);
}

/* src/NAME<suffix>, as a name in `out`. */
static const char *source_name(const infc_emit_unit *u, const char *suffix) {
    return infc_arena_printf(u->cx->arena, "src/%s%s", u->name, suffix);
}

static infc_status write_skeleton(infc_emit_unit *u, const char *file, const char *path) {
    infc_buf text = {.arena = u->cx->arena};
    INFC_TRY(infc_emit_skeleton(u, file, NULL, 0, &text));
    return infc_emit_write(u, path, infc_buf_bytes(&text), 0644);
}

/* ---- the model ------------------------------------------------------------------------------------------------ */

infc_status infc_emit_begin(infc_emit_unit *u, infc_cx *cx, const infc_plan *plan,
                            const infc_spec *spec, const char *dir) {
    *u = (infc_emit_unit){.cx = cx, .plan = plan, .spec = spec, .dir = dir};
    infc_emit_dims_begin(u);
    INFC_TRY(infc_emit_share(u));
    INFC_TRY(infc_emit_names(u));
    INFC_TRY(infc_emit_divide(u));
    INFC_TRY(infc_emit_prepare_begin(u));
    return infc_emit_layout(u);
}

static infc_status simd_text(infc_emit_unit *u, infc_buf *out) {
    infc_buf_printf(out, "/* %s_simd.h - 16 lanes on %s. Generated by infc %s.\n * SPDX-License-Identifier: MIT */\n",
                    u->name, infc_isa_token(u->plan->target.isa), INFC_VERSION);
    return infc_simd_text(u->cx, u->plan->target.isa,
                          infc_arena_printf(u->cx->arena, "%s_SIMD_H", u->upper), out);
}

/* NAME.c, then the files of kernels. */
static infc_status code_texts(infc_emit_unit *u, infc_buf *texts) {
    for (size_t i = 0; i <= u->n_parts; i++) texts[i].arena = u->cx->arena;
    INFC_TRY(infc_emit_source_text(u, &texts[0]));
    for (size_t i = 0; i < u->n_parts; i++) INFC_TRY(infc_emit_part_text(u, i, &texts[i + 1]));
    return INFC_OK;
}

/* The code and the vocabulary it is written in; their hash without comments, with that of the weights, names this
 * model. */
infc_status infc_emit_code(infc_emit_unit *u) {
    infc_arena *arena = u->cx->arena;
    infc_buf simd = {.arena = arena}, all = {.arena = arena};
    infc_buf_puts(&all, u->levels_hash ? u->levels_hash : "");
    infc_buf *texts = INFC_NEW(arena, infc_buf, u->n_parts + 1);
    INFC_TRY(simd_text(u, &simd));
    INFC_TRY(code_texts(u, texts));
    infc_buf_puts(&all, infc_buf_str(&simd));
    for (size_t i = 0; i <= u->n_parts; i++) infc_buf_puts(&all, infc_buf_str(&texts[i]));
    infc_buf_printf(&all, "%s%016llx", infc_buf_str(&u->prepare->code), (unsigned long long)u->weights_hash);
    const infc_bytes code = infc_c_without_comments(arena, infc_buf_bytes(&all));
    u->content_hash = u->out->content_hash = infc_sha256_hex(arena, code);
    INFC_TRY(infc_emit_write(u, source_name(u, "_simd.h"), infc_buf_bytes(&simd), 0644));
    u->out->model_sources = INFC_NEW(arena, const char *, u->n_parts + 1);
    for (size_t i = 0; i <= u->n_parts; i++) {
        const char *name = i ? infc_emit_part_name(u, i - 1) : source_name(u, ".c");
        u->out->model_sources[u->out->n_model_sources++] = name;
        INFC_TRY(infc_emit_write(u, name, infc_buf_bytes(&texts[i]), 0644));
    }
    return INFC_OK;
}

infc_status infc_emit_source_headers(infc_emit_unit *u, const infc_buf *header) {
    INFC_TRY(infc_emit_write(u, source_name(u, ".h"), infc_buf_bytes(header), 0644));
    return write_skeleton(u, "NAME_internal.h.in", source_name(u, "_internal.h"));
}

static infc_status write_headers(infc_emit_unit *u) {
    infc_buf header = {.arena = u->cx->arena};
    const infc_bytes *abi = infc_embedded("runtime/include/infc_abi.h");
    if (!abi)
        return infc_fail(u->cx, INFC_ERR_INTERNAL, INFC_NO_LOC, "infc_abi.h is not in this executable");
    u->out->header = infc_arena_printf(u->cx->arena, "%s.h", u->name);
    INFC_TRY(infc_emit_header_text(u, &header));
    INFC_TRY(infc_emit_write(u, u->out->header, infc_buf_bytes(&header), 0644));
    INFC_TRY(infc_emit_write(u, "infc_abi.h", *abi, 0644));
    /* again, so that src/ alone can be taken elsewhere */
    INFC_TRY(infc_emit_write(u, "src/infc_abi.h", *abi, 0644));
    return infc_emit_source_headers(u, &header);
}

static infc_status write_model(infc_emit_unit *u) {
    infc_buf model = {.arena = u->cx->arena};
    INFC_TRY(infc_emit_model_text(u, &model));
    u->out->baseline_sources = INFC_NEW(u->cx->arena, const char *, 4);
    u->out->baseline_sources[0] = source_name(u, "_model.c");
    u->out->n_baseline_sources = 1;
    INFC_TRY(infc_emit_write(u, u->out->baseline_sources[0], infc_buf_bytes(&model), 0644));
    INFC_TRY(infc_emit_llm_write(u));
    INFC_TRY(infc_emit_adapters_write(u));
    return infc_emit_prepare_write(u);
}

static infc_status write_weights(infc_emit_unit *u) {
    INFC_TRY(infc_emit_weights(u));
    if (!u->embeds) return INFC_OK;
    if (u->weights_bytes > embed_limit)
        return infc_fail(
            u->cx, INFC_ERR_UNSUPPORTED, (infc_loc){.file = u->spec ? u->spec->path : NULL},
            "%llu bytes of weights are too many to embed in a library; set output.weights: file",
            (unsigned long long)u->weights_bytes);
    u->out->weights_asm = source_name(u, "_weights.S");
    return write_skeleton(u, "NAME_weights.S.in", u->out->weights_asm);
}

static const char *baseline_cflags(const infc_target *target) {
    for (size_t i = 0; i < infc_target_count(); i++) {
        const infc_target *t = infc_target_at(i);
        if (strcmp(t->platform->arch, target->platform->arch) == 0 && !*t->cpu_features)
            return t->cflags;
    }
    return target->cflags;
}

const char *infc_emit_cflags(const infc_target *target) {
    return target->platform->check ? INFC_EMIT_CFLAGS_WITH("") : INFC_EMIT_CFLAGS;
}

infc_status infc_emit(infc_cx *cx, const infc_plan *plan, const infc_emit_options *options, infc_emitted *out) {
    infc_emit_unit u;
    INFC_TRY(infc_emit_begin(&u, cx, plan, options->spec, options->dir));
    *out = (infc_emitted){.baseline_cflags = baseline_cflags(&plan->target)};
    u.out = out;
    u.before = options->before;
    INFC_TRY(infc_dir_create(cx, infc_path_join(cx->arena, options->dir, "src/infrt")));
    INFC_TRY(write_weights(&u));             /* src/NAME.weights, src/NAME_weights.S */
    INFC_TRY(infc_emit_levels(&u, options)); /* src/NAME__LEVEL.c and what belongs to it */
    INFC_TRY(infc_emit_code(&u));            /* src/NAME_simd.h, src/NAME.c, src/NAME_kernels_*.c */
    INFC_TRY(write_headers(&u));             /* NAME.h, infc_abi.h, src/NAME_internal.h */
    INFC_TRY(write_model(&u)); /* src/NAME_model.c, src/NAME_tokenizer.c, src/NAME_prepare.c */
    INFC_TRY(infc_emit_runtime(&u)); /* src/NAME_main.c, src/infrt/ */
    INFC_TRY(infc_emit_build(&u)); /* src/build.sh, src/CMakeLists.txt, NAME-config.cmake, NAME.pc */
    INFC_TRY(infc_emit_sbom(&u));  /* NAME.spdx.json */
    out->layout_hash = u.layout_hash;
    out->weights_hash = u.weights_hash;
    out->weights_bytes = u.weights_bytes;
    return INFC_OK;
}

infc_status infc_emit_source(infc_cx *cx, const infc_plan *plan, const infc_spec *spec, infc_buf *out) {
    infc_emit_unit u;
    INFC_TRY(infc_emit_begin(&u, cx, plan, spec, NULL));
    infc_buf *texts = INFC_NEW(cx->arena, infc_buf, u.n_parts + 1);
    INFC_TRY(code_texts(&u, texts));
    for (size_t i = 0; i <= u.n_parts; i++)
        infc_buf_printf(out, "%s%s", i ? "\n" : "", infc_buf_str(&texts[i]));
    return INFC_OK;
}
