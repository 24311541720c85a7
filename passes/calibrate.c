/* calibrate.c - the pass: what is chosen on which text that the model reads, and whether that has been done before. */
#include "calibrate.h"
#include "../compiler/base/file.h"
#include "../compiler/base/hash.h"
#include "../compiler/ir/op_rules.h"
#include "../runtime/text/tokenizer.h"
#include <string.h>

enum { LENGTH = 512, LEAST = 16 };

/* As many as the spec says; for what keys are balanced by, which takes few tokens and is better for more, at most as
 * many as are read in some seconds. */
static int64_t tokens_wanted(const infc_calibration *c) {
    const uint64_t products = 300000000000, least = 128, most = 2048;
    const uint64_t n = products / (c->pass->ir->llm->parameters + 1);
    const int64_t enough = (int64_t)(n < least  ? least
                                     : n > most ? most
                                                : n),
                  asked = c->pass->spec->calibration_tokens;
    if (c->chooses) return asked;
    return c->pass->spec->calibrates && asked < enough ? asked : enough;
}

static infc_status read_text(infc_pass_cx *pass, infc_bytes *out) {
    const infc_spec *spec = pass->spec;
    infc_buf joined = {.arena = pass->scratch};
    if (spec->calibrates && spec->calibration)
        return infc_file_map(pass->ir->cx, spec->calibration, out);
    for (int i = 0; infc_calibration_text[i]; i++)
        infc_buf_printf(&joined, "%s\n", infc_calibration_text[i]);
    *out = infc_buf_bytes(&joined);
    return INFC_OK;
}

static infc_status check_text(infc_pass_cx *pass, const char *text, size_t n) {
    const infc_loc loc = {.file = pass->spec->calibration};
    const char *nul = n ? memchr(text, 0, n) : NULL;
    if (nul)
        return infc_fail(pass->ir->cx, INFC_ERR_MODEL, loc, "has a NUL at byte %zu; give a text",
                         (size_t)(nul - text));
    if (infc_text_is_utf8(text, n)) return INFC_OK;
    return infc_fail(pass->ir->cx, INFC_ERR_MODEL, loc, "is not UTF-8; give a text");
}

/* Sequences of ids, each with what texts of the model begin with. */
static infc_status make_sequences(infc_calibration *c) {
    infc_pass_cx *pass = c->pass;
    const infc_spec *spec = pass->spec;
    const infrt_tokenizer *t = pass->ir->llm->tokenizer;
    infc_bytes text;
    INFC_TRY(read_text(pass, &text));
    const char *bytes = (const char *)text.ptr;
    INFC_TRY(check_text(pass, bytes, text.len));
    const size_t most = text.len + 16;
    const int64_t wanted = tokens_wanted(c);
    void *scratch = infc_arena_alloc(pass->scratch, infrt_encode_scratch(t, bytes, text.len) + 1, INFC_ALIGN);
    int32_t *ids = INFC_NEW(pass->scratch, int32_t, most);
    const size_t n = infrt_encode(t, bytes, text.len, NULL, 0, 1, scratch, ids, most);
    for (size_t i = 0; i < n && i < most && c->n_ids < wanted; i++)
        if (ids[i] < pass->ir->llm->vocab) ids[c->n_ids++] = ids[i];
    if (c->n_ids < LEAST && !spec->calibrates) c->n_ids = 0;
    else if (c->n_ids < LEAST)
        return infc_fail(pass->ir->cx, INFC_ERR_MODEL, (infc_loc){.file = spec->calibration},
                         "is a text of %lld tokens; calibration takes some thousands", (long long)c->n_ids);
    c->length = pass->ir->llm->context < LENGTH ? pass->ir->llm->context : LENGTH;
    if (c->length > c->n_ids) c->length = c->n_ids;
    if (c->length) c->n_ids = c->n_ids / c->length * c->length;
    for (int64_t i = 0; i < c->n_ids && t->n_before == 1; i += c->length) ids[i] = t->before[0];
    c->ids = ids;
    return INFC_OK;
}

