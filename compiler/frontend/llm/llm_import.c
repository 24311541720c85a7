/* llm_import.c - the module: sizes, inputs, facts; the layers come from the architecture's file. */
#include "llm_import.h"
#include "../../ir/op_rules.h"
#include "../tokenizer/bpe_tokenizer.h"
#include "llm_build.h"
#include "llm_pack.h"
#include <string.h>

enum { CHUNK = 512, SEQUENCES = 16, MAX_BLOCKS = 1 << 20, MAX_CHUNK = 1 << 14, MAX_ROPE = 1 << 28 };

/* What the weights are, most of them. */
static const char *format_text(const infc_llm_build *b) {
    uint64_t bytes[INFC_N_STORED_TYPES] = {0};
    int most = 0;
    switch (b->spec->weights) {
    case INFC_FORMAT_f32: return "f32";
    case INFC_FORMAT_f16: return "f16";
    case INFC_FORMAT_bf16: return "bf16";
    case INFC_FORMAT_int8: return "int8";
    case INFC_FORMAT_int4: return "int4";
    default: break;
    }
    if (!b->facts.keeps) return "int8";
    for (size_t i = 0; i < b->model->checkpoint.n; i++)
        bytes[b->model->checkpoint.tensors[i].type] += b->model->checkpoint.tensors[i].bytes.len;
    for (int i = 1; i < INFC_N_STORED_TYPES; i++)
        if (bytes[i] > bytes[most]) most = i;
    return infc_stored_types[most].name;
}

/* The most rows of a step: shapes.tokens. */
static int64_t chunk_of(infc_llm_build *b) {
    for (size_t i = 0; i < b->spec->n_dims; i++)
        if (strcmp(b->spec->dims[i].name, "tokens") == 0) return b->spec->dims[i].max;
    return b->facts.context < CHUNK ? b->facts.context : CHUNK;
}

/* Of the configuration, then of tensors in the order of the checkpoint. */
static void list_files(infc_llm_build *b) {
    const infc_checkpoint *c = &b->model->checkpoint;
    infc_map seen = {.arena = b->cx->arena};
    size_t cap = 0;
    for (size_t i = 0; i <= c->n; i++) {
        const char *file = i == 0 ? b->model->path : c->tensors[i - 1].file;
        if (infc_map_find(&seen, file, NULL)) continue;
        infc_map_put(&seen, file, 1);
        INFC_GROW(b->cx->arena, b->facts.files, b->facts.n_files, cap);
        b->facts.files[b->facts.n_files++] = file;
    }
}

static void set_facts(infc_llm_build *b) {
    const infc_llm_config *c = &b->model->config;
    const infc_spec *spec = b->spec;
    infc_llm_facts *f = &b->facts;
    f->vocab = (int64_t)c->vocab;
    f->context = spec->context ? spec->context : (int64_t)c->context;
    f->chunk = chunk_of(b);
    f->max_sequences = spec->max_sequences ? spec->max_sequences : SEQUENCES;
    f->kv_memory = spec->kv_memory;
    f->target_itl = spec->target_itl;
    f->no_prefix_cache = spec->no_prefix_cache;
    f->max_blocks = (f->context + INFC_KV_POSITIONS - 1) / INFC_KV_POSITIONS;
    f->block_bytes = infc_round_up((int64_t)(c->layers * c->kv_heads) *
                                       infk_kv_part_bytes((ptrdiff_t)c->head_dim, (ptrdiff_t)b->kv),
                                   INFC_ALIGN);
    f->bos = -1;
    f->kv_format = b->kv == INFC_KV_f16 ? "f16" : "int8";
    for (size_t i = 0; i < b->model->checkpoint.n; i++) {
        const infc_stored_tensor *t = &b->model->checkpoint.tensors[i];
        f->parameters += infc_stored_count(t);
        f->keeps |= infc_stored_types[t->type].per_block > 1;
    }
    f->format = format_text(b);
    infc_llm_adapter_facts(b);
    list_files(b);
}

