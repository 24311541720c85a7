/* The commands of a language model's program, over the fake model. */
#include "infrt_fake_program.h"
#include "infrt_fake_tokenizer.h"
#include <unistd.h>

static infc_llm_info info;
static infc_model model; /* with a tokenizer */

/* What the model says after these ids. */
static void answer(const int32_t *prompt, uint32_t n, uint32_t most, int32_t *out) {
    int32_t all[FAKE_CONTEXT];
    memcpy(all, prompt, n * sizeof *all);
    for (uint32_t i = 0; i < most; i++) out[i] = all[n + i] = fake_next(all, n + i);
}

static void test_run_ids(void **state) {
    (void)state;
    int32_t prompt[] = {5, 6, 9}, out[10];
    char text[256], *at = text;
    answer(prompt, 3, 10, out);
    for (int i = 0; i < 10; i++) at += sprintf(at, "%s%d", i ? " " : "", out[i]);
    expect_fine(&fake_llm, "run --tokens 5,6,9 --max-tokens 10 --ignore-eos --threads 1");
    assert_int_equal(strncmp(caught_out, text, strlen(text)), 0);
    assert_string_equal(caught_out + strlen(text), "\n");
    expect_has(caught_err, "3 prompt tokens, first token after ");
    expect_has(caught_err, ", 9 more in ");
    expect_has(caught_err, "length");
}

static void test_run_text(void **state) {
    (void)state;
    int32_t prompt[] = {1, 10, 11}, out[12];
    char text[256];
    answer(prompt, 3, 12, out);
    fake_text(out, 12, text);
    strcat(text, "\n");
    const char *calls[] = {
        "run --prompt hi --max-tokens 12 --ignore-eos", "run --prompt-file hi.txt --max-tokens 12 --ignore-eos",
        "run --prompt - --max-tokens 12 --ignore-eos --chunk 1 --threads 2",
        "run --prompt=hi --max-tokens=12 --ignore-eos --kv-memory 4KiB --huge-pages --pin"};
    put_file("hi.txt", "hi", 2);
    program_input = "hi";
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        expect_fine(&model, calls[i]);
        if (strcmp(caught_out, text) != 0 && strncmp(caught_out, text, strlen(text) - 1) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", calls[i], caught_out, text);
    }
    program_input = NULL;
}

static void test_run_json(void **state) {
    (void)state;
    int32_t prompt[] = {1, 10, 11}, out[4];
    char ids[64];
    answer(prompt, 3, 4, out);
    snprintf(ids, sizeof ids, "\"tokens\": [%d, %d, %d, %d]", out[0], out[1], out[2], out[3]);
    expect_fine(&model, "run --prompt hi --max-tokens 4 --ignore-eos --json");
    expect_has(caught_out, ids);
    expect_has(caught_out, "\"prompt\": [1, 10, 11]");
    expect_has(caught_out, "\"finish\": \"length\"");
    expect_has(caught_out, "\"prompt_tokens\": 3");
    assert_null(strstr(caught_out, "top_logprobs"));
    assert_string_equal(caught_err, "");
    expect_fine(&model, "run --prompt hi --max-tokens 4 --ignore-eos --json --logprobs 2");
    expect_has(caught_out, "\"top_logprobs\": [");
    expect_fine(&model, "run --prompt hi --max-tokens 2 --ignore-eos --logprobs 2");
    expect_has(caught_out, "   of ");
    expect_fine(&model, "run --prompt hi --max-tokens 2 --profile trace.json");
}

