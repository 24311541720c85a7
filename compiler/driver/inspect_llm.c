#include "inspect_llm.h"
#include "../frontend/llm/llm_import.h"
#include "../frontend/llm/llm_model.h"
#include "../frontend/llm/llm_pack.h"
#include "../frontend/spec_check.h"
#include "json.h"
#include "table.h"
#include <string.h>

/* How many tensors are stored as one type, and how much that is. */
typedef struct type_use {
    uint64_t tensors, elements, bytes;
} type_use;

typedef struct inspection {
    infc_cx *cx;
    infc_llm_model model;
    infc_cx trial; /* what stands against it */
    bool holds;    /* read and checked whole */
    bool compiles; /* its step can be built with the defaults of a spec */
    uint64_t fit;  /* bytes; 0: not asked */
    type_use uses[INFC_N_STORED_TYPES], all;
} inspection;

/* Formats that the key-value cache will have, and the bytes of an element. int8 has a float scale per head. */
typedef struct kv_format {
    const char *name;
    uint64_t element, scale;
} kv_format;
static const kv_format kv_formats[] = {{"f16", 2, 0}, {"int8", 1, 4}};
enum { N_KV_FORMATS = sizeof kv_formats / sizeof *kv_formats };

static uint64_t kv_bytes(const inspection *in, const kv_format *format) {
    const infc_llm_config *c = &in->model.config;
    return infc_llm_kv_bytes(c, format->element) + 2 * c->layers * c->kv_heads * format->scale;
}

/* The longest context that fits beside the weights; 0: not even one position. */
static uint64_t longest(const inspection *in, const kv_format *format) {
    const uint64_t weights = in->model.pack ? in->model.pack->packed_bytes : in->all.bytes;
    if (in->fit <= weights) return 0;
    uint64_t n = (in->fit - weights) / kv_bytes(in, format);
    return n < in->model.config.context ? n : in->model.config.context;
}

static void count_types(inspection *in) {
    for (size_t i = 0; i < in->model.checkpoint.n; i++) {
        const infc_stored_tensor *t = &in->model.checkpoint.tensors[i];
        type_use *uses[] = {&in->uses[t->type], &in->all};
        for (size_t k = 0; k < 2; k++) {
            uses[k]->tensors++;
            uses[k]->elements += infc_stored_count(t);
            uses[k]->bytes += t->bytes.len;
        }
    }
}

static const char *rope_text(infc_arena *arena, const infc_llm_config *c) {
    const char *scaling = c->rope_factors                       ? ", scaled by a table"
                          : c->rope_scaling == INFC_ROPE_LINEAR ? ", scaled (linear)"
                          : c->rope_scaling == INFC_ROPE_LLAMA3 ? ", scaled (llama3)"
                                                                : "";
    return infc_arena_printf(arena, "base %.9g%s", c->rope_theta, scaling);
}

static void put_config(inspection *in, infc_table *table) {
    const infc_llm_config *c = &in->model.config;
    infc_arena *arena = in->cx->arena;
    INFC_TABLE_ROW(table, "layers",
                   infc_arena_printf(arena, "%llu, hidden %llu, feed-forward %llu",
                                     (unsigned long long)c->layers, (unsigned long long)c->hidden,
                                     (unsigned long long)c->ffn));
    INFC_TABLE_ROW(table, "attention",
                   infc_arena_printf(arena, "%llu heads of %llu, %llu for keys and values",
                                     (unsigned long long)c->heads, (unsigned long long)c->head_dim,
                                     (unsigned long long)c->kv_heads));
    INFC_TABLE_ROW(table, "rotary", rope_text(arena, c));
    INFC_TABLE_ROW(table, "vocabulary",
                   infc_arena_printf(arena, "%s%s", infc_count_text(arena, c->vocab),
                                     c->tied ? ", head tied to the embedding" : ""));
    INFC_TABLE_ROW(table, "context", infc_count_text(arena, c->context));
}

static void put_weights(inspection *in, infc_table *table) {
    infc_arena *arena = in->cx->arena;
    INFC_TABLE_ROW(
        table, in->model.pack ? "model" : "weights",
        infc_arena_printf(arena, "%s parameters in %llu tensors, %s", infc_count_text(arena, in->all.elements),
                          (unsigned long long)in->all.tensors, infc_bytes_text(arena, in->all.bytes)));
    for (int i = 0; i < INFC_N_STORED_TYPES; i++) {
        if (!in->uses[i].tensors) continue;
        INFC_TABLE_ROW(table, "",
                       infc_arena_printf(arena, "%s: %llu, %s", infc_stored_types[i].name,
                                         (unsigned long long)in->uses[i].tensors,
                                         infc_bytes_text(arena, in->uses[i].bytes)));
    }
}

static void put_packed(inspection *in, infc_table *table) {
    const infc_llm_pack *pack = in->model.pack;
    infc_arena *arena = in->cx->arena;
    if (!pack) return;
    INFC_TABLE_ROW(table, "packed",
                   infc_arena_printf(arena, "%zu %s; %s", pack->packed.index.n, pack->packed.holds,
                                     infc_bytes_text(arena, pack->packed_bytes)));
    INFC_TABLE_ROW(table, "", infc_arena_printf(arena, "from %s, SHA-256 %s", pack->source, pack->source_sha256));
}

static void put_packed_json(const infc_llm_pack *pack, infc_json *j) {
    if (!pack) return;
    infc_json_object(j, "packed");
    infc_json_u64(j, "tensors", pack->packed.index.n);
    infc_json_u64(j, "bytes", pack->packed_bytes);
    infc_json_text(j, "holds", pack->packed.holds);
    infc_json_text(j, "source", pack->source);
    infc_json_text(j, "source_sha256", pack->source_sha256);
    infc_json_end(j);
}