static infc_status read_tokenizer(infc_llm_build *b) {
    const infc_tokenizer *t;
    INFC_TRY(infc_tokenizer_read(b->cx, b->model, &t));
    if (!t) {
        infc_warn(b->cx, (infc_loc){.file = b->model->path},
                  "there is no tokenizer in it or beside it, so prompts and answers are token ids: "
                  "run --tokens 1,2,3");
        return INFC_OK;
    }
    const uint32_t n = t->tables.n_tokens;
    const uint64_t vocab = b->model->config.vocab;
    if (n > vocab)
        infc_warn(b->cx, (infc_loc){.file = b->model->path},
                  "its tokenizer has ids up to %u, but the model is of %llu (vocab_size): "
                  "texts with tokens beyond are refused",
                  n - 1, (unsigned long long)vocab);
    b->facts.tokenizer = &t->tables;
    b->facts.chat = &t->chat;
    b->facts.bos = t->bos;
    b->facts.n_eos = (int)t->n_eos;
    for (uint32_t i = 0; i < t->n_eos; i++) b->facts.eos[i] = t->eos[i];
    return INFC_OK;
}

/* What the kernels need beyond what a model may be. */
static infc_status check(infc_llm_build *b) {
    const infc_llm_config *c = &b->model->config;
    const infc_loc loc = {.file = b->model->path};
    const size_t mark = b->cx->n_diags;
    if (c->head_dim % 16 || c->head_dim > 256)
        return infc_fail(b->cx, INFC_ERR_UNSUPPORTED, loc,
                         "heads of %llu elements are not supported, only multiples of 16 up to 256",
                         (unsigned long long)c->head_dim);
    if (b->spec->context > (int64_t)c->context)
        return infc_fail(b->cx, INFC_ERR_SPEC, b->spec->path ? (infc_loc){.file = b->spec->path} : loc,
                         "context: %lld is more than the %llu that the model has",
                         (long long)b->spec->context, (unsigned long long)c->context);
    const uint64_t context = b->spec->context ? (uint64_t)b->spec->context : c->context;
    if (context * c->head_dim > MAX_ROPE)
        infc_fail(b->cx, INFC_ERR_UNSUPPORTED,
                  loc, "a context of %llu positions needs a table of angles of %llu MiB; set context to at most %llu",
                  (unsigned long long)context, (unsigned long long)(context * c->head_dim >> 18),
                  (unsigned long long)(MAX_ROPE / c->head_dim));
    for (size_t i = 0; i < b->spec->n_dims; i++) {
        infc_spec_dim *dim = &b->spec->dims[i];
        dim->used = strcmp(dim->name, "tokens") == 0;
        if (!dim->used || dim->value || dim->min != 1 || dim->step != 1 || dim->max > MAX_CHUNK)
            infc_fail(b->cx, INFC_ERR_SPEC, dim->loc,
                      "shapes: a language model has one size, tokens, with min 1 and max up to %d", MAX_CHUNK);
    }
    return infc_diags_status(b->cx, mark);
}

/* The size of that name from 1 to `most`, which is at least 2, so that there is always a size. */
static int64_t size(infc_llm_build *b, const char *name, int64_t most) {
    const infc_size made = {.name = name, .min = 1, .max = most > 1 ? most : 2, .step = 1};
    return infc_sizes_add(infc_ir_sizes(b->ir), made);
}

/* A cache in which no request of any length has room would be refused at each start. */
static infc_status cache_check(infc_llm_build *b) {
    const infc_llm_facts *f = &b->facts;
    if (!f->kv_memory || f->kv_memory >= f->block_bytes) return INFC_OK;
    return infc_fail(b->cx, INFC_ERR_SPEC, b->spec->kv_memory_loc,
                     "kv.memory: %lld bytes have no room for a request of any length: the cache of "
                     "%s is of blocks of "
                     "%d positions, each of %lld bytes; give %lld or more",
                     (long long)f->kv_memory, b->spec->name, INFC_KV_POSITIONS,
                     (long long)f->block_bytes, (long long)f->block_bytes);
}

