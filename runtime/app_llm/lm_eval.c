/* lm_eval.c - the command `eval`: perplexity of a text, and how far the predictions are from those of other logits.
 * Logits are used row by row, as they come; sums are in the order of the text, so workers change nothing. */
#include "infrt_os.h"
#include "lm_eval.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 512, LEAST = 4 /* tokens that are worth measuring */ };

static infrt_status chunks_choose(lm_eval *e) {
    const infrt_lm_options *o = &e->app->options;
    const uint32_t context = e->app->model->llm->context, most = o->tokens ? o->tokens : UINT32_MAX;
    e->chunk = o->context ? o->context : context < CHUNK ? context : CHUNK;
    if (e->n_ids > most) e->n_ids = most;
    if (e->chunk > context)
        return infrt_fail(&e->app->error, INFRT_ERR_USAGE,
                          "--context %u: the model was compiled for %u", e->chunk, context);
    if (e->n_ids < LEAST)
        return infrt_fail(&e->app->error, INFRT_ERR_USAGE,
                          "the text makes less than %d tokens: give a longer one", LEAST);
    if (e->n_ids < e->chunk)
        return infrt_fail(&e->app->error, INFRT_ERR_USAGE,
                          "%u tokens are no chunk of %u: give a longer text, or --context %u",
                          e->n_ids, e->chunk, e->n_ids);
    e->n_chunks = e->n_ids / e->chunk;
    e->first = e->chunk / 2;
    e->head = (lm_logits_head){.vocab = e->app->model->llm->vocab, .chunk = e->chunk, .ids_hash = INFC_CHECK_START};
    memcpy(e->head.magic, LM_LOGITS_MAGIC, sizeof e->head.magic);
    for (uint32_t i = 0; i < e->n_chunks * e->chunk; i++)
        e->head.ids_hash = infc_check_random(e->head.ids_hash, (uint64_t)e->ids[i], 0);
    return INFRT_OK;
}

static infrt_status text_encode(lm_eval *e) {
    infrt_lm_app *app = e->app;
    infrt_llm_request request = {0};
    char *text = NULL;
    if (!app->options.data)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "give a text: --data F");
    const char *path = strcmp(app->options.data, "-") == 0 ? NULL : app->options.data;
    infrt_status status = infrt_lm_text_read(path, &text, &app->error);
    request.text = text;
    if (status == INFRT_OK)
        status = infrt_llm_encode(app->model, &request, NULL, 0, &e->n_ids, &app->error);
    if (status == INFRT_OK && !(e->ids = calloc((size_t)e->n_ids + 1, sizeof *e->ids)))
        status = infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory for %u ids", e->n_ids);
    if (status == INFRT_OK)
        status = infrt_llm_encode(app->model, &request, e->ids, e->n_ids, &e->n_ids, &app->error);
    free(text);
    return status == INFRT_OK ? chunks_choose(e) : status;
}

/* ---- one prediction -------------------------------------------------------------------------------------------- */

static void sum_add(lm_sum *s, double x) {
    s->n++;
    s->sum += x;
    s->squares += x * x;
}
static double mean_of(const lm_sum *s) { return s->n ? s->sum / (double)s->n : 0; }
/* Standard error of the mean. */
static double error_of(const lm_sum *s) {
    const double mean = mean_of(s), variance = s->n > 1 ? s->squares / (double)s->n - mean * mean : 0;
    return variance > 0 ? sqrt(variance / (double)(s->n - 1)) : 0;
}

/* The logarithm of what softmax divides by, and the most likely token. NaN when a logit is. */
static double log_sum(const float *logits, uint32_t n, uint32_t *out_top) {
    double sum = 0;
    uint32_t top = 0;
    for (uint32_t i = 1; i < n; i++)
        if (logits[i] > logits[top]) top = i;
    for (uint32_t i = 0; i < n; i++) sum += exp((double)logits[i] - (double)logits[top]);
    *out_top = top;
    return (double)logits[top] + log(sum);
}

