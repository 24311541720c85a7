/* llm_adapters.c - what a language model does for rows that have an adapter (LoRA), beside each group of linear layers
 * that read the same rows; and what its runtime must know to load one. */
#include "../../ir/op_rules.h"
#include "llm_build.h"
#include <string.h>

typedef struct module {
    const char *role;
    infc_llm_input use;
} module;

/* Of a layer, in the order of their numbers. */
static const module modules[INFC_ADAPTER_MODULES] = {
    {"attn_q", INFC_LLM_ADAPTS_QKV},       {"attn_k", INFC_LLM_ADAPTS_QKV},
    {"attn_v", INFC_LLM_ADAPTS_QKV},       {"attn_o", INFC_LLM_ADAPTS_O},
    {"ffn_gate", INFC_LLM_ADAPTS_GATE_UP}, {"ffn_up", INFC_LLM_ADAPTS_GATE_UP},
    {"ffn_down", INFC_LLM_ADAPTS_DOWN},
};

enum { ENTRY_BYTES = 16, PANEL = 16 };

static int64_t panels(int64_t n) { return infc_round_up(n, PANEL); }

/* A matrix in a slot: adapter_dims.def. And g, with DoRA. */
static int64_t matrix_bytes(const infc_adapter_facts *f, int64_t rows, int64_t columns) {
    const int64_t panel = f->int8 ? PANEL * 4 + PANEL * infc_round_up(columns, 2) : PANEL * 4 * columns;
    return infc_round_up(panels(rows) / PANEL * panel, INFC_ALIGN);
}

/* What one layer takes at most in a slot. */
static int64_t layer_bytes(const infc_adapter_facts *f) {
    int64_t bytes = 0;
    for (int i = 0; i < INFC_ADAPTER_MODULES; i++)
        bytes += matrix_bytes(f, f->max_rank, f->modules[i].inputs) +
                 matrix_bytes(f, f->modules[i].outputs, f->max_rank) + panels(f->modules[i].outputs) * 4;
    return bytes;
}

/* Where linear layers read rounded rows and weights, 8 bits for adapters add little, and halve what is read. */
static bool rounds(const infc_llm_build *b) {
    if (b->spec->adapter_weights) return b->spec->adapter_weights == INFC_FORMAT_int8;
    return !infc_llm_format_floats((infc_llm_format){.kind = b->spec->weights});
}

/* "model.layers.0.self_attn.q_proj.weight" as "self_attn.q_proj". */
static const char *name_of(infc_llm_build *b, const char *role) {
    static const char before[] = "model.layers.0.", after[] = ".weight";
    const char *name = infc_llm_tensor_name(b->cx->arena, role, 0, false) + sizeof before - 1;
    return infc_arena_copy_string(b->cx->arena, name, strlen(name) - (sizeof after - 1));
}

void infc_llm_adapter_facts(infc_llm_build *b) {
    infc_adapter_facts *f = &b->facts.adapters;
    if (!b->spec->max_adapters) return;
    f->max_loaded = b->spec->max_adapters;
    f->max_rank = b->spec->max_rank;
    f->layers = (int64_t)b->model->config.layers;
    f->int8 = rounds(b);
    f->preload = INFC_NEW(b->cx->arena, infc_adapter_facts_preload, b->spec->n_preload + 1);
    for (; f->n_preload < b->spec->n_preload; f->n_preload++)
        f->preload[f->n_preload] = (infc_adapter_facts_preload){b->spec->preload[f->n_preload].name,
                                                                b->spec->preload[f->n_preload].path};
    for (int i = 0; i < INFC_ADAPTER_MODULES; i++) {
        b->layer = 0;
        const infc_stored_tensor *tensor = infc_llm_tensor(b, modules[i].role);
        b->layer = -1;
        f->modules[i] = (infc_adapter_facts_module){.name = name_of(b, modules[i].role),
                                                    .inputs = (int64_t)tensor->dims[1],
                                                    .outputs = (int64_t)tensor->dims[0],
                                                    .use = modules[i].use};
    }
    f->slot_bytes = infc_round_up(f->layers * INFC_ADAPTER_MODULES * ENTRY_BYTES, INFC_ALIGN) +
                    f->layers * layer_bytes(f);
}