static infc_status begin(infc_llm_build *b) {
    const infc_llm_facts *f = &b->facts;
    const int64_t most = (INFC_MAX_ELEMENTS >> 1) / f->block_bytes;
    const int64_t tokens = size(b, "tokens", f->chunk), rows = size(b, "rows", f->max_sequences),
                  blocks = size(b, "blocks", most < MAX_BLOCKS ? most : MAX_BLOCKS);
    const infc_type t = {.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {tokens}};
    const infc_type r = {.dtype = INFC_DTYPE_i32, .rank = 1, .dims = {rows}};
    const infc_type one = {.dtype = INFC_DTYPE_bool, .rank = 1, .dims = {1}};
    const infc_type pool = {
        .dtype = INFC_DTYPE_i8, .rank = 2, .dims = {f->adapters.max_loaded, f->adapters.slot_bytes}};
    const infc_ir_port ports[INFC_LLM_INPUTS_ADAPTED] = {
        [INFC_LLM_TOKENS] = {"tokens", t},
        [INFC_LLM_POSITIONS] = {"positions", t},
        [INFC_LLM_SLOTS] = {"slots", t},
        [INFC_LLM_LAST_ROWS] = {"last_rows", r},
        [INFC_LLM_TABLES] = {"tables", {.dtype = INFC_DTYPE_i32, .rank = 2, .dims = {f->max_sequences, f->max_blocks}}},
        [INFC_LLM_KV] = {"kv", {.dtype = INFC_DTYPE_i8, .rank = 2, .dims = {blocks, f->block_bytes}}},
        [INFC_LLM_ADAPTER_SLOTS] = {"adapter_slots", t},
        [INFC_LLM_ADAPTER_POOL] = {"adapter_pool", pool},
        [INFC_LLM_ADAPTS_QKV] = {"adapts_qkv", one},
        [INFC_LLM_ADAPTS_O] = {"adapts_o", one},
        [INFC_LLM_ADAPTS_GATE_UP] = {"adapts_gate_up", one},
        [INFC_LLM_ADAPTS_DOWN] = {"adapts_down", one},
    };
    const int n = infc_llm_adapts(b) ? INFC_LLM_INPUTS_ADAPTED : INFC_LLM_INPUTS;
    INFC_TRY(infc_ir_main_begin(b->ir, ports, (size_t)n, &b->block));
    for (int i = 0; i < n; i++) b->inputs[i] = mlirBlockGetArgument(b->block, i);
    return infc_llm_rope(b, &b->rope);
}

static void warn_of_idle_rules(const infc_llm_build *b) {
    for (size_t i = 0; i < b->spec->n_rules; i++)
        if (!b->matched[i])
            infc_warn(b->cx, b->spec->rules[i].loc, "precision.rules: \"%.200s\" matches no weight of a linear layer",
                      b->spec->rules[i].match);
}

infc_status infc_llm_import(infc_cx *cx, const infc_spec *spec, infc_ir *out) {
    infc_llm_model *model = INFC_NEW(cx->arena, infc_llm_model, 1);
    infc_llm_build b = {.cx = cx, .spec = spec, .model = model, .ir = out, .layer = -1, .kv = spec->kv};
    INFC_TRY(infc_llm_read(cx, spec->model, model));
    infc_spec packed;
    if (model->pack) {
        INFC_TRY(infc_llm_pack_spec(cx, model->pack, spec, &packed, &b.facts.calibration));
        b.spec = &packed;
    }
    b.facts.int4_rotate = model->pack ? model->pack->int4_rotate : spec->calibrates ? 128 : 64;
    b.gguf = model->gguf.path != NULL;
    b.matched = INFC_NEW(cx->arena, bool, b.spec->n_rules + 1);
    b.weight_ids = INFC_NEW(cx->arena, int64_t, model->checkpoint.n + 1);
    for (size_t i = 0; i < model->checkpoint.n; i++) b.weight_ids[i] = -1;
    INFC_TRY(check(&b));
    set_facts(&b);
    INFC_TRY(cache_check(&b));
    INFC_TRY(read_tokenizer(&b));
    INFC_TRY(infc_ir_create(cx, model->path, out));
    out->weights.packed = model->pack ? &model->pack->packed : NULL;
    INFC_TRY(begin(&b));
    MlirValue logits;
    const char *name = "logits";
    INFC_TRY(infc_llm_build_llama(&b, &logits));
    warn_of_idle_rules(&b);
    INFC_TRY(infc_ir_main_end(out, &logits, &name, 1));
    infc_llm_facts *facts = INFC_NEW(cx->arena, infc_llm_facts, 1);
    *facts = b.facts;
    out->llm = facts;
    return INFC_OK;
}
