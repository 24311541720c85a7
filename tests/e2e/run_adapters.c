/* Requests of a language model with adapters and without: MODEL_HEADER and MODEL, its name, are macros of the command
 * line. usage: run_adapters answers WORKERS CHUNK together|alone NAME=DIR|WEIGHT*DIR+...
 * or run_adapters life DIR DIR, or run_adapters panels
 *
 * answers: seven requests, number i with adapter i % (1 + how many there are), of which 0 is none; a line for each: ids
 * of the answer and the bits of their logprobs. life: what loading, replacing and removing must do. panels: of each
 * linear layer, by name, the norm of each row of weights and its product with cos(0), cos(1), .. */
#include MODEL_HEADER
#include "infrt_llm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { REQUESTS = 7, ANSWER = 10, MOST = 256 };
static infrt_error error;
static int failures;

typedef struct answer {
    infrt_llm_id id;
    int32_t ids[MOST];
    float logprobs[MOST];
    uint32_t n, n_reused;
    bool done;
} answer;

static void must(infrt_status status) {
    if (status == INFRT_OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static void expect(bool holds, const char *what) {
    printf("%s%s\n", holds ? "ok      " : "FAILED  ", what);
    failures += !holds;
}

/* A prompt of its own for each number, longer than two blocks for some. */
static void submit(infrt_llm *llm, int number, const char *adapter, uint32_t n_answer, answer *out) {
    int32_t ids[MOST];
    const uint32_t n = 5 + (uint32_t)number * 13;
    for (uint32_t i = 0; i < n; i++) ids[i] = (int32_t)((i * 7 + (uint32_t)number * 31) % 150);
    const infrt_llm_request request = {
        .tokens = ids, .n_tokens = n, .max_tokens = n_answer, .ignore_eos = true, .logprobs = true, .adapter = adapter};
    *out = (answer){0};
    must(infrt_llm_submit(llm, &request, &out->id, &error));
}

static void drain(infrt_llm *llm, answer *a) {
    infrt_llm_event event;
    while (!a->done && infrt_llm_poll(llm, a->id, &event)) {
        a->n_reused = event.n_reused;
        a->done = event.finish != INFRT_LLM_GOES_ON;
        if (event.finish == INFRT_LLM_FAILED) exit(1);
        if (event.token < 0) continue;
        a->ids[a->n] = event.token;
        a->logprobs[a->n++] = event.logprob;
    }
}

static void step(infrt_llm *llm) { must(infrt_llm_step(llm, NULL, &error)); }

static void finish(infrt_llm *llm, answer *a) {
    while (!a->done) {
        step(llm);
        drain(llm, a);
    }
}

static bool same(const answer *a, const answer *b) {
    return a->n == b->n && a->n > 0 && memcmp(a->ids, b->ids, a->n * sizeof *a->ids) == 0 &&
           memcmp(a->logprobs, b->logprobs, a->n * sizeof *a->logprobs) == 0;
}

static void print(const answer *a) {
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t bits;
        memcpy(&bits, &a->logprobs[i], sizeof bits);
        printf("%s%d:%08x", i ? " " : "", a->ids[i], bits);
    }
    printf("\n");
}

/* "DIR", or "WEIGHT*DIR+WEIGHT*DIR": a sum. */
static void load(infrt_llm *llm, const char *name, char *text) {
    infrt_llm_adapter_part parts[INFRT_LLM_ADAPTER_PARTS];
    infrt_llm_adapter *adapter;
    uint32_t n = 0;
    if (!strchr(text, '*')) {
        must(infrt_llm_adapter_load(llm, name, text, &error));
        return;
    }
    for (char *part = strtok(text, "+"); part; part = strtok(NULL, "+"), n++)
        parts[n] = (infrt_llm_adapter_part){.folder = strchr(part, '*') + 1, .weight = strtof(part, NULL)};
    must(infrt_llm_adapter_sum(llm, parts, n, &adapter, &error));
    must(infrt_llm_adapter_add(llm, name, adapter, &error));
    infrt_llm_adapter_free(&adapter);
}

static int answers(int argc, char **argv) {
    const infrt_llm_config config = {
        .workers = (uint32_t)atoi(argv[0]), .chunk = (uint32_t)atoi(argv[1]), .forgetful = true};
    const bool together = strcmp(argv[2], "together") == 0;
    const char *names[8] = {NULL};
    answer all[REQUESTS];
    infrt_llm *llm;
    int n = 1;
    must(infrt_llm_open(JOIN(MODEL, _model)(), &config, &llm, &error));
    for (int i = 3; i < argc; i++, n++) {
        char *equals = strchr(argv[i], '=');
        *equals = 0;
        names[n] = argv[i];
        load(llm, argv[i], equals + 1);
    }
    for (int i = 0; i < REQUESTS; i++) {
        submit(llm, i, names[i % n], ANSWER, &all[i]);
        if (!together) finish(llm, &all[i]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        while (!all[i].done) {
            step(llm);
            for (int k = 0; k < REQUESTS; k++) drain(llm, &all[k]);
        }
        print(&all[i]);
    }
    infrt_llm_close(&llm);
    return 0;
}

/* The answer of request `number` by a fresh engine. */
static answer cold(int number, const char *folder, uint32_t n) {
    answer a;
    infrt_llm *llm;
    must(infrt_llm_open(JOIN(MODEL, _model)(), NULL, &llm, &error));
    if (folder) must(infrt_llm_adapter_load(llm, "x", folder, &error));
    submit(llm, number, folder ? "x" : NULL, n, &a);
    finish(llm, &a);
    infrt_llm_close(&llm);
    return a;
}

/* `a` and `b` are there, both with the second's weights. */
static void swap(infrt_llm *llm, const char *first, const char *second) {
    const answer by_first = cold(6, first, 40), by_second = cold(6, second, 40), by_none = cold(6, NULL, 40);
    answer a, b, c;
    infrt_llm_adapter_facts facts[4];
    submit(llm, 6, "a", 40, &a);
    for (int i = 0; i < 5; i++) step(llm);
    must(infrt_llm_adapter_load(llm, "a", first, &error)); /* b, which is idle, gives way */
    submit(llm, 6, "a", 40, &b);
    expect(infrt_llm_adapters(llm, facts, 4) == 2 && facts[0].draining + facts[1].draining == 1,
           "what is replaced stays while a request needs it");
    expect(infrt_llm_adapter_load(llm, "c", second, &error) == INFRT_ERR_NO_MEMORY,
           "no room while all are needed");
    submit(llm, 6, NULL, 40, &c);
    finish(llm, &a);
    finish(llm, &b);
    finish(llm, &c);
    expect(same(&a, &by_second) && same(&b, &by_first) && same(&c, &by_none),
           "L6: answers end with the weights they began with");
    expect(infrt_llm_adapters(llm, facts, 4) == 1 && strcmp(facts[0].name, "a") == 0,
           "what was replaced is gone");

    submit(llm, 6, "a", 40, &a);
    step(llm);
    must(infrt_llm_adapter_remove(llm, "a", &error));
    expect(infrt_llm_adapter_remove(llm, "a", &error) == INFRT_ERR_USAGE,
           "what is removed has no name");
    infrt_llm_cancel(llm, a.id);
    step(llm);
    drain(llm, &a);
    expect(a.done && infrt_llm_adapters(llm, facts, 4) == 0,
           "L10: a cancelled request gives its adapter back");
    expect(infrt_llm_adapter_load(llm, "a b", first, &error) == INFRT_ERR_USAGE,
           "names have no spaces");
}

/* The model is compiled for two adapters. */
static int life(const char *first, const char *second) {
    const answer by_first = cold(6, first, 40), by_second = cold(6, second, 40), by_none = cold(6, NULL, 40);
    answer a, b;
    infrt_llm *llm;
    infrt_llm_id id;
    must(infrt_llm_open(JOIN(MODEL, _model)(), NULL, &llm, &error));
    const infrt_llm_request unknown = {.n_tokens = 1, .tokens = (const int32_t[]){1}, .adapter = "a"};
    expect(infrt_llm_submit(llm, &unknown, &id, &error) == INFRT_ERR_USAGE,
           "an unknown adapter is refused");
    must(infrt_llm_adapter_load(llm, "a", first, &error));
    submit(llm, 6, "a", 40, &a);
    finish(llm, &a);
    submit(llm, 6, NULL, 40, &b);
    finish(llm, &b);
    expect(same(&a, &by_first) && same(&b, &by_none) && b.n_reused == 0,
           "L3: base after adapter, with the same prompt, is as cold");
    submit(llm, 6, "a", 40, &a);
    finish(llm, &a);
    expect(same(&a, &by_first) && a.n_reused > 0,
           "the cache of an adapter is used again by itself");
    must(infrt_llm_adapter_load(llm, "a", second, &error));
    submit(llm, 6, "a", 40, &a);
    finish(llm, &a);
    expect(same(&a, &by_second) && a.n_reused == 0,
           "L1: another adapter under the same name is as cold");
    must(infrt_llm_adapter_load(llm, "b", second, &error));
    submit(llm, 6, "b", 40, &a);
    finish(llm, &a);
    expect(same(&a, &by_second) && a.n_reused > 0,
           "the same weights under another name share the cache");

    swap(llm, first, second);
    infrt_llm_close(&llm);
    return failures ? 1 : 0;
}

static int panels(void) {
    const infc_adapter_info *info = JOIN(MODEL, _model)()->llm->adapters;
    infrt_weights weights;
    must(infrt_weights_open(JOIN(MODEL, _model)(), NULL, &weights, &error));
    for (uint32_t number = 0; number < info->layers * info->n_modules; number++) {
        const infc_adapter_module *m = &info->modules[number % info->n_modules];
        float *w = malloc((size_t)m->inputs * 16 * sizeof *w);
        if (!w) return 1;
        printf("model.layers.%u.%s", number / info->n_modules, m->name);
        for (uint32_t row = 0; row < m->outputs; row++) {
            double square = 0, probe = 0;
            if (row % 16 == 0) info->panel(weights.data, number, row / 16, w);
            for (uint32_t k = 0; k < m->inputs; k++) {
                const double at = (double)w[k * 16 + row % 16];
                square += at * at;
                probe += at * cos((double)k);
            }
            printf(" %.9g:%.9g", sqrt(square), probe);
        }
        printf("\n");
        free(w);
    }
    infrt_weights_close(&weights);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "panels") == 0) return panels();
    if (argc >= 5 && strcmp(argv[1], "answers") == 0) return answers(argc - 2, argv + 2);
    if (argc == 4 && strcmp(argv[1], "life") == 0) return life(argv[2], argv[3]);
    return 2;
}
