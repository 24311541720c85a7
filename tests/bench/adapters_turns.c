/* Steps of a language model with adapters and without, in turns within one process, so that a machine whose speed moves
 * meets all of them alike. MODEL_HEADER and MODEL, its name, are macros of the command line.
 *
 * usage: adapters_turns THREADS ROUNDS STEPS CASE...
 * A case is BATCH[:DIR[,DIR]...]: so many answers at a time, of which each takes the next of the adapters. Prints
 * the bytes of each case's adapters, then a line for each round: of each case the median of STEPS steps, in ns.
 * SPDX-License-Identifier: MIT */
#include MODEL_HEADER
#include "infrt_llm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { CASES = 16, ADAPTERS = 16, BATCH = 16, STEPS = 256, PROMPT = 4 };
static infrt_error error;

typedef struct turn {
    uint32_t batch, n_adapters;
    const char *adapters[ADAPTERS]; /* names */
} turn;

static void must(infrt_status status) {
    if (status == INFRT_OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static const char *adapter_load(infrt_llm *llm, const char *folder) {
    static char names[64][8];
    static const char *folders[64];
    static int n;
    for (int i = 0; i < n; i++)
        if (strcmp(folders[i], folder) == 0) return names[i];
    if (n == 64) exit(2);
    snprintf(names[n], sizeof names[n], "a%d", n);
    folders[n] = folder;
    must(infrt_llm_adapter_load(llm, names[n], folder, &error));
    return names[n++];
}

/* Of the adapters of a case, each once. */
static unsigned long long turn_bytes(const infrt_llm *llm, const turn *t) {
    infrt_llm_adapter_facts facts[64];
    const uint32_t n = infrt_llm_adapters(llm, facts, 64),
                   taken = t->n_adapters < t->batch ? t->n_adapters : t->batch;
    unsigned long long bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < taken; k++)
            if (strcmp(t->adapters[k], facts[i].name) == 0) bytes += facts[i].bytes;
    return bytes;
}

static turn turn_read(infrt_llm *llm, char *word) {
    turn t = {.batch = (uint32_t)strtoul(word, &word, 10)};
    if (t.batch < 1 || t.batch > BATCH) exit(2);
    for (char *folder = *word ? strtok(word + 1, ",") : NULL; folder && t.n_adapters < ADAPTERS;
         folder = strtok(NULL, ","))
        t.adapters[t.n_adapters++] = adapter_load(llm, folder);
    return t;
}

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The median of steps that give each answer one token. */
static uint64_t turn_take(infrt_llm *llm, const turn *t, uint32_t steps) {
    static const int32_t prompt[PROMPT] = {1, 5, 7, 9};
    uint64_t times[STEPS];
    infrt_llm_id ids[BATCH];
    infrt_llm_event event;
    infrt_llm_step_info info = {.running = 1};
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->batch; i++) {
        const infrt_llm_request request = {.tokens = prompt,
                                           .n_tokens = PROMPT,
                                           .max_tokens = steps + BATCH, /* not all begin at once */
                                           .ignore_eos = true,
                                           .salt = i + 1, /* no prompt waits for another */
                                           .adapter = t->n_adapters ? t->adapters[i % t->n_adapters] : NULL};
        must(infrt_llm_submit(llm, &request, &ids[i], &error));
    }
    while (info.running) {
        must(infrt_llm_step(llm, &info, &error));
        if (info.tokens == t->batch && info.prompt_tokens == 0 && n < steps)
            times[n++] = info.end_ns - info.begin_ns;
        for (uint32_t i = 0; i < t->batch; i++)
            while (infrt_llm_poll(llm, ids[i], &event)) {}
    }
    if (n == 0) exit(3);
    qsort(times, n, sizeof *times, ascending);
    return times[n / 2];
}

int main(int argc, char **argv) {
    turn turns[CASES];
    infrt_llm *llm;
    if (argc < 5 || argc - 4 > CASES) return 2;
    const infrt_llm_config config = {
        .workers = (uint32_t)atoi(argv[1]), .context = 512, .kv_bytes = 1 << 28, .forgetful = true, .huge_pages = true};
    const int rounds = atoi(argv[2]), n = argc - 4;
    const uint32_t steps = (uint32_t)atoi(argv[3]) < STEPS ? (uint32_t)atoi(argv[3]) : STEPS;
    must(infrt_llm_open(JOIN(MODEL, _model)(), &config, &llm, &error));
    for (int i = 0; i < n; i++) turns[i] = turn_read(llm, argv[4 + i]);
    for (int i = 0; i < n; i++)
        printf("%llu%c", turn_bytes(llm, &turns[i]), i + 1 < n ? ' ' : '\n');
    for (int i = 0; i < n; i++) turn_take(llm, &turns[i], 2);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++)
            printf("%llu%c", (unsigned long long)turn_take(llm, &turns[i], steps), i + 1 < n ? ' ' : '\n');
    infrt_llm_close(&llm);
    return 0;
}
