/* lm_options.c - commands and flags of a language model's program, and what they mean for a request. */
#include "lm_options.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN = INFRT_LM_RUN,
    CHAT = INFRT_LM_CHAT,
    BENCH = INFRT_LM_BENCH,
    TOKENIZE = INFRT_LM_TOKENIZE,
    VERIFY = INFRT_LM_VERIFY,
    EVAL = INFRT_LM_EVAL,
    SERVE = INFRT_LM_SERVE,
    ALL = INFRT_LM_ALL
};

static const infrt_flag flags[] = {
#define INFRT_OPTION(field, name, value, kind, least, most, commands, help) \
    {name,  value, help,     INFRT_FLAG_##kind,                             \
     least, most,  commands, offsetof(infrt_lm_options, field)},
#include "lm_options.def"
#undef INFRT_OPTION
};

static const char run_more[] =
    "The answer goes to stdout as it is made; times go to stderr.\n"
    "  run --prompt \"The capital of France is\" --max-tokens 20\n"
    "  run --chat --prompt \"Why is the sky blue?\"\n"
    "  run --prompt - --system \"Answer in one sentence.\" < question.txt\n"
    "  run --prompt Hello --temperature 0.8 --top-p 0.95 --seed 1 --json\n"
    "  run --prompt-file long.txt --session long.session     again with more text after it: only "
    "that is computed\n"
    "The same prompt, settings and seed give the same answer, whatever else runs.\n";
static const char chat_more[] =
    "A line is a message; one that ends in a backslash goes on in the "
    "next. Ctrl-C stops an answer; Ctrl-D or /exit\n"
    "ends; /reset forgets the conversation.\n"
    "  chat --session talk.session     goes on with it where the last one ended\n";
static const char bench_more[] = "Ids are made up, so no tokenizer is needed. First token: from "
                                 "the request to the first token of the answer.\n"
                                 "Per token: the time of one step, for all answers at a time.\n"
                                 "  bench --prompt-tokens 512 --tokens 128 --threads 2\n"
                                 "  bench --context 1024 --batch 8 --json\n";
static const char tokenize_more[] =
    "  tokenize --prompt \"Hello world\"           ids and their texts, as the model is given "
    "them\n"
    "  tokenize --chat --prompt \"Hello world\"    the same within the chat template\n"
    "  tokenize --tokens 1,2,3                   the text of ids\n";

static const char eval_more[] =
    "The text is cut into chunks, each computed with an empty cache; the predictions of its second "
    "half are scored:\n"
    "of 512 tokens, tokens 257 to 511 (the first is 0), as llama.cpp's perplexity does. What is "
    "left at the end is not\n"
    "used. A chunk begins with the model's begin token where texts of the model do.\n"
    "  eval --data text.txt\n"
    "  float/model eval --data text.txt --logits - | int4/model eval --data text.txt --against -\n"
    "A file of logits: \"INFRTLG1\", u32 vocabulary, u32 chunk, u64 hash of the ids, then f32 "
    "[vocabulary] for each\n"
    "prediction, little-endian.\n";

static const char serve_more[] =
    "OpenAI's API: /v1/chat/completions, /v1/completions, /v1/models; also /tokenize, /detokenize, "
    "/version,\n"
    "/health, /health/ready, /metrics (Prometheus). Adapters (--adapter-root): "
    "/v1/load_lora_adapter,\n"
    "/v1/unload_lora_adapter, /v1/lora_adapters. Sessions (--session-root): /v1/sessions/save,\n"
    "/v1/sessions/restore, GET /v1/sessions, DELETE /v1/sessions/NAME. It prints its address once "
    "it takes\n"
    "requests, and a line of JSON to stderr for each. SIGTERM: no more are taken, and it ends when "
    "those that run\n"
    "have; a second one ends it at once.\n"
    "  serve\n"
    "  serve --port 0 --api-keys env:KEYS --queue 32\n"
    "  serve --adapter-root ./adapters --adapter sql=./adapters/sql\n"
    "  curl http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\\n"
    "    -d '{\"model\": \"NAME\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'\n"
    "Without keys everybody who reaches the address may ask: keep --host 127.0.0.1, or give "
    "keys.\n";