static void put_cache(inspection *in, infc_table *table) {
    infc_arena *arena = in->cx->arena;
    for (size_t i = 0; i < N_KV_FORMATS; i++) {
        const kv_format *format = &kv_formats[i];
        const char *each = infc_bytes_text(arena, kv_bytes(in, format));
        const char *whole = infc_bytes_text(arena, kv_bytes(in, format) * in->model.config.context);
        const char *fits = in->fit ? infc_arena_printf(arena, "; %s positions fit",
                                                       infc_count_text(arena, longest(in, format)))
                                   : "";
        INFC_TABLE_ROW(table, i ? "" : "KV cache",
                       infc_arena_printf(arena, "%s: %s a position, %s for the whole context%s",
                                         format->name, each, whole, fits));
    }
}

static void put_text(inspection *in, infc_buf *out) {
    infc_table table = {.arena = in->cx->arena, .n_columns = 2};
    INFC_TABLE_ROW(&table, "model",
                   infc_arena_printf(in->cx->arena, "%s, %s, %s",
                                     in->model.config.architecture ? in->model.config.architecture : "?",
                                     in->model.format, infc_bytes_text(in->cx->arena, in->model.file_bytes)));
    if (in->holds) put_config(in, &table);
    put_weights(in, &table);
    put_packed(in, &table);
    if (in->holds) put_cache(in, &table);
    infc_table_print(&table, 0, out);
    infc_diags_text(&in->trial, out);
    if (in->compiles) infc_buf_puts(out, "infc can compile this model.\n");
}

static void put_config_json(const infc_llm_config *c, infc_json *j) {
    infc_json_text(j, "architecture", c->architecture);
    infc_json_u64(j, "layers", c->layers);
    infc_json_u64(j, "hidden", c->hidden);
    infc_json_u64(j, "heads", c->heads);
    infc_json_u64(j, "kv_heads", c->kv_heads);
    infc_json_u64(j, "head_dim", c->head_dim);
    infc_json_u64(j, "feed_forward", c->ffn);
    infc_json_u64(j, "vocabulary", c->vocab);
    infc_json_u64(j, "context", c->context);
    infc_json_f64(j, "rope_base", c->rope_theta, 9);
    infc_json_bool(j, "tied", c->tied);
}

static void put_json(inspection *in, infc_buf *out) {
    infc_json j = {.out = out};
    infc_buf problems = {.arena = in->cx->arena};
    infc_diags_json(&in->trial, &problems);
    infc_json_object(&j, NULL);
    infc_json_text(&j, "model", in->model.path);
    infc_json_text(&j, "format", in->model.format);
    infc_json_u64(&j, "file_bytes", in->model.file_bytes);
    put_config_json(&in->model.config, &j);
    infc_json_u64(&j, "parameters", in->all.elements);
    infc_json_u64(&j, "parameter_bytes", in->all.bytes);
    infc_json_object(&j, "stored");
    for (int i = 0; i < INFC_N_STORED_TYPES; i++) {
        if (in->uses[i].tensors) infc_json_u64(&j, infc_stored_types[i].name, in->uses[i].tensors);
    }
    infc_json_end(&j);
    put_packed_json(in->model.pack, &j);
    infc_json_array(&j, "kv_cache");
    for (size_t i = 0; in->holds && i < N_KV_FORMATS; i++) {
        infc_json_object(&j, NULL);
        infc_json_text(&j, "format", kv_formats[i].name);
        infc_json_u64(&j, "bytes_per_position", kv_bytes(in, &kv_formats[i]));
        if (in->fit) infc_json_u64(&j, "positions_that_fit", longest(in, &kv_formats[i]));
        infc_json_end(&j);
    }
    infc_json_end(&j);
    infc_json_bool(&j, "compiles", in->compiles);
    infc_json_raw(&j, "problems", infc_buf_str(&problems));
    infc_json_end(&j);
}

static bool builds(inspection *in, const char *path) {
    const infc_spec spec = {.model = path};
    infc_ir ir;
    return infc_llm_import(&in->trial, &spec, &ir) == INFC_OK;
}

infc_status infc_inspect_llm(infc_call_cx *call, const char *path, const char *fit) {
    infc_cx *cx = call->cx;
    inspection in = {.cx = cx, .trial = {.arena = cx->arena, .mappings = cx->mappings}};
    int64_t bytes = 0;
    if (fit && (!infc_spec_parse_size(fit, &bytes) || bytes <= 0))
        return infc_fail(cx, INFC_ERR_SPEC, INFC_NO_LOC,
                         "--fit \"%s\": expected a size such as 512MiB or 2GiB", fit);
    in.fit = (uint64_t)bytes;
    in.holds = infc_llm_read(&in.trial, path, &in.model) == INFC_OK;
    cx->mappings = in.trial.mappings;
    in.compiles = in.holds && builds(&in, path);
    count_types(&in);
    if (in.model.format && call->json) put_json(&in, call->out);
    else if (in.model.format) put_text(&in, call->out);
    if (in.model.format && !call->json && !in.compiles) /* they are in the text */
        return infc_fail(cx, infc_diags_status(&in.trial, 0), (infc_loc){.file = path},
                         "infc cannot compile this model as it is: %zu problem%s",
                         in.trial.n_errors, in.trial.n_errors == 1 ? "" : "s");
    infc_diags_repeat(cx, &in.trial);
    return infc_diags_status(&in.trial, 0);
}
