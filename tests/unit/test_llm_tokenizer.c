/* Tokenizers of language models: ids worked out by hand from small vocabularies, and what is refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/frontend/tokenizer/bpe_tokenizer.h"
#include "cx_fixture.h"
#include "llm_file_bytes.h"

static infc_tokenizer made;

/* JSON with ` for its quotes. */
#define BYTE_LEVEL(words)                                                                  \
    "`pre_tokenizer`:{`type`:`Sequence`,`pretokenizers`:[" words                           \
    "{`type`:`ByteLevel`,`add_prefix_space`:false,`use_regex`:true}]},`decoder`:{`type`:`" \
    "ByteLevel`}"
#define JOINER "\xe2\x96\x81"
#define LLAMA2                                                                                    \
    "`normalizer`:{`type`:`Sequence`,`normalizers`:[{`type`:`Prepend`,`prepend`:`" JOINER "`},"   \
    "{`type`:`Replace`,`pattern`:{`String`:` `},`content`:`" JOINER "`}]},"                       \
    "`decoder`:{`type`:`Sequence`,`decoders`:["                                                   \
    "{`type`:`Replace`,`pattern`:{`String`:`" JOINER "`},`content`:` `},{`type`:`ByteFallback`}," \
    "{`type`:`Fuse`},{`type`:`Strip`,`content`:` `,`start`:1,`stop`:0}]}"
#define MODEL(vocab, merges) "{`model`:{`type`:`BPE`,`vocab`:{" vocab "},`merges`:[" merges "]},"
#define ADDED(id, text, flags) "{`id`:" id ",`content`:`" text "`," flags "}"
#define SPECIAL "`special`:true,`normalized`:false"

static infc_status read_json(const char *text) {
    char *json = infc_arena_copy_string(cx.arena, text, strlen(text));
    for (char *c = json; *c; c++)
        if (*c == '`') *c = '"';
    return infc_tokenizer_json(&cx, "tokenizer.json", (infc_bytes){(const uint8_t *)json, strlen(json)}, &made);
}