static const infrt_command_info commands[] = {
    {"run", "answer a prompt", RUN, run_more},
    {"chat", "a conversation on the terminal", CHAT, chat_more},
    {"serve", "answer over HTTP, many at a time, as OpenAI's API has it", SERVE, serve_more},
    {"bench", "measure: tokens per second of prompts and answers, time to the first token, per token",
     BENCH, bench_more},
    {"eval", "how well it predicts a text: perplexity, and divergence from another model's logits", EVAL, eval_more},
    {"tokenize", "text to token ids and back", TOKENIZE, tokenize_more},
    {"info", "what this binary is: architecture, formats, cache, versions, provenance", INFRT_LM_INFO, NULL},
    {"verify", "check weights, CPU, and that answers depend neither on workers nor on batch nor on chunks",
     VERIFY, NULL},
};

const infrt_command_line infrt_lm_commands = {commands, flags, sizeof commands / sizeof *commands,
                                              sizeof flags / sizeof *flags};
_Static_assert(sizeof flags / sizeof *flags <= INFRT_FLAGS_MOST, "a bit for each");

static infrt_status bias_read(const char *text, infrt_llm_bias *out, infrt_error *error) {
    char *end;
    errno = 0;
    long token = strtol(text, &end, 10);
    bool ok = !errno && end != text && *end == '=' && token >= 0 && token <= INT32_MAX;
    const char *add = end + 1;
    if (ok) out->add = strtof(add, &end);
    if (!ok || end == add || *end || out->add != out->add)
        return infrt_fail(error, INFRT_ERR_USAGE, "--logit-bias %s: give ID=NUMBER, e.g. 50=-inf or 7=1.5", text);
    out->token = (int32_t)token;
    return INFRT_OK;
}

infrt_status infrt_lm_settings(const infrt_lm_options *o, infrt_llm_bias bias[INFRT_LLM_BIASES],
                               infrt_llm_request *out, infrt_error *error) {
    infrt_status status = INFRT_OK;
    if (o->logit_bias.n > INFRT_LLM_BIASES)
        return infrt_fail(error, INFRT_ERR_USAGE, "--logit-bias: at most %u", INFRT_LLM_BIASES);
    for (uint32_t i = 0; i < o->logit_bias.n && status == INFRT_OK; i++)
        status = bias_read(o->logit_bias.at[i], &bias[i], error);
    *out = (infrt_llm_request){.max_tokens = o->max_tokens,
                               .ignore_eos = o->ignore_eos,
                               .logprobs = o->logprobs > 0 || o->parsed.json,
                               .n_top_logprobs = o->logprobs,
                               .sampling = {.temperature = o->temperature,
                                            .top_k = o->top_k,
                                            .top_p = o->top_p,
                                            .min_p = o->min_p,
                                            .repetition_penalty = o->repetition_penalty,
                                            .presence_penalty = o->presence_penalty,
                                            .frequency_penalty = o->frequency_penalty,
                                            .seed = o->seed,
                                            .bias = bias,
                                            .n_bias = o->logit_bias.n},
                               .stop = o->stop.at,
                               .n_stop = o->stop.n};
    return status;
}

infrt_status infrt_lm_ids(const char *text, int32_t **out, uint32_t *n, infrt_error *error) {
    static const char blanks[] = " \t\r\n";
    size_t most = strlen(text) / 2 + 2;
    *n = 0;
    *out = calloc(most, sizeof **out);
    if (!*out) return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for ids");
    for (const char *at = text + strspn(text, blanks);;) {
        char *end;
        errno = 0;
        long id = strtol(at, &end, 10);
        if (errno || end == at || *at < '0' || *at > '9' || id > INT32_MAX || !strchr(", \t\r\n", *end)) {
            free(*out);
            *out = NULL;
            return infrt_fail(error, INFRT_ERR_USAGE,
                              "--tokens: \"%.20s\" is not a token id; give e.g. 1,2,3", at);
        }
        (*out)[(*n)++] = (int32_t)id;
        at = end + strspn(end, blanks);
        if (!*at) return INFRT_OK;
        if (*at == ',') at += 1 + strspn(at + 1, blanks); /* then there must be one more */
    }
}
