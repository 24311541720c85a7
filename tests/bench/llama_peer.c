/* llama_peer.c - llama.cpp as llm_peers.py needs it: few commands over its C interface, in the loops that its own
 * llama-bench and llama-perplexity run. Built by llm_peers.py against a llama.cpp that it builds, never with infc.
 *
 *   llama_peer quantize IN.gguf OUT.gguf KIND THREADS       KIND: F32 F16 Q8_0 Q4_0 Q4_K_M
 *   llama_peer bench MODEL THREADS PROMPT ANSWER DEPTH BATCH  one JSON line; BATCH answers at a time, each after DEPTH
 *   llama_peer first MODEL THREADS PROMPT                   one token after PROMPT tokens, then the end
 *   llama_peer tokenize MODEL TEXT OUT                      int32 ids
 *   llama_peer logits MODEL TOKENS OUT CHUNK THREADS KV     f32 logits of each chunk's second half; KV: f16 q8_0
 */
#include "llama.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(const char *what) {
    fprintf(stderr, "llama_peer: %s\n", what);
    exit(1);
}

static void quiet(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level >= GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool go_on(float progress, void *user) {
    (void)progress, (void)user;
    return true;
}

static struct llama_model *load(const char *path) {
    struct llama_model_params p = llama_model_default_params();
    p.progress_callback = go_on; /* the default prints dots */
    struct llama_model *model = llama_model_load_from_file(path, p);
    if (!model) fail("the model does not load");
    return model;
}

/* `context` tokens for each of `sequences`. */
static struct llama_context *open_context(struct llama_model *model, int context, int sequences,
                                          int threads, enum ggml_type kv) {
    struct llama_context_params p = llama_context_default_params();
    p.n_ctx = (uint32_t)(context * sequences);
    p.n_seq_max = (uint32_t)sequences;
    p.n_batch = 2048;
    p.n_ubatch = 512;
    p.n_threads = p.n_threads_batch = threads;
    p.type_k = p.type_v = kv;
    struct llama_context *c = llama_init_from_model(model, p);
    if (!c) fail("no context");
    return c;
}

/* Random tokens in one batch; waits until they are computed. */
static void prompt(struct llama_context *c, int n) {
    int vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(c)));
    llama_token *tokens = malloc(sizeof *tokens * (size_t)(n ? n : 1));
    if (!tokens) fail("no memory");
    for (int i = 0; i < n; i++) tokens[i] = rand() % vocab;
    if (n && llama_decode(c, llama_batch_get_one(tokens, n))) fail("decoding failed");
    llama_synchronize(c);
    free(tokens);
}

/* One random token for each sequence at `position`, or for sequence `only` all those before it; waits. */
static void step(struct llama_context *c, struct llama_batch *batch, int sequences, int only, int position) {
    int vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(c)));
    batch->n_tokens = only < 0 ? sequences : position;
    for (int i = 0; i < batch->n_tokens; i++) {
        batch->token[i] = rand() % vocab;
        batch->pos[i] = only < 0 ? position : i;
        batch->n_seq_id[i] = 1;
        batch->seq_id[i][0] = only < 0 ? i : only;
        batch->logits[i] = only < 0 || i == position - 1;
    }
    if (batch->n_tokens && llama_decode(c, *batch)) fail("decoding failed");
    llama_synchronize(c);
}

static void bench(const char *path, int threads, int n_prompt, int n_answer, int depth, int sequences) {
    int most = depth + n_answer > n_prompt ? depth + n_answer : n_prompt;
    double start = now();
    struct llama_model *model = load(path);
    struct llama_context *c = open_context(model, most + 64, sequences, threads, GGML_TYPE_F16);
    struct llama_batch batch = llama_batch_init(most > sequences ? most : sequences, 0, 1);
    double loaded = now() - start;
    prompt(c, 16); /* warm */
    prompt(c, 1);
    llama_memory_clear(llama_get_memory(c), false);
    start = now();
    prompt(c, n_prompt);
    double prefill = now() - start;
    llama_memory_clear(llama_get_memory(c), false);
    start = now();
    for (int i = 0; i < sequences; i++) step(c, &batch, sequences, i, depth);
    double before = now() - start;
    start = now();
    for (int i = 0; i < n_answer; i++) step(c, &batch, sequences, -1, depth + i);
    double answer = now() - start;
    printf("{\"prompt_tokens_per_second\": %.4f, \"answer_tokens_per_second\": %.4f, "
           "\"context_seconds\": %.4f, \"load_seconds\": %.4f}\n",
           n_prompt / prefill, (double)n_answer * sequences / answer, before, loaded);
    llama_free(c);
    llama_model_free(model);
}

