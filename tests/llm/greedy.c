/* What a language model says and how sure it is: answers to prompts, then the logits behind every token of them.
 * MODEL_HEADER and MODEL, its name, are macros of the command line. usage: greedy WORKERS TOKENS < prompts
 *
 * prompts: a line of ids with spaces between for each. To stdout for each, little-endian: u32 n, u32 vocabulary, the n
 * ids of prompt and answer as i32, then f32 [n - prompt, vocabulary]: the logits each token of the answer was chosen
 * by. The most likely token is taken, end tokens too. */
#include MODEL_HEADER
#include "infrt_llm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { PROMPTS = 64, MOST = 2048 };

typedef struct text {
    infrt_llm_id id;
    int32_t ids[MOST];
    uint32_t n, n_prompt;
    bool done;
} text;

static infrt_error error;
static text texts[PROMPTS];

static void must(infrt_status status) {
    if (status == INFRT_OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static void out(const void *data, size_t bytes) {
    if (fwrite(data, 1, bytes, stdout) != bytes) exit(1);
}

static uint32_t vocabulary_of(const infrt_llm *llm) {
    infrt_llm_facts facts;
    infrt_llm_describe(llm, &facts);
    return facts.vocab;
}

static bool row(void *vocabulary, uint32_t position, const float *logits) {
    (void)position;
    out(logits, *(uint32_t *)vocabulary * sizeof *logits);
    return true;
}

static uint32_t read_prompts(void) {
    static char line[MOST * 8];
    uint32_t n = 0;
    while (n < PROMPTS && fgets(line, sizeof line, stdin)) {
        text *t = &texts[n++];
        for (char *at = strtok(line, " \n"); at && t->n_prompt < MOST; at = strtok(NULL, " \n"))
            t->ids[t->n_prompt++] = atoi(at);
        t->n = t->n_prompt;
    }
    return n;
}

static void drain(infrt_llm *llm, text *t) {
    infrt_llm_event event;
    while (!t->done && infrt_llm_poll(llm, t->id, &event)) {
        t->done = event.finish != INFRT_LLM_GOES_ON;
        if (event.finish == INFRT_LLM_FAILED) exit(1);
        if (event.token >= 0 && t->n < MOST) t->ids[t->n++] = event.token;
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const infrt_llm_config config = {.workers = (uint32_t)atoi(argv[1])};
    const uint32_t n = read_prompts();
    infrt_llm *llm;
    must(infrt_llm_open(JOIN(MODEL, _model)(), &config, &llm, &error));
    uint32_t vocabulary = vocabulary_of(llm);
    for (uint32_t i = 0; i < n; i++) {
        const infrt_llm_request request = {.tokens = texts[i].ids,
                                           .n_tokens = texts[i].n_prompt,
                                           .max_tokens = (uint32_t)atoi(argv[2]),
                                           .ignore_eos = true};
        must(infrt_llm_submit(llm, &request, &texts[i].id, &error));
    }
    for (uint32_t i = 0; i < n; i++)
        while (!texts[i].done) {
            must(infrt_llm_step(llm, NULL, &error));
            for (uint32_t k = 0; k < n; k++) drain(llm, &texts[k]);
        }
    for (uint32_t i = 0; i < n; i++) {
        const text *t = &texts[i];
        out(&t->n, sizeof t->n);
        out(&vocabulary, sizeof vocabulary);
        out(t->ids, t->n * sizeof *t->ids);
        must(infrt_llm_score(llm, t->ids, t->n - 1, t->n_prompt - 1, row, &vocabulary, &error));
    }
    infrt_llm_close(&llm);
    return 0;
}