static bool has_weights_to_choose(const infc_pass_cx *pass) {
    MlirOperation *ops;
    const size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    bool any = false;
    for (size_t i = 0; i < n; i++) any = any || infc_ir_kind(pass->ir, ops[i]) == INFC_OP_choose_i4;
    return any;
}

/* That what was asked for is of use. */
static infc_status check(const infc_calibration *c) {
    const infc_ir *ir = c->pass->ir;
    const infc_loc loc = c->pass->spec->calibration_loc;
    if (!ir->llm->tokenizer)
        return infc_fail(ir->cx, INFC_ERR_SPEC,
                         loc, "precision.calibration: the model has no tokenizer, and a text needs one; remove it");
    if (c->chooses || c->balances) return INFC_OK;
    return infc_fail(ir->cx, INFC_ERR_SPEC, loc,
                     "precision.calibration: no weight is int4 and no cache of int8; "
                     "set precision.weights: int4 or precision.kv: int8, or remove it");
}

static void say_calibrated(infc_ir *ir, const char *calibration) {
    infc_llm_facts *facts = INFC_NEW(ir->cx->arena, infc_llm_facts, 1);
    *facts = *ir->llm;
    facts->calibration = calibration;
    facts->format = infc_arena_printf(ir->cx->arena, "%s, calibrated on %s", facts->format, calibration);
    ir->llm = facts;
}

/* A cache of int8 of heads that turn as a whole; packed files are for both caches. */
static bool has_keys_to_balance(const infc_pass_cx *pass) {
    MlirOperation *ops;
    const size_t n = infc_ir_ops(pass->scratch, infc_ir_body(pass->ir->main), &ops);
    for (size_t i = 0; i < n; i++) {
        infc_op_desc desc;
        if (infc_ir_kind(pass->ir, ops[i]) != INFC_OP_kv_store) continue;
        infc_ir_describe(pass->ir, ops[i], &desc);
        const int64_t *heads = infc_desc_attr(&desc, "heads")->ints;
        return infc_desc_int(&desc, "format") == INFK_KV_INT8 && heads[2] == heads[3];
    }
    return false;
}

/* What results depend on: the model with hashes of all weights, and the text. */
static const char *key_of(const infc_calibration *c) {
    infc_buf text = {.arena = c->pass->scratch};
    infc_ir_print(c->pass->ir, &text);
    infc_buf_printf(&text, "%d %d %lld", c->chooses, c->balances, (long long)c->length);
    infc_buf_put(&text, c->ids, (size_t)c->n_ids * sizeof *c->ids);
    return infc_hash_hex(c->pass->ir->cx->arena, infc_buf_bytes(&text));
}

infc_status infc_pass_calibrate(infc_pass_cx *pass) {
    infc_ir *ir = pass->ir;
    const infc_spec *spec = pass->spec;
    if (!ir->llm || !spec) return INFC_OK;
    const bool packed = ir->weights.packed; /* done before it was */
    const char *on = packed ? ir->llm->calibration : NULL;
    infc_calibration c = {.pass = pass,
                          .chooses = packed ? on != NULL : spec->calibrates && has_weights_to_choose(pass),
                          .balances = ir->llm->tokenizer && has_keys_to_balance(pass)};
    if (spec->calibrates && !packed) INFC_TRY(check(&c));
    if (!on && (c.chooses || c.balances)) INFC_TRY(make_sequences(&c));
    c.balances = c.balances && (on || c.n_ids > 0);
    if (!c.chooses && !c.balances) return INFC_OK;
    if (packed) {
        infc_calibration_packed(&c);
    } else {
        c.key = key_of(&c);
        if (!infc_calibration_recall(&c)) INFC_TRY(infc_calibration_run(&c));
    }
    const char *data = spec->calibration ? infc_path_base(spec->calibration) : INFC_OWN_CALIBRATION;
    if (!packed) on = infc_arena_printf(ir->cx->arena, "%s, %lld tokens", data, (long long)c.n_ids);
    if (c.chooses) say_calibrated(ir, on);
    return INFC_OK;
}