static void first(const char *path, int threads, int n_prompt) {
    struct llama_model *model = load(path);
    struct llama_context *c = open_context(model, n_prompt + 64, 1, threads, GGML_TYPE_F16);
    prompt(c, n_prompt);
    int vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    const float *logits = llama_get_logits_ith(c, -1);
    int best = 0;
    for (int i = 1; i < vocab; i++)
        if (logits[i] > logits[best]) best = i;
    printf("%d\n", best);
    fflush(stdout);
    _Exit(0);
}

static void *read_file(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) fail(path);
    *bytes = (size_t)ftell(f);
    rewind(f);
    void *data = malloc(*bytes + 1);
    if (!data || fread(data, 1, *bytes, f) != *bytes) fail(path);
    fclose(f);
    return data;
}

static void tokenize(const char *path, const char *text_path, const char *out) {
    size_t bytes;
    char *text = read_file(text_path, &bytes);
    struct llama_model *model = load(path);
    int room = (int)bytes + 8;
    llama_token *tokens = malloc(sizeof *tokens * (size_t)room);
    int n = llama_tokenize(llama_model_get_vocab(model), text, (int)bytes, tokens, room, false, false);
    FILE *f = fopen(out, "wb");
    if (n < 0 || !f || fwrite(tokens, sizeof *tokens, (size_t)n, f) != (size_t)n || fclose(f))
        fail(out);
    printf("%d\n", n);
}

/* The chunk's first half is context only, and its last token has no successor: logits of [chunk / 2, chunk - 1). */
static void logits(const char *path, const char *token_path, const char *out, int chunk,
                   int threads, const char *kv) {
    size_t bytes;
    llama_token *tokens = read_file(token_path, &bytes);
    struct llama_model *model = load(path);
    enum ggml_type type = strcmp(kv, "q8_0") == 0 ? GGML_TYPE_Q8_0 : GGML_TYPE_F16;
    struct llama_context *c = open_context(model, chunk, 1, threads, type);
    size_t vocab = (size_t)llama_vocab_n_tokens(llama_model_get_vocab(model));
    struct llama_batch batch = llama_batch_init(chunk, 0, 1);
    FILE *f = fopen(out, "wb");
    if (!f) fail(out);
    for (size_t at = 0; at + (size_t)chunk <= bytes / sizeof *tokens; at += (size_t)chunk) {
        llama_memory_clear(llama_get_memory(c), true);
        batch.n_tokens = chunk;
        for (int i = 0; i < chunk; i++) {
            batch.token[i] = tokens[at + (size_t)i];
            batch.pos[i] = i;
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = 0;
            batch.logits[i] = i >= chunk / 2 && i < chunk - 1;
        }
        if (llama_decode(c, batch)) fail("decoding failed");
        size_t n = vocab * (size_t)(chunk - 1 - chunk / 2);
        if (fwrite(llama_get_logits(c), sizeof(float), n, f) != n) fail(out);
    }
    if (fclose(f)) fail(out);
}

static void quantize(const char *in, const char *out, const char *kind, int threads) {
    static const struct {
        const char *name;
        enum llama_ftype type;
    } kinds[] = {{"F32", LLAMA_FTYPE_ALL_F32},
                 {"F16", LLAMA_FTYPE_MOSTLY_F16},
                 {"Q8_0", LLAMA_FTYPE_MOSTLY_Q8_0},
                 {"Q4_0", LLAMA_FTYPE_MOSTLY_Q4_0},
                 {"Q4_K_M", LLAMA_FTYPE_MOSTLY_Q4_K_M}};
    struct llama_model_quantize_params p = llama_model_quantize_default_params();
    p.nthread = threads;
    p.allow_requantize = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i].name) != 0) continue;
        p.ftype = kinds[i].type;
        if (llama_model_quantize(in, out, &p)) fail("quantising failed");
        return;
    }
    fail("no such kind");
}

int main(int argc, char **argv) {
    const char *command = argc > 1 ? argv[1] : "";
    llama_log_set(quiet, NULL);
    llama_backend_init();
    if (argc == 6 && strcmp(command, "quantize") == 0)
        quantize(argv[2], argv[3], argv[4], atoi(argv[5]));
    else if (argc == 8 && strcmp(command, "bench") == 0)
        bench(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), atoi(argv[7]));
    else if (argc == 5 && strcmp(command, "first") == 0)
        first(argv[2], atoi(argv[3]), atoi(argv[4]));
    else if (argc == 5 && strcmp(command, "tokenize") == 0) tokenize(argv[2], argv[3], argv[4]);
    else if (argc == 8 && strcmp(command, "logits") == 0)
        logits(argv[2], argv[3], argv[4], atoi(argv[5]), atoi(argv[6]), argv[7]);
    else fail("usage: see the head of llama_peer.c");
    return 0;
}