static void test_run_refused(void **state) {
    (void)state;
    expect_refused(&model, "run", 2, "give one of --prompt, --prompt-file and --tokens");
    expect_refused(&model, "run --prompt a --tokens 1", 2, "give only one of");
    expect_refused(&model, "run --prompt a --system b", 2, "--system needs a chat template");
    expect_refused(&model, "run --prompt-file nowhere.txt", 4, "nowhere.txt: cannot open");
    expect_refused(&model, "run --tokens 1,x", 2, "\"x\" is not a token id");
    expect_refused(&model, "run --tokens 1,50", 2, "token 1 of the prompt is 50");
    expect_refused(&model, "run --tokens 1 --max-tokens 200", 2, "more than the context of 200");
    expect_refused(&model, "run --tokens 1 --temperature -1", 2, "--temperature -1: give a number from 0 to 100");
    expect_refused(&model, "run --tokens 1 --temperature nan", 2, "give a number from 0 to 100");
    expect_refused(&model, "run --tokens 1 --top-k many", 2, "--top-k many");
    expect_refused(&model, "run --tokens 1 --kv-memory 1", 2, "holds no block");
    expect_refused(&model, "run --tokens 1 --kv-memory 1XB", 2, "give a size such as 512MiB");
    expect_refused(&model, "run --tokens 1 --kv-memory 16777216TiB", 2, "give at most 16777215TiB");
    expect_fine(&model, "run --tokens 1 --max-tokens 1 --kv-memory 1TiB"); /* takes what it can use */
    expect_refused(&model, "run --tokens 1 --logit-bias 3", 2, "give ID=NUMBER");
    expect_refused(&model, "run --tokens 1 --logit-bias 50=1", 2, "logit bias of token 50");
    expect_refused(&model, "run --tokens 1 --top-p 0", 2,
                   "--top-p 0: give a number above 0, at most 1; 1 turns it off");
    expect_refused(&model, "run --tokens 1 --repetition-penalty 0", 2, "above 0, at most 100; 1 turns it off");
    expect_refused(&model, "run --tokens=", 2, "\"\" is not a token id");
    expect_refused(&model, "run --tokens 1,,2", 2, "\",2\" is not a token id");
    expect_refused(&model, "run --tokens 1,2,", 2, "\"\" is not a token id");
    expect_refused(&model, "run --tokens 5,6 --chat", 2, "--chat goes with a text");
    expect_refused(&model, "chat --json", 2, "chat has no --json");
    expect_refused(&model, "run --promt a", 2, "did you mean --prompt?");
    expect_refused(&model, "caht", 2, "did you mean chat?");
    expect_refused(&model, "", 2, "give a command: run, chat, serve, bench, eval, tokenize, info or verify");
    expect_refused(&fake_llm, "run --prompt a", 2, "has no tokenizer");
    expect_refused(&fake_llm, "tokenize --prompt a", 2, "has no tokenizer");
    expect_refused(&model, "chat", 2, "has no chat template");
    put_file("nul.txt", "a\0b", 3);
    expect_refused(&model, "run --prompt-file nul.txt", 3, "has a NUL at byte 1");
    expect_refused(&model, "run --prompt-file /dev/zero", 3, "has a NUL at byte 0"); /* which has no end */
}

static void test_tokenize(void **state) {
    (void)state;
    expect_fine(&model, "tokenize --prompt hi");
    assert_string_equal(caught_out, "      1 <s>   (control)\n     10 h\n     11 i\n");
    expect_fine(&model, "tokenize --tokens 10,11,7");
    assert_string_equal(caught_out, "hi</s>\n");
    expect_fine(&model, "tokenize --prompt hi --json");
    expect_has(caught_out, "\"ids\": [1, 10, 11]");
    expect_has(caught_out, "\"text\": \"<s>hi\"");
}

static void test_bench(void **state) {
    (void)state;
    expect_fine(&fake_llm, "bench --prompt-tokens 20 --tokens 10 --threads 1");
    expect_has(caught_out, "20 tokens, first token after");
    expect_has(caught_out, "10 tokens after 0, batch 1; per token p50");
    expect_fine(&fake_llm,
                "bench --tokens 5 --context 50 --batch 3 --json --repeat 1 --profile t.json");
    expect_has(caught_out, "\"batch\": 3");
    expect_has(caught_out, "\"prompt_tokens\": 199");
    expect_has(caught_out, "\"answer_tokens\": 5");
    expect_refused(&fake_llm, "bench --batch 5", 2, "at most 4 sequences");
    expect_refused(&fake_llm, "bench --prompt-tokens 200", 2, "more than the context of 200");
}

