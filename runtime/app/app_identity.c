/* app_identity.c - what `info` tells about every model. */
#include "app_identity.h"
#include <inttypes.h>

static uint32_t barrier_count(const infc_model *model) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_steps; i++) n += model->steps[i].barrier != 0;
    return n;
}

void infrt_identity_text(const infc_model *m) {
    const char *missing = m->cpu_missing ? m->cpu_missing() : NULL;
    printf("%-14s %s\n", "model", m->name);
    printf("%-14s %s (%s)%s%s\n", "target", m->target, m->isa, missing ? "; this CPU lacks " : "",
           missing ? missing : "");
    for (uint32_t i = 0; i < m->n_levels; i++)
        printf("%s%s%s", i ? ", " : "levels         ", m->levels[i].name, i + 1 == m->n_levels ? "\n" : "");
    printf("%-14s infc %s, ABI %u\n", "compiled by", m->infc_version, m->abi);
    printf("%-14s %s, sha256 %s\n", "source", m->source, m->source_sha256);
    printf("%-14s %s\n", "license", m->license ? m->license : "not stated");
}

void infrt_memory_text(const infc_model *m) {
    char version[32];
    const char *glibc = infrt_glibc_needed(version);
    printf("%-14s %" PRIu64 " bytes + %" PRIu64 " per worker, lower bound %" PRIu64 "\n", "arena",
           m->arena_bytes, m->arena_bytes_per_worker, m->arena_lower_bound);
    printf("%-14s %" PRIu64 " bytes, xxh64 %016" PRIx64 ", layout %016" PRIx64 "\n", "weights",
           m->weights_bytes, m->weights_hash, m->layout_hash);
    printf("%-14s %u, %u barriers, %" PRIu64 " flops\n", "steps", m->n_steps, barrier_count(m),
           infrt_model_flops(m));
    if (glibc) printf("%-14s glibc %s or newer\n", "needs", glibc);
    else printf("%-14s no glibc (linked statically)\n", "needs");
}

void infrt_identity_json(infrt_json *json, const infc_model *m) {
    const char *missing = m->cpu_missing ? m->cpu_missing() : NULL;
    char version[32];
    const char *glibc = infrt_glibc_needed(version);
    infrt_json_string(json, "name", m->name);
    infrt_json_string(json, "target", m->target);
    infrt_json_string(json, "isa", m->isa);
    infrt_json_string(json, "cpu_missing", missing);
    if (m->n_levels) {
        infrt_json_open(json, "levels", '[');
        for (uint32_t i = 0; i < m->n_levels; i++) infrt_json_string(json, NULL, m->levels[i].name);
        infrt_json_close(json, ']');
    }
    infrt_json_string(json, "infc_version", m->infc_version);
    infrt_json_uint(json, "abi", m->abi);
    infrt_json_string(json, "source", m->source);
    infrt_json_string(json, "source_sha256", m->source_sha256);
    infrt_json_string(json, "license", m->license);
    infrt_json_string(json, "minimum_glibc", glibc);
}

void infrt_memory_json(infrt_json *json, const infc_model *m) {
    infrt_json_uint(json, "arena_bytes", m->arena_bytes);
    infrt_json_uint(json, "arena_bytes_per_worker", m->arena_bytes_per_worker);
    infrt_json_uint(json, "arena_lower_bound", m->arena_lower_bound);
    infrt_json_uint(json, "weights_bytes", m->weights_bytes);
    infrt_json_hash(json, "weights_hash", m->weights_hash);
    infrt_json_hash(json, "layout_hash", m->layout_hash);
    infrt_json_uint(json, "flops", infrt_model_flops(m));
    infrt_json_uint(json, "barriers", barrier_count(m));
}
