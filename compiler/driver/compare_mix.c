/* compare_mix.c - what the code of each target is made of, as a table and as JSON. */
#include "compare.h"

static const char *share(infc_arena *arena, uint64_t part, uint64_t whole) {
    return whole ? infc_arena_printf(arena, "%.0f %%", 100 * (double)part / (double)whole) : "-";
}

infc_table infc_compare_mix_table(const infc_comparison *c) {
    infc_arena *arena = c->cx->arena;
    infc_table table = {.arena = arena, .n_columns = 11, .right = 0x3fe};
    INFC_TABLE_ROW(&table, "target", "instructions", "vector", "widest", "fma", "dot", "loads",
                   "stores", "spills", "loop", "its cycles");
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        const infc_code_mix *m = &r->mix;
        const uint64_t all = m->instructions;
        if (!all) {
            INFC_TABLE_ROW(&table, r->target.name, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-");
            continue;
        }
        INFC_TABLE_ROW(
            &table, r->target.name, infc_count_text(arena, all), share(arena, m->vector, all),
            m->widest ? infc_arena_printf(arena, "%llu bits", (unsigned long long)m->widest) : "-",
            share(arena, m->fma, all), share(arena, m->dot, all), share(arena, m->loads, all),
            share(arena, m->stores, all),
            infc_metric_text(arena, INFC_METRIC_spills, r->measures[INFC_METRIC_spills].now),
            r->loop.function ? infc_count_text(arena, r->loop.instructions) : "-",
            r->loop.why ? r->loop.why
                        : infc_arena_printf(arena, "%.1f on %s", r->loop.cycles, r->target.pipeline));
    }
    return table;
}

void infc_compare_mix_json(const infc_compared *r, infc_json *j) {
    const infc_code_mix *m = &r->mix;
    infc_json_object(j, "mix");
    infc_json_u64(j, "instructions", m->instructions);
    infc_json_u64(j, "vector", m->vector);
    infc_json_u64(j, "widest", m->widest);
    infc_json_u64(j, "fma", m->fma);
    infc_json_u64(j, "dot", m->dot);
    infc_json_u64(j, "loads", m->loads);
    infc_json_u64(j, "stores", m->stores);
    infc_json_end(j);
    infc_json_object(j, "loop");
    infc_json_text(j, "function", r->loop.function);
    infc_json_u64(j, "instructions", r->loop.instructions);
    infc_json_text(j, "pipeline", r->target.pipeline);
    if (r->loop.why || !r->loop.function) infc_json_null(j, "cycles");
    else infc_json_f64(j, "cycles", r->loop.cycles, 6);
    if (r->loop.why) infc_json_text(j, "why", r->loop.why);
    infc_json_end(j);
}
