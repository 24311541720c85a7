/* llm_metrics.c - what /metrics tells of a language model, from llm_metrics.def. */
#include "serve_llm.h"
#include <inttypes.h>

/* The names of those that answers are being made with, or that answers wait for. */
static void names_put(const infrt_board *b, bool running, infrt_out *out) {
    const char *comma = "";
    for (uint32_t i = 0; i < b->n_adapters; i++) {
        const infrt_board_adapter *a = &b->adapters[i];
        if (!a->name[0] || !(running ? a->running : a->requests - a->running)) continue;
        infrt_out_format(out, "%s%s", comma, a->name);
        comma = ",";
    }
}

/* As vLLM has it: the facts are labels, and the value is when they were so. */
static void adapters_put(const infrt_server *s, const infrt_board *b, infrt_out *out) {
    if (!s->model->llm->adapters) return;
    infrt_metric_help(out, "vllm:lora_requests_info", "gauge", "Adapters of answers, and when that was looked at.");
    infrt_out_format(out, "vllm:lora_requests_info{max_lora=\"%u\",running_lora_adapters=\"",
                     s->model->llm->adapters->max_loaded);
    names_put(b, true, out);
    infrt_out_text(out, "\",waiting_lora_adapters=\"");
    names_put(b, false, out);
    infrt_out_format(out, "\"} %.3f\n", b->written);
}

static double cache_use(const infrt_board *b) {
    return b->facts.kv_blocks ? 1.0 - (double)b->facts.kv_blocks_free / b->facts.kv_blocks : 0.0;
}

void infrt_llm_metrics_put(infrt_server *s, infrt_out *out) {
    infrt_llm_server *own = (infrt_llm_server *)s;
    infrt_board *b = &own->engine.board;
    infrt_llm_metrics *m = &own->metrics;
    pthread_mutex_lock(&b->lock);
    m->generation_tokens = b->sampled_tokens; /* those that nobody waits for any more too */
    m->preempted = b->facts.times_preempted;
    m->step_sizes = b->step_sizes;
#define INFRT_GAUGE(title, value, help) \
    infrt_gauge_put(out, s->model->name, title, (double)(value), help);
#define INFRT_COUNTER(member, title, labels, help) \
    infrt_counter_put(out, s->model->name, title, labels, m->member, help);
#define INFRT_HISTOGRAM(member, title, buckets, help) \
    infrt_histogram_put(out, s->model->name, title, &m->member, buckets, help);
#include "llm_metrics.def"
    adapters_put(s, b, out);
    infrt_metric_help(out, "vllm:cache_config_info", "gauge", "What the cache is.");
    infrt_out_format(out,
                     "vllm:cache_config_info{model_name=\"%s\",block_size=\"%u\",num_blocks=\"%u\","
                     "cache_dtype=\"%s\"} 1\n",
                     s->model->name, b->facts.block_positions, b->facts.kv_blocks, s->model->llm->kv_format);
    pthread_mutex_unlock(&b->lock);
}
