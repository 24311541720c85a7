/* serve_bench.c - what clients of one engine feel of each other. MODEL_HEADER and MODEL, the name of the model, are
 * macros of the command line; serve_bench.py builds and runs it, and says what the figures are.
 *
 * usage: serve_bench WORKERS TARGET_MS itl|prefix|choices SEED */
#include MODEL_HEADER
#include "infrt_llm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum {
    STREAMS = 8,
    IDLE_TOKENS = 400,
    LONG = 2048,
    LONGS = 4,
    PREFIX = 1024,
    CHOICES = 4,
    MOST_GAPS = 1 << 20
};

static infrt_llm *llm;
static infrt_error error;
static uint64_t seed;

static void must(infrt_status status) {
    if (status == INFRT_OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(infrt_exit_code(status));
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Random tokens that no other prompt has, but for the first `alike`, which have the seed `like`. */
static infrt_llm_id ask(uint32_t n, uint32_t alike, uint64_t like, uint32_t max_tokens) {
    static int32_t prompt[LONG];
    infrt_llm_facts facts;
    infrt_llm_id id;
    infrt_llm_describe(llm, &facts);
    const uint64_t own = ++seed << 20;
    for (uint32_t i = 0; i < n; i++)
        prompt[i] = (int32_t)(infc_check_random(i < alike ? like : own, i, 0) % facts.n_ids);
    infrt_llm_request request = {.tokens = prompt, .n_tokens = n, .max_tokens = max_tokens, .ignore_eos = true};
    must(infrt_llm_submit(llm, &request, &id, &error));
    return id;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, size_t n, double q) {
    qsort(values, n, sizeof *values, ascending);
    return n ? values[(size_t)(q * (double)(n - 1) + 0.5)] : 0;
}

/* ---- streams beside long prompts ---- */

typedef struct stream {
    infrt_llm_id id;
    double last;
} stream;

static stream streams[STREAMS];
static double gaps[2][MOST_GAPS], firsts[LONGS]; /* alone, beside a prompt */

/* One step; times between tokens of each stream are added to the n that there are in `to`. */
static size_t step(double *to, size_t n) {
    infrt_llm_event event;
    must(infrt_llm_step(llm, NULL, &error));
    for (int i = 0; i < STREAMS; i++)
        while (infrt_llm_poll(llm, streams[i].id, &event)) {
            const double now = now_ms();
            if (streams[i].last > 0 && n < MOST_GAPS) to[n++] = now - streams[i].last;
            streams[i].last = now;
        }
    return n;
}

/* In turns, so that a machine that is slower for a while is so for both. */
static void itl(void) {
    infrt_llm_event event = {0};
    size_t alone = 0, beside = 0;
    for (int i = 0; i < STREAMS; i++) streams[i] = (stream){ask(64, 0, 0, 4096), 0};
    for (int i = 0; i < 20; i++) step(gaps[0], 0);
    for (int i = 0; i < LONGS; i++) {
        const size_t most = alone + IDLE_TOKENS / LONGS * STREAMS;
        while (alone < most) alone = step(gaps[0], alone);
        const double begin = now_ms();
        infrt_llm_id id = ask(LONG, 0, 0, 1);
        while (!infrt_llm_poll(llm, id, &event)) beside = step(gaps[1], beside);
        firsts[i] = now_ms() - begin;
        while (infrt_llm_poll(llm, id, &event)) {}
    }
    printf("idle_p50 %.3f\n", quantile(gaps[0], alone, 0.5));
    printf("idle_p99 %.3f\n", quantile(gaps[0], alone, 0.99));
    printf("loaded_p50 %.3f\n", quantile(gaps[1], beside, 0.5));
    printf("loaded_p99 %.3f\n", quantile(gaps[1], beside, 0.99));
    printf("prompt_ttft %.3f\n", quantile(firsts, LONGS, 0.5));
}

/* ---- common beginnings ---- */

/* Until each has its first token; ms. */
static double first_tokens(const infrt_llm_id *ids, int n) {
    const double begin = now_ms();
    for (int left = n; left > 0;) {
        infrt_llm_event event;
        must(infrt_llm_step(llm, NULL, &error));
        for (int i = 0; i < n; i++)
            while (infrt_llm_poll(llm, ids[i], &event))
                left -= event.n_answer == 1 && !event.finish;
    }
    return now_ms() - begin;
}

static void prefix(void) {
    const uint64_t like = ++seed << 20;
    infrt_llm_id id = ask(PREFIX + 16, PREFIX, like, 1);
    printf("first_ttft %.3f\n", first_tokens(&id, 1));
    must(infrt_llm_step(llm, NULL, &error));
    id = ask(PREFIX + 16, PREFIX, like, 1);
    printf("second_ttft %.3f\n", first_tokens(&id, 1));
}

static void choices(void) {
    infrt_llm_id ids[CHOICES];
    for (int n = 1; n <= CHOICES; n += CHOICES - 1) {
        const uint64_t like = ++seed << 20;
        for (int i = 0; i < n; i++) ids[i] = ask(PREFIX, PREFIX, like, 2);
        printf("choices%d %.3f\n", n, first_tokens(ids, n));
        for (int i = 0; i < 4; i++) must(infrt_llm_step(llm, NULL, &error));
        infrt_llm_event event;
        for (int i = 0; i < n; i++)
            while (infrt_llm_poll(llm, ids[i], &event)) {}
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    infrt_llm_config config = {.workers = (uint32_t)atoi(argv[1]), .kv_bytes = (uint64_t)400 << 20};
    config.target_itl_ns = (uint64_t)(atof(argv[2]) * 1e6);
    seed = (uint64_t)atoll(argv[4]) << 8;
    must(infrt_llm_open(JOIN(MODEL, _model)(), &config, &llm, &error));
    infrt_llm_id warm = ask(64, 0, 0, 8);
    first_tokens(&warm, 1);
    infrt_llm_cancel(llm, warm);
    if (strcmp(argv[3], "itl") == 0) itl();
    else if (strcmp(argv[3], "prefix") == 0) prefix();
    else choices();
    infrt_llm_close(&llm);
    return 0;
}
