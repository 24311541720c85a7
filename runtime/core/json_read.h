/* json_read.h - JSON as adapters and requests come with it, read value by value. Strict: RFC 8259, UTF-8, one value a
 * text, no deeper than INFRT_JSON_DEPTH; numbers as strtod reads them. Nothing is allocated.
 *
 * A reader stands before a value. Each call takes one and stands behind it, or returns false, sets `wrong` and stands
 * where that is; then nothing else may be read. */
#ifndef INFRT_JSON_READ_H
#define INFRT_JSON_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INFRT_JSON_DEPTH = 32, INFRT_JSON_KEY = 512 /* bytes of a key with its NUL */ };

typedef struct infrt_json_reader {
    const char *begin, *at, *end;
    const char *wrong; /* null: nothing so far */
    uint32_t depth;
    uint32_t spare; /* how many more keys, and values that are skipped, there may be; at first any number */
} infrt_json_reader;

void infrt_json_reader_init(infrt_json_reader *r, const char *text, size_t bytes);
/* What comes next: '{', '[', '"', '0' (a number), 't', 'f', 'n', or 0: no value. */
char infrt_json_next(infrt_json_reader *r);
/* Calls `take` at the value of each member, or element (key: null), which it must read; stops when that is false. */
typedef bool infrt_json_take(void *self, infrt_json_reader *r, const char *key);
bool infrt_json_object(infrt_json_reader *r, infrt_json_take *take, void *self);
bool infrt_json_array(infrt_json_reader *r, infrt_json_take *take, void *self);
/* A string with a NUL; with one in it, or longer than `room` with its NUL, it is refused. */
bool infrt_json_string_read(infrt_json_reader *r, char *out, size_t room);
bool infrt_json_number(infrt_json_reader *r, double *out);
/* A number without sign, fraction and exponent, up to INT64_MAX. */
bool infrt_json_count(infrt_json_reader *r, uint64_t *out);
/* The same with a sign, up to UINT64_MAX without it; -0 is 0. */
bool infrt_json_whole(infrt_json_reader *r, bool *negative, uint64_t *out);
bool infrt_json_skip(infrt_json_reader *r);                   /* any value */
bool infrt_json_word(infrt_json_reader *r, const char *word); /* true, false or null, and no other */
bool infrt_json_end(infrt_json_reader *r);                    /* nothing but white space is left */
/* Sets `wrong`; false. */
bool infrt_json_refuse(infrt_json_reader *r, const char *wrong);

#endif
