/* infrt_fake_tokenizer.h - a tokenizer for the fake language model: an id for each letter, blank, newline, for each of
 * the two bytes of "é", and control tokens. Nothing merges. */
#ifndef INFRT_FAKE_TOKENIZER_H
#define INFRT_FAKE_TOKENIZER_H
#include "infrt_fake_llm.h"
#include "tokenizer.h"
#include <stdio.h>

/* Of each id: 0 <pad>, 1 <s>, 7 </s>; the others are one byte. */
static const char fake_bytes[FAKE_VOCAB] = {
    0,   0,   'a', 'b', 'c',  'd',        'e',        0,   'f', 'g', 'h', 'i', 'j',
    'k', 'l', 'm', 'n', 'o',  'p',        'q',        'r', 's', 't', 'u', 'v', 'w',
    'x', 'y', 'z', ' ', '\n', (char)0xc3, (char)0xa9, '.', ',', '!', '?', '0', '1',
    '2', '3', '4', '5', '6',  '7',        '8',        '9', 'A', 'B', 'C'};

static unsigned char fake_pieces[256], fake_flags[FAKE_VOCAB];
static uint32_t fake_piece_at[FAKE_VOCAB + 1], fake_sorted[FAKE_VOCAB], fake_byte_ids[256],
    fake_merge_at[FAKE_VOCAB + 1];
static infrt_tokenizer fake_tokenizer;

static inline const char *fake_piece(uint32_t id, size_t *n) {
    const char *name = id == 0          ? "<pad>"
                       : id == 1        ? "<s>"
                       : id == FAKE_EOS ? "</s>"
                                        : &fake_bytes[id];
    *n = fake_bytes[id] ? 1 : strlen(name);
    return name;
}

/* The fake model with that tokenizer. */
static inline infc_model fake_text_model(infc_llm_info *info) {
    uint32_t at = 0, n_sorted = 0;
    memset(fake_byte_ids, 0xff, sizeof fake_byte_ids);
    for (uint32_t id = 0; id < FAKE_VOCAB; id++) {
        size_t n;
        const char *piece = fake_piece(id, &n);
        memcpy(fake_pieces + at, piece, n);
        fake_piece_at[id] = at;
        at += (uint32_t)n;
        fake_flags[id] = fake_bytes[id] ? 0 : INFRT_TOKEN_CONTROL;
        if (fake_bytes[id]) fake_byte_ids[(unsigned char)fake_bytes[id]] = id;
    }
    fake_piece_at[FAKE_VOCAB] = at;
    for (uint32_t byte = 0; byte < 256; byte++)
        if (fake_byte_ids[byte] != UINT32_MAX) fake_sorted[n_sorted++] = fake_byte_ids[byte];
    fake_tokenizer = (infrt_tokenizer){.n_tokens = FAKE_VOCAB,
                                       .most_bytes = 5,
                                       .unknown = -1,
                                       .n_before = 1,
                                       .before = {1},
                                       .byte_level = 1,
                                       .piece_at = (const unsigned char *)fake_piece_at,
                                       .pieces = fake_pieces,
                                       .flags = fake_flags,
                                       .n_sorted = n_sorted,
                                       .sorted = (const unsigned char *)fake_sorted,
                                       .byte_ids = (const unsigned char *)fake_byte_ids,
                                       .merge_at = (const unsigned char *)fake_merge_at};
    *info = fake_llm_info;
    info->tokenizer = &fake_tokenizer;
    infc_model model = fake_llm;
    model.llm = info;
    return model;
}

/* The text of ids as the tests expect it: control tokens say nothing, a lone half of "é" is U+FFFD. */
static inline void fake_text(const int32_t *ids, uint32_t n, char *out) {
    char bytes[FAKE_CONTEXT + 1] = {0};
    uint32_t n_bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (fake_bytes[ids[i]]) bytes[n_bytes++] = fake_bytes[ids[i]];
    *out = 0;
    for (uint32_t i = 0; i < n_bytes; i++) {
        bool pair = (unsigned char)bytes[i] == 0xc3 && (unsigned char)bytes[i + 1] == 0xa9;
        out += sprintf(out, "%s",
                       pair                              ? "\xc3\xa9"
                       : (unsigned char)bytes[i] >= 0x80 ? "\xef\xbf\xbd"
                                                         : (char[]){bytes[i], 0});
        i += pair;
    }
}

#endif