static bool against_add(lm_eval *e, const float *logits, double log_z, uint32_t top, int32_t target) {
    const uint32_t vocab = e->head.vocab;
    uint32_t base_top;
    double kl = 0;
    if (fread(e->base, sizeof *e->base, vocab, e->from) != vocab) {
        e->status = infrt_fail(&e->app->error, INFRT_ERR_DATA, "%s ends after %llu predictions",
                               e->app->options.against, (unsigned long long)e->kl.n);
        return false;
    }
    const double base_z = log_sum(e->base, vocab, &base_top);
    for (uint32_t i = 0; i < vocab; i++) {
        const double p = (double)e->base[i] - base_z, q = (double)logits[i] - log_z;
        if (p > -700) kl += exp(p) * (p - q);
    }
    sum_add(&e->kl, kl);
    sum_add(&e->base_loss, base_z - (double)e->base[target]);
    e->n_same += top == base_top;
    return true;
}

static bool prediction_add(void *self, uint32_t position, const float *logits) {
    lm_eval *e = self;
    const uint32_t vocab = e->head.vocab;
    const int32_t target = e->ids[e->at + position + 1];
    uint32_t top;
    const double log_z = log_sum(logits, vocab, &top);
    if (log_z != log_z) {
        e->status = infrt_fail(&e->app->error, INFRT_ERR_DATA, "token %u: a logit is no number", e->at + position);
        return false;
    }
    sum_add(&e->loss, log_z - (double)logits[target]);
    if (e->to && fwrite(logits, sizeof *logits, vocab, e->to) != vocab)
        e->status = infrt_fail(&e->app->error, INFRT_ERR_IO, "--logits %s: cannot write: %s",
                               e->app->options.logits, strerror(errno));
    return e->status == INFRT_OK && (!e->from || against_add(e, logits, log_z, top, target));
}

static void progress(const lm_eval *e, uint32_t chunk) {
    if (!e->terminal) return;
    if (chunk == e->n_chunks) fprintf(stderr, "\r\033[K");
    else
        fprintf(stderr, "\rchunk %u of %u, perplexity %.4g \033[K", chunk + 1, e->n_chunks,
                exp(mean_of(&e->loss)));
    fflush(stderr);
}

static infrt_status score(lm_eval *e) {
    const infrt_tokenizer *t = e->app->model->llm->tokenizer;
    for (uint32_t i = 0; i < e->n_chunks && e->status == INFRT_OK; i++) {
        int32_t *ids = e->ids + (e->at = i * e->chunk);
        progress(e, i);
        if (t->n_before == 1) ids[0] = t->before[0];
        const infrt_status status =
            infrt_llm_score(e->app->llm, ids, e->chunk - 1, e->first, prediction_add, e, &e->app->error);
        if (e->status == INFRT_OK) e->status = status;
    }
    progress(e, e->n_chunks);
    return e->status;
}

/* ---- files, results ---------------------------------------------------------------------------------------------- */

static infrt_status streams_check(infrt_lm_app *app) {
    const infrt_lm_options *o = &app->options;
    if (o->logits && o->parsed.json && strcmp(o->logits, "-") == 0)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--logits - and --json both want standard output");
    if (o->data && o->against && strcmp(o->data, "-") == 0 && strcmp(o->against, "-") == 0)
        return infrt_fail(&app->error, INFRT_ERR_USAGE,
                          "--data - and --against - both want standard input; give a file for one");
    return INFRT_OK;
}

static infrt_status files_open(lm_eval *e) {
    const infrt_lm_options *o = &e->app->options;
    infrt_error *error = &e->app->error;
    lm_logits_head head;
    if (o->logits && strcmp(o->logits, "-") == 0) e->to = stdout;
    else if (o->logits) {
        const infrt_status status = infrt_output_open(o->logits, &e->made, error);
        if (status != INFRT_OK) return status;
        e->to = e->made.stream;
    }
    if (e->to && fwrite(&e->head, sizeof e->head, 1, e->to) != 1)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", o->logits, strerror(errno));
    if (!o->against) return INFRT_OK;
    e->from = strcmp(o->against, "-") ? fopen(o->against, "rb") : stdin;
    if (!e->from)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot open: %s", o->against, strerror(errno));
    e->base = calloc(e->head.vocab, sizeof *e->base);
    if (!e->base) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for logits");
    if (fread(&head, sizeof head, 1, e->from) != 1 ||
        memcmp(head.magic, LM_LOGITS_MAGIC, sizeof head.magic))
        return infrt_fail(error, INFRT_ERR_DATA, "%s: not logits that `eval --logits` wrote", o->against);
    if (memcmp(&head, &e->head, sizeof head))
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: of another text, --tokens or --context, or by another tokenizer", o->against);
    return INFRT_OK;
}

