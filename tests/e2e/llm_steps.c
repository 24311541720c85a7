/* Runs steps of a language model as a caller without its runtime would: MODEL_HEADER and MODEL, its name, are macros of
 * the command line. usage: llm_steps WORKERS BLOCKS < steps > logits
 *
 * steps, int32: tables [max_sequences][max_blocks]; then for each step T, R, tokens [T], positions [T], slots [T],
 * last_rows [R]. logits: f32 [R][vocab] of each. */
#include MODEL_HEADER
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { MAX_WORKERS = 8 };
static pthread_barrier_t meeting;

/* The first worker is late every other time: the others take its units then. */
static void meet(void *self, uint32_t worker) {
    static int times; /* the first worker's */
    (void)self;
    pthread_barrier_wait(&meeting);
    if (worker == 0 && times++ % 2) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
static const infc_barrier barrier = {meet, NULL};

static void *aligned(size_t bytes) {
    void *p = aligned_alloc(INFC_ALIGN, (bytes + INFC_ALIGN - 1) / INFC_ALIGN * INFC_ALIGN + INFC_ALIGN);
    if (!p) exit(4);
    return p;
}

typedef struct work {
    const infc_model *model;
    infc_call call;
    int status;
} work;

static void *one(void *place) {
    work *w = place;
    w->status = w->model->run(&w->call);
    return NULL;
}

static int run(const infc_model *model, const infc_call *call, uint32_t n) {
    work works[MAX_WORKERS];
    pthread_t threads[MAX_WORKERS];
    int status = 0;
    for (uint32_t i = 0; i < n; i++) {
        works[i] = (work){model, *call, 0};
        works[i].call.worker = i;
        works[i].call.n_workers = n;
        works[i].call.barrier = &barrier;
        if (i && pthread_create(&threads[i], NULL, one, &works[i])) exit(4);
    }
    one(&works[0]);
    for (uint32_t i = 0; i < n; i++) {
        if (i) pthread_join(threads[i], NULL);
        status |= works[i].status;
    }
    return status;
}

static int32_t *ints(size_t n) {
    int32_t *p = aligned(n * sizeof *p);
    if (fread(p, sizeof *p, n, stdin) != n) exit(3);
    return p;
}

int main(int argc, char **argv) {
    const infc_model *model = JOIN(MODEL, _model)();
    const infc_llm_info *llm = model->llm;
    if (argc != 3 || !llm || llm->struct_bytes != sizeof *llm) return 2;
    const uint32_t workers = (uint32_t)atoi(argv[1]);
    const int64_t blocks = atoi(argv[2]);
    int32_t *tables = ints((size_t)llm->max_sequences * llm->max_blocks), counts[2];
    void *kv = aligned((size_t)blocks * llm->block_bytes);
    void *arena = aligned(model->arena_bytes + model->arena_bytes_per_worker * workers);
    if (workers > MAX_WORKERS || pthread_barrier_init(&meeting, NULL, workers)) return 2;
    while (fread(counts, sizeof *counts, 2, stdin) == 2) {
        const size_t t = (size_t)counts[0], r = (size_t)counts[1];
        int32_t *rows[] = {ints(t), ints(t), ints(t), ints(r)};
        float *logits = aligned(r * llm->vocab * sizeof *logits);
        const void *inputs[] = {rows[0], rows[1], rows[2], rows[3], tables, kv};
        void *outputs[] = {logits};
        const int64_t sizes[] = {(int64_t)t, (int64_t)r, blocks};
        const infc_call call = {
            .weights = model->weights_embedded(), .arena = arena, .inputs = inputs, .outputs = outputs, .sizes = sizes};
        const int status = run(model, &call, workers);
        if (status) return fprintf(stderr, "the step ended with %d\n", status), 1;
        fwrite(logits, sizeof *logits, r * llm->vocab, stdout);
        for (int i = 0; i < 4; i++) free(rows[i]);
        free(logits);
    }
    return 0;
}