/* What is wrong ends a measurement with the reason. */
static void test_bench_refused(void **state) {
    (void)state;
    expect_refused(&fake_llm, "bench --batch 4 --tokens 20 --prompt-tokens 2 --kv-memory 128",
                   2, "--kv-memory 128: a batch of 4 of 25 tokens each, and a prompt of 2, take 896 bytes");
    expect_fine(&fake_llm, "bench --batch 4 --tokens 20 --prompt-tokens 2 --kv-memory 4KiB");
    fake_nan = 1;
    assert_int_equal(program_run(&fake_llm, "bench --prompt-tokens 3 --tokens 2"), 3);
    expect_has(caught_err, "logits of token 3 are no numbers");
    fake_nan = 0;
}

static void expect_kept(const char *name, const char *text) {
    char path[512], got[64] = {0};
    snprintf(path, sizeof path, "%s/%s", work_dir, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    fclose(file);
    assert_string_equal(got, text);
}

/* A file that is read, or is there when the command fails, stays as it is. */
static void test_files_kept(void **state) {
    (void)state;
    put_file("x.txt", "hihihihihihihihi", 16);
    put_file("l.json", "{}", 2);
    expect_refused(&model, "eval --data x.txt --logits x.txt --context 4", 2,
                   "this is the file of --data, which is read");
    expect_refused(&model, "eval --data x.txt --logits l.json --against l.json --context 4", 2,
                   "this is the file of --against");
    expect_refused(&model, "eval --data x.txt --logits l.json --against x.txt --context 4", 3, "not logits that");
    expect_refused(&model, "eval --data - --against -", 2, "both want standard input");
    expect_refused(&model, "run --prompt hi --profile x.txt", 2, "--profile x.txt: this writes JSON; give F.json");
    expect_refused(&model, "run --prompt-file l.json --profile ./l.json", 2, "this is the file of --prompt-file");
    expect_refused(&model, "bench --profile x.txt", 2, "this writes JSON; give F.json");
    expect_kept("x.txt", "hihihihihihihihi");
    expect_kept("l.json", "{}");
    expect_fine(&model, "eval --data x.txt --logits l.bin --context 4");
    expect_fine(&model, "eval --data x.txt --against l.bin --context 4");
}

static void test_info_verify(void **state) {
    (void)state;
    expect_fine(&model, "info");
    expect_has(caught_out, "50 ids, of which the tokenizer has 50");
    expect_has(caught_out, "i32, 4 bytes per token");
    expect_fine(&model, "info --json");
    expect_has(caught_out, "\"kv_bytes_per_token\": 4");
    expect_fine(&model, "verify");
    expect_has(caught_out, "ok   workers 1    chunks of 1, alone and in a batch");
    expect_fine(&model, "run --help");
    expect_has(caught_out, "--temperature T");
    expect_has(caught_out, "Why is the sky blue?");
    fake_nan = 1;
    assert_int_equal(program_run(&model, "verify --json"), 1);
    expect_has(caught_out, "logits are no numbers");
    assert_int_equal(program_run(&model, "run --tokens 1"), 3);
    expect_has(caught_err, "logits of token 1 are no numbers");
    fake_nan = 0;
}

/* Ctrl-C ends the answer, what came of it is told, and who started the program sees the signal. */
static void test_interrupt(void **state) {
    (void)state;
    fake_interrupted_at = 5;
    assert_int_equal(program_run(&fake_llm, "run --tokens 5,6,9 --ignore-eos --json"), 1000 + SIGINT);
    expect_has(caught_out, "\"finish\": \"cancelled\"");
    expect_has(caught_out, "\"answer_tokens\": 6");
    fake_interrupted_at = 0; /* in the prompt */
    assert_int_equal(program_run(&fake_llm, "run --tokens 5,6,9 --ignore-eos --chunk 1"), 1000 + SIGINT);
    assert_string_equal(caught_out, "");
    expect_has(caught_err, "cancelled");
    fake_interrupted_at = -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_ids),       cmocka_unit_test(test_run_text),
        cmocka_unit_test(test_run_json),      cmocka_unit_test(test_run_refused),
        cmocka_unit_test(test_tokenize),      cmocka_unit_test(test_bench),
        cmocka_unit_test(test_info_verify),   cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_bench_refused), cmocka_unit_test(test_files_kept)};
    if (!mkdtemp(work_dir)) return 1;
    program_main = infrt_llm_main;
    model = fake_text_model(&info);
    return program_tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