static infrt_status files_close(lm_eval *e, infrt_status status) {
    if (e->from && e->from != stdin) fclose(e->from);
    if (e->made.stream) return infrt_output_close(&e->made, status, &e->app->error);
    if (e->to != stdout || fflush(stdout) == 0 || status != INFRT_OK) return status;
    return infrt_fail(&e->app->error, INFRT_ERR_IO, "%s: cannot write: %s", e->app->options.logits,
                      strerror(errno));
}

static void eval_json(const lm_eval *e) {
    const infc_model *m = e->app->model;
    const double perplexity = exp(mean_of(&e->loss));
    infrt_json json = {.out = stdout};
    infrt_json_open(&json, NULL, '{');
    infrt_json_string(&json, "model", m->name);
    infrt_json_string(&json, "isa", m->isa);
    infrt_json_string(&json, "format", m->llm->format);
    infrt_json_string(&json, "kv_format", m->llm->kv_format);
    infrt_json_uint(&json, "weights_bytes", e->app->facts.weights_bytes);
    infrt_json_uint(&json, "parameters", m->llm->parameters);
    infrt_json_uint(&json, "workers", e->app->facts.workers);
    infrt_json_uint(&json, "tokens", (uint64_t)e->n_chunks * e->chunk);
    infrt_json_uint(&json, "context", e->chunk);
    infrt_json_uint(&json, "predictions", e->loss.n);
    infrt_json_float(&json, "perplexity", perplexity, 9);
    infrt_json_float(&json, "perplexity_error", perplexity * error_of(&e->loss), 6);
    if (e->from) {
        infrt_json_float(&json, "reference_perplexity", exp(mean_of(&e->base_loss)), 9);
        infrt_json_float(&json, "kl", mean_of(&e->kl), 9);
        infrt_json_float(&json, "kl_error", error_of(&e->kl), 6);
        infrt_json_float(&json, "same_top", (double)e->n_same / (double)e->kl.n, 9);
    }
    infrt_json_uint(&json, "ns", e->ns);
    infrt_json_close(&json, '}');
}

static void eval_text(const lm_eval *e) {
    const infc_model *m = e->app->model;
    const double perplexity = exp(mean_of(&e->loss)), n = (double)e->n_chunks * e->chunk;
    printf("%s, %s, weights %s, cache %s\n", m->name, m->isa, m->llm->format, m->llm->kv_format);
    printf("text        %.0f tokens in chunks of %u, %llu predictions scored, %.0f tokens/s\n", n,
           e->chunk, (unsigned long long)e->loss.n, e->ns ? n * 1e9 / (double)e->ns : 0);
    printf("perplexity  %.4f +- %.4f\n", perplexity, perplexity * error_of(&e->loss));
    if (!e->from) return;
    printf("reference   %.4f\n", exp(mean_of(&e->base_loss)));
    printf("divergence  %.5f +- %.5f nats\n", mean_of(&e->kl), error_of(&e->kl));
    printf("same token  %.2f %% most likely\n", 100 * (double)e->n_same / (double)e->kl.n);
}

infrt_status infrt_lm_eval(infrt_lm_app *app) {
    lm_eval e = {.app = app, .terminal = isatty(STDERR_FILENO)};
    if (!app->model->llm->tokenizer)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "%s has no tokenizer, and a text needs one",
                          app->model->name);
    infrt_status status = streams_check(app);
    if (status == INFRT_OK) status = infrt_lm_files_check(app);
    if (status == INFRT_OK) status = text_encode(&e);
    if (status == INFRT_OK)
        status = infrt_lm_open(app, (infrt_llm_config){.context = e.chunk, .requests = 1, .forgetful = true});
    if (status == INFRT_OK) status = files_open(&e);
    const uint64_t begin = infrt_os_now_ns();
    if (status == INFRT_OK) status = score(&e);
    e.ns = infrt_os_now_ns() - begin;
    status = files_close(&e, status);
    if (status == INFRT_OK && e.to != stdout)
        (app->options.parsed.json ? eval_json : eval_text)(&e);
    free(e.ids);
    free(e.base);
    return status;
}