static int number_of(const char *role) {
    int i = 0;
    while (strcmp(modules[i].role, role) != 0) i++;
    return i;
}

bool infc_llm_adapts(const infc_llm_build *b) { return b->facts.adapters.max_loaded > 0; }

/* The attributes that say which modules these are. */
static void attrs_of(const infc_llm_build *b, const char *first, int n, int64_t *outputs, infc_attr *attrs) {
    const int at = number_of(first);
    for (int i = 0; i < n; i++) outputs[i] = b->facts.adapters.modules[at + i].outputs;
    attrs[0] = infc_attr_ints("modules", outputs, n);
    attrs[1] = infc_attr_int("ranks", panels(b->facts.adapters.max_rank));
    attrs[2] = infc_attr_int("first", b->layer * INFC_ADAPTER_MODULES + at);
}

infc_status infc_llm_adapter_rows(infc_llm_build *b, infc_llm_rows *rows, const char *first, int n) {
    if (!infc_llm_adapts(b)) return INFC_OK;
    const bool rms = !mlirValueIsNull(rows->norm);
    const char *node = infc_arena_printf(b->cx->arena, "%s_adapter", first);
    MlirValue in[4] = {rows->x};
    int64_t outputs[INFC_ADAPTER_MODULES];
    infc_attr attrs[4];
    int n_in = 1;
    attrs_of(b, first, n, outputs, attrs);
    attrs[3] = infc_attr_int("epsilon", infc_f32_bits((float)b->model->config.norm_epsilon));
    if (rms) in[n_in++] = rows->norm;
    in[n_in++] = b->inputs[INFC_LLM_ADAPTER_SLOTS];
    in[n_in++] = b->inputs[INFC_LLM_ADAPTER_POOL];
    return infc_llm_op(b, rms ? INFC_OP_adapter_rms : INFC_OP_adapter_in, node, in, n_in, attrs,
                       rms ? 4 : 3, &rows->adapted);
}

infc_status infc_llm_adapt(infc_llm_build *b, const infc_llm_rows *rows, const char *first, int n, MlirValue *y) {
    int64_t outputs[INFC_ADAPTER_MODULES];
    infc_attr attrs[3];
    MlirValue in[] = {*y, rows->adapted, b->inputs[INFC_LLM_ADAPTER_SLOTS],
                      b->inputs[INFC_LLM_ADAPTER_POOL], b->inputs[modules[number_of(first)].use]};
    if (!infc_llm_adapts(b)) return INFC_OK;
    attrs_of(b, first, n, outputs, attrs);
    const char *node = infc_arena_printf(b->cx->arena, "%s_adapted", first);
    return infc_llm_op(b, INFC_OP_adapter_out, node, in, 5, attrs, 3, y);
}

infc_status infc_llm_adapt_sum(infc_llm_build *b, const infc_llm_rows *rows, const char *role,
                               MlirValue before, MlirValue *y) {
    int64_t outputs;
    infc_attr attrs[3];
    const MlirValue *i = b->inputs, use = i[modules[number_of(role)].use];
    MlirValue in[] = {
        *y, rows->adapted, before, i[INFC_LLM_ADAPTER_SLOTS], i[INFC_LLM_ADAPTER_POOL], use};
    if (!infc_llm_adapts(b)) return INFC_OK;
    attrs_of(b, role, 1, &outputs, attrs);
    const char *node = infc_arena_printf(b->cx->arena, "%s_adapted", role);
    return infc_llm_op(b, INFC_OP_adapter_sum, node, in, 6, attrs, 3, y);
}

infc_status infc_llm_adapt_gated(infc_llm_build *b, const infc_llm_rows *rows, MlirValue both, MlirValue *h) {
    int64_t outputs[INFC_ADAPTER_MODULES];
    infc_attr attrs[3];
    const MlirValue *i = b->inputs, use = i[INFC_LLM_ADAPTS_GATE_UP];
    MlirValue in[] = {*h, both, rows->adapted, i[INFC_LLM_ADAPTER_SLOTS], i[INFC_LLM_ADAPTER_POOL],
                      use};
    attrs_of(b, "ffn_gate", 2, outputs, attrs);
    return infc_llm_op(b, INFC_OP_adapter_gate, "ffn_adapted", in, 6, attrs, 3, h);
}
