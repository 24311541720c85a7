/* chat_code.h - the program that a chat template becomes: a tree in words of 32 bits. A node is an operation, then its
 * operands; a child is named by where it begins, which is before its parent, and 0 is none. Written by
 * compiler/frontend/template, run by chat_run.c.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_CHAT_CODE_H
#define INFRT_CHAT_CODE_H

/* The first words of a program. */
enum {
    INFRT_CODE_ROOT = 0,
    INFRT_CODE_SLOTS = 1 /* names of attributes of namespaces */,
    INFRT_CODE_BEGIN = 2
};

enum {
    INFRT_CODE_NAMES = 128,   /* variables at once */
    INFRT_CODE_DEPTH = 100,   /* nodes within each other */
    INFRT_CODE_ITEMS = 4,     /* arguments of a call */
    INFRT_CODE_METHOD = 0x100 /* added to a function that is called as one */
};

typedef enum infrt_chat_op {
    /* expressions */
    INFRT_OP_NONE,
    INFRT_OP_BOOL,     /* 0 or 1 */
    INFRT_OP_INT,      /* low, high word */
    INFRT_OP_TEXT,     /* where in texts, bytes */
    INFRT_OP_MESSAGES, /* the conversation */
    INFRT_OP_ANSWER,   /* whether the assistant's answer follows */
    INFRT_OP_NAME,     /* id of a variable */
    INFRT_OP_LIST,     /* n, items */
    INFRT_OP_ITEM,     /* of what, key */
    INFRT_OP_ATTR,     /* of what, name (where, bytes), slot */
    INFRT_OP_SLICE,    /* of what, start, stop, step */
    INFRT_OP_NOT,
    INFRT_OP_NEG,
    INFRT_OP_ADD, /* two operands up to INFRT_OP_OR */
    INFRT_OP_SUB,
    INFRT_OP_MUL,
    INFRT_OP_FLOOR, /* a // b */
    INFRT_OP_MOD,
    INFRT_OP_JOIN, /* a ~ b */
    INFRT_OP_EQ,
    INFRT_OP_NE,
    INFRT_OP_LT,
    INFRT_OP_LE,
    INFRT_OP_GT,
    INFRT_OP_GE,
    INFRT_OP_IN,
    INFRT_OP_AND,
    INFRT_OP_OR,
    INFRT_OP_CHOOSE,  /* condition, then, else */
    INFRT_OP_TEST,    /* infrt_chat_test, of what, argument */
    INFRT_OP_CALL,    /* infrt_chat_function, n, of what, arguments */
    INFRT_OP_RAISE,   /* what to say */
    INFRT_OP_RANGE,   /* n, arguments: 1 to 3 */
    INFRT_OP_SPACE,   /* namespace: n, values, then slots */
    INFRT_OP_UNKNOWN, /* calls a name that is not defined: where, bytes */
    /* statements */
    INFRT_OP_BLOCK,    /* n, statements */
    INFRT_OP_PUT,      /* text of the template: where, bytes */
    INFRT_OP_PRINT,    /* value */
    INFRT_OP_IF,       /* n, then condition, block each; else */
    INFRT_OP_FOR,      /* one name or two (INFRT_OP_NO_NAME), list, condition, block, else */
    INFRT_OP_SET,      /* id, value */
    INFRT_OP_SET_ATTR, /* slot, the namespace, value */
    INFRT_OP_CAPTURE,  /* id, block: its text is the value */
    INFRT_OP_BREAK,
    INFRT_OP_CONTINUE
} infrt_chat_op;

#define INFRT_OP_NO_NAME UINT32_MAX

/* Filters and methods; most are both. X(name, filter, method, fewest arguments, most) */
/* clang-format off */
#define INFRT_CHAT_FUNCTIONS(X)                                                                   \
    X(trim, 1, 0, 0, 1)       X(strip, 0, 1, 0, 1)      X(lstrip, 0, 1, 0, 1)                     \
    X(rstrip, 0, 1, 0, 1)     X(length, 1, 0, 0, 0)     X(count, 1, 0, 0, 0)                      \
    X(upper, 1, 1, 0, 0)      X(lower, 1, 1, 0, 0)      X(capitalize, 1, 1, 0, 0)                 \
    X(title, 1, 1, 0, 0)      X(split, 0, 1, 0, 2)      X(startswith, 0, 1, 1, 1)                 \
    X(endswith, 0, 1, 1, 1)   X(replace, 1, 1, 2, 2)    X(join, 1, 0, 0, 1)                       \
    X(default, 1, 0, 0, 2)    X(d, 1, 0, 0, 2)          X(first, 1, 0, 0, 0)                      \
    X(last, 1, 0, 0, 0)       X(tojson, 1, 0, 0, 1)     X(string, 1, 0, 0, 0)                     \
    X(list, 1, 0, 0, 0)       X(safe, 1, 0, 0, 0)       X(int, 1, 0, 0, 0)                        \
    X(get, 0, 1, 1, 2)        X(items, 1, 1, 0, 0)      X(reverse, 1, 0, 0, 0)                    \
    X(selectattr, 1, 0, 1, 3) X(rejectattr, 1, 0, 1, 3) X(select, 1, 0, 0, 2)                     \
    X(reject, 1, 0, 0, 2)     X(map, 1, 0, 1, 1)
/* clang-format on */

typedef enum infrt_chat_function {
#define INFRT_X(name, filter, method, least, most) INFRT_CALL_##name,
    INFRT_CHAT_FUNCTIONS(INFRT_X)
#undef INFRT_X
        INFRT_N_CALLS
} infrt_chat_function;

/* X(enumerator, name, arguments) */
/* clang-format off */
#define INFRT_CHAT_TESTS(X)                                                                       \
    X(defined, "defined", 0)   X(undefined, "undefined", 0) X(none, "none", 0)                    \
    X(string, "string", 0)     X(number, "number", 0)       X(integer, "integer", 0)              \
    X(boolean, "boolean", 0)   X(true, "true", 0)           X(false, "false", 0)                  \
    X(mapping, "mapping", 0)   X(iterable, "iterable", 0)   X(sequence, "sequence", 0)            \
    X(odd, "odd", 0)           X(even, "even", 0)           X(equalto, "equalto", 1)              \
    X(eq, "eq", 1)             X(ne, "ne", 1)               X(in, "in", 1)                        \
    X(divisibleby, "divisibleby", 1)
/* clang-format on */

typedef enum infrt_chat_test {
#define INFRT_X(name, text, arguments) INFRT_TEST_##name,
    INFRT_CHAT_TESTS(INFRT_X)
#undef INFRT_X
        INFRT_N_TESTS
} infrt_chat_test;

#endif