static void expect_parts(const char *text, size_t n, const infrt_text_part *parts, size_t n_parts,
                         int around, const char *ids) {
    int32_t got[64];
    char line[512] = "";
    void *scratch = malloc(infrt_encode_scratch(&made.tables, text, n));
    const size_t n_ids = infrt_encode(&made.tables, text, n, parts, n_parts, around, scratch, got, 64);
    free(scratch);
    for (size_t i = 0; i < n_ids && i < 64; i++)
        (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%s%d", i ? " " : "", got[i]);
    assert_string_equal(line, ids);
}

static void expect_ids(const char *text, int control, const char *ids) {
    const infrt_text_part all = {strlen(text), (uint32_t)control};
    expect_parts(text, strlen(text), &all, 1, 0, ids);
}

static void expect_text(const int32_t *ids, size_t n, const char *text) {
    char out[64] = "";
    const size_t bytes = infrt_decode(&made.tables, ids, n, 0, out, sizeof out - 1);
    assert_int_equal(bytes, strlen(text));
    assert_string_equal(out, text);
}

/* The lowest rank first, the leftmost of equals. */
static void merges_in_order(void **state) {
    (void)state;
    assert_int_equal(
        read_json(MODEL("`a`:0,`b`:1,`aa`:2,`ab`:3,`abb`:4", "`a a`,`a b`,`ab b`") BYTE_LEVEL("") "}"), INFC_OK);
    expect_ids("aaab", 0, "2 3"); /* aa|a|b, then aa|ab */
    expect_ids("aab", 0, "2 1");  /* not a|ab: aa is of lower rank */
    expect_ids("abb", 0, "4");
    expect_ids("aaaaabb", 0, "2 2 4");
    expect_ids("", 0, "");
    expect_ids("c", 0, ""); /* no token, no unknown one */
}

/* |a|'s| b|1|2| | |a|: digits alone; of white space the last one goes with the letters. */
static void words_of_smollm(void **state) {
    (void)state;
    assert_int_equal(read_json(MODEL("`a`:0,`b`:1,`\xc4\xa0`:2,`\xc4\xa0"
                                     "a`:3,`1`:4,`11`:5,`'`:6,`s`:7,`'s`:8,"
                                     "`\xc4\xa0\xc4\xa0`:9,`\xc4\xa0"
                                     "1`:10",
                                     "`\xc4\xa0 \xc4\xa0`,`\xc4\xa0 a`,`1 1`,`' s`,`\xc4\xa0 1`")
                                   BYTE_LEVEL("{`type`:`Digits`,`individual_digits`:true},") "}"),
                     INFC_OK);
    expect_ids("a's a", 0, "0 8 3");
    expect_ids("11", 0, "4 4");
    expect_ids(" 1", 0, "2 4");
    expect_ids("   a", 0, "9 3");
    expect_ids("   1", 0, "9 2 4");
    expect_ids("a  ", 0, "0 9");
}

#define AROUND                                                                             \
    "`post_processor`:{`type`:`TemplateProcessing`,`single`:[{`SpecialToken`:{`id`:`b`}}," \
    "{`Sequence`:{`id`:`A`}}],`special_tokens`:{`b`:{`ids`:[4]}}},"

static void control_tokens(void **state) {
    (void)state;
    const infrt_text_part parts[] = {{4, 1}, {3, 0}, {3, 0}, {3, 1}, {1, 1}};
    static const char json[] = MODEL("`<`:0,`s`:1,`>`:2,`x`:3", "") "`added_tokens`:[" ADDED(
        "4", "<s>", SPECIAL) "]," AROUND BYTE_LEVEL("") "}";
    assert_int_equal(read_json(json), INFC_OK);
    expect_ids("x<s>x", 1, "3 4 3");
    expect_ids("x<s>x", 0, "3 0 1 2 3");
    expect_parts("<s>x", 4, NULL, 0, 1, "4 0 1 2 3");
    expect_parts("<s>x<s>xx<s>>", 13, parts, 5, 0, "4 3 0 1 2 3 3 0 1 2 2"); /* the last < is the user's */
    expect_parts("<s>x<s>xxx<s>", 13, parts, 5, 0, "4 3 0 1 2 3 3 3 4");
    expect_parts("<s>x<s>xxxx<s>", 14, parts, 5, 0, "4 3 0 1 2 3 3 3 3 4");
    assert_int_equal(infrt_token_find(&made.tables, "<s>", 3), 4);
    assert_int_equal(infrt_token_find(&made.tables, "y", 1), -1);
    expect_text((const int32_t[]){4, 3, 4, 99, -1}, 5, "x");
}

#define LEFT ADDED("2", "<l>", SPECIAL ",`lstrip`:true")
#define RIGHT ADDED("3", "<r>", SPECIAL ",`rstrip`:true")

static void stripping(void **state) {
    (void)state;
    static const char json[] =
        MODEL("`x`:0,`\xc4\xa0`:1", "") "`added_tokens`:[" LEFT "," RIGHT "]," BYTE_LEVEL("") "}";
    assert_int_equal(read_json(json), INFC_OK);
    expect_ids("x  <l> x", 1, "0 2 1 0");
    expect_ids("x <r>  x", 1, "0 1 3 0");
    expect_ids(" <r> <l> ", 1, "1 3 2 1");
}

/* All bytes, then " ", "a", " a"; <s> as older files of Llama 2 have it: looked for in the normalised text. */
static void characters(void **state) {
    (void)state;
    infc_buf text = {.arena = cx.arena};
    infc_buf_puts(&text,
                  "{`model`:{`type`:`BPE`,`byte_fallback`:true,`fuse_unk`:true,`unk_token`:`<unk>`,"
                  "`vocab`:{`<unk>`:256,`<s>`:257,");
    for (int i = 0; i < 256; i++) infc_buf_printf(&text, "`<0x%02X>`:%d,", (unsigned)i, i);
    infc_buf_puts(&text, "`" JOINER "`:258,`a`:259,`" JOINER "a`:260},`merges`:[`" JOINER
                         " a`]},`added_tokens`:[" ADDED("256", "<unk>", SPECIAL) "," ADDED(
                             "257", "<s>", "`special`:true,`normalized`:true") "]," LLAMA2 "}");
    assert_int_equal(read_json(infc_buf_str(&text)), INFC_OK);
    expect_ids("a a", 0, "260 260");
    expect_ids(" a", 0, "258 260");
    expect_ids(JOINER "a", 0, "258 260"); /* U+2581 is a space */
    expect_ids("\xc3\xa9\n", 0, "258 195 169 10");
    expect_ids("a\xff", 0, "260 239 191 189"); /* U+FFFD */
    expect_ids("<s>a", 1, "257 259");          /* the space before is the token's: no second one */
    expect_ids("a<s>", 1, "260 60 115 62");    /* no space before it */
    expect_ids("a <s>a", 1, "260 257 259");
    expect_ids("<unk>a", 1, "256 260");
    expect_text((const int32_t[]){260, 260}, 2, "a a");
    expect_text((const int32_t[]){258, 260}, 2, " a");
    assert_int_equal(infrt_token_find(&made.tables, "<s>", 3), 257);
    /* maximal parts: ED A0 80 is three, E2 80 one, F0 80 80 three */
    expect_text((const int32_t[]){0xed, 0xa0, 0x80}, 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    expect_text((const int32_t[]){0xe2, 0x80, 0x41}, 3,
                "\xef\xbf\xbd"
                "A");
    expect_text((const int32_t[]){0xf0, 0x80, 0x80, 0x41}, 4,
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                "A");
    expect_text((const int32_t[]){0x41, 0xf0, 0x9f, 0x98}, 4, "A\xef\xbf\xbd");
}

static void half_a_character(void **state) {
    (void)state;
    infrt_detokenizer d;
    characters(state);
    char *out = malloc(infrt_detokenizer_room(&made.tables));
    infrt_detokenizer_init(&d, &made.tables, 0, 0);
    assert_int_equal(infrt_detokenizer_put(&d, 0xc3, out), 0);
    assert_int_equal(infrt_detokenizer_put(&d, 0xa9, out), 2);
    assert_memory_equal(out, "\xc3\xa9", 2);
    assert_int_equal(infrt_detokenizer_put(&d, 0xc3, out), 0);
    assert_int_equal(infrt_detokenizer_put(&d, 260, out), 5); /* U+FFFD, then " a" */
    assert_memory_equal(out, "\xef\xbf\xbd a", 5);
    assert_int_equal(infrt_detokenizer_put(&d, 0xf0, out), 0);
    assert_int_equal(infrt_detokenizer_end(&d, out), 3);
    assert_int_equal(infrt_detokenizer_end(&d, out), 0);
    free(out);
}

/* A million of one letter: 2^19 pairs merge into 2^18 of four, and so on. */
static void one_letter(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    merges_in_order(state);
    char *text = malloc(N);
    memset(text, 'a', N);
    void *scratch = malloc(infrt_encode_scratch(&made.tables, text, N));
    assert_int_equal(infrt_encode(&made.tables, text, N, NULL, 0, 0, scratch, NULL, 0), N / 2);
    free(scratch);
    free(text);
}

/* GHSA-7rxv-5jhh-j6xx: however little room there is, no id is written beyond it, and the count is of the whole text. */
static void less_room_than_ids(void **state) {
    (void)state;
    merges_in_order(state);
    static const char text[] = "abc aab ba\xffx  abc";
    void *scratch = malloc(infrt_encode_scratch(&made.tables, text, strlen(text)));
    int32_t all[64], some[64];
    const size_t n = infrt_encode(&made.tables, text, strlen(text), NULL, 0, 1, scratch, all, 64);
    assert_in_range(n, 2, 63);
    for (size_t most = 0; most <= n; most++) {
        memset(some, 0x5a, sizeof some);
        assert_int_equal(infrt_encode(&made.tables, text, strlen(text), NULL, 0, 1, scratch, some, most), n);
        assert_memory_equal(some, all, most * sizeof *all);
        for (size_t i = most; i < 64; i++) assert_int_equal(some[i], 0x5a5a5a5a);
    }
    free(scratch);
}

static void expect_refused(infc_status status, const char *json, const char *text) {
    assert_int_equal(read_json(json), status);
    const infc_diag *diag = &cx.diags[cx.n_diags - 1];
    assert_string_equal(diag->loc.file, "tokenizer.json");
    if (strncmp(diag->text, text, strlen(text)) != 0) assert_string_equal(diag->text, text);
}

#define ONE MODEL("`a`:0", "")
#define BPE(more) "{`model`:{`type`:`BPE`,`vocab`:{`a`:0},`merges`:[]," more "}}"

static void refusals(void **state) {
    (void)state;
    const infc_status other = INFC_ERR_UNSUPPORTED;
    expect_refused(other, "{`model`:{`type`:`Unigram`}}", "model.type: Unigram is not supported");
    expect_refused(other, ONE "`normalizer`:{`type`:`NFKC`}," BYTE_LEVEL("") "}", "normalizer: NFKC is not supported");
    expect_refused(other, ONE BYTE_LEVEL("{`type`:`Split`,`pattern`:{`Regex`:`\\\\w+`},`behavior`:`Isolated`},") "}",
                   "pre_tokenizer.pretokenizers[0]: Split is not supported as it is here: "
                   "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w+\"}");
    expect_refused(other, ONE "`post_processor`:{`type`:`RobertaProcessing`}," BYTE_LEVEL("") "}",
                   "post_processor: RobertaProcessing");
    expect_refused(other, ONE "`pre_tokenizer`:{`type`:`ByteLevel`},`decoder`:{`type`:`Fuse`}}",
                   "decoder: it and pre_tokenizer");
    expect_refused(other, ONE "`added_tokens`:[" ADDED("1", "b", "`single_word`:true") "]}",
                   "added_tokens[0]: single_word");
    expect_refused(other, BPE("`end_of_word_suffix`:`</w>`"), "model.end_of_word_suffix");
    expect_refused(other, BPE("`dropout`:0.1"), "model.dropout");
}

static void damage(void **state) {
    (void)state;
    const infc_status bad = INFC_ERR_MODEL;
    expect_refused(bad, "{`model`:{`type`:`BPE`}}", "model.vocab: it is missing");
    expect_refused(bad, MODEL("`a`:-1", "") "`a`:0}", "model.vocab: token \"a\"");
    expect_refused(bad, MODEL("`a`:0,`b`:0", "") "`a`:0}", "model.vocab: id 0 is of \"a\" and of \"b\"");
    expect_refused(bad, MODEL("`a`:0", "`a b`") "`a`:0}", "model.merges[0]: a part of it");
    expect_refused(bad, MODEL("`a`:0", "`a`") "`a`:0}", "model.merges[0]: it is no pair");
    expect_refused(bad, ONE "`added_tokens`:[" ADDED("0", "b", SPECIAL) "]}", "added_tokens[0]: its id is another");
    expect_refused(bad, BPE("`byte_fallback`:true"), "model.byte_fallback");
    expect_refused(bad, BPE("`unk_token`:`u`"), "model.unk_token");
}

static infc_buf file;

static void put_array(const char *key, uint32_t type, uint64_t n) {
    put_string(&file, key);
    put_number(&file, 9, 4);
    put_number(&file, type, 4);
    put_number(&file, n, 8);
}

static infc_status read_gguf(void) {
    static infc_gguf gguf;
    assert_int_equal(infc_gguf_read(&cx, "m.gguf", infc_buf_bytes(&file), &gguf), INFC_OK);
    return infc_tokenizer_gguf(&cx, &gguf, &made);
}

static void put_tokens(const char *kind, const char *const *tokens, const uint32_t *types, size_t n,
                       unsigned n_more) {
    file = (infc_buf){.arena = cx.arena};
    put_head(&file, 3, 0, 3 + n_more);
    put_text(&file, "tokenizer.ggml.model", kind);
    put_array("tokenizer.ggml.tokens", 8, n);
    for (size_t i = 0; i < n; i++) put_string(&file, tokens[i]);
    put_array("tokenizer.ggml.token_type", 5, n);
    for (size_t i = 0; i < n; i++) put_number(&file, types[i], 4);
}

/* Scores: "ab" before "bc" before "abc"; "abc" also of a + bc. */
static void scores(void **state) {
    (void)state;
    static const char *const tokens[] = {"<unk>", "<s>", "</s>", "\xe2\x96\x81", "a",
                                         "b",     "c",   "ab",   "bc",           "abc"};
    static const uint32_t types[] = {2, 3, 3, 1, 1, 1, 1, 1, 1, 1};
    static const float values[] = {0, 0, 0, -9, -9, -9, -9, -1, -2, -3};
    put_tokens("llama", tokens, types, 10, 3);
    put_array("tokenizer.ggml.scores", 6, 10);
    for (size_t i = 0; i < 10; i++) infc_buf_put(&file, &values[i], 4);
    put_u32(&file, "tokenizer.ggml.bos_token_id", 1);
    put_u32(&file, "tokenizer.ggml.eos_token_id", 2);
    assert_int_equal(read_gguf(), INFC_OK);
    assert_int_equal(made.bos, 1);
    assert_int_equal(made.n_eos, 1);
    expect_ids("abc", 0, "3 9");
    expect_ids("bcc", 0, "3 8 6");
    expect_ids("zza", 0, "3 0 4");             /* unknown ones are one */
    expect_parts("a", 1, NULL, 0, 1, "1 3 4"); /* bos unless the file says otherwise */
}

static infc_status read_one_of(const char *character, size_t n) {
    static const uint32_t types[] = {1, 1};
    infc_buf text = {.arena = cx.arena};
    for (size_t i = 0; i < n; i++) infc_buf_puts(&text, character);
    const char *const tokens[] = {infc_buf_str(&text), "\xc3\xb0"}; /* the byte F0 */
    put_tokens("gpt2", tokens, types, 2, 2);
    put_text(&file, "tokenizer.ggml.pre", "smollm");
    put_array("tokenizer.ggml.merges", 8, 0);
    return read_gguf();
}

/* CVE-2025-49847: the longest piece there may be, each byte of which becomes three, after half a character. */
static void long_pieces(void **state) {
    (void)state;
    infrt_detokenizer d;
    assert_int_equal(read_one_of("\xc3\xbf", 500), INFC_OK); /* the byte FF */
    const size_t room = infrt_detokenizer_room(&made.tables);
    char *out = malloc(room + 64);
    memset(out, 0x5a, room + 64);
    infrt_detokenizer_init(&d, &made.tables, 0, 0);
    assert_int_equal(infrt_detokenizer_put(&d, 1, out), 0);
    const size_t n = infrt_detokenizer_put(&d, 0, out);
    assert_int_equal(n, 3 * 501);
    assert_in_range(n, 1, room);
    for (size_t i = 0; i < n; i += 3) assert_memory_equal(out + i, "\xef\xbf\xbd", 3);
    for (size_t i = n; i < room + 64; i++) assert_int_equal(out[i], 0x5a);
    for (size_t most = 0; most < 1500; most += 7) {
        memset(out, 0x5a, room);
        assert_int_equal(infrt_decode(&made.tables, (const int32_t[]){0}, 1, 0, out, most), 1500);
        assert_int_equal(out[most], 0x5a);
    }
    free(out);
    assert_int_equal(read_one_of("a", 1000), INFC_OK);
    assert_int_equal(read_one_of("a", 1001), INFC_ERR_MODEL);
    assert_non_null(
        strstr(cx.diags[cx.n_diags - 1].text, "tokenizer.ggml.tokens: one is empty, too long"));
}

static void gguf_merges(void **state) {
    (void)state;
    static const char *const tokens[] = {"a", "b", "ab", "<|end|>", "1"};
    static const uint32_t types[] = {1, 1, 1, 3, 1};
    put_tokens("llama", tokens, types, 1, 1); /* nothing merges */
    put_array("tokenizer.ggml.scores", 6, 1);
    put_number(&file, 0, 4);
    assert_int_equal(read_gguf(), INFC_OK);
    expect_ids("a", 0, "0");
    put_tokens("gpt2", tokens, types, 5, 2);
    put_text(&file, "tokenizer.ggml.pre", "smollm");
    put_array("tokenizer.ggml.merges", 8, 1);
    put_string(&file, "a b");
    assert_int_equal(read_gguf(), INFC_OK);
    expect_ids("ab1<|end|>", 1, "2 4 3");
    put_tokens("gpt2", tokens, types, 5, 1);
    put_text(&file, "tokenizer.ggml.pre", "deepseek-llm");
    assert_int_equal(read_gguf(), INFC_ERR_UNSUPPORTED);
    assert_non_null(strstr(cx.diags[cx.n_diags - 1].text,
                           "tokenizer.ggml.pre: the pre-tokenizer \"deepseek-llm\""));
    put_tokens("bert", tokens, types, 5, 0);
    assert_int_equal(read_gguf(), INFC_ERR_UNSUPPORTED);
    put_tokens("llama", tokens, types, 5, 1);
    put_array("tokenizer.ggml.scores", 6, 1);
    put_number(&file, 0, 4);
    assert_int_equal(read_gguf(), INFC_ERR_MODEL);
    assert_non_null(
        strstr(cx.diags[cx.n_diags - 1].text, "tokenizer.ggml.scores: it must have one element"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(merges_in_order), CX_TEST(words_of_smollm), CX_TEST(control_tokens),
        CX_TEST(stripping),       CX_TEST(characters),      CX_TEST(half_a_character),
        CX_TEST(one_letter),      CX_TEST(refusals),        CX_TEST(damage),
        CX_TEST(scores),          CX_TEST(gguf_merges),     CX_TEST(less_room_than_ids),
        CX_TEST(long_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
