/* chat_state.h - values of a template while it runs, and what runs it. A text knows of each of its bytes whether the
 * template said it (mark 1) or a message did (mark 0).
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_CHAT_STATE_H
#define INFRT_CHAT_STATE_H
#include "chat.h"
#include "chat_code.h"

typedef enum infrt_value_type {
    INFRT_VALUE_UNDEFINED,
    INFRT_VALUE_NONE,
    INFRT_VALUE_BOOL,
    INFRT_VALUE_INT,
    INFRT_VALUE_TEXT,
    INFRT_VALUE_LIST,
    INFRT_VALUE_MESSAGE, /* a map of role and content */
    INFRT_VALUE_SPACE,   /* namespace */
    INFRT_VALUE_LOOP
} infrt_value_type;

typedef struct infrt_value {
    infrt_value_type type;
    uint32_t mark;              /* TEXT: of all bytes, when there are no marks */
    size_t n;                   /* bytes, items */
    int64_t number;             /* BOOL, INT */
    const char *text;           /* TEXT */
    const unsigned char *marks; /* TEXT: of each byte; null: all alike */
    struct infrt_value *items;  /* LIST; SPACE: by slot; LOOP: what it goes through */
    const infrt_chat_message *message;
} infrt_value;

typedef struct infrt_chat_variable {
    uint32_t id;
    infrt_value value;
} infrt_chat_variable;

typedef struct infrt_chat_state {
    const infrt_chat *chat;
    infrt_value messages;
    int answer;
    infrt_chat_text *out;
    size_t used;  /* of scratch */
    size_t floor; /* what namespaces may hold lies below: it outlives the loop that made it */
    int status;   /* INFRT_CHAT_ */
    uint32_t steps;
    infrt_chat_variable *variables; /* the inner ones last */
    uint32_t n_variables, frame;    /* frame: where those of the innermost loop begin */
    int jump; /* INFRT_OP_BREAK, INFRT_OP_CONTINUE: on the way out of a loop's block; else 0 */
} infrt_chat_state;

/* chat_value.c */
void *infrt_chat_alloc(infrt_chat_state *s, size_t bytes);           /* null: NO_ROOM is set */
infrt_value infrt_chat_wrong(infrt_chat_state *s, const char *said); /* sets TYPE; undefined */
infrt_value infrt_value_bool(int value);
infrt_value infrt_value_int(int64_t value);
infrt_value infrt_value_text(const char *text, size_t n, uint32_t mark);
infrt_value infrt_value_list(infrt_chat_state *s, size_t n); /* of undefined items */
infrt_value infrt_value_part(const infrt_value *text, size_t begin, size_t end); /* of a text */
infrt_value infrt_value_join(infrt_chat_state *s, const infrt_value *a, const infrt_value *b); /* of texts */
infrt_value infrt_value_string(infrt_chat_state *s, const infrt_value *value); /* as it is printed */
int infrt_value_true(const infrt_value *value);
int infrt_value_equal(const infrt_value *a, const infrt_value *b);
int infrt_value_is_number(const infrt_value *value);                 /* a BOOL is one */
int infrt_value_compare(const infrt_value *a, const infrt_value *b); /* of two texts: bytes */
size_t infrt_value_find(const infrt_value *text, size_t from, const infrt_value *what); /* text->n: not there */
int infrt_value_in(infrt_chat_state *s, const infrt_value *what, const infrt_value *where);
infrt_value infrt_value_field(const infrt_value *message, const char *name, size_t n); /* undefined: none of it */
/* What a loop goes through: a LIST. */
infrt_value infrt_value_items(infrt_chat_state *s, const infrt_value *value);

/* chat_calls.c, chat_strip.c, chat_json.c */
infrt_value infrt_chat_call(infrt_chat_state *s, uint32_t function, const infrt_value *of,
                            const infrt_value *arguments, uint32_t n);
int infrt_chat_tested(infrt_chat_state *s, uint32_t test, const infrt_value *of, const infrt_value *argument);
/* Without the characters of `set`, or white space, at the beginning (sides & 1) and the end (sides & 2). */
infrt_value infrt_value_strip(const infrt_value *text, const infrt_value *set, unsigned sides);
infrt_value infrt_value_split(infrt_chat_state *s, const infrt_value *text,
                              const infrt_value *separator, int64_t most);
infrt_value infrt_value_json(infrt_chat_state *s, const infrt_value *value, int64_t indent);

/* chat_eval.c, chat_run.c */
infrt_value infrt_chat_eval(infrt_chat_state *s, uint32_t node);
int infrt_chat_step(infrt_chat_state *s); /* counts one; 0: all has ended, or there were too many */
void infrt_chat_set(infrt_chat_state *s, uint32_t id, const infrt_value *value);

#endif
